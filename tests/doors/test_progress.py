"""A fit tells how far it is, and what became of every restart."""

import dataclasses

import numpy as np
import pytest

import cprime
from cprime import FuzzyKMeans, GaussianMixture, KMeans, Progress, SoftKMeans
from cprime.datasets import make_birch_random

DATA = make_birch_random(10, 50, rng=1).data


@pytest.mark.parametrize(
    "model",
    [
        KMeans(10, n_init=3, random_state=0),
        SoftKMeans(10, random_state=0, max_iter=5),
        GaussianMixture(3, n_init=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_iteration_is_told_in_order(model):
    seen = []
    model.fit(DATA, progress=seen.append)
    n_iters = model.restarts_["n_iter"].tolist()
    expected = [(r, t + 1) for r, n in enumerate(n_iters) for t in range(n)]
    assert [(p.restart, p.iteration) for p in seen] == expected
    assert {(p.n_init, p.max_iter, p.n_rows) for p in seen} == {
        (len(n_iters), model.max_iter, len(DATA))
    }
    best = int(np.argmax(model.restarts_["free_energy"]))
    trace = model.trace_
    of_best = [p for p in seen if p.restart == best]
    for name in ("free_energy", "changed", "evaluations", "seconds"):
        told = [getattr(p, name) for p in of_best]
        np.testing.assert_array_equal(told, trace[name][1:])
    ends = [p.converged for p in seen if p.iteration == n_iters[p.restart]]
    assert ends == model.restarts_["converged"].tolist()
    assert sum(p.converged for p in seen) == sum(ends)


def test_what_is_told_cannot_be_changed():
    told = Progress(0, 1, 2, 300, -1.5, 3, 0.1, 100, 50, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        told.restart = 1


def test_fuzzy_k_means_tells_what_it_raises():
    seen = []
    model = FuzzyKMeans(5, random_state=0).fit(DATA, progress=seen.append)
    assert [-p.free_energy for p in seen] == model.trace_["objective"][1:].tolist()
    assert np.all(np.diff([p.free_energy for p in seen]) >= 0.0)


def test_telling_changes_nothing():
    plain = KMeans(10, n_init=4, random_state=0).fit(DATA)
    told = KMeans(10, n_init=4, random_state=0).fit(DATA, progress=lambda p: None)
    np.testing.assert_array_equal(plain.cluster_centers_, told.cluster_centers_)
    for name, column in plain.restarts_.items():
        np.testing.assert_array_equal(column, told.restarts_[name])


def test_every_restart_is_remembered():
    model = KMeans(10, n_init=4, random_state=0).fit(DATA)
    assert set(model.restarts_) == {"free_energy", "inertia", "n_iter", "converged"}
    assert {len(column) for column in model.restarts_.values()} == {4}
    best = int(np.argmin(model.restarts_["inertia"]))
    assert model.restarts_["inertia"][best] == model.inertia_
    assert model.restarts_["free_energy"][best] == model.free_energy_
    assert model.restarts_["n_iter"][best] == model.n_iter_
    assert model.restarts_["converged"].dtype == bool


def test_restarts_of_other_estimators():
    fuzzy = FuzzyKMeans(5, random_state=0).fit(DATA)
    assert fuzzy.restarts_["objective"].tolist() == [fuzzy.objective_]
    mixture = GaussianMixture(2, random_state=0).fit(DATA)
    assert set(mixture.restarts_) == {"free_energy", "n_iter", "converged"}


def test_a_listener_may_interrupt():
    def stop(told):
        if (told.restart, told.iteration) == (1, 2):
            raise KeyboardInterrupt

    model = KMeans(10, n_init=3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(DATA, progress=stop)
    assert len(model.restarts_["inertia"]) == 1
    assert model.inertia_ == model.restarts_["inertia"][0]
    alone = KMeans(10, n_init=1, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        alone.fit(
            DATA, progress=lambda told: stop(dataclasses.replace(told, restart=1))
        )
    assert alone.n_iter_ == 2 and not hasattr(alone, "restarts_")


def test_a_listener_that_fails_leaves_the_estimator_as_it_was():
    def fail(told):
        raise RuntimeError("disk on fire")

    model = KMeans(10, random_state=0)
    with pytest.raises(RuntimeError, match="disk on fire"):
        model.fit(DATA, progress=fail)
    assert not hasattr(model, "cluster_centers_")


def test_a_listener_must_be_callable():
    with pytest.raises(TypeError, match="progress must be a callable, not True"):
        cprime.KMeans(2).fit(DATA, progress=True)
