"""What is behind the pictures: distances, directions, rows, colours."""

import doctest

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

from cprime import GaussianMixture, KMeans, open_data
from cprime.advice.wording import three_digits
from cprime.plots import (
    DistanceDisplay,
    DistanceTally,
    ProfileDisplay,
    free_energy,
    look,
    squared_distances,
    tables,
)
from cprime.plots.clusters import clusters_of, shares_of, sizes_of
from cprime.plots.directions import main_directions, of_centres, of_separation
from cprime.plots.mahalanobis import usual_limit, usual_share

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(60, 3)), RNG.normal(4.0, 0.5, size=(90, 3))])
TYPES = ["full", "tied", "diag", "spherical", "isotropic"]


def matrices(estimator):
    """Return the covariance of every cluster as a matrix, by its documentation."""
    covariances = np.asarray(estimator.covariances_)
    kind, (C, D) = estimator.covariance_type, estimator.means_.shape
    if kind == "diag":
        return covariances[:, :, None] * np.eye(D)
    if kind in ("spherical", "isotropic"):
        return np.broadcast_to(covariances, C)[:, None, None] * np.eye(D)
    return np.broadcast_to(covariances, (C, D, D))


@pytest.mark.parametrize("kind", TYPES)
def test_squared_distances_are_mahalanobis(kind):
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    labels, covariances = mixture.predict(X), matrices(mixture)
    apart = X - mixture.means_[labels]
    inverses = np.linalg.inv(covariances)[labels]
    expected = np.einsum("nd,nde,ne->n", apart, inverses, apart)
    np.testing.assert_allclose(squared_distances(mixture, X), expected)


@pytest.mark.parametrize("kind", TYPES)
def test_covariances_across_directions(kind):
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    directions = RNG.normal(size=(2, 3))
    expected = directions @ matrices(mixture) @ directions.T
    np.testing.assert_allclose(clusters_of(mixture).across(directions), expected)


def test_chi_square_is_scipys():
    assert usual_limit(74) == pytest.approx(chi2(74).ppf(0.999))
    squared = np.linspace(0.0, 40.0, 7)
    np.testing.assert_allclose(usual_share(squared, 5), chi2(5).cdf(squared))


def test_a_tally_knows_exactly_what_is_beyond():
    limit = usual_limit(4)
    squared = RNG.chisquare(4, size=20_000) * 1.3
    squared[:5] = limit, np.nextafter(limit, np.inf), 0.0, 1e9, np.nan
    tally = DistanceTally(limit)
    for part in np.array_split(squared, 7):
        tally.add(part)
    values, counts = tally.counted()
    assert counts.sum() == 19_999 and tally.missing == 1
    assert counts[values > limit].sum() == (squared > limit).sum()
    within = np.sqrt(np.sort(squared[squared <= limit]))
    tallied = np.sqrt(np.repeat(values, counts)[: len(within)])
    assert np.abs(tallied - within).max() <= np.sqrt(limit) / 1024


def test_main_directions_have_one_sign():
    points = RNG.normal(size=(50, 4)) * [5.0, 3.0, 1.0, 0.1]
    found, shares = main_directions(points)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(np.abs(found).argmax(axis=1), [0, 1])
    assert found[0, 0] > 0 and found[1, 1] > 0
    assert shares[0] > shares[1] > 0 and shares.sum() < 1
    np.testing.assert_allclose(main_directions(-points)[0], found)


def test_a_far_cluster_of_few_rows_does_not_decide_the_view():
    means = np.zeros((9, 3))
    means[:8, 0] = np.arange(8.0)
    means[8] = [0.0, 0.0, 1e4]
    shares = np.array([0.999 / 8] * 8 + [0.001])
    clusters = clusters_of(fitted(means))
    np.testing.assert_allclose(
        np.abs(of_centres(clusters, shares, X).directions[0]), [1, 0, 0], atol=0.2
    )
    positions, share = of_separation(clusters, shares)
    assert np.ptp(positions[:8, 0]) > 6.5 and share[0] > 0.8


def fitted(means, variance=1.0):
    kmeans = KMeans(len(means))
    kmeans.cluster_centers_, kmeans.variance_ = np.asarray(means), variance
    return kmeans


def test_positions_keep_mahalanobis_distances_of_three_clusters():
    mixture = GaussianMixture(3, covariance_type="tied", random_state=0).fit(X)
    positions, share = of_separation(clusters_of(mixture), mixture.weights_)
    precision = np.linalg.inv(mixture.covariances_)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        apart = mixture.means_[a] - mixture.means_[b]
        length = np.linalg.norm(positions[a] - positions[b])
        assert length == pytest.approx(np.sqrt(apart @ precision @ apart))
    assert share.sum() == pytest.approx(1.0)


def test_rows_in_every_form_are_the_same_rows(tmp_path):
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    frame.assign(extra=1.0).to_parquet(tmp_path / "rows.parquet")
    named = KMeans(2, random_state=0).fit(frame)
    indices = np.array([0, 7, 149])
    for X_like in (
        X,
        X.tolist(),
        frame,
        pl.DataFrame(X, schema=names),
        sp.coo_array(X),
        tmp_path / "rows.parquet",
        open_data(X),
        lambda: iter([X[:100], X[100:]]),
    ):
        table = tables.as_table(X_like, named)
        assert tuple(table.shape) == X.shape
        np.testing.assert_allclose(
            tables.values_of(table.take(indices)), X[indices], rtol=1e-15
        )
        parts = [tables.values_of(block) for _, block in table.blocks(40)]
        assert len(parts) == 4
        np.testing.assert_allclose(np.concatenate(parts), X, rtol=1e-15)


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    """Return rows that memory does not hold, and their values."""
    values = np.tile(X, (200, 1)) + np.arange(200).repeat(len(X))[:, None] / 1e3
    values[::3_000, 1] += 12.0
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, values)
    data = open_data(path, memory="1MiB")
    assert not data.in_memory
    return data, values


def test_rows_on_disk_are_the_same_rows(on_disk):
    data, values = on_disk
    kmeans = KMeans(3, random_state=0).fit(values)
    table = tables.as_table(data, kmeans)
    assert table is data
    np.testing.assert_array_equal(table.take([3, 29_000]), values[[3, 29_000]])
    sizes = np.bincount(kmeans.labels_, minlength=3)
    np.testing.assert_array_equal(sizes_of(kmeans, data), sizes)


def test_distances_on_disk_are_counted_like_those_in_memory(on_disk):
    data, values = on_disk
    kmeans = KMeans(3, random_state=0).fit(values)
    there = DistanceDisplay.from_estimator(kmeans, data)
    here = DistanceDisplay.from_estimator(kmeans, values)
    assert len(here.squared_distances) == 30_000 > len(there.squared_distances)
    assert there.n_rows == here.n_rows == 30_000
    assert there.n_beyond == here.n_beyond > 0
    profiles = [
        ProfileDisplay.from_estimator(kmeans, X_like).profile
        for X_like in (data, values)
    ]
    np.testing.assert_allclose(*profiles)
    np.testing.assert_allclose(
        profiles[0], (kmeans.cluster_centers_ - values.mean(0)) / values.std(0)
    )


def test_drawn_rows_are_the_same_every_time():
    first = tables.sample_indices(10_000, 500)
    assert len(np.unique(first)) == 500
    np.testing.assert_array_equal(first, tables.sample_indices(10_000, 500))
    np.testing.assert_array_equal(tables.sample_indices(20, 500), np.arange(20))
    # Spread over all of them.
    assert np.histogram(first, 10, (0, 10_000))[0].min() > 25


def test_shares_of_k_means_are_those_of_its_labels():
    kmeans = KMeans(3, random_state=0).fit(X)
    sizes = np.bincount(kmeans.labels_, minlength=3)
    np.testing.assert_allclose(shares_of(kmeans), sizes / 150)
    np.testing.assert_allclose(shares_of(kmeans, X[:10]).sum(), 1.0)
    np.testing.assert_allclose(shares_of(fitted(np.eye(4))), 0.25)


def test_neighbours_have_different_colours():
    ticks = np.arange(5.0)
    places = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    colours = np.array(look.cluster_colours(places))
    apart = ((places[:, None] - places) ** 2).sum(axis=2)
    next_to = apart == 1.0
    assert not (next_to & (colours[:, None] == colours)).any()
    assert len(set(colours)) == len(look.OF_CLUSTERS)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0, "0"), (0.1284, "0.128"), (5.12e-7, "5.1e-7"), (31_234.0, "3.1e4")],
)
def test_numbers_as_people_write_them(value, said):
    assert three_digits(value) == said


def test_the_docstring_example():
    result = doctest.testmod(free_energy)
    assert result.attempted >= 4 and result.failed == 0
