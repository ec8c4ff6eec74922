"""Which seeding a fit gets, by name and by size, and what it says of it."""

import numpy as np
import pytest
from command_line import done
from sklearn.base import clone

from cprime import (
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    SoftKMeans,
    load,
    parallel_seeding,
)
from cprime.datasets import make_birch_grid

X = make_birch_grid(3, 40, rng=0).data
CENTERS = [KMeans, SoftKMeans, FuzzyKMeans]
NAMES = [
    "k-means++", "k-means||", "greedy-k-means++", "plain-k-means++",
    "sampled-k-means++", "afk-mc2", "random",
]  # fmt: skip
OF_MIXTURES = [
    "kmeans", "greedy-kmeans", "parallel-kmeans", "sampled-kmeans", "k-means++",
    "k-means||", "greedy-k-means++", "sampled-k-means++", "random_from_data", "random",
]  # fmt: skip


@pytest.fixture
def always_parallel(monkeypatch):
    monkeypatch.setattr(parallel_seeding, "LEAST_WORK", 0)


def fitted(estimator, **parameters):
    parameters = {"random_state": 0, "max_iter": 30, "tol": 1e-2, **parameters}
    return estimator.set_params(**parameters).fit(X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", CENTERS)
def test_every_name_is_told_again(kind, name):
    assert fitted(kind(9), init=name, n_init=1).seeding_ == name


@pytest.mark.parametrize("name", OF_MIXTURES)
def test_every_name_of_a_mixture_is_told_again(name):
    mixture = GaussianMixture(3, covariance_type="isotropic", init_params=name)
    assert fitted(mixture).seeding_ == name


@pytest.mark.parametrize("kind", CENTERS)
def test_many_rows_and_clusters_get_the_parallel_form(kind, always_parallel):
    found = fitted(kind(9))
    asked = fitted(kind(9), init="k-means||")
    assert found.seeding_ == asked.seeding_ == "k-means||"
    np.testing.assert_array_equal(found.cluster_centers_, asked.cluster_centers_)


@pytest.mark.parametrize(
    ("asked", "found"), [("kmeans", "parallel-kmeans"), ("k-means++", "k-means||")]
)
def test_so_do_mixtures(asked, found, always_parallel):
    mixture = GaussianMixture(3, covariance_type="diag")
    by_default = fitted(clone(mixture), init_params=asked)
    by_name = fitted(mixture, init_params=found)
    assert by_default.seeding_ == by_name.seeding_ == found
    np.testing.assert_array_equal(by_default.means_, by_name.means_)


@pytest.mark.parametrize(
    "name", ["greedy-k-means++", "plain-k-means++", "afk-mc2", "random"]
)
def test_other_names_insist(name, always_parallel):
    assert fitted(KMeans(9), init=name, n_init=1).seeding_ == name


def test_greedy_is_what_few_rows_get():
    by_default = fitted(KMeans(9))
    asked = fitted(KMeans(9), init="greedy-k-means++")
    assert by_default.seeding_ == "k-means++"
    np.testing.assert_array_equal(by_default.cluster_centers_, asked.cluster_centers_)


def test_a_model_file_tells_it(tmp_path):
    fitted(KMeans(9), init="k-means||").save(tmp_path / "model.cprime")
    assert load(tmp_path / "model.cprime").seeding_ == "k-means||"


@pytest.mark.parametrize("name", ["k-means||", "greedy-k-means++"])
@pytest.mark.parametrize("model", ["kmeans", "mixture"])
def test_the_command_line_knows_the_names(tmp_path, name, model):
    np.save(tmp_path / "x.npy", X)
    typed = ["fit", tmp_path / "x.npy", "-k", 3, "-o", tmp_path / "x.cprime"]
    assert name in done(*typed, "--model", model, "--init", name)
