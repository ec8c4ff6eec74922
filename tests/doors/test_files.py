"""A fit from a file is the fit of its rows, to the bit, whatever memory it is given."""

import gzip
import re
import threading
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans, open_data
from cprime.rows.column import Column

RNG = np.random.default_rng(0)
CENTERS = 3.0 * RNG.normal(size=(9, 7))
X = (CENTERS[RNG.integers(9, size=40_000)] + RNG.normal(size=(40_000, 7))).astype("f4")
NAMES = [f"f{i}" for i in range(7)]
# As little as there can be: a block is a leaf.
LITTLE = 2**20
WORK = {"evaluations", "seconds", "seeding_", "evaluations_"}

ESTIMATORS = [
    *(KMeans(9, init=X[:9], c_prime=c, max_iter=12) for c in (1, 3, None)),
    KMeans(9, init=X[:9], search="lazy", max_iter=12),
    KMeans(9, init=X[:9], c_prime=2, search="neighbours", n_neighbors=4),
    KMeans(9, init=X[:9], search="neighbours", n_neighbors=3, finish="partial"),
    KMeans(9, init=X[:9] + 1e4 * (np.arange(9) == 4)[:, None].astype("f4")),
    KMeans(80, init=X[:80], max_iter=20),
    KMeans(9, init="sampled-k-means++", n_init=3, random_state=3, max_iter=5),
    KMeans(9, init="k-means||", n_init=2, random_state=3, max_iter=5),
    SoftKMeans(9, init=X[:9], c_prime=2, stiffness=0.5, max_iter=8),
    SoftKMeans(3, init=X[:3], annealing=3.0, max_iter=8, random_state=0),
    FuzzyKMeans(9, init=X[:9], c_prime=3, max_iter=5),
    *(
        GaussianMixture(
            5, covariance_type=shape, c_prime=c, means_init=X[:5], max_iter=4, tol=0.0
        )
        for shape in ("full", "tied", "diag", "spherical", "isotropic")
        for c in (2, None)
    ),
    GaussianMixture(5, init_params="sampled-kmeans", random_state=0, max_iter=2),
    GaussianMixture(5, init_params="parallel-kmeans", random_state=0, max_iter=2),
]


def named(estimator):
    shape = getattr(estimator, "covariance_type", "")
    kind = type(estimator).__name__
    return f"{kind}-{shape}-{estimator.c_prime}-{getattr(estimator, 'search', '')}"


@pytest.fixture(scope="module")
def npy(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, X)
    return path


@pytest.fixture(scope="module")
def table():
    return pa.table(dict(zip(NAMES, X.T)))


def fitted(estimator, rows, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(rows, sample_weight=weights)


def assert_same_fit(one, other):
    for name, value in vars(one).items():
        if name.endswith("_") and name[0] != "_" and name not in WORK:
            assert_same(value, getattr(other, name), name)


def assert_same(value, other, name):
    if isinstance(value, dict):
        for part in value.keys() - WORK:
            assert_same(value[part], other[part], f"{name}[{part}]")
    else:
        assert np.array_equal(value, other), name


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_rows_on_disk_give_the_fit_of_rows_in_memory(npy, estimator, weighted):
    data = open_data(npy, memory=LITTLE)
    assert not data.in_memory
    weights = np.arange(len(X)) % 3.0 if weighted else None
    assert_same_fit(fitted(estimator, X, weights), fitted(estimator, data, weights))


@pytest.fixture(scope="module")
def many_clusters(tmp_path_factory):
    """Rows of so many clusters that bounds on distances pay."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 74))[rng.integers(200, size=20_001)]
    rows = (rows + 0.7 * rng.normal(size=rows.shape)).astype("f4")
    path = tmp_path_factory.mktemp("many") / "rows.npy"
    np.save(path, rows)
    return path, rows


@pytest.mark.parametrize(
    ("options", "share"),
    [({}, 0.6), ({"search": "lazy"}, 0.5), ({"c_prime": 3, "max_iter": 15}, 0.8)],
    ids=["exact", "lazy", "c_prime"],
)
def test_rows_on_disk_look_at_as_few_clusters_as_rows_in_memory(
    many_clusters, options, share
):
    path, rows = many_clusters
    km = KMeans(200, init=rows[:200], **{"max_iter": 30, "tol": 0.0, **options})
    data = open_data(path, memory=rows.nbytes - 1)
    assert not data.in_memory
    expected, found = fitted(km, rows), fitted(km, data)
    assert_same_fit(expected, found)
    assert found.evaluations_ == expected.evaluations_
    in_full = len(rows) * 200 * (found.n_iter_ + 2)
    assert found.evaluations_ < share * in_full


def test_rows_on_disk_keep_bounds_of_as_many_blocks_as_memory_holds(many_clusters):
    path, rows = many_clusters
    km = KMeans(200, init=rows[:200], max_iter=30, tol=0.0)
    expected = fitted(km, rows)
    work = []
    for memory in (2_000_000, 4_000_000, rows.nbytes - 1):
        found = fitted(km, open_data(path, memory=memory))
        assert_same_fit(expected, found)
        work.append(found.evaluations_)
    in_full = len(rows) * 200 * (expected.n_iter_ + 2)
    assert in_full > work[0] > work[1] > work[2] == expected.evaluations_


@pytest.mark.parametrize("kernel", ["native", "reference"])
def test_questions_are_answered_from_disk_as_from_memory(npy, kernel):
    data = open_data(npy, memory=LITTLE)
    km = KMeans(9, init=X[:9], c_prime=2, max_iter=3, kernel=kernel).fit(X)
    for ask in ("predict", "predict_proba", "score_samples", "transform"):
        expected = getattr(km, ask)(X)
        found = getattr(km, ask)(data)
        assert found.dtype == expected.dtype and np.array_equal(found, expected), ask
    for ask in ("score", "log_likelihood", "free_energy", "gap", "bic", "aic"):
        assert getattr(km, ask)(data) == getattr(km, ask)(X), ask
    sparse = km.predict_proba(data, c_prime=2, sparse=True)
    assert (sparse != km.predict_proba(X, c_prime=2, sparse=True)).nnz == 0
    assert np.array_equal(km.gap(data, per="row"), km.gap(X, per="row"))


@pytest.mark.parametrize("memory", [LITTLE, None], ids=["on disk", "in memory"])
def test_every_kind_of_file_holds_the_same_rows(tmp_path, table, memory):
    wide = X.astype("f8")
    np.save(tmp_path / "columns.npy", np.asfortranarray(X))
    np.save(tmp_path / "turned.npy", X.astype(">f4"))
    np.save(tmp_path / "wide.npy", wide)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=7_001)
    feather.write_feather(table, tmp_path / "rows.arrow")
    (tmp_path / "folder").mkdir()
    pq.write_table(table[:11_111], tmp_path / "folder" / "1.parquet")
    pq.write_table(table[11_111:], tmp_path / "folder" / "2.parquet")
    pq.write_table(table[:5], tmp_path / "folder" / "_ignored.parquet")
    sources = [
        *(tmp_path / name for name in ("columns.npy", "turned.npy", "rows.parquet")),
        *(tmp_path / name for name in ("rows.arrow", "folder")),
        ds.dataset(tmp_path / "rows.parquet"),
        table,
        lambda: (X[i : i + 999] for i in range(0, len(X), 999)),
    ]
    expected = fitted(ESTIMATORS[0], X)
    for source in sources:
        data = open_data(source, memory=memory)
        assert data.in_memory == (memory is None)
        assert (data.dtype, data.shape) == (np.float32, X.shape)
        assert np.array_equal(data.load(), X)
        assert data.fingerprint() == open_data(X).fingerprint()
        assert_same_fit(expected, fitted(ESTIMATORS[0], data))
    assert np.array_equal(open_data(tmp_path / "wide.npy", memory=memory).load(), wide)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
def test_text_is_read_as_it_is_written(tmp_path, ending):
    frame = pa.table(dict(zip(NAMES, X[:3000].T))).to_pandas()
    path = tmp_path / f"rows{ending}"
    frame.to_csv(path, index=False, sep="\t" if "tsv" in ending else ",")
    data = open_data(path)
    assert data.names == tuple(NAMES)
    assert np.array_equal(data.load().astype("f4"), X[:3000])
    frame.to_csv(path, index=False, header=False, sep="\t" if "tsv" in ending else ",")
    nameless = open_data(path)
    assert nameless.names is None and nameless.shape == (3000, 7)
    assert np.array_equal(nameless.load(), data.load())


def test_what_a_compressed_file_may_unpack_to(tmp_path):
    n_rows = 2**22 + 100_000
    text = b"1,2\n" * n_rows
    (tmp_path / "x.csv").write_bytes(text)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(text))
    message = (
        "has 16.* kB, but its rows take more than 67.1 MB, over 100 times .*gunzip"
    )
    with pytest.raises(ValueError, match=message):
        open_data(tmp_path / "x.csv.gz", memory=LITTLE, scratch=tmp_path)
    # Either way out is one.
    for path, memory in (("x.csv.gz", "70MB"), ("x.csv", LITTLE)):
        data = open_data(tmp_path / path, memory=memory, scratch=tmp_path)
        assert data.shape == (n_rows, 2) and not data.in_memory


def test_paths_go_anywhere_an_array_goes(tmp_path, npy, table):
    path = tmp_path / "rows.parquet"
    pq.write_table(table.append_column("name", pa.array(["a"] * len(X))), path)
    with pytest.raises(ValueError, match=r"Column 'name' of rows.parquet holds text"):
        KMeans(3).fit(path)
    km = KMeans(9, init=X[:9], max_iter=3).fit(open_data(path, "f*"))
    assert list(km.feature_names_in_) == NAMES and km.n_features_in_ == 7
    # Columns are found by their names, whatever else there is.
    assert np.array_equal(km.predict(str(path)), km.labels_)
    turned = table.select(NAMES[::-1])
    pq.write_table(turned, tmp_path / "turned.parquet")
    assert np.array_equal(km.predict(tmp_path / "turned.parquet"), km.labels_)
    assert np.array_equal(km.predict(npy), km.labels_)
    assert np.array_equal(km.fit(npy).predict(table), km.labels_)
    assert not hasattr(km, "feature_names_in_")


def test_k_means_plus_plus_of_a_file_is_its_parallel_form(npy):
    data = open_data(npy, memory=LITTLE)
    km = KMeans(9, random_state=0, max_iter=2).fit(data)
    assert km.seeding_ == "k-means||"
    asked = KMeans(9, init="k-means||", random_state=0, max_iter=2).fit(X)
    assert_same_fit(asked, km)
    assert KMeans(9, max_iter=2).fit(npy).seeding_ == "k-means++"
    mixture = GaussianMixture(3, max_iter=2, random_state=0, tol=1.0).fit(data)
    assert mixture.seeding_ == "parallel-kmeans"


def test_a_sample_is_still_there_by_name(npy):
    data = open_data(npy, memory=LITTLE)
    km = KMeans(9, init="sampled-k-means++", max_iter=2).fit(data)
    assert km.seeding_ == "sampled-k-means++"


@pytest.mark.parametrize(
    "init",
    ["random", "afk-mc2", "greedy-k-means++", lambda X, C, random_state: X[:C]],
)
def test_seedings_that_need_all_rows_in_memory_say_so(npy, init):
    data = open_data(npy, memory=LITTLE)
    message = f"needs all rows in memory, and those of {re.escape(data.origin)} do"
    with pytest.raises(ValueError, match=message):
        KMeans(3, init=init).fit(data)


@pytest.mark.parametrize("memory", [LITTLE, None], ids=["on disk", "in memory"])
def test_a_value_that_is_no_number_is_found(tmp_path, memory):
    wrong = X.copy()
    wrong[31_234, 5] = np.nan
    wrong[31_235, 2] = np.nan
    pq.write_table(pa.table(dict(zip(NAMES, wrong.T))), tmp_path / "rows.parquet")
    data = open_data(tmp_path / "rows.parquet", memory=memory)
    with pytest.raises(ValueError, match=r"NaN at row 31234, column 5 \('f5'\)"):
        KMeans(3).fit(data)


def test_very_large_numbers_are_rescaled_on_disk_too(tmp_path):
    huge = X.astype("f8") * 1e200
    np.save(tmp_path / "huge.npy", huge)
    data = open_data(tmp_path / "huge.npy", memory=LITTLE)
    weights = np.ones(len(X))
    weights[7] = 0.0
    km = GaussianMixture(
        3, covariance_type="spherical", means_init=huge[:3], max_iter=2, tol=0.0
    )
    with pytest.raises(ValueError, match="covariances_ are too large"):
        fitted(km, data, weights)
    np.save(tmp_path / "large.npy", huge * 1e-70)
    data = open_data(tmp_path / "large.npy", memory=LITTLE)
    km = KMeans(9, init=huge[:9] * 1e-70, max_iter=3, c_prime=2)
    assert_same_fit(fitted(km, huge * 1e-70, weights), fitted(km, data, weights))


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_standardized_columns_are_those_of_a_scaler(tmp_path, offset):
    wide = X.astype("f8") + offset
    wide[:, 3] = 7.0 + offset
    np.save(tmp_path / "wide.npy", wide)
    on_disk = open_data(tmp_path / "wide.npy", memory=LITTLE).standardized()
    in_memory = open_data(wide).standardized()
    scaler = StandardScaler().fit(wide)
    for found, expected in (
        (on_disk.shift, scaler.mean_),
        (on_disk.scale, scaler.scale_),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert np.array_equal(on_disk.shift, in_memory.shift)
    assert np.array_equal(on_disk.scale, in_memory.scale)
    scaler.mean_, scaler.scale_ = on_disk.shift, on_disk.scale
    assert np.array_equal(on_disk.load(), scaler.transform(wide))
    km = KMeans(9, init=in_memory.load()[:9], max_iter=3)
    assert_same_fit(fitted(km, in_memory), fitted(km, on_disk))
    wide[17, 2] = np.inf
    with pytest.raises(ValueError, match="holds inf at row 17, column 2"):
        open_data(wide).standardized()


@pytest.mark.parametrize("culprit", ["told of rows", "sums"])
def test_a_sweep_that_fails_leaves_no_threads_behind(npy, monkeypatch, culprit):
    def sweeping():
        names = [thread.name for thread in threading.enumerate()]
        return any(name.startswith("cprime-sweep") for name in names)

    def fail(*_):
        if sweeping():
            raise KeyboardInterrupt

    data = open_data(npy, memory=LITTLE)
    if culprit == "sums":
        monkeypatch.setattr(Column, "put", fail)
    else:
        data.on_rows = fail
    with pytest.raises(KeyboardInterrupt) as interrupt:
        KMeans(9, init=X[:9], c_prime=2).fit(data)
    # What it went through is still there, as in a notebook.
    assert interrupt.traceback
    assert not sweeping()


def test_an_interrupt_in_a_block_keeps_the_last_complete_iteration(npy):
    data = open_data(npy, memory=LITTLE)
    seen = []

    def interrupt(n_rows):
        seen.append(n_rows)
        # In the midst of a pass, however many rows a block has.
        if sum(seen) > 7.5 * len(X):
            raise KeyboardInterrupt

    data.on_rows = interrupt
    km = KMeans(9, init=X[:9], c_prime=2, tol=0.0)
    with pytest.raises(KeyboardInterrupt):
        km.fit(data)
    assert 1 <= km.n_iter_ < 8
    expected = fitted(KMeans(9, init=X[:9], c_prime=2, tol=0.0, max_iter=km.n_iter_), X)
    assert np.array_equal(
        km.trace_["free_energy"], expected.trace_["free_energy"][: km.n_iter_ + 1]
    )
