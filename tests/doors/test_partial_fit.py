"""A stream of batches is learned from, one call each, and no row of it is kept."""

import copy
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cprime import KMeans
from cprime.problem import Problem

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [18.0, 4.0]])
c_primes = pytest.mark.parametrize("c_prime", [1, 2, None])


def rows(rng, n=300, centres=CENTRES):
    """Return rows of unit variance about these centres."""
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 2))


def streamed(batches, **params):
    km = KMeans(**{"n_clusters": 5, "random_state": 0, **params})
    for X in batches:
        km.partial_fit(X)
    return km


def farthest(km, centres):
    """Return how far the worst found of these centres is from a fitted one."""
    distances = np.linalg.norm(centres[:, None] - km.cluster_centers_, axis=2)
    return distances.min(axis=1).max()


def a_few_batches(n=3):
    rng = np.random.default_rng(8)
    return [rows(rng, 60) for _ in range(n)]


def state(estimator):
    """Return everything an estimator is, as one number."""
    return joblib.hash(vars(estimator))


@c_primes
def test_a_long_stream_is_as_good_as_a_fit(c_prime):
    rng = np.random.default_rng(1)
    km = streamed((rows(rng) for _ in range(200)), c_prime=c_prime)
    unseen = rows(rng, 20_000)
    fit = KMeans(5, c_prime=c_prime, init=CENTRES).fit(rows(rng, 60_000))
    assert farthest(km, CENTRES) < 0.1
    assert km.variance_ == pytest.approx(1.0, abs=0.03)
    assert km.free_energy(unseen) > fit.free_energy(unseen) - 0.005
    assert (km.n_steps_, km.n_samples_seen_) == (200, 60_000)


@c_primes
def test_a_stream_that_changes_is_followed(c_prime):
    rng, moved = np.random.default_rng(2), CENTRES + np.array([4.0, -3.0])
    batches = [rows(rng) for _ in range(60)]
    km = streamed(batches, c_prime=c_prime)
    assert farthest(km, CENTRES) < 0.2
    for _ in range(120):
        km.partial_fit(rows(rng, centres=moved))
    assert farthest(km, moved) < 0.2


@c_primes
def test_what_is_told_of_a_batch_is_how_it_fared_before_it_was_learned(c_prime):
    first, second, third = a_few_batches()
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    km = streamed([first, second], c_prime=c_prime)
    before = copy.deepcopy(km)
    km.partial_fit(third, sample_weight=weights)
    assert km.labels_.tolist() == before.predict(third).tolist()
    assert km.free_energy_ == pytest.approx(before.free_energy(third, weights))
    assert km.inertia_ == pytest.approx(-before.score(third, sample_weight=weights))
    assert km.free_energy(third, weights) > km.free_energy_
    assert not hasattr(km, "gap_") and not hasattr(km, "trace_")


@c_primes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_everything_that_asks_for_parameters_works(c_prime, dtype, kind):
    km = streamed((kind(X.astype(dtype)) for X in a_few_batches()), c_prime=c_prime)
    X = a_few_batches(4)[3].astype(dtype)
    assert km.cluster_centers_.dtype == dtype
    labels = km.predict(X)
    assert km.to_sklearn().predict(X).tolist() == labels.tolist()
    assert km.predict_proba(X).argmax(axis=1).tolist() == labels.tolist()
    assert km.log_likelihood(X) - km.free_energy(X) == pytest.approx(km.gap(X))
    assert np.isfinite([km.bic(X), km.aic(X), km.score(X)]).all()
    assert km.score_samples(X).shape == (60,)
    assert km.transform(X).shape == (60, 5)
    assert km.sample(7)[0].shape == (7, 2)
    assert km.get_feature_names_out().tolist() == [f"kmeans{c}" for c in range(5)]


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda km: pickle.loads(pickle.dumps(km))]
)
def test_a_copy_goes_on_as_the_original_does(again):
    *early, third, fourth = a_few_batches(4)
    km = streamed(early, c_prime=2)
    other = again(km)
    for X in (third, fourth):
        km.partial_fit(X)
        other.partial_fit(X)
    assert state(other) == state(km)


def test_it_goes_on_from_a_fit_which_counts_by_its_weight():
    rng = np.random.default_rng(4)
    many, few = rng.normal(size=(1000, 2)), rng.normal(size=(10, 2)) + 5.0
    km = KMeans(1).fit(many).partial_fit(few)
    kept = (2.0**0.7 - 1.0) ** (10 / 505)
    total = kept * many.sum(axis=0) + few.sum(axis=0)
    np.testing.assert_allclose(km.cluster_centers_[0], total / (kept * 1000 + 10))
    assert (km.n_steps_, km.n_samples_seen_) == (2, 1010)


def test_a_fit_starts_afresh():
    X, *later = a_few_batches()
    km = streamed(later).fit(X)
    assert vars(km).keys() == vars(KMeans(5, random_state=0).fit(X)).keys()
    alone = KMeans(5, random_state=0).fit(X)
    np.testing.assert_array_equal(km.cluster_centers_, alone.cluster_centers_)
    assert not hasattr(km, "n_steps_")
    assert not hasattr(clone(streamed(later)), "cluster_centers_")
    # What comes after has only the fit to go on from.
    np.testing.assert_array_equal(
        km.partial_fit(X).cluster_centers_, alone.partial_fit(X).cluster_centers_
    )


def test_the_first_batch_is_one_iteration_of_a_fit():
    X = a_few_batches()[0]
    km = KMeans(5, init=X[:5]).partial_fit(X)
    means = [X[km.labels_ == c].mean(axis=0) for c in range(5)]
    np.testing.assert_allclose(km.cluster_centers_, means)
    within = np.sum((X - km.cluster_centers_[km.labels_]) ** 2)
    assert km.variance_ == pytest.approx(within / X.size)


@pytest.mark.parametrize("seen", [0, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_call_that_ends_early_changes_nothing(monkeypatch, seen, error):
    *early, X = a_few_batches(seen + 1)
    km = streamed(early)
    before = state(km)

    def stopped(*args, **kwargs):
        raise error

    monkeypatch.setattr(Problem, "sweep", stopped)
    with pytest.raises(error):
        km.partial_fit(X)
    assert state(km) == before
    if seen == 0:
        with pytest.raises(NotFittedError):
            km.predict(X)


def test_a_held_variance_is_held():
    km = streamed(a_few_batches(), variance=2.0, c_prime=None)
    assert km.variance_ == 2.0
    # And may be set to another while the stream goes on.
    X, before = a_few_batches()[0], copy.deepcopy(km)
    km.set_params(variance=3.0).partial_fit(X)
    assert km.variance_ == 3.0
    before.variance_ = 3.0
    assert km.free_energy_ == pytest.approx(before.free_energy(X))


@pytest.mark.parametrize("c_prime", [1, None])
def test_a_cluster_that_starves_is_given_a_row(c_prime):
    rng, far = np.random.default_rng(3), np.array([[500.0, 500.0]])
    start = np.vstack([CENTRES[:4], far])
    km = KMeans(5, init=start, c_prime=c_prime, variance_init=1.0)
    # One row holds a cluster where no other will ever come from.
    km.partial_fit(np.vstack([rows(rng), far]))
    assert np.abs(km.cluster_centers_[4] - far).max() < 1.0
    for _ in range(60):
        km.partial_fit(rows(rng))
    assert farthest(km, CENTRES) < 0.2


def test_the_spread_of_all_rows_is_remembered_as_one_cluster_is():
    """It says which variance is too small to mean anything."""
    km = streamed([X + i for i, X in enumerate(a_few_batches(5))], n_clusters=1)
    overall = km._stream_.overall
    np.testing.assert_allclose(overall.means, km.cluster_centers_)
    assert overall.covariance == pytest.approx(km.variance_)


def test_far_from_the_origin_nothing_cancels():
    batches = [X + 1e9 for X in a_few_batches(40)]
    near = streamed([X - 1e9 for X in batches])
    assert streamed(batches).variance_ == pytest.approx(near.variance_, rel=1e-6)


@pytest.mark.parametrize(
    "exponents", [(0, 450), (450, 0, 0), (-450, 0, -450), (0, -450)]
)
def test_batches_of_very_different_size(exponents):
    """Squares of such numbers, added up, would leave float64."""
    X = a_few_batches()[0]
    km = streamed([X * 2.0**e for e in exponents], init=X[:5] * 2.0 ** exponents[0])
    largest = max(exponents)
    # What is next to nothing beside the largest may as well be zero.
    others = [X * 2.0 ** (e - largest) for e in exponents]
    plain = streamed(others, init=others[0][:5])
    np.testing.assert_allclose(
        km.cluster_centers_ * 2.0**-largest, plain.cluster_centers_, rtol=1e-12
    )
    assert km.labels_.tolist() == plain.labels_.tolist()
    assert km.variance_ * 2.0**-largest * 2.0**-largest == pytest.approx(
        plain.variance_
    )


def test_data_too_large_for_their_variance_are_refused_as_in_a_fit():
    X, km = a_few_batches()[0], KMeans(5)
    with pytest.raises(ValueError, match="variance_ is too large"):
        km.partial_fit(X).partial_fit(X * 2.0**600)
    assert km.n_steps_ == 1


def test_centres_without_statistics_are_a_start():
    first, second, _ = a_few_batches()
    theirs = sklearn.cluster.KMeans(5, n_init=1, random_state=0).fit(first)
    ours = KMeans.from_sklearn(theirs).partial_fit(second)
    expected = KMeans(5, init=theirs.cluster_centers_).partial_fit(second)
    np.testing.assert_allclose(ours.cluster_centers_, expected.cluster_centers_)
    assert (ours.n_steps_, ours.n_samples_seen_) == (1, 60)


def test_progress_is_printed_on_request(capsys):
    streamed(a_few_batches(2), verbose=1)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Batch 1, free energy -") and "Batch 2" in second


def test_too_few_rows_to_start_from():
    X = a_few_batches()[0]
    with pytest.raises(
        ValueError, match=r"first batch has n_samples=4.*n_clusters=5.*init"
    ):
        streamed([X[:4]])
    # Later batches may be as small as they like, and with given centres the first too.
    assert streamed([X, X[:1]]).n_steps_ == 2
    assert streamed([X[:1]], init=X[:5]).n_steps_ == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.rename(columns={"b": "c"}), "unseen at fit time:\n- c"),
        (lambda X: X.to_numpy()[:, :1], "X has 1 features, but KMeans is expecting 2"),
        (lambda X: X.where(X["b"] != X["b"][7]), "NaN at row 7, column 0 ('a')"),
    ],
)
# An array in place of a frame is worth a warning even if it fits.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_a_batch_unlike_the_others_is_refused(change, message):
    first, second, _ = (pd.DataFrame(X, columns=["a", "b"]) for X in a_few_batches())
    km = KMeans(5).partial_fit(first)
    before = state(km)
    with pytest.raises(ValueError, match=re.escape(message)):
        km.partial_fit(change(second))
    assert state(km) == before


def test_the_number_of_clusters_stays():
    km = streamed(a_few_batches()).set_params(n_clusters=6)
    with pytest.raises(
        ValueError, match=r"goes on with the 5 clusters.*n_clusters is 6"
    ):
        km.partial_fit(a_few_batches()[0])


@pytest.mark.parametrize("c_prime", [1, 2])
def test_a_stream_that_was_saved_goes_on_as_if_nothing_had_been(tmp_path, c_prime):
    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(300, 3)) + 4 * rng.integers(3) for _ in range(6)]
    km = KMeans(3, c_prime=c_prime, random_state=0)
    for batch in batches[:3]:
        km.partial_fit(batch)
    km.save(tmp_path / "stream.cprime")
    again = KMeans.load(tmp_path / "stream.cprime")
    assert (again.n_steps_, again.n_samples_seen_) == (3, 900)
    for batch in batches[3:]:
        km.partial_fit(batch)
        again.partial_fit(batch)
    assert np.array_equal(again.cluster_centers_, km.cluster_centers_)
    assert (again.variance_, again.n_steps_) == (km.variance_, 6)
