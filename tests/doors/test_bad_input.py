"""Awkward input gets the right answer or one clear message: no NaN, no hang, no guess.

"Right" is judged in long double from the rows and the fitted parameters alone, by code
that shares nothing with the library. Every warning but the one declared is an error.
"""

import re
import signal
import tempfile
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from cprime import GaussianMixture, KMeans

NAN, INF, LONG = np.nan, np.inf, np.longdouble
EPS = LONG(np.finfo(np.float64).eps)
EITHER = (TypeError, ValueError)
SECONDS_BEFORE_IT_HANGS = 20

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
BLOB_OF = np.repeat([0, 1, 2], 20)
BLOBS = CENTRES[BLOB_OF] + np.random.default_rng(0).normal(0, 0.5, size=(60, 2))
COUNTS = np.round(BLOBS + 3.0)
# Where the tables below spoil a value, and how a message names the place.
ROW, COLUMN, HERE = 7, 1, "row 7, column 1"
ROWS = np.arange(60)


class Fit(NamedTuple):
    """A fit to be made: three clusters of the blobs, unless it says otherwise."""

    X: Any
    sample_weight: Any
    options: dict[str, Any]

    def __call__(self, kernel):
        options = {"n_clusters": 3, "random_state": 0, "kernel": kernel, **self.options}
        return KMeans(**options).fit(self.X, sample_weight=self.sample_weight)


def fit(X=BLOBS, sample_weight=None, **options):
    return Fit(X, sample_weight, options)


def ask(method, *args, of=None, **options):
    """Return the question `method` to a model fitted to the blobs, not yet asked."""
    return lambda kernel: getattr((of or fit())(kernel), method)(*args, **options)


def unfitted(method):
    return lambda kernel: getattr(KMeans(kernel=kernel), method)(BLOBS)


def spoiled(value, X=BLOBS, dtype=np.float64):
    X = X.astype(dtype)
    X[ROW, COLUMN] = value
    return X


def cell(value):
    """Return an object array of numbers but for one cell."""
    return spoiled(value, dtype=object)


def weight(value, dtype=np.float64):
    weights = np.ones(60, dtype=dtype)
    weights[ROW] = value
    return weights


def each(value):
    return np.full(60, value)


def frame(X, names=("height", "weight")):
    return pd.DataFrame(X, columns=list(names))


def masked(X, where):
    X = np.ma.array(X)
    X[where] = np.ma.masked
    return X


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def memmap(X):
    with tempfile.TemporaryFile() as file:
        X.tofile(file)
        return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)


def starts_at(centres):
    """Return an `init` that gives these centres, whatever it is asked."""
    return lambda X, n_clusters, random_state: centres


METHODS = ["predict", "transform", "score", "predict_proba", "score_samples"]
METHODS += ["free_energy", "log_likelihood", "gap", "bic", "aic"]
WEIGHTED = ["score", "free_energy", "log_likelihood", "gap", "bic", "aic"]
TRUNCATING = ["predict_proba", "free_energy", "gap"]

# what comes in | how it comes in | what is raised | what the message says
NOT_FINITE = [
    ("nan", fit(spoiled(NAN)), ValueError, f"NaN at {HERE}"),
    ("inf", fit(spoiled(INF)), ValueError, f"infinity at {HERE}"),
    ("-inf", fit(spoiled(-INF)), ValueError, f"infinity at {HERE}"),
    ("float32 nan", fit(spoiled(NAN, dtype="f4")), ValueError, f"NaN at {HERE}"),
    ("CSR nan", fit(sp.csr_matrix(spoiled(NAN))), ValueError, f"NaN at {HERE}"),
    ("CSR inf", fit(sp.csr_array(spoiled(INF))), ValueError, f"infinity at {HERE}"),
    ("CSC -inf", fit(sp.csc_array(spoiled(-INF))), ValueError, f"infinity at {HERE}"),
    ("frame nan", fit(frame(spoiled(NAN))), ValueError, f"NaN at {HERE} .'weight'"),
    ("frame inf", fit(frame(spoiled(INF))), ValueError, f"ity at {HERE} .'weight'"),
    ("polars nan", fit(pl.DataFrame(spoiled(NAN))), ValueError, f"NaN at {HERE}"),
    ("object None", fit(cell(None)), ValueError, f"NaN at {HERE}"),
    ("weight nan", fit(BLOBS, weight(NAN)), ValueError, "weight of row 7 is nan"),
    ("weight inf", fit(BLOBS, weight(INF)), ValueError, "weight of row 7 is inf"),
    ("weight -inf", fit(BLOBS, weight(-INF)), ValueError, "weight of row 7 is -inf"),
    ("init nan", fit(init=[[0, 0], [1, NAN], [2, 2]]), ValueError, "init holds nan at"),
    ("init inf", fit(init=[[0, 0], [1, INF], [2, 2]]), ValueError, "row 1, column 1"),
    ("longdouble 1e4000", fit(spoiled("1e4000", dtype=LONG)), ValueError, HERE),
    *[
        (f"{method} nan", ask(method, spoiled(NAN)), ValueError, f"NaN at {HERE}")
        for method in METHODS
    ],
]

SHAPES = [
    ("fewer rows than clusters", fit(BLOBS[:2]), ValueError, "=2 .* n_clusters=3"),
    ("no rows", fit(BLOBS[:0]), ValueError, r"0 sample.*\(0, 2\)"),
    ("no columns", fit(BLOBS[:, :0]), ValueError, r"0 feature.*\(60, 0\)"),
    ("1-D", fit(BLOBS[:, 0]), ValueError, "2D array, got 1D"),
    ("3-D", fit(BLOBS[None]), ValueError, "dim 3"),
    ("0-D", fit(np.float64(3)), ValueError, "2D array, got scalar"),
    ("ragged", fit([[1, 2], [3], [4, 5]]), ValueError, r"\bX\b|row 1"),
    ("predict no rows", ask("predict", BLOBS[:0]), ValueError, "0 sample"),
    ("predict 1-D", ask("predict", BLOBS[0]), ValueError, "2D array, got 1D"),
    *[
        (f"{method} features", ask(method, CENTRES.T), ValueError, "3 features.* 2 ")
        for method in METHODS
    ],
    *[
        (f"{method} unfitted", unfitted(method), NotFittedError, "KMeans.* not fitted")
        for method in METHODS
    ],
    ("sample unfitted", unfitted("sample"), NotFittedError, "KMeans.* not fitted"),
    (
        "unknown names",
        ask("predict", frame(BLOBS, "ab"), of=fit(frame(BLOBS))),
        ValueError,
        "unseen at fit time:\n- a\n- b",
    ),
    (
        "names in another order",
        ask("predict", frame(BLOBS, ("weight", "height")), of=fit(frame(BLOBS))),
        ValueError,
        "same order",
    ),
]

STRINGS = np.dtypes.StringDType()
NO_TABLE = r"{} .*(2D|shape|table|numbers)"
DATES = np.arange(120).reshape(60, 2).astype("M8[ms]")
NOT_NUMBERS = [
    ("complex", fit(BLOBS + 1j), ValueError, "Complex data not supported"),
    ("complex CSR", fit(sp.csr_array(BLOBS + 1j)), ValueError, "Complex data"),
    ("complex cell", fit(cell(1j)), EITHER, HERE),
    ("complex list", fit([[1.0, 2j], [3, 4], [5, 6]]), ValueError, "Complex|column 1"),
    ("text", fit([["a", "b"], ["c", "d"], ["e", "f"]]), ValueError, "text"),
    ("text in a list", fit([[1, 2], [3, "x"], [5, 6]]), ValueError, "row 1, column 1"),
    ("numeric text", fit(BLOBS.astype(str)), ValueError, "text"),
    ("numeric text, StringDType", fit(BLOBS.astype(STRINGS)), ValueError, "text|Str"),
    ("bytes", fit(BLOBS.astype("S")), ValueError, "text"),
    ("text in a frame", fit(frame(BLOBS).astype(str)), ValueError, "row 0, column 0"),
    ("text in polars", fit(pl.DataFrame({"a": ["1"] * 3})), ValueError, "row 0, col"),
    ("text cell", fit(cell("7")), ValueError, f"'7' at {HERE}"),
    ("bytes cell", fit(cell(b"7")), ValueError, f"b'7' at {HERE}"),
    ("dict cell", fit(cell({})), EITHER, HERE),
    ("NA cell", fit(cell(pd.NA)), EITHER, HERE),
    ("huge int cell", fit(cell(10**400)), EITHER, HERE),
    ("dates", fit(DATES), EITHER, "datetime64|[Dd]ate"),
    ("dates in a frame", fit(frame(DATES)), EITHER, "height|column 0"),
    ("a date column", fit(frame(BLOBS).assign(born=DATES[:, 0])), EITHER, "born|mn 2"),
    ("dates in polars", fit(pl.DataFrame({"born": DATES[:, 0]})), EITHER, "born|mn 0"),
    ("durations", fit(DATES - DATES[0, 0]), EITHER, "timedelta64|[Dd]uration"),
    ("masked", fit(masked(BLOBS, (7, 1))), ValueError, f"masked.*{HERE}"),
    ("predict masked", ask("predict", masked(BLOBS, (7, 1))), ValueError, "masked"),
    ("predict text", ask("predict", BLOBS.astype(str)), ValueError, "text"),
    ("None", fit(None), EITHER, NO_TABLE.format("X")),
    ("dict", fit({"height": [1.0, 2.0]}), EITHER, NO_TABLE.format("X")),
    ("structured", fit(np.zeros(9, dtype="f8,f8")), EITHER, NO_TABLE.format("X")),
]

WEIGHTS = [
    ("negative", fit(BLOBS, weight(-1)), ValueError, "sample_weight of row 7 is -1.0"),
    ("all zero", fit(BLOBS, each(0.0)), ValueError, "All sample_weight are zero"),
    ("one short", fit(BLOBS, np.ones(59)), ValueError, r"\(59,\).* 60 rows"),
    ("2-D", fit(BLOBS, np.ones((60, 1))), ValueError, r"sample_weight .*\(60, 1\)"),
    (
        "text",
        fit(BLOBS, ["1"] * 60),
        ValueError,
        "sample_weight holds the text '1' at row 0",
    ),
    ("complex", fit(BLOBS, each(1j)), ValueError, "sample_weight .*complex"),
    ("dates", fit(BLOBS, DATES[:, 0]), EITHER, "sample_weight .*datetime64"),
    ("text cell", fit(BLOBS, weight("x", object)), ValueError, "sample_weight"),
    ("dict cell", fit(BLOBS, weight({}, object)), EITHER, "sample_weight"),
    ("masked", fit(BLOBS, masked(np.ones(60), 7)), ValueError, "sample_weight.*mask"),
    ("sparse", fit(BLOBS, sp.csr_array(np.ones((60, 1)))), EITHER, "sample_weight"),
    ("ragged", fit(BLOBS, [[1], [1, 2]]), ValueError, "sample_weight"),
    ("1e-320", fit(BLOBS, each(1e-320)), ValueError, "inertia_.*sample_weight"),
    ("1e308", fit(BLOBS, each(1e308)), ValueError, "inertia_.*sample_weight"),
    ("1e4000", fit(BLOBS, each(LONG("1e4000"))), ValueError, "sample_weight of row 0"),
    *[
        (f"{method} {name}", ask(method, BLOBS, sample_weight=wrong), ValueError, says)
        for method in WEIGHTED
        for name, wrong, says in [
            ("negative", weight(-1.0), "sample_weight of row 7"),
            ("one short", np.ones(59), "sample_weight .* 60 rows"),
        ]
    ],
    *[
        (f"{method} 1e308", ask(method, BLOBS, sample_weight=each(1e308)), EITHER, says)
        for method, says in dict.fromkeys(["score", "bic", "aic"], "weight").items()
    ],
]

# Each can be held in float64; the weighted squares cannot.
FAR, HEAVY = spoiled(1e147), each(1e30)
TOO_SMALL = "variance_ is too small.* multiply it by"
TOO_LARGE = "variance_ is too large.* multiply it by"
SCALES = [
    *[
        (f"{scale:g}, C'={c}", fit(scale * BLOBS, c_prime=c), ValueError, says)
        for c in (1, 2)
        for scale, says in [
            (1e-320, TOO_SMALL),
            (1e-170, TOO_SMALL),
            (1e-160, TOO_SMALL),
            (1e155, TOO_LARGE),
            (1e300, TOO_LARGE),
        ]
    ],
    ("equal rows, 1e300", fit(1e300 + np.zeros((9, 2))), ValueError, TOO_LARGE),
    ("equal rows, 1e-300", fit(1e-300 + np.zeros((9, 2))), ValueError, TOO_SMALL),
    ("outlier 1e300", fit(spoiled(1e300)), ValueError, HERE),
    ("outlier 1e300, no weight", fit(spoiled(1e300), weight(0)), ValueError, HERE),
    ("outlier after no weight", fit(spoiled(1e300), ROWS > 0), ValueError, HERE),
    *[
        (f"{method} far and heavy", ask(method, FAR, sample_weight=HEAVY), *refused)
        for method in ["score", "free_energy", "bic"]
        for refused in [(ValueError, "row 7|weight")]
    ],
    *[
        (f"{method} at {far:g}", ask(method, spoiled(far)), ValueError, says)
        for method in METHODS
        for far in (1e150, -1e200, 1e300)
        for says in [re.escape(f"{far:.3g} at {HERE}")]
    ],
]

PARAMETERS = [
    (f"{name}={value!r}", fit(**{name: value}), ValueError, name)
    for name, wrong in {
        "n_clusters": [0, -1, 2.5, "8", None, NAN],
        "n_init": [0, -1, 1.5, "many", None],
        "max_iter": [0, -1, 1.5, None],
        "tol": [-1, NAN, INF, "small"],
        "c_prime": [0, -1, 4, 1.5, "3", NAN],
        "eps": [-0.1, NAN, INF, None],
        "variance": [0, -1.0, NAN, INF, "x"],
        "variance_init": [0, -1.0, NAN, INF, "x"],
        "init": ["banana", None, 3],
        "search": ["banana", None],
        "kernel": ["banana", None],
        "algorithm": ["banana"],
        "random_state": [-1, 1.5, "x"],
    }.items()
    for value in wrong
]
PARAMETERS += [
    (
        "neighbours, c_prime=None",
        fit(search="neighbours", c_prime=None),
        ValueError,
        "search='neighbours' needs c_prime below",
    ),
    (
        "neighbours, too few",
        fit(search="neighbours", c_prime=2, n_neighbors=1),
        ValueError,
        "n_neighbors=1 should be at least c_prime=2",
    ),
    (
        "neighbours, n_explore=-1",
        fit(search="neighbours", n_explore=-1),
        ValueError,
        "n_explore",
    ),
    ("lazy, c_prime=None", fit(search="lazy", c_prime=None), ValueError, "c_prime=1"),
    *[
        (f"{name}={value}, C'={c}", fit(c_prime=c, **{name: value}), ValueError, says)
        for c in (1, 2, None)
        for name in ("variance", "variance_init")
        for value, says in [(1e-320, "variance.*1e-320"), (1e308, r"variance.*1e\+308")]
    ],
    ("variance, X 1e300", fit(1e300 * BLOBS, variance=1.0), ValueError, "variance"),
    *[
        (f"{name}=10**400", fit(search="lazy", **{name: 10**400}), EITHER, name)
        for name in ("variance", "variance_init", "eps", "tol")
    ],
    ("variance, X 1e-300", fit(1e-300 * BLOBS, variance=1.0), ValueError, "variance"),
]

INIT = [
    ("2 of 3 clusters", fit(init=CENTRES[:2]), ValueError, r"\(2, 2\).*clusters 3"),
    ("1 of 2 features", fit(init=CENTRES[:, :1]), ValueError, r"\(3, 1\).*features"),
    ("3-D", fit(init=CENTRES[None]), ValueError, r"initial centers \(1, 3, 2\)"),
    ("ragged", fit(init=[[0, 0], [1], [2, 2]]), ValueError, "init"),
    ("text", fit(init=[["a", "b"]] * 3), ValueError, "init"),
    ("numeric text", fit(init=CENTRES.astype(str)), ValueError, "init.*text"),
    ("complex", fit(init=CENTRES + 1j), EITHER, "init.*complex"),
    ("masked", fit(init=masked(CENTRES, (1, 0))), ValueError, "init.*mask"),
    ("dict", fit(init={}), EITHER, NO_TABLE.format("init")),
    ("at 1e300", fit(init=1e300 * CENTRES), ValueError, r"init .*1e\+301 at row 1"),
    (
        "beyond float32",
        fit(BLOBS.astype("f4"), init=1e300 * CENTRES),
        ValueError,
        r"init .*1e\+301.*float32",
    ),
    ("callable gives None", fit(init=starts_at(None)), EITHER, NO_TABLE.format("init")),
    ("callable gives text", fit(init=starts_at("here")), EITHER, "init.*'here'"),
    ("callable gives nan", fit(init=starts_at(NAN * CENTRES)), ValueError, "init.*nan"),
    ("callable gives two", fit(init=starts_at(CENTRES[:2])), ValueError, "initial cen"),
]

QUESTIONS = [
    ("sample(0)", ask("sample", 0), ValueError, "n_samples=0"),
    ("sample(-1)", ask("sample", -1), ValueError, "n_samples=-1"),
    ("sample(2.5)", ask("sample", 2.5), EITHER, "n_samples.*2.5"),
    ("sample('3')", ask("sample", "3"), EITHER, "n_samples.*'3'"),
    ("sample seed", ask("sample", 2, random_state=-1), ValueError, "random_state"),
    ("gap per banana", ask("gap", BLOBS, per="banana"), ValueError, "per .*'banana'"),
    ("gap per list", ask("gap", BLOBS, per=["row"]), EITHER, r"per .*\['row'\]"),
    ("bic bound", ask("bic", BLOBS, bound="x"), ValueError, "bound .*'x'"),
    ("aic bound", ask("aic", BLOBS, bound=None), ValueError, "bound .*None"),
    *[
        (f"{method} C'={c!r}", ask(method, BLOBS, c_prime=c), EITHER, f"c_prime.*{c}")
        for method in TRUNCATING
        for c in (0, -1, 4, 1.5, "3")
    ],
]

REFUSED = {
    "not finite": NOT_FINITE,
    "shape": SHAPES,
    "not numbers": NOT_NUMBERS,
    "weights": WEIGHTS,
    "scale": SCALES,
    "parameter": PARAMETERS,
    "init": INIT,
    "question": QUESTIONS,
}

# The same three blobs, however they are dressed: they must be found.
DISGUISED = [
    *[
        (f"dtype {code}", fit(COUNTS.astype(code)))
        for code in [*np.typecodes["AllInteger"], *"efdg", ">f8", ">f4", ">i2"]
    ],
    ("object", fit(BLOBS.astype(object))),
    ("Fortran order", fit(np.asfortranarray(BLOBS))),
    ("every third value", fit(np.repeat(BLOBS, 3, axis=1)[:, ::3])),
    ("backwards", fit(BLOBS[::-1, ::-1])),
    ("read-only", fit(read_only(BLOBS))),
    ("memmap", fit(memmap(BLOBS))),
    ("list", fit(BLOBS.tolist())),
    ("tuple", fit(tuple(map(tuple, BLOBS)))),
    ("pandas", fit(frame(BLOBS))),
    ("pandas nullable", fit(frame(BLOBS).astype("Float64"))),
    ("polars", fit(pl.DataFrame(BLOBS))),
    ("masked, nothing masked", fit(np.ma.array(BLOBS, mask=False))),
    ("CSR", fit(sp.csr_array(BLOBS))),
    ("COO float32", fit(sp.coo_array(BLOBS.astype("f4")))),
    ("copies", fit(np.vstack([BLOBS, BLOBS, BLOBS]))),
    ("constant column", fit(np.c_[BLOBS, each(5.3)])),
    ("nanosecond clock", fit((1.7e18 + 1e15 * BLOBS).astype("i8"))),
    *[
        (f"times {scale:g}, C'={c}", fit(scale * BLOBS, c_prime=c))
        for scale in (1e-150, 1e-100, 1e-30, 1e100, 1e150)
        for c in (1, 2, None)
    ],
    *[
        (f"float32 times {scale:g}", fit((scale * BLOBS).astype("f4")))
        for scale in (1e-44, 1e-38, 1e-30, 1e18, 1e37)
    ],
    *[
        (f"plus {offset:g}, C'={c}", fit(offset + BLOBS, c_prime=c))
        for offset in (1e4, 1e8, 1e12)
        for c in (1, 2, None)
    ],
    ("float32 plus 1e4", fit((1e4 + BLOBS).astype("f4"))),
    *[(f"weights {w:g}", fit(BLOBS, each(w))) for w in (1e-306, 1e-300, 1e300, 1e305)],
    ("weights a number", fit(BLOBS, 2.0)),
    ("weights bool", fit(BLOBS, ROWS % 2 == 0)),
    ("weights int8", fit(BLOBS, each(np.int8(3)))),
    ("weights series", fit(BLOBS, pd.Series(each(0.1)))),
    ("one weight 1e300", fit(BLOBS, weight(1e300))),
    ("one weight 1e-320", fit(BLOBS, weight(1e-320))),
    ("outlier 1e30, no weight", fit(spoiled(1e30), weight(0))),
    ("outlier 1e120, no weight", fit(spoiled(1e120), weight(0))),
    *[(f"lazy eps={e:g}", fit(search="lazy", eps=e)) for e in (0, 1e200, 1e308)],
    *[
        (f"{name}={value:g}, C'={c}", fit(**{name: value, "c_prime": c}))
        for name in ("variance", "variance_init")
        for value in (1e-300, 1.0)
        for c in (1, 2, None)
    ],
    ("variance=1e300", fit(variance=1e300)),
    ("variance_init=1e300", fit(variance_init=1e300, c_prime=2)),
    (
        "variance_init=1e30, X 1e-150",
        fit(1e-150 * BLOBS, variance_init=1e30, c_prime=2),
    ),
    ("tol=0", fit(tol=0)),
    ("init list", fit(init=CENTRES.tolist())),
    ("init frame", fit(init=frame(CENTRES))),
]

TWO_PLACES = np.repeat([[0.1, 0.3], [1.7, 1.1]], [7, 5], axis=0)
ON_CENTRES = "Every row lies on a cluster center: the variance is floored"
DISTINCT = r"distinct clusters \({}\).*n_clusters \({}\)"
DEGENERATE = [
    *[
        (f"{name}, C'={c}", fit(X, weights, c_prime=c, n_clusters=C), says)
        for c in (1, None)
        for name, X, weights, C, says in [
            ("equal rows", np.full((3000, 2), 0.1), None, 3, DISTINCT.format(1, 3)),
            ("rows of zeros", np.zeros((9, 2)), None, 3, DISTINCT.format(1, 3)),
            ("empty CSR", sp.csr_array((9, 2)), None, 3, DISTINCT.format(1, 3)),
            ("equal rows, 1e8", np.full((9, 2), 1.1e8), None, 3, DISTINCT.format(1, 3)),
            ("two places", TWO_PLACES, None, 3, DISTINCT.format(2, 3)),
            ("two places, 1e8", 1e8 + TWO_PLACES, None, 3, DISTINCT.format(2, 3)),
            ("bool", BLOBS > 5, None, 3, ON_CENTRES),
            ("as many rows as clusters", BLOBS[[0, 25, 45]], None, 3, ON_CENTRES),
            ("one row", BLOBS[:1], None, 1, ON_CENTRES),
            ("one weighted row", BLOBS, 1.0 * (ROWS == ROW), 3, ON_CENTRES),
        ]
    ],
    ("variance=1e300", fit(variance=1e300, c_prime=None), "distinct clusters"),
    ("lazy, equal rows", fit(np.ones((9, 2)), search="lazy"), DISTINCT.format(1, 3)),
]


def named(tables):
    return [
        pytest.param(*row[1:], id=f"{table}: {row[0]}")
        for table, rows in tables.items()
        for row in rows
    ]


@pytest.fixture(autouse=True)
def no_hang():
    def interrupt(*_):
        raise TimeoutError(f"no answer within {SECONDS_BEFORE_IT_HANGS} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(SECONDS_BEFORE_IT_HANGS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("call", "error", "says"), named(REFUSED))
def test_is_refused_in_words_that_name_the_place(kernel_name, call, error, says):
    with pytest.raises(error, match=says):
        call(kernel_name)


@pytest.mark.parametrize("call", named({"disguise": DISGUISED}))
def test_gives_the_right_answer(kernel_name, call):
    model = call(kernel_name)
    assert_right(model, call)
    labels = model.labels_
    # A row without weight may lie anywhere, outside its blob too.
    given = 1.0 if call.sample_weight is None else call.sample_weight
    counted = np.broadcast_to(given, labels.shape) > 0
    assert_no_blob_is_split(labels[counted], np.resize(BLOB_OF, labels.shape)[counted])


@pytest.mark.parametrize(("call", "says"), named({"degenerate": DEGENERATE}))
def test_degenerate_data_get_the_right_answer_and_one_warning(kernel_name, call, says):
    with pytest.warns(ConvergenceWarning, match=says) as caught:
        model = call(kernel_name)
    assert len(caught) == 1
    assert_right(model, call, warning=str(caught[0].message))


@pytest.mark.parametrize("c_prime", [1, 2, None])
@pytest.mark.parametrize("far", [1e8, 1e15, 1e30, 1e100])
def test_one_row_far_away_does_not_spoil_the_others(kernel_name, far, c_prime):
    call = fit(spoiled(far), c_prime=c_prime)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = call(kernel_name)
    assert [w.category for w in caught] in ([], [ConvergenceWarning])
    assert_right(model, call, warning=" ".join(str(w.message) for w in caught))
    others = ROWS != ROW
    assert model.labels_[ROW] not in model.labels_[others]
    if c_prime == 1 or not caught:
        # Beyond that the variance is floored, as the warning says, and all is soft.
        assert_no_blob_is_split(model.labels_[others], BLOB_OF[others])


def test_a_row_of_no_weight_changes_nothing_however_far_it_is(kernel_name):
    small = 1e-50 * BLOBS
    model = fit(spoiled(1e120, small), weight(0), c_prime=2)(kernel_name)
    without = fit(np.delete(small, ROW, axis=0), c_prime=2)(kernel_name)
    assert model.cluster_centers_ == pytest.approx(without.cluster_centers_, rel=1e-12)
    assert model.variance_ == pytest.approx(without.variance_, rel=1e-12)


@pytest.mark.parametrize("far", [1e6, 1e13])
def test_a_row_too_far_for_its_density_still_has_a_posterior(kernel_name, far):
    rows, narrow = spoiled(far), fit(variance=1e-300)
    nearest = np.argmax(narrow(kernel_name).cluster_centers_[:, COLUMN])
    assert ask("predict", rows, of=narrow)(kernel_name)[ROW] == nearest
    posterior = ask("predict_proba", rows, of=narrow)(kernel_name)[ROW]
    assert posterior.tolist() == np.eye(3)[nearest].tolist()
    assert ask("gap", rows, of=narrow)(kernel_name) == 0.0
    gaps = ask("gap", rows, of=narrow, per="row")(kernel_name)
    assert gaps.tolist() == [0.0] * 60
    with pytest.raises(ValueError, match="row 7"):
        ask("score_samples", rows, of=narrow)(kernel_name)


def assert_no_blob_is_split(labels, blob_of):
    assert len(set(zip(blob_of.tolist(), labels.tolist()))) == 3


def assert_right(model, call, warning=""):
    """Judge everything a fitted model says about its rows, in long double."""
    rows = call.X.toarray() if sp.issparse(call.X) else np.asarray(call.X)
    rows = rows.astype(np.float64).astype(LONG)
    weights = np.ones(len(rows)) if call.sample_weight is None else call.sample_weight
    weights = np.asarray(weights).astype(LONG) * np.ones(len(rows))
    C, D = model.cluster_centers_.shape
    kind = np.finfo(model.cluster_centers_.dtype)
    output = (8 * kind.eps, kind.smallest_subnormal)
    variance = LONG(model.variance_)
    squares = ((rows[:, None] - model.cluster_centers_.astype(LONG)) ** 2).sum(axis=2)
    own = np.take_along_axis(squares, model.labels_[:, None], axis=1)[:, 0]
    inertia = np.sum(weights * own)

    assert np.isfinite(model.cluster_centers_).all()
    assert (own <= squares.min(axis=1) * (1 + 4 * D * EPS)).all()
    assert agree(model.inertia_, inertia)
    assert 0 < variance < INF
    if "variance is floored" in warning:
        assert variance >= inertia / (D * weights.sum())
    elif model.c_prime == 1 and model.variance is None:
        assert agree(variance, inertia / (D * weights.sum()))
    if "Every row lies on a cluster center" in warning:
        assert (np.sqrt(own) <= 4 * EPS * np.abs(rows).max(axis=1))[weights > 0].all()

    log_joint = -np.log(LONG(C)) - D / 2 * np.log(2 * LONG(np.pi) * variance)
    log_joint = log_joint - squares / (2 * variance)
    kept = np.sort(log_joint, axis=1)[:, -(model.c_prime or C) :]
    likelihood, energy = (
        np.sum(weights * log_sum_exp(logs)) / weights.sum()
        for logs in (log_joint, kept)
    )
    assert agree(model.log_likelihood_, likelihood, 1e-9, 1e-9)
    assert agree(model.free_energy_, energy, 1e-9, 1e-9)
    assert 0 <= model.gap_ <= likelihood - energy + 1e-9 * max(1, abs(likelihood))

    posterior = model.predict_proba(call.X, sparse=False)
    assert (posterior >= 0).all()
    assert agree(posterior.sum(axis=1), 1, *output)
    assert (model.predict(call.X) == model.labels_).all()
    assert agree(model.transform(call.X), np.sqrt(squares), *output)
    assert agree(model.score_samples(call.X), log_sum_exp(log_joint), 1e-9, 1e-9)
    assert agree(model.score(call.X, sample_weight=call.sample_weight), -inertia)
    for criterion in (model.bic, model.aic, model.gap, model.free_energy):
        assert np.isfinite(criterion(call.X, sample_weight=call.sample_weight))
    assert np.isfinite(model.sample(3)[0]).all()


def log_sum_exp(logs):
    highest = logs.max(axis=1)
    return np.log(np.exp(logs - highest[:, None]).sum(axis=1)) + highest


def agree(value, truth, relative=1e-12, absolute=0.0):
    allowed = np.maximum(relative * np.abs(truth), absolute)
    return (np.abs(value - truth) <= allowed).all()


class Tensor:
    """An array of another library, which numpy may be able to read."""

    __module__ = "somelib.tensors"

    def __init__(self, values, device="cpu"):
        self.values, self.device = values, device
        self.shape, self.ndim, self.dtype = values.shape, values.ndim, "somelib.float64"

    def __dlpack__(self, **_):
        raise BufferError("not here")

    def __getitem__(self, index):
        raise IndexError("say all axes")

    def __array__(self, dtype=None, copy=None):
        if self.device != "cpu":
            raise TypeError("can't convert gpu:0 device type tensor to numpy")
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize("cls", [KMeans, GaussianMixture])
def test_tensors_of_other_libraries(cls):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = cls(2, random_state=0).fit(Tensor(X))
    expected = cls(2, random_state=0).fit(X)
    assert np.array_equal(model.predict(Tensor(X)), expected.predict(X))
    assert type(model.predict_proba(Tensor(X))) is np.ndarray
    for ask in (cls(2).fit, model.predict, model.score_samples):
        with pytest.raises(
            TypeError, match=r"X is a somelib Tensor on gpu:0, which nu"
        ):
            ask(Tensor(X, "gpu:0"))
