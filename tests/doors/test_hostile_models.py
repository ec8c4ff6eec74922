"""Damaged and malicious model files are refused in one line, whatever they say."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import traceback
import tracemalloc
import zipfile

import command_line
import fuzz_models
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from surgery import FIXTURES, put_together, sealed, taken_apart

import cprime

V1 = FIXTURES / "v1"
ROWS = np.load(V1 / "rows.npy")
# More than the largest header can take when it is parsed would be a mistake.
MOST_MEMORY = 32 * 2**20


def apart(name):
    return taken_apart((V1 / f"{name}.cprime").read_bytes())


def refused(tmp_path, content, reason=r"\w"):
    """Check that a file is refused by every door, in one line and little memory."""
    path = tmp_path / "hostile.cprime"
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ValueError, match=reason) as caught:
        cprime.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert type(caught.value) is ValueError
    message = str(caught.value)
    assert message.startswith(f"Cannot read {str(path)!r}: ")
    assert "\n" not in message and len(message) < len(str(path)) + 400
    assert peak < MOST_MEMORY
    try:
        json.dumps(cprime.describe(path))
    except ValueError as error:
        assert type(error) is ValueError and "\n" not in str(error)


CONTENT = (V1 / "kmeans_scaled.cprime").read_bytes()
PLACES = np.linspace(0, len(CONTENT) - 1, 25).astype(int).tolist()


@pytest.mark.parametrize("cut", PLACES)
def test_a_truncated_file(tmp_path, cut):
    refused(tmp_path, CONTENT[:cut], "it is (empty|cut off|not a file)")


@pytest.mark.parametrize("place", PLACES)
def test_a_flipped_bit(tmp_path, place):
    content = bytearray(CONTENT)
    content[place] ^= 1 << place % 8
    refused(tmp_path, bytes(content))


@pytest.mark.parametrize("place", PLACES[2:-2])
def test_bytes_too_many_in_between(tmp_path, place):
    refused(tmp_path, sealed(CONTENT[:place] + b"\0" * 64 + CONTENT[place:]))


def npy():
    file = io.BytesIO()
    np.save(file, ROWS)
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", "{}")
    return file.getvalue()


class Evil:
    """What pickle would do for anyone who asks."""

    def __reduce__(self):
        return os.system, ("touch /tmp/cprime_was_here",)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 4096,
        pickle.dumps(Evil()),
        npy(),
        zipped(),
        b"<html><script>alert(1)</script></html>",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\x89cprime\n",
        b'{"class": "KMeans"}',
        os.urandom(5000),
    ],
    ids=["empty", "zeros", "pickle", "npy", "zip", "html", "png", "magic", "json", "-"],
)
def test_a_file_of_another_kind(tmp_path, content):
    refused(tmp_path, content)


def test_what_is_no_file(tmp_path):
    (tmp_path / "zeros").symlink_to("/dev/zero")
    (tmp_path / "random").symlink_to("/dev/urandom")
    os.mkfifo(tmp_path / "pipe")
    for name in ("zeros", "random", "pipe", "."):
        with pytest.raises(ValueError, match=r"not a (regular )?file"):
            cprime.load(tmp_path / name)
        with pytest.raises(ValueError, match=r"not a (regular )?file"):
            cprime.describe(tmp_path / name)


def at(*path):
    """Return what puts a value at a path of the header; ... removes what is there."""

    def put(header, value):
        inner = header
        for name in path[:-1]:
            inner = inner[name]
        if value is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value

    return put


FITTED = ("fitted",)
KMEANS_LIES = [
    (at("holds"), "checkpoint", "holds no model"),
    (at("holds"), ..., "holds no model"),
    (at("class"), "os.system", "unknown class"),
    (at("class"), "Pipeline", "unknown class"),
    (at("class"), "__class__", "unknown class"),
    (at("class"), ["KMeans"], "unknown class"),
    (at("class"), {"array": "fitted.cluster_centers_"}, "unknown class"),
    (at("class"), "GaussianMixture", "parameter"),
    (at("class"), ..., "unknown class"),
    (at("parameters"), ..., "header has no parameters"),
    (at("parameters"), [], "header has no parameters"),
    (at("fitted"), None, "header has no fitted"),
    (at("fitted"), {}, "is missing"),
    (at("parameters", "__init__"), 1, "upgrade cprime"),
    (at("parameters", "n_clusters"), "eight", "n_clusters"),
    (at("parameters", "n_clusters"), -1, "n_clusters"),
    (at("parameters", "n_clusters"), 2.5, "n_clusters"),
    (at("parameters", "n_clusters"), [3], "of the wrong type"),
    (at("parameters", "n_clusters"), {"dict": {}}, "of the wrong type"),
    (at("parameters", "init"), "no such init", "init"),
    (at("parameters", "init"), {"call": "os.system"}, "unknown kind"),
    (at("parameters", "init"), {"array": "no such"}, "array that is missing"),
    (at("parameters", "init"), {"array": "trace_"}, "array that is missing"),
    (at("parameters", "init"), {"array": ["a"]}, "array that is missing"),
    (at("parameters", "init"), {"names": ["a", 1]}, "not text"),
    (at("parameters", "init"), {"names": "abc"}, "lacks a list"),
    (at("parameters", "tol"), {"float": "nan"}, "tol"),
    (at("parameters", "tol"), {"float": "1e5"}, "not a number"),
    (at("parameters", "tol"), {"float": ["inf"]}, "not a number"),
    (at("parameters", "kernel"), "../../evil", "kernel"),
    (at("parameters", "random_state"), {"random_state": {}}, "object of unknown kind"),
    (
        at("parameters", "random_state"),
        {"random_state": 5},
        "not a valid state of numpy",
    ),
    (at("parameters", "random_state"), "seed", "random_state"),
    (at("parameters", "tol"), {"dict": 5}, "lacks an object"),
    (at("parameters", "tol"), {"tuple": 5}, "lacks a list"),
    (at("parameters", "tol"), {"a": 1, "b": 2}, "object of unknown kind"),
    (at("parameters", "tol"), {}, "object of unknown kind"),
    (at("fitted", "cluster_centers_"), ..., "cluster_centers_ is missing"),
    (at("fitted", "cluster_centers_"), [[1.0, 2.0, 3.0]], "cluster_centers_"),
    (at("fitted", "cluster_centers_"), {"scalar": "fitted.cluster_centers_"}, "array"),
    (at("fitted", "cluster_centers_"), {"names": ["a"]}, "cluster_centers_"),
    (at("fitted", "variance_"), ..., "variance_ is missing"),
    (at("fitted", "variance_"), -1.0, "variance_"),
    (at("fitted", "variance_"), 0, "variance_"),
    (at("fitted", "variance_"), True, "variance_"),
    (at("fitted", "variance_"), "1", "variance_"),
    (at("fitted", "variance_"), 1e-320, "out of proportion"),
    (at("fitted", "variance_"), {"float": "inf"}, "variance_"),
    (at("fitted", "variance_"), {"float": "nan"}, "variance_"),
    (at("fitted", "_C_prime"), 4, "_C_prime"),
    (at("fitted", "_C_prime"), 0, "_C_prime"),
    (at("fitted", "_C_prime"), ..., "_C_prime is missing"),
    (at("fitted", "_n_free"), -5, "_n_free"),
    (at("fitted", "_n_features_out"), 2**40, "_n_features_out"),
    (at("fitted", "n_features_in_"), 2, "n_features_in_"),
    (at("fitted", "n_features_in_"), ..., "n_features_in_ is missing"),
    (at("fitted", "n_features_in_"), {"array": "fitted.cluster_centers_"}, "."),
    (at("fitted", "inertia_"), -1.0, "inertia_"),
    (at("fitted", "gap_"), -1e-3, "gap_"),
    (at("fitted", "gap_"), None, "gap_"),
    (at("fitted", "converged_"), "yes", "converged_"),
    (at("fitted", "n_iter_"), 2.5, "n_iter_"),
    (at("fitted", "_relocated"), [7], "_relocated"),
    (at("fitted", "_relocated"), [-1], "_relocated"),
    (at("fitted", "_relocated"), "all", "_relocated"),
    (at("fitted", "trace_"), {"dict": {}}, "trace_"),
    (at("fitted", "trace_"), {"dict": {"a": 1}}, "trace_"),
    (at("fitted", "trace_"), 1, "trace_"),
    (at("fitted", "restarts_"), [], "restarts_"),
    (at("fitted", "seeding_"), 5, "seeding_"),
    (at("fitted", "feature_names_in_"), {"names": ["a"]}, "feature_names_in_"),
    (at("fitted", "feature_names_in_"), {"names": [1, 2, 3]}, "not text"),
    (at("fitted", "feature_names_in_"), ["a", "b", "c"], "feature_names_in_"),
    (at("arrays"), [], "arrays have the wrong length"),
    (at("arrays"), ..., "does not list its arrays"),
    (at("arrays", 0, 0), "a/../b", "not a valid name"),
    (at("arrays", 0, 0), "fitted.variance_", "array that is missing"),
    (at("arrays", 0, 1), "|O", "of an unknown type"),
    (at("arrays", 0, 1), "<U9", "of an unknown type"),
    (at("arrays", 0, 1), "<i8", "cluster_centers_"),
    (at("arrays", 0, 1), "<f4", "the wrong length"),
    (at("arrays", 0, 2), [3, -3], "possible shape"),
    (at("arrays", 0, 2), [2**63, 2], "any memory"),
    (at("arrays", 0, 2), [2**31, 2**31], "any memory"),
    (at("arrays", 0, 2), [2**20, 3], "the wrong length"),
    (at("arrays", 0, 2), [9], "cluster_centers_"),
    (at("arrays", 0, 2), [9, 1], "n_features"),
    (at("arrays", 0, 2), [1, 9], "features"),
    (at("arrays", 0, 2), [1, 3, 3], "cluster_centers_"),
]


@pytest.mark.parametrize(
    ("put", "value", "reason"),
    KMEANS_LIES,
    ids=[f"{i}" for i in range(len(KMEANS_LIES))],
)
def test_a_header_that_lies(tmp_path, put, value, reason):
    header, arrays = apart("kmeans")
    put(header, copy.deepcopy(value))
    refused(tmp_path, put_together(header, arrays), reason)


def spoilt(value, place=0):
    def spoil(data, dtype):
        array = np.frombuffer(data, dtype).copy()
        array[place] = value
        return array.tobytes()

    return spoil


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("kmeans", "fitted.cluster_centers_"),
        ("fuzzy", "fitted.cluster_centers_"),
        ("soft_annealed", "fitted.stiffness_path_"),
        ("mixture_full", "fitted.means_"),
        ("mixture_full", "fitted.weights_"),
        ("mixture_full", "fitted.covariances_"),
        ("mixture_tied", "fitted.precisions_"),
        ("mixture_diag", "fitted.precisions_cholesky_"),
        ("mixture_float32", "fitted.means_"),
        ("kmeans_scaled", "scaler.mean_"),
        ("kmeans_scaled", "scaler.scale_"),
        ("kmeans_scaled", "scaler.var_"),
    ],
)
def test_values_that_are_not_finite(tmp_path, model, name, value):
    header, arrays = apart(model)
    dtype = {line[0]: line[1] for line in header["arrays"]}[name]
    arrays[name] = spoilt(value)(arrays[name], dtype)
    refused(tmp_path, put_together(header, arrays), name.split(".")[-1])


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        ("mixture_full", "fitted.weights_", -0.1),
        ("mixture_full", "fitted.weights_", 0.9),
        ("mixture_full", "fitted.covariances_", -1.0),
        ("mixture_tied", "fitted.covariances_", 0.0),
        ("mixture_diag", "fitted.covariances_", 0.0),
        ("mixture_diag", "fitted.covariances_", -1.0),
        ("mixture_spherical", "fitted.covariances_", 0.0),
        ("mixture_isotropic", "fitted.covariances_", -2.0),
        ("kmeans_scaled", "scaler.scale_", 0.0),
        ("kmeans_scaled", "scaler.scale_", -1.0),
    ],
)
def test_values_that_cannot_be(tmp_path, model, name, value):
    header, arrays = apart(model)
    arrays[name] = spoilt(value)(arrays[name], "<f8")
    refused(tmp_path, put_together(header, arrays), r"\w")


def test_matrices_that_are_not_symmetric(tmp_path):
    header, arrays = apart("mixture_full")
    name = "fitted.covariances_"
    arrays[name] = spoilt(0.5, place=1)(arrays[name], "<f8")
    refused(tmp_path, put_together(header, arrays), "covariances_ cannot be")


@pytest.mark.parametrize(
    ("put", "value"),
    [
        (at("fitted", "_covariance_type"), "cubic"),
        (at("fitted", "_covariance_type"), "diag"),
        (at("fitted", "_covariance_type"), ["full"]),
        (at("fitted", "_covariance_type"), None),
        (at("fitted", "weights_"), ...),
        (at("fitted", "lower_bounds_"), ["high"]),
        (at("fitted", "lower_bounds_"), 5),
        (at("fitted", "_floored"), [3]),
        (at("fitted", "_empty"), {"dict": {}}),
        (at("parameters", "covariance_type"), "cubic"),
        (at("parameters", "missing"), True),
        (at("parameters", "means_init"), "here"),
        (at("parameters", "warm_start"), "maybe"),
    ],
)
def test_a_mixture_that_lies(tmp_path, put, value):
    header, arrays = apart("mixture_full")
    put(header, value)
    refused(tmp_path, put_together(header, arrays))


@pytest.mark.parametrize(
    ("put", "value"),
    [
        (at("steps"), ...),
        (at("steps"), ["scaler"]),
        (at("steps"), ["a", "a"]),
        (at("steps"), ["steps__a", 5]),
        (at("steps"), "ab"),
        (at("scaler"), []),
        (at("scaler"), {}),
        (at("scaler", "with_mean"), "yes"),
        (at("scaler", "mean_"), ...),
        (at("scaler", "scale_"), None),
        (at("scaler", "scale_"), [1.0, 1.0, 1.0]),
        (at("scaler", "n_features_in_"), 4),
        (at("scaler", "feature_names_in_"), {"names": ["a"]}),
        (at("scaler", "n_samples_seen_"), "many"),
        (at("scaler", "transform"), "os.system"),
        (at("class"), "FuzzyKMeans"),
    ],
)
def test_a_scaler_that_lies(tmp_path, put, value):
    header, arrays = apart("kmeans_scaled")
    put(header, value)
    refused(tmp_path, put_together(header, arrays))


@pytest.mark.parametrize(
    "changes",
    [
        {"pos": 625},
        {"pos": -1},
        {"pos": 2**40},
        {"has_gauss": 2},
        {"has_gauss": True},
        {"gauss": "0"},
        {"key": [1, 2]},
        {"key": {"array": "fitted.cluster_centers_"}},
    ],
)
def test_random_numbers_from_beyond_their_state(tmp_path, changes):
    header, arrays = apart("kmeans_random_state")
    state = header["parameters"]["random_state"]["random_state"]["dict"]
    state.update(changes)
    refused(
        tmp_path,
        put_together(header, arrays),
        "random_state is not a valid|array that is missing",
    )


def test_an_array_for_many_purposes_fills_no_memory(tmp_path):
    header, arrays = apart("kmeans")
    big = np.zeros(2**20).tobytes()
    header["arrays"].append(["big", "<f8", [2**20]])
    header["fitted"]["lower_bounds_"] = [{"array": "big"}] * 1000
    refused(
        tmp_path, put_together(header, {**arrays, "big": big}), "array that is missing"
    )


def test_a_header_that_is_large_when_parsed(tmp_path):
    arrays = b'{"arrays":[],"a":[' + b"[]," * 100_000 + b"0]}"
    refused(tmp_path, put_together(arrays, {}), "holds no model")


@pytest.mark.parametrize("version", [0, 2, 7, 2**32 - 1])
def test_a_format_of_the_future(tmp_path, version):
    header, arrays = apart("kmeans")
    header["cprime"] = "12.0"
    content = put_together(header, arrays, version=version)
    reason = (
        "no format 0" if version == 0 else f"format {version}, written by cprime 12"
    )
    refused(tmp_path, content, reason)


@pytest.mark.parametrize(
    "prefix",
    [
        {"header_length": 0},
        {"header_length": 2**63},
        {"header_length": 2**64 - 1},
        {"header_length": 100},
        {"length": 0},
        {"length": 2**63},
        {"length": 31},
        {"zero": 1},
    ],
)
def test_a_beginning_that_lies(tmp_path, prefix):
    header, arrays = apart("kmeans")
    refused(tmp_path, put_together(header, arrays, **prefix))


def test_what_is_new_in_a_later_version_is_left_aside(tmp_path):
    header, arrays = apart("kmeans")
    header["fitted"]["news_"] = {"of a kind": "to come"}
    header["fitted"]["predict"] = 5
    header["fitted"]["__class__"] = "evil"
    path = tmp_path / "newer.cprime"
    path.write_bytes(put_together(header, arrays))
    model = cprime.load(path)
    assert type(model) is cprime.KMeans
    assert not hasattr(model, "news_")
    assert len(model.predict(ROWS)) == len(ROWS)


def test_names_are_only_text(tmp_path):
    """Whoever shows them escapes them; here they are what they are."""
    header, arrays = apart("kmeans")
    names = ["<script>alert(1)</script>", "'; DROP TABLE rows; --", "\x1b[2J{{7*7}}"]
    header["fitted"]["feature_names_in_"] = {"names": names}
    header["about"] = {"command": "<b>bold</b>", "array": "x"}
    path = tmp_path / "names.cprime"
    path.write_bytes(put_together(header, arrays))
    assert cprime.load(path).feature_names_in_.tolist() == names
    told = cprime.describe(path)
    assert told["fitted"]["feature_names_in_"] == names
    assert told["about"] == header["about"]
    assert not os.path.exists("/tmp/cprime_was_here")


def test_files_altered_at_random():
    """A few of them; `make fuzz` tries many more."""
    # In a process of its own: scikit-learn's threads do not survive a fork.
    found = subprocess.run(
        [sys.executable, fuzz_models.__file__, "0.1", "1"],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0 and "; 0 findings" in found.stdout, found


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_the_fuzzer_finds_what_is_wrong(monkeypatch, tmp_path):
    def careless(*_):
        raise KeyError("no such name")

    monkeypatch.setattr("cprime.storage.tree._taken", careless)
    _, findings = fuzz_models.fuzz(0.1, seed=1, keep=tmp_path, say=lambda text: None)
    assert "KeyError: 'no such name'" in findings[0]
    assert (tmp_path / "finding-1.cprime").exists()


# As long as a header can be.
LONG = "a" * (2**23 - 30_000)


def said_of(tmp_path, name, *changes):
    """Return all that Python says of a file with these changes, its causes included."""
    header, arrays = apart(name)
    for put, value in changes:
        put(header, value)
    path = tmp_path / "long.cprime"
    path.write_bytes(put_together(header, arrays))
    with pytest.raises(ValueError, match="Cannot read") as caught:
        cprime.load(path)
    return "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("name", "put"),
    [
        *[
            ("kmeans_scaled", at("parameters", name))
            for name in ("init", "n_init", "algorithm", "kernel", "search", "tol")
        ],
        ("kmeans_scaled", at("parameters", LONG[:9000])),
        ("kmeans_scaled", at("fitted", "variance_")),
        ("kmeans_scaled", at("fitted", "seeding_")),
        ("kmeans_scaled", at("steps")),
        ("kmeans_scaled", at("steps", 0)),
        ("kmeans_scaled", at("scaler", "with_mean")),
        ("kmeans_scaled", at("class")),
        ("mixture_full", at("parameters", "covariance_type")),
        ("mixture_full", at("parameters", "init_params")),
        ("mixture_full", at("fitted", "_covariance_type")),
    ],
)
def test_a_long_value_is_not_said_back(tmp_path, name, put):
    said = said_of(tmp_path, name, (put, LONG))
    assert "aaaaaaaaaa" in said or "of the wrong type" in said or "cannot be" in said
    assert len(said) < 8000


def test_a_long_text_that_would_be_part_of_a_later_message(tmp_path):
    cprime.KMeans(2, random_state=0).partial_fit(ROWS).save(tmp_path / "stream.cprime")
    header, arrays = taken_apart((tmp_path / "stream.cprime").read_bytes())
    units = header["fitted"]["_stream_"]["dict"]["units"]["dict"]
    for text in (LONG, "\x1b[2J"):
        units["extreme"] = text
        refused(tmp_path, put_together(header, arrays), "_stream_ cannot be that of")


def test_a_long_text_is_told_by_how_it_begins(tmp_path):
    header, arrays = apart("kmeans_scaled")
    long = LONG[:2_000_000]
    header["parameters"]["algorithm"] = header["cprime"] = header["new"] = long
    header[LONG[:100_000]] = 1
    header["about"] = {"note": LONG[:10_000]}
    path = tmp_path / "long.cprime"
    path.write_bytes(put_together(header, arrays))
    told = cprime.describe(path)
    assert told.pop("about") == {"note": LONG[:10_000]}
    assert len(json.dumps(told)) < 20_000
    assert told["parameters"]["algorithm"].endswith("aaa...")


def test_long_names_are_shortened_wherever_they_are_shown(tmp_path):
    header, arrays = apart("kmeans_scaled")
    del header["scaler"], header["steps"]
    arrays = {n: of for n, of in arrays.items() if not n.startswith("scaler.")}
    header["arrays"] = [of for of in header["arrays"] if of[0] in arrays]
    names = [f"{c}{LONG[:1_000_000]}" for c in "xyz"]
    header["fitted"]["feature_names_in_"] = {"names": names}
    header["about"] = dict.fromkeys(["origin", "command", "date"], LONG[:1_000_000])
    header["cprime"] = LONG[:1_000_000]
    path = tmp_path / "long.cprime"
    path.write_bytes(put_together(header, arrays))
    model = cprime.load(path)
    others = pd.DataFrame(ROWS[:, :3], columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="seen at fit time") as caught:
        model.predict(others)
    assert len("".join(traceback.format_exception(caught.value))) < 8000
    with pytest.raises(ValueError, match="that of the fit is") as caught:
        model.report(tmp_path / "page.html", others)
    assert len(str(caught.value)) < 300
    assert len(repr(model)) < 1000
    assert len(command_line.done("info", path)) < 10_000


def test_a_pipeline_that_could_not_be_read_is_not_written(tmp_path):
    steps = [("my scaler", StandardScaler()), ("cluster", cprime.KMeans(2))]
    with pytest.raises(ValueError, match=r"do not have two valid names: \['my scaler'"):
        cprime.save(Pipeline(steps).fit(ROWS), tmp_path / "model.cprime")
