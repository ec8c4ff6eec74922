"""A mixture learns from a stream of batches, with covariances of any type."""

import copy
import pickle

import numpy as np
import pytest

from cprime import GaussianMixture, load

TYPES = ["full", "tied", "diag", "spherical", "isotropic"]
CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
types = pytest.mark.parametrize("kind", TYPES)


def rows(rng, n=400, centres=CENTRES, stretch=(1.0, 1.0)):
    labels = rng.choice(len(centres), size=n, p=SHARES)
    return centres[labels] + rng.normal(size=(n, 2)) * stretch


def streamed(batches, kind="full", **params):
    mixture = GaussianMixture(4, covariance_type=kind, random_state=0, **params)
    for X in batches:
        mixture.partial_fit(X)
    return mixture


def a_few_batches(n=3):
    rng = np.random.default_rng(8)
    return [rows(rng, 100) for _ in range(n)]


def assert_same(one, other):
    for name in ("weights_", "means_", "covariances_", "free_energy_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@types
@pytest.mark.parametrize("c_prime", [1, 2, None])
def test_a_long_stream_is_as_good_as_a_fit(kind, c_prime):
    rng = np.random.default_rng(1)
    batches = (rows(rng) for _ in range(150))
    mixture = streamed(batches, kind, c_prime=c_prime)
    unseen = rows(rng, 20_000)
    fit = GaussianMixture(
        4, covariance_type=kind, c_prime=c_prime, means_init=CENTRES
    ).fit(rows(rng, 60_000))
    assert mixture.free_energy(unseen) > fit.free_energy(unseen) - 0.01
    assert (mixture.n_steps_, mixture.n_samples_seen_) == (150, 60_000)
    assert mixture.covariances_.shape == np.shape(fit.covariances_)


@types
def test_one_batch_is_one_iteration_of_em(kind):
    X = a_few_batches()[0]
    mixture = streamed([X], kind, means_init=CENTRES)
    with pytest.warns(match="did not converge"):
        fit = GaussianMixture(
            4, covariance_type=kind, means_init=CENTRES, max_iter=1, tol=0
        ).fit(X)
    np.testing.assert_allclose(mixture.means_, fit.means_, rtol=1e-10)
    np.testing.assert_allclose(mixture.covariances_, fit.covariances_, rtol=1e-10)
    np.testing.assert_allclose(mixture.weights_, fit.weights_, rtol=1e-10)


@types
def test_a_stream_that_changes_is_followed(kind):
    rng, moved = np.random.default_rng(2), CENTRES + np.array([1.5, -1.0])
    mixture = streamed([rows(rng) for _ in range(40)], kind)
    for _ in range(80):
        mixture.partial_fit(rows(rng, centres=moved))
    distances = np.linalg.norm(moved[:, None] - mixture.means_, axis=2)
    assert distances.min(axis=1).max() < 0.4


@types
def test_what_is_told_of_a_batch_is_how_it_fared_before(kind):
    first, second, third = a_few_batches()
    weights = np.random.default_rng(0).integers(1, 4, size=len(third))
    mixture = streamed([first, second], kind, c_prime=2)
    before = copy.deepcopy(mixture)
    mixture.partial_fit(third, sample_weight=weights)
    expected = before.free_energy(third, weights)
    assert mixture.free_energy_ == mixture.lower_bound_ == pytest.approx(expected)
    assert mixture.free_energy(third, weights) > mixture.free_energy_
    assert not hasattr(mixture, "gap_") and not hasattr(mixture, "trace_")


@types
def test_weights_are_repetitions(kind):
    first, second = a_few_batches(2)
    times = np.random.default_rng(3).integers(0, 3, size=len(second))
    weighted = streamed([first], kind).partial_fit(second, sample_weight=times)
    repeated = streamed([first], kind).partial_fit(np.repeat(second, times, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        weighted.covariances_, repeated.covariances_, rtol=1e-8, atol=1e-9
    )


@types
@pytest.mark.parametrize("factor", [2.0**-30, 2.0**200])
def test_units_do_not_matter(kind, factor):
    one = streamed(a_few_batches(), kind, reg_covar=None)
    other = streamed([factor * X for X in a_few_batches()], kind)
    np.testing.assert_allclose(other.means_, factor * one.means_, rtol=1e-12)
    np.testing.assert_allclose(
        other.covariances_ / factor / factor, one.covariances_, rtol=1e-9, atol=1e-12
    )


@types
@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda mixture: pickle.loads(pickle.dumps(mixture))]
)
def test_a_copy_goes_on_as_the_original_does(kind, again):
    *early, third = a_few_batches()
    mixture = streamed(early, kind)
    other = again(mixture)
    assert_same(mixture.partial_fit(third), other.partial_fit(third))


@types
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_model_file_keeps_the_stream(kind, dtype, tmp_path):
    *early, third = (X.astype(dtype) for X in a_few_batches())
    mixture = streamed(early, kind)
    mixture.save(tmp_path / "stream.cprime")
    other = load(tmp_path / "stream.cprime")
    assert_same(mixture.partial_fit(third), other.partial_fit(third))
    assert other.n_steps_ == 3


@types
def test_it_goes_on_from_a_fit_which_counts_by_its_weight(kind, tmp_path):
    rng = np.random.default_rng(4)
    X, batch = rows(rng, 4000), rows(rng, 40) + 0.5
    fit = GaussianMixture(4, covariance_type=kind, random_state=0).fit(X)
    fit.save(tmp_path / "fit.cprime")
    before, shapes = fit.means_.copy(), np.array(fit.covariances_)
    for mixture in (fit, load(tmp_path / "fit.cprime")):
        mixture.partial_fit(batch)
        assert (mixture.n_steps_, mixture.n_samples_seen_) == (2, 4040)
        moved = np.abs(mixture.means_ - before).max()
        assert 0.0 < moved < 0.1
        np.testing.assert_allclose(mixture.covariances_, shapes, rtol=0.1, atol=0.1)
        np.testing.assert_allclose(mixture.weights_.sum(), 1.0)


def test_parameters_set_by_hand_are_a_start():
    mixture = GaussianMixture(4, covariance_type="spherical")
    mixture.means_, mixture.weights_ = CENTRES, SHARES
    mixture.covariances_ = np.ones(4)
    mixture.partial_fit(a_few_batches()[0])
    assert mixture.n_steps_ == 1
    assert np.abs(mixture.means_ - CENTRES).max() < 1.0


def test_equal_weights_stay_equal():
    mixture = streamed(a_few_batches(), equal_weights=True)
    np.testing.assert_array_equal(mixture.weights_, np.full(4, 0.25))


def test_values_may_be_missing():
    rng = np.random.default_rng(5)
    batches = [rows(rng) for _ in range(60)]
    for X in batches:
        X[rng.random(X.shape) < 0.1] = np.nan
    mixture = streamed(batches, "diag", missing="marginalize")
    distances = np.linalg.norm(CENTRES[:, None] - mixture.means_, axis=2)
    assert distances.min(axis=1).max() < 0.4


def test_what_cannot_go_on_is_refused():
    mixture = streamed(a_few_batches(1))
    with pytest.raises(ValueError, match="n_components is 5 now"):
        mixture.set_params(n_components=5).partial_fit(a_few_batches()[0])
    mixture.set_params(n_components=4, covariance_type="diag")
    with pytest.raises(ValueError, match="goes on with 'full' covariances"):
        mixture.partial_fit(a_few_batches()[0])
    with pytest.raises(ValueError, match="n_samples=3, which should be >="):
        GaussianMixture(4).partial_fit(CENTRES[:3])
    with pytest.raises(ValueError, match="features"):
        streamed(a_few_batches(1)).partial_fit(np.zeros((10, 3)))


def test_a_batch_that_fails_leaves_all_as_it_was():
    mixture = streamed(a_few_batches(1))
    before = copy.deepcopy(mixture)
    with pytest.raises(ValueError, match="row 0"):
        mixture.partial_fit([[np.nan, 1.0]] * 5)
    assert_same(mixture, before)
    third = a_few_batches()[2]
    assert_same(mixture.partial_fit(third), before.partial_fit(third))


@types
def test_units_may_change_on_the_way(kind):
    stream = streamed(a_few_batches(2), kind)._stream_
    again = stream.in_units(type(stream.units)(2.0**-8, 2.0**-4)).in_units(stream.units)
    theta, same = stream.memory.theta, again.memory.theta
    np.testing.assert_array_equal(same.means, theta.means)
    np.testing.assert_array_equal(same.covariance, theta.covariance)
    assert theta.proportions is not None
    np.testing.assert_array_equal(same.proportions, theta.proportions)
