"""Do rows that a user has on a GPU stay there, and is all found that numpy finds?"""

import pickle
from functools import partial

import numpy as np
import pytest

import cprime
from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.blocks import Block
from cprime.kernels import get_kernel, kernel_for, surveys
from cprime.plots.clusters import clusters_of, shares_of

for package in ("torch", "triton"):
    pytest.importorskip(package, reason="cprime[gpu] is not installed: make test-gpu")

import torch

from cprime.kernels.gpu.devices import NoRoomError, device
from cprime.kernels.gpu.tensors import DeviceRows

# Triton's interpreter computes with numpy, which warns of infinities it meets.
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

ATTRIBUTES = (
    *("cluster_centers_", "labels_", "means_", "weights_", "covariances_"),
    *("precisions_", "precisions_cholesky_"),
)
METHODS = ("predict", "predict_proba", "score_samples", "transform")
OF_ALL = ("score", "free_energy", "gap", "bic")
FITS = {
    "k-means": partial(KMeans, 4),
    "k-means-C'": partial(KMeans, 4, c_prime=2, max_iter=4),
    "k-means||": partial(KMeans, 4, init="k-means||"),
    "random": partial(KMeans, 4, init="random", n_init=2),
    "afk-mc2": partial(KMeans, 4, init="afk-mc2"),
    "lazy": partial(KMeans, 4, search="lazy"),
    "EM": partial(SoftKMeans, 3, max_iter=3),
    "isotropic": partial(GaussianMixture, 3, covariance_type="isotropic", max_iter=2),
    "spherical": partial(
        GaussianMixture, 3, covariance_type="spherical", c_prime=2, max_iter=3
    ),
    "diag": partial(GaussianMixture, 3, covariance_type="diag", max_iter=2),
}


def data(N=100, D=3, C=4, seed=0):
    rng = np.random.default_rng(seed)
    means = 2.0 * rng.standard_normal((C, D))
    return (means[rng.integers(C, size=N)] + rng.standard_normal((N, D))).astype("f4")


def there(X):
    return torch.tensor(X, device=device())


def of(tensor):
    """Return what a tensor on the device holds, and see that it is one."""
    assert isinstance(tensor, torch.Tensor)
    assert tensor.device == device()
    return tensor.detach().cpu().numpy()


def assert_same(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, what
    assert found.tobytes() == expected.tobytes(), what


class OnHost(torch.Tensor):
    """A tensor that was copied to the host, where a GPU's own cannot be read."""


@pytest.fixture
def read(monkeypatch):
    """Return the bytes of every tensor that the host reads, copied there as it must."""
    as_array, to_host, sizes = torch.Tensor.numpy, torch.Tensor.cpu, []

    def numpy(tensor):
        assert isinstance(tensor, OnHost), "a tensor on a GPU has no array"
        plain = to_host(tensor.as_subclass(torch.Tensor))
        sizes.append(plain.nbytes)
        return as_array(plain)

    def refuse(tensor, *args, **options):
        raise AssertionError("a tensor on a GPU has no array")

    monkeypatch.setattr(torch.Tensor, "cpu", lambda t: t.as_subclass(OnHost))
    monkeypatch.setattr(torch.Tensor, "numpy", numpy)
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return sizes


@pytest.mark.parametrize("kind", FITS)
def test_a_fit_of_a_tensor_has_the_bits_of_that_of_an_array(kind):
    X = data()
    expected = FITS[kind](kernel="gpu", random_state=0).fit(X)
    found = FITS[kind](random_state=0).fit(there(X))
    n_seen = 0
    for name in ATTRIBUTES:
        if np.ndim(getattr(expected, name, 0.0)) > 0:
            n_seen += 1
            assert_same(of(getattr(found, name)), getattr(expected, name), name)
    assert n_seen >= 2
    assert found.free_energy_ == expected.free_energy_
    assert found.gap_ == expected.gap_
    assert found.evaluations_ == expected.evaluations_
    for name in METHODS:
        if hasattr(expected, name):
            here = getattr(expected, name)(X)
            assert_same(of(getattr(found, name)(there(X))), here, name)
    for name in OF_ALL:
        assert getattr(found, name)(there(X)) == getattr(expected, name)(X), name
    lost = found.gap(there(X), per="row")
    assert_same(of(lost), expected.gap(X, per="row"), "gap")


@pytest.mark.parametrize("kind", ["k-means", "k-means-C'", "k-means||", "EM", "diag"])
def test_rows_stay_where_they_are(kind, read):
    X = there(np.tile(data(), (1, 8)))
    fitted = FITS[kind](random_state=0).fit(X)
    for name in METHODS:
        if hasattr(fitted, name):
            getattr(fitted, name)(X)
    for name in OF_ALL:
        getattr(fitted, name)(X)
    assert max(read) < X.nbytes / 2


def test_a_copy_to_the_host_would_be_noticed(read):
    X = there(data())
    DeviceRows.of(X).here()
    assert max(read) == X.nbytes
    with pytest.raises(AssertionError, match="has no array"):
        np.asarray(X)


def test_rows_of_no_fit_are_no_array():
    with pytest.raises(TypeError, match=r"give a copy there, X\.cpu\(\)\.numpy\(\)"):
        np.asarray(DeviceRows.of(there(data())))


@pytest.mark.parametrize("dtype", ["f2", "f8", "i4", "?"])
def test_other_numbers_become_what_those_of_numpy_become(dtype):
    X = np.round(data()).astype(dtype)
    found = KMeans(3, random_state=0).fit(there(X))
    expected = KMeans(3, random_state=0, kernel="gpu").fit(X)
    assert_same(of(found.cluster_centers_), expected.cluster_centers_, dtype)
    assert_same(of(found.transform(there(X))), expected.transform(X), dtype)


@pytest.mark.parametrize("size", [1e-130, 1e130])
def test_very_small_and_large_values_are_in_units_of_their_own(size):
    X = size * data().astype("f8")
    found = KMeans(3, random_state=0).fit(there(X))
    expected = KMeans(3, random_state=0, kernel="gpu").fit(X)
    assert_same(of(found.cluster_centers_), expected.cluster_centers_, "centers")
    assert_same(of(found.score_samples(there(X))), expected.score_samples(X), "L")


@pytest.mark.parametrize("lies", [lambda X: X.T.contiguous().T, lambda X: X[::2]])
def test_a_tensor_may_lie_in_memory_as_it_likes(lies):
    X = lies(there(data()))
    found = KMeans(3, random_state=0).fit(X)
    expected = KMeans(3, random_state=0).fit(X.contiguous())
    assert torch.equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("place", [np.asarray, there])
def test_weights_may_be_here_or_there(place):
    X, weights = data(), np.random.default_rng(1).integers(0, 3, 100).astype("f8")
    found = KMeans(3, random_state=0).fit(there(X), sample_weight=place(weights))
    expected = KMeans(3, random_state=0, kernel="gpu").fit(X, sample_weight=weights)
    assert_same(of(found.labels_), expected.labels_, "labels")
    score = found.score(there(X), sample_weight=place(weights))
    assert score == expected.score(X, sample_weight=weights)


def test_starts_may_be_there():
    X = data()
    found = KMeans(4, init=there(X[:4]), n_init=1, max_iter=2).fit(there(X))
    expected = KMeans(4, init=X[:4], n_init=1, max_iter=2, kernel="gpu").fit(X)
    assert_same(of(found.labels_), expected.labels_, "labels")


def test_an_init_that_is_called_gets_the_tensor():
    X = there(data())

    def first_rows(given, C, random_state):
        assert given is X
        return given[:C]

    found = KMeans(4, init=first_rows, n_init=1).fit(X)
    expected = KMeans(4, init=X[:4], n_init=1).fit(X)
    assert torch.equal(found.labels_, expected.labels_)


def test_a_model_does_not_mind_where_it_was_fitted():
    X = data()
    on_gpu, in_memory = (KMeans(4, random_state=0).fit(of) for of in (there(X), X))
    assert_same(on_gpu.predict(X), in_memory.labels_, "here")
    assert_same(of(in_memory.predict(there(X))), in_memory.labels_, "there")


@pytest.mark.parametrize("kind", ["k-means", "diag"])
def test_what_looks_at_a_model_reads_it_from_the_device(kind, read, tmp_path):
    X = data()
    found = FITS[kind](random_state=0).fit(there(X))
    assert found.predict(X).dtype == found.predict(there(X)).cpu().numpy().dtype
    found.save(tmp_path / "a.cprime")
    assert_same(cprime.load(tmp_path / "a.cprime").predict(X), found.predict(X), "")
    found.to_sklearn().predict(X)
    assert found._repr_html_()
    assert np.isclose(shares_of(found).sum(), 1.0)
    assert clusters_of(found).means.shape[1] == 3
    found.sample(3)


def test_a_model_can_be_pickled():
    X = data()
    found = KMeans(4, random_state=0).fit(there(X))
    again = pickle.loads(pickle.dumps(found))
    assert torch.equal(again.predict(there(X)), found.labels_)


def test_a_mixture_goes_on_from_its_fit():
    X = there(data())
    mixture = FITS["diag"](random_state=0, warm_start=True).fit(X)
    before = mixture.free_energy_
    assert mixture.fit(X).free_energy_ > before


def test_those_who_watch_see_the_tensor_and_change_nothing():
    X, seen = there(data()), []
    watched = KMeans(4, random_state=0).fit(X, progress=seen.append)
    alone = KMeans(4, random_state=0).fit(X)
    assert seen
    assert torch.equal(watched.labels_, alone.labels_)
    assert torch.equal(watched.fit_predict(X), alone.labels_)
    assert torch.equal(alone.fit_transform(X), watched.transform(X))


def test_a_cluster_without_rows_moves_to_one_of_the_tensor():
    X = data(N=60)
    init = np.concatenate([X[:3], [[1e3, 0, 0]]]).astype("f4")
    found = KMeans(4, init=init, n_init=1).fit(there(X))
    expected = KMeans(4, init=init, n_init=1, kernel="native").fit(X)
    assert_same(of(found.labels_), expected.labels_, "labels")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_there(wrong):
    X = data()
    X[[17, 40], [2, 0]] = wrong
    fitted = KMeans(3).fit(data())
    for ask in (KMeans(3).fit, fitted.predict):
        said = []
        for place in (there, np.asarray):
            with pytest.raises(ValueError, match="row 17, column 2; 2 values") as error:
                ask(place(X))
            said.append(str(error.value))
        assert said[0] == said[1]


def test_values_too_far_from_the_rest_are_found_there():
    X = data().astype("f8")
    fitted = KMeans(3).fit(X)
    X[5, 1] = 1e300
    with pytest.raises(ValueError, match=r"X holds 1e\+300 at row 5, column 1"):
        fitted.predict(there(X))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (torch.ones(5), "Expected 2D array, got 1D array instead"),
        (torch.ones(5, 2, 2), "Expected 2D array, got 3D array instead"),
        (torch.ones(0, 2), r"Found array with 0 sample\(s\)"),
        (torch.ones(5, 0), r"Found array with 0 feature\(s\)"),
        (torch.ones(2, 2), "n_samples=2 should be >= n_clusters=3"),
        (torch.ones(5, 2, dtype=torch.complex64), "Complex data not supported"),
    ],
)
def test_what_is_no_table_is_refused(X, said):
    with pytest.raises(ValueError, match=said):
        KMeans(3).fit(X.to(device()))


def test_a_sparse_tensor_is_refused():
    with pytest.raises(TypeError, match=r"give a dense one, X\.to_dense\(\)"):
        KMeans(3).fit(there(data()).to_sparse())


def test_rows_of_another_width_are_refused():
    X = there(data())
    fitted = KMeans(3).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but KMeans is expecting 3"):
        fitted.predict(X[:, :2])


HERE = r"X\.cpu\(\)\.numpy\(\)"


@pytest.mark.parametrize(
    "ask",
    [
        lambda X: FuzzyKMeans(3).fit(X),
        lambda X: GaussianMixture(3, covariance_type="full").fit(X),
        lambda X: GaussianMixture(3, covariance_type="tied").fit(X),
        lambda X: GaussianMixture(3, covariance_type="diag", missing="marginalize").fit(
            X
        ),
        lambda X: GaussianMixture(3).fit(data()).predict(X),
        lambda X: KMeans(3).partial_fit(X),
        lambda X: cprime.AutoMixture().fit(X),
        lambda X: cprime.coreset(X, 10),
        lambda X: cprime.plots.SizesDisplay.from_estimator(KMeans(3).fit(X), X),
    ],
)
def test_what_is_not_computed_there_says_what_to_do(ask):
    with pytest.raises(TypeError, match=HERE):
        ask(there(data()))


@pytest.mark.parametrize(
    "ask",
    [
        lambda X: KMeans(3, kernel="native").fit(X),
        lambda X: KMeans(3, kernel="reference").fit(X),
        lambda X: KMeans(3).fit(X, checkpoint=cprime.Checkpoint("unused")),
        lambda X: KMeans(3, init="sampled-k-means++").fit(X),
        lambda X: KMeans(3).fit(X).predict_proba(X, c_prime=1, sparse=True),
    ],
)
def test_parameters_for_rows_in_memory_say_what_to_do(ask):
    with pytest.raises(ValueError, match=HERE):
        ask(there(data()))


def test_random_shares_are_for_rows_in_memory():
    mixture = GaussianMixture(3, covariance_type="diag", init_params="random")
    with pytest.raises(TypeError, match=HERE):
        mixture.fit(there(data()))


def test_a_tensor_elsewhere_is_refused():
    elsewhere = torch.ones(5, 2, device="meta")
    with pytest.raises(ValueError, match=r"X is on meta, and kernel='gpu' runs on"):
        DeviceRows.of(elsewhere)


def test_only_rows_on_a_gpu_bring_automatic_fits_there():
    X = data()
    assert kernel_for(X, "auto") is get_kernel("native")
    assert kernel_for(DeviceRows.of(there(X)), "auto") is get_kernel("gpu")


@pytest.mark.parametrize("place", [np.asarray, there])
def test_memory_that_runs_out_is_told(place, monkeypatch):
    def fill(*args, **options):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 EiB.")

    X, estimator = place(data()), KMeans(3, kernel="gpu", random_state=0)
    fitted = KMeans(3, kernel="gpu", random_state=0).fit(X)
    monkeypatch.setattr("cprime.kernels.gpu.sweep_piece", fill)
    with pytest.raises(NoRoomError, match=r"CUDA out of memory\. Give fewer rows"):
        estimator.fit(X)
    assert not hasattr(estimator, "labels_")
    monkeypatch.undo()
    monkeypatch.setattr("cprime.kernels.gpu.lloyd.sweep_piece", fill)
    with pytest.raises(NoRoomError):
        estimator.fit(X)
    monkeypatch.setattr("cprime.kernels.gpu.Search", fill)
    with pytest.raises(NoRoomError):
        fitted.predict(X)


@pytest.mark.parametrize(
    "X",
    [
        data(),
        np.round(data(), 0),
        np.repeat(data(N=20), 5, axis=0),
        np.zeros((7, 2)),
        data(N=1),
        # Beside the first feature the second is lost to rounding.
        np.stack([1e17 * (np.arange(90) % 3), np.arange(90) % 7 - 3.0], axis=1),
        np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0], [-0.0, -1.0]]),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 2.0**-30])
def test_rows_line_up_as_in_memory(X, scale):
    rng = np.random.default_rng(3)
    direction, middle = rng.standard_normal((2, X.shape[1]))
    expected = surveys.line_up(
        Block(X, np.ones(len(X)), scale), direction, scale * middle
    )
    for values in (X, DeviceRows.of(there(X))):
        resident = get_kernel("gpu").prepare(Block(values, np.ones(len(X)), scale))
        found = resident.line_up(direction, scale * middle)
        assert np.array_equal(found.order, expected.order)
        assert np.array_equal(found.copies, expected.copies)
