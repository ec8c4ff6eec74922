"""What a notebook shows: a card for a fit, a bar while it runs, tables of pandas."""

import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pages import Page
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from cprime import (
    AutoMixture,
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    ProgressBar,
    SoftKMeans,
)

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(c, 1.0, (60, 3)) for c in (0.0, 8.0, 16.0)])
FRAME = pd.DataFrame(X, columns=["age", "<b>income</b>", "rooms"])
FRAME.index = FRAME.index + 1000
DOORS = [
    KMeans(3, random_state=0),
    KMeans(3, c_prime=2, n_init=3, random_state=0),
    SoftKMeans(3, random_state=0),
    FuzzyKMeans(3, random_state=0),
    GaussianMixture(3, random_state=0),
    GaussianMixture(3, covariance_type="diag", c_prime=1, random_state=0),
]


def name_of(estimator):
    return type(estimator).__name__


# ---- the card ----------------------------------------------------------------------


@pytest.mark.parametrize("estimator", DOORS, ids=name_of)
def test_a_fitted_estimator_shows_a_verdict_and_a_small_picture(estimator):
    estimator.fit(X)
    page = Page(estimator._repr_html_())
    assert page.text.startswith(f"{name_of(estimator)}: 3 clusters")
    assert len(page.of("circle", "r")) == 3
    assert estimator._repr_mimebundle_()["text/html"].startswith("<div")
    if hasattr(estimator, "gap_"):
        said = ("nothing is left out", "Labels are clear", "is enough here")
        assert any(words in page.text for words in said)
    # A mixture does not remember how many rows it was fitted to.
    if hasattr(estimator, "labels_") and hasattr(estimator, "bic"):
        assert "3 clusters describe these rows better than one." in page.text


def test_a_choice_shows_what_was_chosen():
    auto = AutoMixture(random_state=0, max_clusters=5).fit(X)
    page = Page(auto._repr_html_())
    assert auto.verdict_.partition(".")[0] in page.text
    assert len(page.of("circle", "r")) == 3


def test_one_group_is_called_so():
    noise = RNG.normal(size=(300, 20))
    page = Page(KMeans(5, random_state=0).fit(noise)._repr_html_())
    assert "One cluster describes these rows better." in page.text


@pytest.mark.parametrize("estimator", [KMeans(3), AutoMixture(), GaussianMixture(2)])
def test_without_a_fit_there_is_only_the_diagram(estimator):
    assert "circle" not in estimator._repr_html_()


def test_who_wants_text_gets_text():
    kmeans = KMeans(3, random_state=0).fit(X)
    with config_context(display="text"):
        assert not hasattr(kmeans, "_repr_html_")
        assert set(kmeans._repr_mimebundle_()) == {"text/plain"}


@pytest.mark.parametrize("C", [1, 2, 200])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1.0, 1e300])
def test_pictures_of_any_centres_are_finite(C, scale):
    kmeans = KMeans(C)
    kmeans.cluster_centers_ = scale * RNG.normal(size=(C, 1 + C % 2))
    html = kmeans._repr_html_()
    assert "nan" not in html and "inf" not in html.partition("</svg>")[0]
    page = Page(html)
    for axis, most in (("cx", 220.0), ("cy", 150.0)):
        places = np.array(page.of("circle", axis), dtype=float)
        assert ((places >= 0.0) & (places <= most)).all()


# ---- progress ----------------------------------------------------------------------


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, html):
        self.shown.append(html)


@pytest.fixture
def shown(monkeypatch):
    """A notebook that remembers what is shown in it."""
    found = []

    def display(html, display_id):
        found.append(html)
        return Handle(found)

    module = types.ModuleType("IPython")
    module.display = types.SimpleNamespace(display=display, HTML=str)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setattr("cprime.notebook.progress_bar.SECONDS_BETWEEN", 0.0)
    return found


def test_a_notebook_has_a_bar_that_ends_full(shown):
    kmeans = KMeans(3, n_init=2, random_state=0).fit(X, progress=ProgressBar())
    values = [
        float(value) for page in shown for value in Page(page).of("progress", "value")
    ]
    assert len(shown) == kmeans.restarts_["n_iter"].sum()
    assert values == sorted(values) and values[-1] == 1.0
    assert "start 2 of 2" in shown[-1] and "converged" in shown[-1]


def test_a_search_has_a_bar_too(shown):
    AutoMixture(random_state=0, max_clusters=4).fit(X, progress=ProgressBar())
    assert "3 clusters (" in shown[-1] and "tried" in shown[-1]


def test_it_is_silent_where_nobody_looks(capsys):
    KMeans(3, random_state=0).fit(X, progress=ProgressBar())
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_line(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    KMeans(3, random_state=0, max_iter=1, tol=0).fit(X, progress=ProgressBar())
    said = capsys.readouterr().err
    assert f"[{'#' * 30}]" in said and "iteration 1, F " in said and said.endswith("\n")


# ---- tables ------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", DOORS, ids=name_of)
def test_rows_as_a_frame(estimator):
    estimator.fit(FRAME)
    found = estimator.predict_frame(FRAME)
    assert found.index.equals(FRAME.index)
    assert np.array_equal(found["label"], estimator.predict(FRAME))
    proba = estimator.predict_proba(FRAME)
    np.testing.assert_allclose(found["probability"], proba.max(axis=1), rtol=1e-9)
    assert np.array_equal(found["runner_up"], np.argsort(-proba, axis=1)[:, 1])
    assert ("outlier_score" in found) == hasattr(estimator, "score_samples")


@pytest.mark.parametrize("estimator", DOORS, ids=name_of)
def test_clusters_as_a_frame(estimator):
    estimator.fit(FRAME)
    found = estimator.cluster_frame()
    assert found.index.name == "cluster" and len(found) == 3
    assert found["share"].sum() == pytest.approx(1.0)
    means = getattr(estimator, "means_", getattr(estimator, "cluster_centers_", None))
    np.testing.assert_allclose(found[list(FRAME)], means)
    assert found.loc[means[:, 0].argmax(), "name"].count("high") == 3


def test_arrays_and_sparse_rows_have_frames_too():
    kmeans = KMeans(3, random_state=0).fit(X)
    dense = kmeans.predict_frame(X)
    assert list(dense.index) == list(range(len(X)))
    pd.testing.assert_frame_equal(dense, kmeans.predict_frame(sp.csr_array(X)))
    assert "feature 0" in kmeans.cluster_frame()


def test_without_a_fit_there_is_no_frame():
    for ask in (lambda: KMeans(3).predict_frame(X), KMeans(3).cluster_frame):
        with pytest.raises(NotFittedError):
            ask()


def test_without_pandas_it_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import numpy as np; from cprime import KMeans\n"
        "X = np.arange(20.0).reshape(10, 2)\n"
        "KMeans(2).fit(X)._repr_html_()\n"
        "KMeans(2).fit(X).predict_frame(X)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr.rstrip().endswith("pip install pandas")
