"""Dask arrays and DataFrames in, Dask arrays out; what cannot be is said in words."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from cprime import AutoMixture, Checkpoint, FuzzyKMeans, GaussianMixture, KMeans
from cprime.fitting import gap

N, D = 5003, 3


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)) + 4 * rng.integers(0, 3, size=(N, 1))


@pytest.fixture(scope="module")
def fitted(X):
    return KMeans(4, init="k-means||", random_state=0).fit(X)


def lazy(X, chunks=1000):
    return da.from_array(X, chunks=(chunks, X.shape[1]))


def frame(X, npartitions=4):
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    return dd.from_pandas(table, npartitions=npartitions)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform"])
@pytest.mark.parametrize("kind", [lazy, frame])
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_predictions_are_lazy_and_those_of_the_rows(fitted, X, method, kind):
    found = getattr(fitted, method)(kind(X))
    expected = getattr(fitted, method)(X)
    assert isinstance(found, da.Array) and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.compute(), expected)


def test_nothing_is_computed_before_it_is_asked_for(fitted):
    def must_not_run(chunk):
        raise AssertionError("this chunk was not asked for")

    hidden = da.zeros((4000, D), chunks=(1000, D)).map_blocks(
        must_not_run, dtype=float, meta=np.empty((0, 0))
    )
    fitted.predict(hidden)
    fitted.score_samples(hidden)


def test_densities_keep_their_dtype(X):
    mixture = GaussianMixture(2, init_params="k-means||", random_state=0)
    mixture.fit(lazy(X.astype(np.float32)))
    found = mixture.score_samples(lazy(X.astype(np.float32)))
    assert found.dtype == np.float32
    expected = mixture.score_samples(X.astype(np.float32))
    np.testing.assert_array_equal(found.compute(), expected)
    assert mixture.predict(lazy(X)).dtype == np.int64


@pytest.mark.parametrize(
    "measure", ["score", "free_energy", "log_likelihood", "gap", "bic", "aic"]
)
def test_measures_have_the_bits_of_the_rows_in_memory(fitted, X, measure):
    weights = np.random.default_rng(1).random(N)
    found = getattr(fitted, measure)(
        lazy(X), sample_weight=da.from_array(weights, chunks=700)
    )
    assert found == getattr(fitted, measure)(X, sample_weight=weights)


def test_a_frame_is_fitted_by_name_and_gives_labels_in_its_partitions(fitted, X):
    table = frame(X)
    found = KMeans(4, init="k-means||", random_state=0).fit(table)
    np.testing.assert_array_equal(found.cluster_centers_, fitted.cluster_centers_)
    assert found.feature_names_in_.tolist() == ["f0", "f1", "f2"]
    lengths = tuple(table.map_partitions(len).compute())
    assert found.labels_.chunks == (lengths,)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(table[["f1", "f0", "f2"]])


def test_weights_may_be_a_column_an_array_or_a_number(X):
    weights = np.random.default_rng(1).random(N)
    expected = KMeans(4, init="k-means||", random_state=0).fit(X, sample_weight=weights)
    column = dd.from_pandas(pd.Series(weights), npartitions=3)
    for given in (weights, da.from_array(weights, chunks=999), column):
        found = KMeans(4, random_state=0).fit(lazy(X), sample_weight=given)
        np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
        assert found.inertia_ == expected.inertia_


def test_chunks_of_unknown_length_are_counted(X):
    some = lazy(X)
    found = KMeans(3, random_state=0).fit(some[some[:, 0] > 0])
    expected = KMeans(3, random_state=0, init="k-means||").fit(X[X[:, 0] > 0])
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_batches_may_be_collections(X):
    found = KMeans(3, random_state=0)
    expected = KMeans(3, random_state=0, init="k-means||")
    for batch in (slice(0, 3000), slice(3000, N)):
        found.partial_fit(lazy(X)[batch])
        expected.partial_fit(X[batch])
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_values_out_of_scale_are_those_of_a_fit_in_memory(X):
    weights = (np.arange(N) % 3 > 0) * 2.0**-200
    huge = X * 2.0**450
    expected = KMeans(3, random_state=0, init="k-means||").fit(huge, None, weights)
    found = KMeans(3, random_state=0).fit(
        lazy(huge), sample_weight=da.from_array(weights, chunks=800)
    )
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)


def test_a_fit_goes_on_from_its_checkpoint_in_other_chunks(X, tmp_path):
    def stop(done):
        if done.iteration == 3:
            raise KeyboardInterrupt

    def estimator():
        return KMeans(6, random_state=0, tol=0, max_iter=12, init="k-means||")

    folder = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        estimator().fit(lazy(X), checkpoint=Checkpoint(folder, every=0), progress=stop)
    kept = Checkpoint(folder, every=0, resume=True)
    resumed = estimator().fit(lazy(X, 1777), checkpoint=kept)
    assert "iteration 3" in kept.message
    expected = estimator().fit(X)
    np.testing.assert_array_equal(resumed.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(resumed.labels_.compute(), expected.labels_)
    assert resumed.evaluations_ == expected.evaluations_
    other = Checkpoint(folder, every=0, resume=True)
    with pytest.raises(ValueError, match="X has different values"):
        estimator().fit(lazy(X + 1.0), checkpoint=other)


def with_one(X, value, row=2345, column=1):
    X = X.copy()
    X[row, column] = value
    return X


def test_a_row_that_is_no_number_is_named(fitted, X):
    wrong = with_one(X, np.nan)
    with pytest.raises(ValueError, match="NaN at row 2345, column 1; 1 value"):
        KMeans(3).fit(lazy(wrong))
    with pytest.raises(ValueError, match="NaN at row 2345, column 1"):
        fitted.predict(lazy(wrong)).compute()
    with pytest.raises(ValueError, match="infinity at row 2345"):
        fitted.log_likelihood(lazy(with_one(X, np.inf)))
    named = KMeans(3, random_state=0).fit(frame(X))
    with pytest.raises(ValueError, match=r"NaN at row \d+ of chunk 1, column 1 \('f1'"):
        named.predict(frame(wrong)).compute()
    with pytest.raises(ValueError, match=r"X holds 1e\+200 at row 2345, column 1"):
        fitted.score_samples(lazy(with_one(X, 1e200))).compute()


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda X: KMeans(3).fit(X[:0]), "a Dask array without any rows"),
        (lambda X: KMeans(3).fit(X[:2]), "n_samples=2 should be >= n_clusters=3"),
        (lambda X: KMeans(3).fit(X[:, 0]), "of 1 dimension"),
        (lambda X: KMeans(3).fit(X.astype(complex)), "complex128, not of numbers"),
        (lambda X: KMeans(3, init="random").fit(X), "use init='k-means||'"),
        (lambda X: KMeans(3).fit(X, sample_weight=da.ones(9)), "has 9 entries"),
        (lambda X: KMeans(3).fit(X, sample_weight=X), "of 2 dimensions"),
        (lambda X: KMeans(3).fit(X, sample_weight=0 * X[:, 0]), "All sample_weight"),
        (lambda X: KMeans(3).fit(X, sample_weight=-(X[:, 0] ** 2)), "of row 0 is -"),
        (
            lambda X: KMeans(3).fit(X.compute(), sample_weight=X[:, 0]),
            "is a Dask collection, but X is not",
        ),
        (
            lambda X: GaussianMixture(
                2, covariance_type="diag", missing="marginalize"
            ).fit(X),
            "impute missing values first",
        ),
        (lambda X: AutoMixture().fit(X), "AutoMixture needs all rows in memory"),
        (
            lambda X: FuzzyKMeans(2).fit(X).predict_proba(X, sparse=True),
            "Sparse results are not supported",
        ),
    ],
)
def test_what_cannot_be_is_said(X, fit, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        fit(lazy(X))
    assert message in str(caught.value)


def test_text_and_sparse_chunks_are_refused(X):
    table = pd.DataFrame({"size": [1.0, 2.0], "name": ["a", "b"]})
    with pytest.raises(TypeError, match=r"in column 1 \('name'\), not numbers"):
        KMeans(2).fit(dd.from_pandas(table, npartitions=1))
    import scipy.sparse as sp

    sparse = lazy(X).map_blocks(sp.csr_matrix, dtype=float, meta=sp.csr_matrix((0, 0)))
    with pytest.raises(TypeError, match="sparse rows are not supported"):
        KMeans(2).fit(sparse)


def test_an_estimator_is_unchanged_by_a_fit_that_fails(X):
    estimator = KMeans(3, random_state=0).fit(lazy(X))
    before = estimator.cluster_centers_.copy()
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(lazy(with_one(X[:, :2], np.nan)))
    np.testing.assert_array_equal(estimator.cluster_centers_, before)
    assert estimator.n_features_in_ == D


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_of_a_sample_is_that_of_the_rows_in_memory(X, monkeypatch, weighted):
    monkeypatch.setattr(gap, "MANY_ROWS", 1_000)
    monkeypatch.setattr(gap, "MANY_DISTANCES", 1_000)
    monkeypatch.setattr(gap, "SAMPLED_ROWS", 500)
    weights = np.random.default_rng(1).exponential(size=N)
    given = {"sample_weight": weights} if weighted else {}
    of_memory = KMeans(4, init=X[:4]).fit(X, **given)
    if weighted:
        given = {"sample_weight": da.from_array(weights, chunks=1000)}
    on_cluster = KMeans(4, init=X[:4]).fit(lazy(X), **given)
    assert on_cluster.gap_standard_error_ > 0.0
    assert on_cluster.gap_ == of_memory.gap_
    assert on_cluster.gap_standard_error_ == of_memory.gap_standard_error_
