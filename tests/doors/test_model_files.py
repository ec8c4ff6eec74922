"""A fitted estimator is saved, and comes back as it was."""

import dataclasses
import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import cprime
from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.datasets import make_birch_random
from cprime.model_files.schema import RULES

DATA = make_birch_random(5, 40, rng=1).data
LEFT_OUT = {"labels_"}

MODELS = {
    "kmeans": KMeans(5, random_state=0),
    "kmeans restarts": KMeans(5, n_init=3, c_prime=2, random_state=0),
    "kmeans neighbours": KMeans(
        5, search="neighbours", n_neighbors=3, init=DATA[:5], random_state=0
    ),
    "kmeans lazy": KMeans(5, search="lazy", init=DATA[:5], random_state=0),
    "kmeans variance": KMeans(5, c_prime=None, variance=0.1, random_state=0),
    "soft": SoftKMeans(5, random_state=0),
    "soft annealed": SoftKMeans(5, annealing=2.0, random_state=0),
    "fuzzy": FuzzyKMeans(5, random_state=0),
    "fuzzy entropy": FuzzyKMeans(5, regularization="entropy", random_state=0),
    "fuzzy quadratic": FuzzyKMeans(5, regularization="quadratic", random_state=0),
    **{
        kind: GaussianMixture(3, covariance_type=kind, random_state=0)
        for kind in ("full", "tied", "diag", "spherical", "isotropic")
    },
    "mixture truncated": GaussianMixture(3, c_prime=2, reg_covar=0.01, random_state=0),
    "mixture given": GaussianMixture(
        3, means_init=DATA[:3], weights_init=[0.5, 0.25, 0.25], random_state=0
    ),
    "mixture missing": GaussianMixture(
        3, covariance_type="diag", missing="marginalize", random_state=0
    ),
}


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def rows(request):
    return DATA.astype(request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cprime"


def assert_same(one, other, name=""):
    assert type(one) is type(other), name
    if dataclasses.is_dataclass(one):
        one, other = vars(one), vars(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys(), name
        for key in one:
            assert_same(one[key], other[key], f"{name}.{key}")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), name
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(legacy=False), other.get_state(legacy=False))
    elif isinstance(one, tuple):
        for place, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{name}.{place}")
    else:
        assert one == other, name


@pytest.mark.parametrize("name", MODELS)
def test_what_was_saved_comes_back(name, rows, path):
    model = clone(MODELS[name]).fit(rows)
    model.save(path)
    loaded = type(model).load(path)
    attributes = {k: v for k, v in vars(model).items() if k not in LEFT_OUT}
    assert attributes.keys() <= RULES.keys() | model.get_params().keys()
    if name == "mixture given":
        # Array-likes come back as arrays.
        attributes["weights_init"] = np.array(attributes["weights_init"])
    assert_same(attributes, {k: vars(loaded)[k] for k in attributes})
    assert vars(loaded).keys() == attributes.keys()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_does_what_the_fitted_one_does(name, rows, path):
    model = clone(MODELS[name]).fit(rows)
    model.save(path)
    loaded = pickle.loads(pickle.dumps(cprime.load(path)))
    asked = ["predict", "predict_proba", "score"]
    if hasattr(model, "score_samples"):
        asked += ["score_samples", "bic", "aic", "gap", "free_energy", "log_likelihood"]
    if hasattr(model, "transform"):
        asked += ["transform"]
    for method in asked:
        found = getattr(loaded, method)(rows)
        np.testing.assert_array_equal(getattr(model, method)(rows), found)
    if hasattr(model, "sample"):
        assert_same(model.sample(5)[0], loaded.sample(5)[0])
    theirs = loaded.to_sklearn()
    np.testing.assert_array_equal(
        model.to_sklearn().predict(rows), theirs.predict(rows)
    )
    again = clone(loaded).fit(rows)
    if "labels_" in vars(model):
        np.testing.assert_array_equal(again.labels_, model.labels_)


def test_rows_with_missing_values_are_still_welcome(path):
    rows = DATA.copy()
    rows[::7, 0] = np.nan
    model = clone(MODELS["mixture missing"]).fit(rows)
    model.save(path)
    found = cprime.load(path).score_samples(rows)
    np.testing.assert_array_equal(found, model.score_samples(rows))


def test_names_of_features_are_kept(path):
    frame = pd.DataFrame(DATA, columns=["<b>width</b>", "größe\n"])
    KMeans(5, random_state=0).fit(frame).save(path)
    loaded = KMeans.load(path)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    loaded.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"größe\n": "size"}))


def test_a_random_state_goes_on_where_it_was(path):
    model = KMeans(5, random_state=np.random.RandomState(3)).fit(DATA)
    model.random_state.standard_normal()
    model.save(path)
    loaded = KMeans.load(path)
    assert model.random_state is not loaded.random_state
    assert_same(model.random_state, loaded.random_state)
    np.testing.assert_array_equal(model.sample(9)[0], loaded.sample(9)[0])


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_stream_goes_on_where_it_was(path, rows, batches):
    model = KMeans(5, c_prime=2, random_state=0)
    if batches == 0:
        model.fit(rows * 2.0**300 if rows.dtype == np.float64 else rows)
    for _ in range(batches):
        model.partial_fit(rows)
    model.save(path)
    loaded = KMeans.load(path)
    for both in (model, loaded):
        both.partial_fit(rows[::2], sample_weight=np.arange(len(rows[::2])))
    assert_same(vars(model), vars(loaded))


def test_a_scaler_in_front_is_kept_too(path, rows):
    pipeline = make_pipeline(StandardScaler(), SoftKMeans(5, random_state=0)).fit(rows)
    cprime.save(pipeline, path, about={"rows": 200, "origin": "here"})
    loaded = cprime.load(path)
    assert [name for name, _ in loaded.steps] == ["standardscaler", "softkmeans"]
    for method in ("predict", "predict_proba", "transform", "score_samples"):
        expected = getattr(pipeline, method)(rows)
        np.testing.assert_array_equal(getattr(loaded, method)(rows), expected)
    assert_same(vars(pipeline[0]), vars(loaded[0]))
    with pytest.raises(ValueError, match=r"a Pipeline .* use cprime.load"):
        SoftKMeans.load(path)


@pytest.mark.parametrize("options", [{"with_mean": False}, {"with_std": False}])
def test_a_scaler_that_does_half_its_work_is_kept(path, options):
    pipeline = make_pipeline(StandardScaler(**options), KMeans(5, random_state=0))
    frame = pd.DataFrame(DATA, columns=["a", "b"])
    pipeline.fit(frame)
    cprime.save(pipeline, path)
    assert_same(vars(pipeline[0]), vars(cprime.load(path)[0]))
    np.testing.assert_array_equal(
        cprime.load(path).predict(frame), pipeline.predict(frame)
    )


def test_a_file_describes_itself(path):
    model = KMeans(5, random_state=np.random.RandomState(1), tol=0.5).fit(DATA)
    about = {"command": ["cprime", "fit"], "rows": 200, "nested": {"array": "x"}}
    cprime.save(model, path, about=about)
    told = cprime.describe(path)
    assert told["class"] == "KMeans" and told["about"] == about
    assert told["cprime"] == cprime.__version__ and told["format"] == 1
    assert told["parameters"]["tol"] == 0.5
    assert told["parameters"]["random_state"] == "RandomState"
    assert told["fitted"]["cluster_centers_"] == {"dtype": "float64", "shape": [5, 2]}
    assert told["fitted"]["inertia_"] == model.inertia_
    assert told["bytes"] == path.stat().st_size
    pipeline = make_pipeline(StandardScaler(), KMeans(5, random_state=0)).fit(DATA)
    cprime.save(pipeline, path)
    assert cprime.describe(path)["steps"] == ["standardscaler", "kmeans"]


def test_a_model_file_does_not_grow_with_the_rows(path):
    KMeans(5, random_state=0, max_iter=1).fit(DATA).save(path)
    few = path.stat().st_size
    KMeans(5, random_state=0, max_iter=1).fit(np.tile(DATA, (50, 1))).save(path)
    assert path.stat().st_size < few + 100


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_a_private_model_stays_private_and_a_read_only_one_stays(path):
    model = KMeans(5, random_state=0).fit(DATA)
    model.save(path)
    path.chmod(0o600)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    path.chmod(0o400)
    with pytest.raises(PermissionError, match=r"model file .* it is read-only\. ") as e:
        KMeans(2, random_state=0).fit(DATA).save(path)
    assert "\n" not in str(e.value) and "give another name" in str(e.value)
    assert path.read_bytes() == before and path.stat().st_mode & 0o777 == 0o400


def test_labels_that_were_not_kept_are_not_made_up(path):
    KMeans(5, random_state=0).fit(DATA).save(path)
    loaded = KMeans.load(path)
    assert not hasattr(loaded, "labels_")
    assert not hasattr(loaded.to_sklearn(), "labels_")


def test_an_interrupted_fit_can_be_saved(path):
    def interrupt(*_):
        raise KeyboardInterrupt

    model = KMeans(5, random_state=0, verbose=1)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("cprime.em.finish", interrupt)
        model.fit(DATA)
    model.save(path)
    loaded = KMeans.load(path)
    assert not hasattr(loaded, "gap_")
    np.testing.assert_array_equal(loaded.predict(DATA), model.predict(DATA))


def test_the_other_class_is_named(path):
    SoftKMeans(5, random_state=0).fit(DATA).save(path)
    with pytest.raises(ValueError, match=r"holds a SoftKMeans, not a KMeans: use Soft"):
        KMeans.load(path)


PCG64 = np.random.RandomState(np.random.PCG64(1))


class Mine(KMeans):
    """A class that a file cannot know."""


@pytest.mark.parametrize(
    ("model", "error", "reason"),
    [
        (KMeans(2, init=lambda X, n, random_state: X[:n]), ValueError, "a function"),
        (Mine(2), TypeError, "A Mine cannot be saved"),
        (StandardScaler(), TypeError, "A StandardScaler cannot"),
        (make_pipeline(MinMaxScaler(), KMeans(2)), TypeError, "Pipeline of MinMax"),
        (make_pipeline(StandardScaler(), Mine(2)), TypeError, "A Mine cannot"),
        (KMeans(2, random_state=PCG64), ValueError, "draws from PCG64"),
    ],
)
def test_what_cannot_be_saved_is_said(model, error, reason, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(DATA)
    with pytest.raises(error, match=reason):
        cprime.save(model, path)
    assert not path.exists()


def test_a_spoilt_model_is_not_saved(path):
    model = KMeans(5, random_state=0).fit(DATA)
    model.cluster_centers_[0, 0] = np.nan
    with pytest.raises(ValueError, match="This KMeans cannot be saved: cluster_cent"):
        model.save(path)
    with pytest.raises(NotFittedError):
        KMeans(5).save(path)
    model = KMeans(5, random_state=0).fit(DATA).set_params(tol=-1)
    with pytest.raises(ValueError, match="'tol' parameter"):
        model.save(path)
    with pytest.raises(ValueError, match="not JSON serializable"):
        cprime.save(KMeans(5).fit(DATA), path, about={"rows": np.int64(5)})
    assert not path.exists()
