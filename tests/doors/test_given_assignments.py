"""A fit may start from the cluster of every row, such as labels of another method."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import cprime
from cprime import Checkpoint, FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

C = 6
N = 50_000
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3)) + 9.0 * rng.integers(0, 3, size=(N, 3))
# No clusters of anything, but every one has rows.
LABELS = np.concatenate([np.arange(C), rng.integers(0, C, size=N - C)])
MEANS = np.stack([X[c == LABELS].mean(axis=0) for c in range(C)])


@pytest.fixture(params=["array", "list", "sparse", "file"])
def kept(request, tmp_path):
    if request.param == "file":
        np.save(tmp_path / "X.npy", X)
        return cprime.open_data(tmp_path / "X.npy", memory=X.nbytes - 1)
    return {"array": X, "list": X.tolist(), "sparse": sp.csr_array(X)}[request.param]


@pytest.mark.parametrize("kernel", ["native", "reference"])
def test_a_fit_starts_from_the_means_of_each_clusters_rows(kept, kernel):
    ours = KMeans(C, init=LABELS, kernel=kernel).fit(kept)
    same = KMeans(C, init=MEANS, kernel=kernel).fit(kept)
    assert ours.seeding_ == "given assignment"
    assert np.array_equal(ours.labels_, same.labels_)
    assert ours.n_iter_ == same.n_iter_
    assert np.allclose(ours.cluster_centers_, same.cluster_centers_, rtol=1e-12)


def test_a_row_of_weight_two_counts_twice_in_them():
    weights = rng.integers(0, 3, size=len(X))
    twice = KMeans(C, init=LABELS.repeat(weights)).fit(X.repeat(weights, axis=0))
    weighted = KMeans(C, init=LABELS).fit(X, sample_weight=weights)
    assert np.allclose(weighted.cluster_centers_, twice.cluster_centers_, rtol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(C, search="lazy", eps=1e9),
        *(
            GaussianMixture(
                C, covariance_type=of, c_prime=1, search="lazy", eps=1e9, tol=0.0
            )
            for of in ("full", "tied", "diag", "spherical", "isotropic")
        ),
        KMeans(C, search="neighbours", n_neighbors=1, n_explore=0, finish="partial"),
        GaussianMixture(
            C,
            covariance_type="diag",
            search="neighbours",
            c_prime=1,
            n_neighbors=1,
            n_explore=0,
            finish="partial",
        ),
    ],
    ids=lambda estimator: (
        f"{estimator.search} {getattr(estimator, 'covariance_type', 'k-means')}"
    ),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_search_that_leaves_no_cluster_keeps_the_assignment(estimator, kept):
    if sp.issparse(kept) and isinstance(estimator, GaussianMixture):
        pytest.skip("Mixtures take dense rows.")
    name = "init" if hasattr(estimator, "init") else "init_params"
    estimator.set_params(**{name: LABELS}, max_iter=5).fit(kept)
    centers = getattr(estimator, "cluster_centers_", None)
    if centers is None:
        centers = estimator.means_
    else:
        assert np.array_equal(estimator.labels_, LABELS)
    assert np.allclose(centers, MEANS, rtol=1e-12)


@pytest.mark.parametrize("search", ["exact", "lazy", "neighbours"])
def test_labels_of_a_fit_are_where_it_stays(search):
    options = {"search": search, "n_neighbors": C, "tol": 0.0}
    before = KMeans(C, random_state=0, **options).fit(X)
    after = KMeans(C, init=pd.Series(before.labels_), **options).fit(X)
    # Neighbours alone do not say that a fit has ended.
    assert after.n_iter_ == 1 or search == "neighbours"
    assert np.array_equal(after.labels_, before.labels_)
    assert after.free_energy_ == pytest.approx(before.free_energy_, abs=1e-4)


@pytest.mark.parametrize("door", [SoftKMeans, FuzzyKMeans])
def test_soft_clusters_start_from_the_same_means(door):
    ours, same = door(C, init=LABELS).fit(X), door(C, init=MEANS).fit(X)
    assert ours.seeding_ == "given assignment"
    assert np.allclose(ours.cluster_centers_, same.cluster_centers_, rtol=1e-6)


def of_rows(covariance_type):
    """Return the covariances of the rows of each cluster, for scikit-learn's types."""
    spreads = np.stack([np.cov(X[c == LABELS].T, bias=True) for c in range(C)])
    diagonals = np.diagonal(spreads, axis1=1, axis2=2)
    shares = np.bincount(LABELS) / len(X)
    return {
        "full": spreads,
        "tied": np.tensordot(shares, spreads, 1),
        "diag": diagonals,
        "spherical": diagonals.mean(axis=1),
        "isotropic": shares @ diagonals.mean(axis=1),
    }[covariance_type]


@pytest.mark.parametrize(
    "covariance_type", ["full", "tied", "diag", "spherical", "isotropic"]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_mixture_starts_from_proportions_means_and_covariances(covariance_type):
    mixture = GaussianMixture(
        C, covariance_type=covariance_type, init_params=LABELS, max_iter=0
    ).fit(X)
    assert mixture.seeding_ == "given assignment"
    assert np.allclose(mixture.weights_, np.bincount(LABELS) / len(X), rtol=1e-12)
    assert np.allclose(mixture.means_, MEANS, rtol=1e-12)
    assert np.allclose(mixture.covariances_, of_rows(covariance_type), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_else_is_given_holds():
    weights = np.arange(1.0, C + 1) / np.arange(1.0, C + 1).sum()
    options = {"covariance_type": "diag", "max_iter": 0, "weights_init": weights}
    mixture = GaussianMixture(C, init_params=LABELS, **options).fit(X)
    assert np.allclose(mixture.weights_, weights)
    assert np.allclose(mixture.means_, MEANS)
    elsewhere = GaussianMixture(
        C, init_params=LABELS, means_init=MEANS + 1.0, **options
    )
    assert np.allclose(elsewhere.fit(X).means_, MEANS + 1.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_mixture_with_missing_values_starts_from_one():
    holes = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    options = {"covariance_type": "diag", "missing": "marginalize"}
    start = GaussianMixture(C, init_params=LABELS, max_iter=0, **options).fit(holes)
    assert np.allclose(start.weights_, np.bincount(LABELS) / N, rtol=1e-12)
    found = GaussianMixture(C, init_params=LABELS, **options).fit(holes)
    assert found.free_energy_ > start.free_energy_


def test_a_stream_starts_from_that_of_its_first_batch():
    model = KMeans(C, init=LABELS[:500]).partial_fit(X[:500]).partial_fit(X[500:1200])
    means = [X[:500][LABELS[:500] == c].mean(axis=0) for c in range(C)]
    same = KMeans(C, init=means).partial_fit(X[:500]).partial_fit(X[500:1200])
    assert np.allclose(model.cluster_centers_, same.cluster_centers_, rtol=1e-12)


def changed(row, value):
    labels = LABELS.astype(float)
    labels[row] = value
    return labels


@pytest.mark.parametrize("value", [-1, C, 1.5, np.nan])
@pytest.mark.parametrize("door", ["init", "init_params"])
def test_an_impossible_cluster_is_named_with_its_row(value, door):
    estimator = KMeans(C) if door == "init" else GaussianMixture(C)
    estimator.set_params(**{door: changed(17, value)})
    with pytest.raises(
        ValueError,
        match=rf"{door} puts row 17 into cluster {value:g} \(1 such rows in all\): "
        "give one of every row, a whole number from 0 to 5",
    ):
        estimator.fit(X)


def test_too_few_of_them_are_refused():
    with pytest.raises(
        ValueError,
        match=r"init has shape \(10,\), but X has 50000 rows: .* from 0 to 5\.",
    ):
        KMeans(C, init=LABELS[:10]).fit(X)


def test_a_cluster_of_no_weight_is_named():
    weights = np.where(LABELS == 4, 0.0, 1.0)
    with pytest.raises(
        ValueError,
        match=r"init puts no row of positive weight into cluster 4 \(1 such clusters "
        r"in all\): give every cluster a row, or ask for fewer\.",
    ):
        KMeans(C, init=LABELS).fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (LABELS[:, None], r"init_params has shape \(50000, 1\), but X has 50000 rows"),
        (np.array(3), r"init_params has shape \(\), but X has 50000 rows"),
        ([[0], [1, 2]], "init_params is not a table of numbers"),
        (pd.DataFrame({"a": LABELS}), r"init_params has shape \(50000, 1\)"),
    ],
    ids=["a column", "one number", "ragged", "a frame"],
)
def test_what_is_no_assignment_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        GaussianMixture(C, init_params=given).fit(X)


def test_labels_in_a_column_are_told_from_centres():
    with pytest.raises(ValueError, match="cluster of every row, give them in one dim"):
        KMeans(C, init=LABELS[:, None]).fit(X)


def test_text_is_refused_with_its_row():
    with pytest.raises(ValueError, match="init holds the text 'a' at row 1"):
        KMeans(2, init=[0, "a", 1]).fit(X[:3])


def test_one_start_is_all_there_is():
    with pytest.warns(RuntimeWarning, match="Explicit initial assignment passed"):
        model = KMeans(C, init=LABELS, n_init=3).fit(X)
    assert len(model.restarts_["inertia"]) == 1


def test_it_does_not_go_on_from_that_of_another_assignment(tmp_path):
    KMeans(C, init=LABELS, max_iter=2).fit(X, checkpoint=Checkpoint(tmp_path, every=0))
    other = KMeans(C, init=np.roll(LABELS, 1), max_iter=2)
    with pytest.raises(ValueError, match="init has different values"):
        other.fit(X, checkpoint=Checkpoint(tmp_path, resume=True))


def test_a_model_file_keeps_it(tmp_path):
    model = KMeans(C, init=LABELS.astype(object)).fit(X)
    model.save(tmp_path / "model.cprime")
    again = KMeans.load(tmp_path / "model.cprime")
    assert np.array_equal(again.init, LABELS)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_another_library_gets_the_centres_not_the_assignment():
    assert KMeans(C, init=LABELS).fit(X).to_sklearn().init == "k-means++"
    mixture = GaussianMixture(C, init_params=LABELS).fit(X)
    assert mixture.to_sklearn().init_params == "kmeans"


def test_rows_of_a_cluster_have_none():
    array = pytest.importorskip("dask.array")
    rows = array.from_array(X, chunks=(10_000, 3))
    for estimator in (KMeans(C, init=LABELS), GaussianMixture(C, init_params=LABELS)):
        with pytest.raises(TypeError, match="not supported for rows on the workers"):
            estimator.fit(rows)
