"""A report says what the fit says, about these rows, and nothing else gets in."""

import base64
import hashlib
import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pages import Page
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cprime import (
    AutoMixture,
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    SoftKMeans,
    advice,
    open_data,
    report,
)
from cprime.advice import AMBIGUOUS, wording
from cprime.plots import DistanceDisplay, squared_distances
from cprime.report import page as page_module
from cprime.report import pictures
from cprime.report import summary as summaries
from cprime.report.cluster_table import cluster_table
from cprime.report.clusters import Fitted
from cprime.report.findings import verdicts_on, warnings_about
from cprime.report.heat_map import heat_map
from cprime.report.inputs import Scaling, as_data
from cprime.report.top_k import TopK

RNG = np.random.default_rng(0)
CENTERS = np.array([[0, 0, 0, 0], [3, 3, 0, 0], [-4, 3, 5, 0], [9, 0, 0, 9.0]])
X = RNG.normal(size=(600, 4)) + CENTERS[RNG.integers(0, 4, 600)]
KMEANS = KMeans(4, random_state=0, n_init=3).fit(X)


def summary_of(estimator, rows, scaling=None):
    return summaries.summarise(
        Fitted.of(estimator), as_data(rows), scaling or Scaling()
    )


@pytest.fixture
def undrawn(monkeypatch):
    """Leave out pictures, which take longest."""

    def dot(display, size, form, alt, caption):
        return pictures.Picture("data:image/png;base64,iVBORw0KGgo=", alt, caption)

    monkeypatch.setattr(pictures, "_draw", dot)


def written(tmp_path, *arguments, **options):
    return Page(report.write(tmp_path / "r.html", *arguments, **options).read_text())


# ---- the pass over the rows ------------------------------------------------------


ESTIMATORS = [
    KMEANS,
    KMeans(5, random_state=0, c_prime=2).fit(X.astype(np.float32)),
    KMeans(1).fit(X),
    SoftKMeans(3, stiffness=0.1, random_state=0).fit(X),
    *(
        GaussianMixture(3, covariance_type=kind, random_state=0, c_prime=2).fit(X)
        for kind in ("full", "tied", "diag", "spherical", "isotropic")
    ),
    GaussianMixture(20, covariance_type="diag", random_state=0, max_iter=500).fit(X),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_one_pass_finds_what_the_estimator_says(estimator):
    rows = X.astype(np.float32) if estimator is ESTIMATORS[1] else X
    found, C = summary_of(estimator, rows), len(Fitted.of(estimator).clusters.means)
    labels = estimator.predict(rows)
    of_all = estimator.predict_proba(rows, c_prime=C)
    own = of_all[np.arange(len(rows)), labels]
    for c_prime, gap in found.gaps.items():
        expected = estimator.gap(rows, c_prime=c_prime)
        assert gap == pytest.approx(expected, rel=1e-4, abs=1e-12)
    assert found.log_likelihood == pytest.approx(estimator.log_likelihood_, rel=1e-6)
    np.testing.assert_array_equal(found.sizes, np.bincount(labels, minlength=C))
    ambiguous = np.bincount(labels[own < AMBIGUOUS], minlength=C)
    np.testing.assert_array_equal(found.n_ambiguous, ambiguous)
    squared = squared_distances(estimator, rows)
    for c in range(C):
        members = np.flatnonzero(labels == c)
        if not len(members):
            continue
        assert found.confidences[c] == pytest.approx(own[members].mean(), rel=1e-5)
        assert found.squares[c] == pytest.approx(squared[members].mean() / 4, rel=1e-5)
        nearest = members[np.argsort(squared[members], kind="stable")][:3]
        np.testing.assert_array_equal(found.typical[c][: len(nearest)], nearest)
        least = np.sort(own[members])[:3]
        border = found.border[c][: len(least)]
        np.testing.assert_allclose(own[border], least, rtol=1e-5)
    farthest = np.argsort(-squared, kind="stable")[:10]
    np.testing.assert_array_equal(found.outliers, farthest)
    assert (
        DistanceDisplay.from_tally(found.distances, 4).n_beyond
        == DistanceDisplay(squared, 4).n_beyond
    )
    exact = rows.astype(np.float64)
    np.testing.assert_allclose(found.columns.means, exact.mean(axis=0))
    np.testing.assert_allclose(found.columns.spreads, exact.std(axis=0))
    np.testing.assert_array_equal(found.columns.lowest, rows.min(axis=0))
    np.testing.assert_array_equal(found.columns.highest, rows.max(axis=0))


def test_blocks_do_not_matter(monkeypatch):
    whole = summary_of(KMEANS, X)
    monkeypatch.setattr(summaries, "BLOCK_VALUES", 4 * 37)
    parts = summary_of(KMEANS, X)
    for name in ("sizes", "n_ambiguous", "typical", "border", "outliers", "sample"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    for name in ("lowest", "highest", "farthest_rows", "n_missing"):
        of_parts, of_whole = (getattr(s.columns, name) for s in (parts, whole))
        np.testing.assert_array_equal(of_parts, of_whole)
    np.testing.assert_allclose(parts.columns.spreads, whole.columns.spreads)
    assert parts.gaps == pytest.approx(whole.gaps)


def test_spreads_do_not_cancel_far_from_zero():
    far = X + 1e9
    columns = summary_of(KMeans(2, random_state=0).fit(far), far).columns
    np.testing.assert_allclose(columns.spreads, far.std(axis=0), rtol=1e-6)


def test_missing_values_are_left_out_not_filled_in():
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.1] = np.nan
    mixture = GaussianMixture(
        3, covariance_type="diag", missing="marginalize", random_state=0, max_iter=500
    ).fit(holes)
    found = summary_of(mixture, holes)
    assert found.log_likelihood == pytest.approx(mixture.log_likelihood_)
    np.testing.assert_allclose(found.columns.means, np.nanmean(holes, axis=0))
    np.testing.assert_allclose(found.columns.spreads, np.nanstd(holes, axis=0))
    np.testing.assert_array_equal(found.columns.n_missing, np.isnan(holes).sum(axis=0))
    assert found.distances.missing == np.isnan(holes).any(axis=1).sum()
    assert not np.isnan(holes[found.outliers]).any()
    assert found.sizes.sum() == len(holes)


def test_rows_on_disk_are_those_in_memory(tmp_path, monkeypatch):
    rows = np.concatenate([X] * 40)
    np.save(tmp_path / "rows.npy", rows)
    on_disk = open_data(tmp_path / "rows.npy", memory="1MiB")
    assert not on_disk.in_memory
    monkeypatch.setattr(summaries, "BLOCK_VALUES", 4 * 5000)
    found, expected = (
        summaries.summarise(Fitted.of(KMEANS), data, Scaling())
        for data in (on_disk, as_data(rows))
    )
    assert found.gaps == expected.gaps
    for name in ("sizes", "typical", "border", "outliers", "sample", "squares"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_few_keeps_the_lowest_whatever_comes_when():
    groups = RNG.integers(0, 5, 400)
    scores = RNG.integers(0, 30, 400).astype(float)
    few = TopK(6, 4)
    for part in np.array_split(RNG.permutation(400), 13):
        few.offer(groups[part], scores[part], part)
    for group in range(5):
        rows = np.flatnonzero(groups == group)
        expected = rows[np.lexsort((rows, scores[rows]))][:4]
        np.testing.assert_array_equal(few.rows[group], expected)
        np.testing.assert_array_equal(few.scores[group], scores[expected])
    assert (few.rows[5] == -1).all() and np.isinf(few.scores[5]).all()


# ---- what is on the page ---------------------------------------------------------


ABOUT = {"command": "cprime fit flows.parquet -k 4", "origin": "flows.parquet"}


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "r.html"
    return report.write(path, KMEANS, X, about=ABOUT).read_text()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_numbers_on_the_page_are_those_of_the_fit(page):
    for value in (KMEANS.free_energy_, KMEANS.log_likelihood_):
        assert f"{value:.4f}".replace("-", wording.MINUS) in page.text
    assert f"Gap L {wording.MINUS} F {wording.nats(KMEANS.gap_)}" in page.text
    assert f"Iterations {KMEANS.n_iter_}" in page.text
    for c, size in enumerate(np.bincount(KMEANS.labels_)):
        share = wording.share(size / 600)
        assert f" {c} {size} {share} " in page.text
    for c_prime in (2, 3):
        gap, text = KMEANS.gap(X, c_prime=c_prime), page.text
        assert f" {c_prime} {wording.brief(wording.nats(gap))} " in text


def test_the_verdict_comes_first(page):
    verdicts = verdicts_on(Fitted.of(KMEANS), summary_of(KMEANS, X))
    places = [page.text.index(v.headline) for v in verdicts]
    sections = ["Warnings", "Data", "Convergence", "Clusters", "Maps", "Outliers"]
    after = page.text.index("Verdict", page.text.index("Verdict") + 1)
    order = [after, *places]
    for section in [*sections, "How to reproduce it"]:
        order.append(page.text.index(f" {section} ", order[-1]))
    assert order == sorted(order)


def test_restarts_are_told(page):
    energies = KMEANS.restarts_["free_energy"]
    assert advice.restarts(energies).headline in page.text
    for F, n_iter in zip(energies, KMEANS.restarts_["n_iter"]):
        below = wording.brief(wording.nats(energies.max() - F))
        shown = f"{F:.4f}".replace("-", wording.MINUS)
        assert f"{shown} {below} {n_iter} yes" in page.text


def test_it_says_how_to_make_the_fit_again(page):
    assert "cprime fit flows.parquet -k 4" in page.text
    assert "KMeans(n_clusters=4, n_init=3, random_state=0).fit(X)" in page.text
    assert open_data(X).fingerprint() in page.text
    assert "flows.parquet" in page.text


def test_pictures_are_inside_and_described(page):
    sources, alts = page.of("img", "src"), page.of("img", "alt")
    assert len(sources) == len(alts) == 5
    for source in sources:
        kind, content = source.split(";base64,")
        start = {"data:image/png": b"\x89PNG", "data:image/svg+xml": b"<?xml"}[kind]
        assert base64.b64decode(content).startswith(start)
    assert all(len(alt) > 30 for alt in alts)


def test_nothing_comes_from_elsewhere_and_nothing_runs(page):
    assert not page.tags.keys() & {
        "script",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
    }
    links = page.of("a", "href")
    ids = {value for _, name, value in page.values if name == "id"}
    assert links and all(link[0] == "#" and link[1:] in ids for link in links)
    for _, name, value in page.values:
        assert not name.startswith("on") and name != "style"
        assert "//" not in value or value.startswith("data:image/")
    assert "url(" not in page.style and "@import" not in page.style


def test_the_policy_lets_in_our_style_and_pictures_only(page):
    (policy,) = [v for v in page.of("meta", "content") if v.startswith("default-src")]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_the_same_fit_gives_the_same_file(tmp_path, html):
    again = KMeans(4, random_state=0, n_init=3).fit(X)
    path = report.write(tmp_path / "r.html", again, X, about=ABOUT)
    assert path.read_text() == html


HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "$\\frac{1$ \u202eevil\x07\n</style></table>",
    "{{ 7 * 7 }} {% raw %} " + "x" * 5000,
]


# Whatever data are called, a page is made of these.
ELEMENTS = {
    "html": "lang",
    "meta": "charset http-equiv content name",
    "link": "rel href",
    "nav": "aria-label",
    "a": "href",
    "section": "id",
    "div": "class tabindex role aria-label",
    "table": "class role",
    "thead": "role",
    "tbody": "role id",
    "tr": "role class",
    "th": "role scope class",
    "td": "role class colspan data-is",
    "svg": "class viewbox preserveaspectratio aria-hidden",
    "rect": "width height",
    "path": "d",
    "details": "open",
    "figure": "class",
    "img": "src alt",
    **dict.fromkeys(("p", "ul", "li", "dl", "span"), "class"),
    **dict.fromkeys(("head", "title", "style", "body", "header", "main", "footer"), ""),
    **dict.fromkeys(("h1", "h2", "h3", "dt", "dd", "caption", "summary"), ""),
    **dict.fromkeys(("i", "b", "figcaption", "pre", "code"), ""),
}


def test_names_are_text_wherever_they_are(tmp_path, page):
    frame = pd.DataFrame(X * [1.0, 1e6, 1.0, 1e4], columns=HOSTILE)
    frame["&lt;b&gt;"] = 1.0
    kmeans = KMeans(4, random_state=0).fit(frame)
    about = {
        "origin": "<h1>\"flows'",
        "command": "cprime fit '</code><script>alert(1)</script>'",
        "<svg onload=alert(1)>": "<svg onload=alert(1)>",
    }
    hostile = written(tmp_path, kmeans, frame, about=about)
    for found in (page, hostile):
        for tag, attributes in found.tags.items():
            assert tag in ELEMENTS and attributes <= {*ELEMENTS[tag].split()}, tag
    text = hostile.text
    for name in ("<script>alert(1)</script>", "<h1>\"flows'", "&lt;b&gt;"):
        assert name in text
    assert "{{ 7 * 7 }}" in text
    assert "</code><script>alert(1)</script>" in text
    assert not set("\u202e\x07") & set(text)
    assert max(map(len, text.split())) < 100


def test_text_is_escaped_at_one_point():
    """By the template, everywhere: nothing in it is said to be safe already."""
    assert "safe" not in (page_module.HERE / "page.html").read_text()
    assert inspect.getsource(page_module).count("Markup(") == 1


def test_a_page_too_large_shows_fewer_rows(tmp_path, monkeypatch, undrawn):
    full = len(KMEANS.report(tmp_path / "a.html", X).read_bytes())
    monkeypatch.setattr(report, "LARGEST", full - 1)
    path = KMEANS.report(tmp_path / "b.html", X)
    assert path.stat().st_size < full
    text = Page(path.read_text()).text
    assert "to keep this page small, of the 2 largest clusters" in text


def test_many_clusters_leave_room_for_their_rows(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 20)).astype(np.float32)
    model = KMeans(500, init=rows[:500], max_iter=1, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = model.fit(rows).report(tmp_path / "a.html", rows)
    assert path.stat().st_size < 1_900_000
    assert "to keep this page small" not in Page(path.read_text()).text


def test_without_rows_it_says_what_the_model_knows(tmp_path, undrawn):
    mixture = GaussianMixture(3, random_state=0).fit(X)
    alone = written(tmp_path, mixture)
    assert "Give the rows as well" in alone.text
    assert "Outliers" not in alone.text
    for c in range(3):
        assert wording.share(float(mixture.weights_[c])) in alone.text
    # k-means knows what it loses, by itself.
    assert verdicts_on(Fitted.of(KMEANS), None)[0].level != "unknown"
    assert str(np.bincount(KMEANS.labels_)[0]) in written(tmp_path, KMEANS).text


@pytest.mark.parametrize("c_prime", [1, None])
def test_noise_is_first_told_that_it_is_no_clusters(tmp_path, undrawn, c_prime):
    noise = np.random.default_rng(0).standard_normal((2000, 50))
    divided = KMeans(5, c_prime=c_prime, random_state=0).fit(noise)
    first, *others = verdicts_on(Fitted.of(divided), summary_of(divided, noise))
    assert first.level == "poor"
    assert first.headline == "One cluster describes these rows better."
    assert "AutoMixture (cprime choose)" in first.text
    assert verdicts_on(Fitted.of(divided), None)[0] == first
    text = written(tmp_path, divided, noise).text
    assert all(text.index(first.headline) < text.index(o.headline) for o in others)


def test_a_choice_is_reported_with_its_picture(tmp_path):
    chosen = AutoMixture(6, random_state=0).fit(X)
    page = written(tmp_path, chosen, X)
    assert chosen.verdict_.partition(".")[0] in page.text
    assert "How much worse than the choice" in page.text
    assert "n_init" not in page.text.partition("Warnings")[0]
    assert "AutoMixture(max_clusters=6, random_state=0).fit(X)" in page.text
    own = chosen.report(tmp_path / "own.html", X).read_bytes()
    assert own == (tmp_path / "r.html").read_bytes()
    other = written(tmp_path, chosen.best_estimator_, X)
    assert "How much worse than the choice" not in other.text


def test_a_mixture_from_elsewhere_has_a_report_too(tmp_path, undrawn):
    peer = PeerKMeans(3, random_state=0, n_init=1).fit(X)
    text = written(tmp_path, KMeans.from_sklearn(peer), X).text
    assert "Convergence" not in text and "typical" in text


# ---- units -----------------------------------------------------------------------


def test_scaled_fits_are_shown_in_units_of_the_rows(tmp_path, undrawn):
    raw = X * [1.0, 1000.0, 0.01, 5.0] + [0.0, 1e5, 3.0, -2.0]
    pipeline = make_pipeline(StandardScaler(), KMeans(4, random_state=0)).fit(raw)
    scaler, kmeans = pipeline[0], pipeline[1]
    units = (scaler.mean_, scaler.scale_)
    by_pipeline = written(tmp_path, pipeline, raw).text
    assert by_pipeline == written(tmp_path, kmeans, raw, scaling=units).text
    scaled = open_data(raw).scaled(*units)
    by_data = written(tmp_path, kmeans, scaled)
    centers = kmeans.cluster_centers_ * scaler.scale_ + scaler.mean_
    for text in (by_pipeline, by_data.text):
        assert "not exactly the rows the model was fitted to" not in text
        assert wording.number(raw[:, 1].max()) in text
        for center in centers:
            assert " ".join(wording.number(v) for v in center) in text
    fitted = Fitted.of(kmeans)
    found = summary_of(kmeans, raw, Scaling(*units))
    assert found.log_likelihood == pytest.approx(kmeans.log_likelihood_)
    # Scaled columns are alike; as they come they would not be.
    for scaling, warned in ((Scaling(*units), False), (Scaling(), True)):
        told = warnings_about(fitted, found, list("abcd"), scaling)
        assert any("different scales" in f.headline for f in told) == warned


def test_exemplars_are_rows_as_they_came():
    wide = np.concatenate([RNG.normal(size=(600, 3)), X, X[:, :2] ** 2], axis=1)
    kmeans = KMeans(4, random_state=0).fit(wide)
    raw, scaling = wide * 7.0 + 3.0, Scaling(np.full(9, 3.0), np.full(9, 7.0))
    found = summary_of(kmeans, raw, scaling)
    table = cluster_table(
        Fitted.of(kmeans), found, as_data(raw), list("abcdefghi"), scaling
    )
    for line in table.lines:
        assert len(line.exemplars) == 6
        columns = ["abcdefghi".index(name) for name in line.columns]
        # Those in which the cluster differs most from all rows.
        apart = np.abs(kmeans.cluster_centers_[line.number] - wide.mean(axis=0))
        telling = np.argsort(-apart / wide.std(axis=0))
        assert columns == sorted(telling[:6])
        named = re.findall(r"(?:very )?(?:high|low) (\w) \(", line.name)
        assert named == ["abcdefghi"[d] for d in telling[:3]]
        centre = raw.mean(axis=0) + 7.0 * (
            kmeans.cluster_centers_[line.number] - wide.mean(axis=0)
        )
        assert f"{named[0]} ({wording.number(centre[telling[0]])})" in line.name
        for shown in line.exemplars:
            row = int(shown.row.replace(",", ""))
            assert kmeans.labels_[row] == line.number
            assert shown.values == [wording.number(v) for v in raw[row, columns]]
            q = kmeans.predict_proba(wide[row : row + 1])[0]
            assert shown.own == wording.brief(wording.share(q[line.number]))
            other = np.argsort(-q, kind="stable")[1]
            assert shown.other.startswith(f"{other} (")


@pytest.mark.parametrize("kind", ["npy", "csr", "frame", "list"])
def test_rows_may_come_in_any_form(tmp_path, kind, undrawn):
    rows = np.where(X > 0.5, X, 0.0)
    kmeans = KMeans(3, random_state=0).fit(rows)
    forms = {"csr": sp.csr_array(rows), "list": rows.tolist()}
    if kind == "npy":
        np.save(tmp_path / "rows.npy", rows)
        forms["npy"] = tmp_path / "rows.npy"
    if kind == "frame":
        forms["frame"] = pd.DataFrame(rows, columns=list("abcd"))
        kmeans.fit(forms["frame"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = written(tmp_path, kmeans, forms[kind])
    assert open_data(rows).fingerprint() in page.text
    assert f"{kmeans.free_energy_:.4f}".replace("-", wording.MINUS) in page.text
    assert ("rows.npy" in page.text) == (kind == "npy")


# ---- what cannot be ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "data", "message"),
    [
        (FuzzyKMeans(2).fit(X), X, "FuzzyKMeans has memberships but no density"),
        (PeerKMeans(2, n_init=1).fit(X), X, "from_sklearn"),
        (make_pipeline(KMeans(2)).fit(X), X, "exactly a fitted StandardScaler"),
    ],
)
def test_what_is_no_mixture_of_ours_is_refused(tmp_path, estimator, data, message):
    with pytest.raises(TypeError, match=message):
        report.write(tmp_path / "r.html", estimator, data)
    assert list(tmp_path.iterdir()) == []


def test_what_was_never_fitted_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        KMeans(2).report(tmp_path / "r.html")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (X[:, :3], {}, "The data have 3 columns, but KMeans was fitted to 4"),
        (X[:0], {}, "no rows"),
        (X[0], {}, "shape"),
        (X, {"scaling": (0.0, 1.0)}, "scaling has shapes"),
        (
            pd.DataFrame(X, columns=["a", "b", "x", "d"]),
            {},
            "Column 2 of the data is 'x', but that of the fit is 'c'",
        ),
    ],
)
def test_rows_that_do_not_belong_are_refused(tmp_path, data, options, message):
    frame = pd.DataFrame(X, columns=list("abcd"))
    kmeans = KMeans(2, random_state=0).fit(frame)
    with pytest.raises(ValueError, match=re.escape(message)):
        report.write(tmp_path / "r.html", kmeans, data, **options)


def test_what_cannot_be_written_leaves_what_was_there(tmp_path, undrawn):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="Could not write the report"):
        KMEANS.report(tmp_path / "folder", X)
    with pytest.raises(OSError, match="make the folder first"):
        KMEANS.report(tmp_path / "nowhere" / "r.html", X)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_heat_map_has_a_number_and_a_level_for_every_cell():
    profile = np.array([[0.0, 2.6, -0.04], [0.3, -0.9, -7.0]])
    found = heat_map(profile, list("abc"), np.array([0.4, 0.6]))
    assert found.clusters == [1, 0] and found.left_out == []
    assert [line.name for line in found.lines] == list("abc")
    assert [line.cells for line in found.lines] == [
        [("p1", "+0.3"), ("z", "0")],
        [("m2", f"{wording.MINUS}0.9"), ("p4", "+2.6")],
        [("m4", f"{wording.MINUS}7.0"), ("z", "0")],
    ]


def test_a_heat_map_of_many_columns_says_what_it_leaves_out():
    profile = RNG.normal(size=(50, 60))
    found = heat_map(profile, [f"c{d}" for d in range(60)], np.full(50, 0.02))
    assert len(found.clusters) == len(found.lines) == 40
    assert "The 40 largest of 50 clusters." in found.left_out
    assert found.left_out[1].startswith("Of 60 features, the 40 that tell")
