"""Pictures show the numbers of the fit, and say what they leave out."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle
from scipy.stats import norm

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.datasets import make_birch_random
from cprime.plots import (
    ClusterMapDisplay,
    DistanceDisplay,
    FreeEnergyDisplay,
    MapDisplay,
    ProfileDisplay,
    SizesDisplay,
    TruncationDisplay,
)

matplotlib.use("Agg")
X = make_birch_random(5, 40, rng=0).data
RNG = np.random.default_rng(0)
WIDE = np.concatenate([RNG.normal(m, 1.0, size=(40, 6)) for m in (0.0, 2.0, 5.0)])
LINE = np.concatenate([RNG.normal(0, 1, 100), RNG.normal(5, 0.5, 50)])[:, None]

ESTIMATORS = {
    "k-means": KMeans(3, random_state=0),
    "C'=2": KMeans(3, c_prime=2, random_state=0),
    "EM": KMeans(3, c_prime=None, random_state=0),
    "lazy": KMeans(3, search="lazy", random_state=0),
    "soft": SoftKMeans(3, random_state=0),
    **{
        kind: GaussianMixture(3, covariance_type=kind, c_prime=2, random_state=0)
        for kind in ("full", "tied", "diag", "spherical", "isotropic")
    },
    "entropy": FuzzyKMeans(3, regularization="entropy", random_state=0),
}
FUZZY = {
    "fuzzy": FuzzyKMeans(3, random_state=0),
    "quadratic": FuzzyKMeans(3, regularization="quadratic", random_state=0),
}
MAKERS = {
    "free energy": lambda est, X: FreeEnergyDisplay.from_estimator(est),
    "truncation": lambda est, X: TruncationDisplay.from_estimator(est, X),
    "map": lambda est, X: MapDisplay.from_estimator(est, X),
    "cluster map": lambda est, X: ClusterMapDisplay.from_estimator(est),
    "profile": lambda est, X: ProfileDisplay.from_estimator(est, X),
    "sizes": lambda est, X: SizesDisplay.from_estimator(est, X),
    "distance": lambda est, X: DistanceDisplay.from_estimator(est, X),
}
NEED_DENSITY = {"free energy", "truncation", "distance"}


@pytest.fixture
def ax():
    """Return axes no pyplot knows of."""
    return Figure(figsize=(4, 3.5), layout="constrained").add_subplot()


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    left = plt.get_fignums()
    plt.close("all")
    assert left == []


def said(display):
    return display.ax_.get_title().replace("\n", " ")


def drawn(display):
    """Draw everything, with warnings as errors, and return the display."""
    display.figure_.canvas.draw()
    return display


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def bars(ax):
    """Return left edge, width and height of every bar."""
    found = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    return np.array([(b.get_x(), b.get_width(), b.get_height()) for b in found])


# Everything with everything.


@pytest.mark.parametrize("picture", MAKERS)
@pytest.mark.parametrize("name", ESTIMATORS | FUZZY)
def test_every_picture_of_every_estimator(name, picture):
    estimators = ESTIMATORS | FUZZY
    # Every estimator and every picture meet rows of one, two and several features.
    which = list(estimators).index(name) + list(MAKERS).index(picture)
    data = (X, WIDE, LINE)[which % 3]
    estimator = estimators[name].fit(data)
    if name in FUZZY and picture in NEED_DENSITY:
        with pytest.raises(ValueError, match="FuzzyKMeans"):
            MAKERS[picture](estimator, data)
        return
    display = MAKERS[picture](estimator, data)
    figure = Figure(figsize=(4, 3.5))
    assert display.plot(ax=figure.add_subplot()) is display
    assert display.figure_ is figure
    drawn(display)
    panels = getattr(display, "axes_", [display.ax_])
    assert panels[-1].get_xlabel()
    on_a_line = picture == "cluster map" and data is LINE
    assert all(panel.get_ylabel() for panel in panels) or on_a_line


def test_without_axes_it_is_a_figure_of_pyplots():
    kmeans = KMeans(2, random_state=0).fit(X)
    for name, make in MAKERS.items():
        display = make(kmeans, X).plot()
        assert plt.get_fignums() == [display.figure_.number], name
        plt.close(display.figure_)


def test_importing_cprime_does_not_import_matplotlib():
    code = (
        "import sys, cprime; assert 'matplotlib' not in sys.modules; "
        "cprime.plots.MapDisplay; assert 'matplotlib.pyplot' not in sys.modules; "
        "assert 'matplotlib' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_not_fitted_is_said():
    with pytest.raises(ValueError, match="KMeans has neither cluster_centers_ nor"):
        SizesDisplay.from_estimator(KMeans(2))
    with pytest.raises(ValueError, match="KMeans: it has no free_energy_"):
        FreeEnergyDisplay.from_estimator(KMeans(2))


def test_the_wrong_number_of_features_is_said():
    kmeans = KMeans(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 6 features, but the clusters have 2"):
        MapDisplay.from_estimator(kmeans, WIDE)
    with pytest.raises(ValueError, match=r"X has shape \(200,\): rows and columns"):
        MapDisplay.from_estimator(kmeans, X[:, 0])


# Free energy.


def test_free_energy_is_that_of_the_fit(ax):
    # Not converged: the last sweep has raised F once more.
    kmeans = KMeans(12, c_prime=2, max_iter=2, random_state=0).fit(X)
    assert kmeans.free_energy_ > kmeans.trace_["free_energy"][-1]
    display = FreeEnergyDisplay.from_estimator(kmeans).plot(ax)
    curve = lines(ax)["free energy F"]
    np.testing.assert_array_equal(curve.get_xdata(), kmeans.trace_["iteration"])
    np.testing.assert_array_equal(
        curve.get_ydata()[:-1], kmeans.trace_["free_energy"][:-1]
    )
    assert curve.get_ydata()[-1] == kmeans.free_energy_
    level = lines(ax)["likelihood L at the end"].get_ydata()
    np.testing.assert_array_equal(level, kmeans.log_likelihood_)
    (band,) = ax.patches
    corners = band.get_extents().transformed(ax.transData.inverted())
    assert corners.y0 == pytest.approx(kmeans.free_energy_)
    assert corners.y1 == pytest.approx(kmeans.log_likelihood_)
    assert f"{kmeans.gap_:.3g} nats per row" in said(display)
    assert ax.get_ylabel() == "nats per row"


def test_em_has_no_gap_and_says_so(ax):
    mixture = GaussianMixture(3, random_state=0).fit(X)
    display = FreeEnergyDisplay.from_estimator(mixture).plot(ax)
    assert said(display).startswith("No gap") and not ax.patches


def test_a_start_far_below_is_left_below_and_named(ax):
    F = np.concatenate([[-310.0, -40.0], -5.0 - 0.5 ** np.arange(30.0)])
    display = FreeEnergyDisplay(np.arange(32), F, -4.9).plot(ax)
    low, high = ax.get_ylim()
    assert -8.0 < low < -6.0 and -4.9 < high < -4.5
    assert "iterations 0 to 1, from F = -310" in said(display)


def test_a_start_nearby_is_shown(ax):
    F = -5.0 - 0.9 ** np.arange(30.0)
    display = FreeEnergyDisplay(np.arange(30), F, -4.9).plot(ax)
    assert ax.get_ylim()[0] < F[0] and "Below" not in said(display)


@pytest.mark.parametrize("F", [[-3.0], [-3.0, -3.0]])
def test_a_fit_without_a_rise(F, ax):
    display = drawn(FreeEnergyDisplay(np.arange(len(F)), F, -3.0).plot(ax))
    assert said(display).startswith("No gap")


def test_an_interrupted_fit_has_no_likelihood(ax):
    display = FreeEnergyDisplay([0, 1], [-3.0, -2.0]).plot(ax)
    assert "not known" in said(display) and set(lines(ax)) == {"free energy F"}


# Truncation.


def test_truncation_refits_with_every_c_prime(ax):
    kmeans = KMeans(4, random_state=3).fit(X)
    before = dict(vars(kmeans))
    display = TruncationDisplay.from_estimator(kmeans, X, c_primes=(3, 1, 9, None, 4))
    np.testing.assert_array_equal(display.c_prime, [1, 3, 4])
    for i, c_prime in enumerate((1, 3, None)):
        refitted = KMeans(4, c_prime=c_prime, random_state=3).fit(X)
        assert display.free_energy[i] == refitted.free_energy_
        assert display.log_likelihood[i] == refitted.log_likelihood_
        assert display.gap[i] == refitted.gap_
    assert (display.seconds > 0).all()
    assert all(vars(kmeans)[name] is value for name, value in before.items())
    display.plot(ax)
    top, middle, bottom = display.axes_
    drawn_lines = lines(top)
    np.testing.assert_array_equal(
        drawn_lines["free energy F"].get_ydata(), display.free_energy
    )
    np.testing.assert_array_equal(
        drawn_lines["log-likelihood L"].get_ydata(), display.log_likelihood
    )
    gaps = next(line for line in middle.lines if len(line.get_xdata()) == 2)
    np.testing.assert_array_equal(gaps.get_ydata(), display.gap[:2])
    assert middle.get_yscale() == "log" and [t.get_text() for t in middle.texts] == [
        "0"
    ]
    np.testing.assert_allclose(bars(bottom)[:, 2], display.seconds)
    assert [t.get_text() for t in bottom.get_xticklabels()] == [
        "1\n(hard)",
        "3",
        "4\n(all)",
    ]


def test_truncation_starts_all_fits_alike():
    for random_state in (None, np.random.RandomState(5)):
        kmeans = KMeans(5, init="random", n_init=1, random_state=random_state).fit(X)
        found = [
            TruncationDisplay.from_estimator(kmeans, X, c_primes=[1, 2]).free_energy
            for _ in range(2)
        ]
        np.testing.assert_array_equal(*found)


def test_truncation_weighs_rows():
    weights = RNG.uniform(0.1, 3.0, len(X))
    kmeans = KMeans(3, random_state=0).fit(X, sample_weight=weights)
    display = TruncationDisplay.from_estimator(
        kmeans, X, c_primes=[1], sample_weight=weights
    )
    assert display.gap[0] == kmeans.gap_


def test_truncation_without_a_gap_anywhere(ax):
    mixture = GaussianMixture(1, random_state=0).fit(X)
    display = drawn(TruncationDisplay.from_estimator(mixture, X).plot(ax))
    np.testing.assert_array_equal(display.c_prime, [1])
    assert len(display.axes_[1].texts) == 1
    with pytest.raises(ValueError, match=r"c_primes=\(5, 7\) has no number from 1"):
        TruncationDisplay.from_estimator(mixture, X, c_primes=(5, 7))


def test_truncation_on_three_axes():
    panels = Figure().subplots(3)
    display = TruncationDisplay([1, 2], [-3, -2], [-1, -1], [2, 1], [0.1, 0.2])
    assert list(display.plot(panels).axes_) == list(panels)
    with pytest.raises(ValueError, match="no place of a grid"):
        display.plot(Figure().add_axes((0.0, 0.0, 1.0, 1.0)))


# Map.


def test_the_map_has_rows_ellipses_and_centres(ax):
    mixture = GaussianMixture(5, random_state=0).fit(X)
    display = MapDisplay.from_estimator(mixture, X).plot(ax)
    (dots,) = ax.collections
    offsets = np.asarray(dots.get_offsets())
    np.testing.assert_allclose(np.sort(offsets, axis=0), np.sort(X, axis=0))
    ellipses = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    assert len(ellipses) == 10
    for mean, covariance in zip(mixture.means_, mixture.covariances_):
        own = [e for e in ellipses if np.allclose(e.center, mean)]
        for sigmas, ellipse in zip((1, 2), own):
            # Points of an ellipse are so many standard deviations away.
            unit = ellipse.get_path().vertices
            around = ellipse.get_patch_transform().transform(unit)
            apart = around[np.linalg.norm(unit, axis=1) < 1.0 + 1e-9] - mean
            squared = np.einsum("nd,de,ne->n", apart, np.linalg.inv(covariance), apart)
            np.testing.assert_allclose(squared.max(), sigmas**2, rtol=1e-3)
    centres = next(line for line in ax.lines if len(line.get_xdata()) == 5)
    np.testing.assert_allclose(centres.get_xydata(), mixture.means_)
    assert said(display) == "200 rows in 5 clusters."
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")


def test_rows_fade_as_they_get_uncertain(ax):
    mixture = GaussianMixture(2, covariance_type="isotropic", random_state=0).fit(LINE)
    points = np.stack([LINE[:, 0], np.zeros(len(LINE))], axis=1)
    posterior = mixture.predict_proba(LINE)
    display = MapDisplay(
        points, posterior.argmax(1), posterior.max(1), [[0.0, 0.0], [5.0, 0.0]]
    )
    display.plot(ax)
    (dots,) = ax.collections
    order = np.asarray(dots.get_offsets())[:, 0].argsort()
    faces = dots.get_facecolors()[order, :3]
    edges = dots.get_edgecolors()[order, :3]
    certainty = posterior.max(1)[LINE[:, 0].argsort()]
    whiteness = 1.0 - np.abs(1.0 - faces).sum(1) / np.abs(1.0 - edges).sum(1)
    np.testing.assert_allclose(
        whiteness, 0.78 * (1.0 - np.clip(2.0 * certainty - 1.0, 0.0, 1.0)), atol=1e-6
    )
    assert whiteness.max() > 0.1


def test_a_sample_of_the_rows_says_so(ax):
    kmeans = KMeans(5, random_state=0).fit(X)
    display = MapDisplay.from_estimator(kmeans, X, max_rows=50).plot(ax)
    assert len(np.asarray(ax.collections[0].get_offsets())) == 50
    assert "Of 200 rows in 5 clusters, 50 drawn." in said(display)
    again = MapDisplay.from_estimator(kmeans, X, max_rows=50)
    np.testing.assert_array_equal(display.points, again.points)


def test_features_are_chosen_by_name_or_number(ax):
    frame = pd.DataFrame(WIDE, columns=list("abcdef"))
    kmeans = KMeans(3, random_state=0).fit(frame)
    display = MapDisplay.from_estimator(kmeans, frame, features=("e", 1)).plot(ax)
    np.testing.assert_array_equal(display.points, WIDE[:, [4, 1]])
    np.testing.assert_array_equal(display.means, kmeans.cluster_centers_[:, [4, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("e", "b")
    with pytest.raises(ValueError, match="'z' is not a feature of this fit"):
        MapDisplay.from_estimator(kmeans, frame, features=("a", "z"))
    with pytest.raises(ValueError, match="no feature 6: the fit has 6, counted from 0"):
        MapDisplay.from_estimator(kmeans, frame, features=(0, 6))
    with pytest.raises(ValueError, match="two different features"):
        MapDisplay.from_estimator(kmeans, frame, features=(0, "a"))


@pytest.mark.parametrize("C", [1, 2, 3])
def test_many_features_are_seen_along_main_directions(C, ax):
    kmeans = KMeans(C, random_state=0).fit(WIDE)
    display = drawn(MapDisplay.from_estimator(kmeans, WIDE).plot(ax))
    assert display.points.shape == (120, 2)
    axes = [ax.get_xlabel(), ax.get_ylabel()]
    assert sum("% of spread" in name for name in axes) == min(C - 1, 2)
    assert "feature" in axes[0] and "feature" in axes[1]
    assert ax.get_aspect() == 1.0


def test_far_rows_do_not_decide_the_limits(ax):
    rows = np.concatenate([X, [[1e4, 0.0], [0.0, -1e5]]])
    kmeans = KMeans(5, init=X[::40], random_state=0).fit(rows)
    display = drawn(MapDisplay.from_estimator(kmeans, rows).plot(ax))
    assert ax.get_xlim()[1] < 100 and ax.get_ylim()[0] > -100
    assert "Outside of the picture: 2 drawn rows" in said(display)


def test_hundreds_of_clusters_are_not_all_named(ax):
    many = make_birch_random(300, 5, rng=0).data
    kmeans = KMeans(300, random_state=0, max_iter=5).fit(many)
    display = drawn(MapDisplay.from_estimator(kmeans, many).plot(ax))
    assert len(ax.patches) == 100 and 1 <= len(ax.texts) <= 25
    assert "the 50 largest clusters" in said(display)
    assert len(ax.get_legend().get_texts()) <= 4
    largest = np.argsort(-np.bincount(kmeans.labels_), kind="stable")[:50]
    edges = ax.collections[0].get_edgecolors()[:, :3]
    grey = np.isclose(edges, to_rgb("0.8")).all(axis=1)
    assert grey.sum() == (~np.isin(kmeans.labels_, largest)).sum()


def test_one_feature_is_a_histogram_with_the_density(ax):
    mixture = GaussianMixture(2, random_state=0).fit(LINE)
    drawn(MapDisplay.from_estimator(mixture, LINE).plot(ax))
    curve = lines(ax)["their mixture"]
    expected = sum(
        weight * norm(mean, np.sqrt(variance)).pdf(curve.get_xdata())
        for weight, mean, variance in zip(
            mixture.weights_, mixture.means_[:, 0], mixture.covariances_[:, 0, 0]
        )
    )
    np.testing.assert_allclose(curve.get_ydata(), expected)
    _, widths, heights = bars(ax).T
    assert widths @ heights == pytest.approx(1.0)
    np.testing.assert_array_equal(
        lines(ax)["centres"].get_xdata(), mixture.means_[:, 0]
    )


def test_a_constant_feature_can_be_drawn(ax):
    display = MapDisplay(np.ones((9, 1)), np.zeros(9, int), np.ones(9), [[1.0]])
    drawn(display.plot(ax))


def test_incomplete_rows_are_left_out_aloud():
    rows = WIDE[:, :3].copy()
    rows[::10, 2] = np.nan
    mixture = GaussianMixture(
        2, covariance_type="diag", missing="marginalize", random_state=0
    ).fit(rows)
    panels = Figure(layout="constrained").subplots(3)
    display = MapDisplay.from_estimator(mixture, rows).plot(panels[0])
    assert "12 incomplete rows" in said(drawn(display))
    # Only what is drawn needs to be there.
    whole = MapDisplay.from_estimator(mixture, rows, features=(0, 1)).plot(panels[1])
    assert "incomplete" not in said(whole)
    distances = DistanceDisplay.from_estimator(mixture, rows).plot(panels[2])
    assert (distances.n_rows, distances.n_missing) == (108, 12)
    assert "12 incomplete rows" in said(distances)


def test_sparse_rows():
    sparse = sp.csr_matrix(np.where(np.abs(WIDE) > 1.0, WIDE, 0.0))
    kmeans = KMeans(3, random_state=0).fit(sparse)
    for name in ("map", "profile", "sizes", "distance"):
        MAKERS[name](kmeans, sparse).plot(Figure().add_subplot())


# Cluster map.


def discs(ax):
    """Return positions and areas of the discs."""
    circles = ax.collections[-2]
    return np.asarray(circles.get_offsets()), circles.get_sizes()


def test_the_cluster_map_has_areas_and_overlaps(ax):
    mixture = GaussianMixture(12, covariance_type="spherical", random_state=0).fit(X)
    display = ClusterMapDisplay.from_estimator(mixture).plot(ax)
    order = np.argsort(-mixture.weights_, kind="stable")
    places, areas = discs(ax)
    np.testing.assert_allclose(places, mixture.means_[order])
    np.testing.assert_allclose(areas / areas.sum(), mixture.weights_[order])
    overlapping = np.argwhere(np.triu(display.overlaps >= 0.05, k=1))
    assert sorted(map(tuple, display.edges)) == sorted(map(tuple, overlapping))
    segments = ax.collections[0].get_segments()
    for (a, b), segment in zip(display.edges, segments):
        np.testing.assert_allclose(segment, mixture.means_[[a, b]])
    widths = ax.collections[0].get_linewidths()
    strengths = display.overlaps[tuple(display.edges.T)]
    np.testing.assert_array_equal(np.argsort(widths), np.argsort(strengths))
    assert len(segments) > 3
    assert f"12 clusters, {len(segments)} overlaps" in said(display)


@pytest.mark.parametrize("data", [LINE, X, WIDE], ids=["1-D", "2-D", "6-D"])
@pytest.mark.parametrize("C", [1, 2])
def test_one_or_two_clusters(C, data, ax):
    display = ClusterMapDisplay.from_estimator(KMeans(C, random_state=0).fit(data))
    drawn(display.plot(ax))
    assert len(discs(ax)[0]) == C
    assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()


def test_hundreds_of_clusters_have_few_lines_and_numbers(ax):
    many = make_birch_random(400, 2, rng=0).data
    kmeans = KMeans(400, init=many[::2], max_iter=1, random_state=0).fit(many)
    kmeans.variance_ = 1.0
    display = drawn(ClusterMapDisplay.from_estimator(kmeans).plot(ax))
    assert len(display.edges) == 300 < display.n_overlapping
    assert len(ax.texts) <= 20 and "the 300 strongest" in said(display)
    weakest = display.overlaps[tuple(display.edges[0])]
    pairs = np.triu(display.overlaps, k=1)
    assert (pairs > weakest).sum() < 300


def test_a_far_small_cluster_stands_at_the_border(ax):
    positions = np.concatenate([RNG.uniform(-5, 5, (20, 2)), [[900.0, 0.0]]])
    weights = np.array([0.0499] * 20 + [0.002])
    display = drawn(ClusterMapDisplay(positions, weights, np.eye(21)).plot(ax))
    assert ax.get_xlim()[1] < 20
    assert "at the border: 1 cluster, 0.2 % of rows" in said(display)
    border = np.asarray(ax.collections[-1].get_offsets())
    assert len(border) == 1 and border[0, 0] < ax.get_xlim()[1]


def test_areas_of_k_means_are_its_labels():
    kmeans = KMeans(3, random_state=0).fit(WIDE)
    display = ClusterMapDisplay.from_estimator(kmeans)
    np.testing.assert_allclose(display.weights, np.bincount(kmeans.labels_) / 120)
    of_some = ClusterMapDisplay.from_estimator(kmeans, WIDE[:30])
    np.testing.assert_allclose(
        of_some.weights, np.bincount(kmeans.labels_[:30], minlength=3) / 30
    )


# Profile.


def test_a_profile_is_in_spreads_of_all_rows(ax):
    kmeans = KMeans(3, random_state=0).fit(WIDE)
    display = ProfileDisplay.from_estimator(kmeans, WIDE).plot(ax)
    order = np.argsort(-np.bincount(kmeans.labels_), kind="stable")
    expected = (kmeans.cluster_centers_ - WIDE.mean(0)) / WIDE.std(0)
    np.testing.assert_allclose(display.image_.get_array(), expected[order])
    low, high = display.image_.get_clim()
    assert low == -high
    written = [float(t.get_text().replace("\N{MINUS SIGN}", "-")) for t in ax.texts]
    np.testing.assert_allclose(written, expected[order].ravel(), atol=0.0501)
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert [int(name.split()[0]) for name in names] == order.tolist()


def test_a_mixture_knows_the_spread_of_its_rows():
    mixture = GaussianMixture(3, covariance_type="full", random_state=0).fit(WIDE)
    np.testing.assert_allclose(
        ProfileDisplay.from_estimator(mixture).profile,
        ProfileDisplay.from_estimator(mixture, WIDE).profile,
        atol=1e-2,
    )
    with pytest.raises(ValueError, match="no variance: give X"):
        ProfileDisplay.from_estimator(FuzzyKMeans(3, random_state=0).fit(WIDE))


def test_a_constant_feature_has_no_profile():
    constant = np.column_stack([X, np.full(len(X), 3.0)])
    kmeans = KMeans(3, random_state=0).fit(constant)
    profile = ProfileDisplay.from_estimator(kmeans, constant).profile
    np.testing.assert_allclose(profile[:, 2], 0.0, atol=1e-12)


def test_of_many_cells_the_telling_ones_are_drawn(ax):
    profile = RNG.normal(scale=0.2, size=(500, 74))
    profile[:, 70] += np.where(np.arange(500) % 2, 2.0, -2.0)
    weights = RNG.dirichlet(np.ones(500))
    names = [f"f{d}" for d in range(74)]
    display = drawn(ProfileDisplay(profile, names, weights).plot(ax))
    assert display.image_.get_array().shape == (40, 40)
    assert display.features[0] == 70 and display.clusters[0] == weights.argmax()
    assert "The 40 largest of 500 clusters" in said(display)
    assert "Of 74 features, the 40 that tell" in said(display)
    everything = Figure(figsize=(8, 8)).add_subplot()
    display = ProfileDisplay(profile, names, weights)
    drawn(display.plot(everything, max_clusters=None, max_features=None))
    assert display.image_.get_array().shape == (500, 74)
    assert len(everything.get_yticks()) <= 60 and said(display) == ""


# Sizes.


def test_sizes_are_bars_from_the_largest(ax):
    kmeans = KMeans(5, random_state=0).fit(X)
    display = SizesDisplay.from_estimator(kmeans).plot(ax)
    sizes = np.bincount(kmeans.labels_)
    np.testing.assert_array_equal(bars(ax)[:, 2], np.sort(sizes)[::-1])
    assert [int(t.get_text()) for t in ax.get_xticklabels()] == display.order.tolist()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), 40.0)
    assert "equal share: 40 rows" in [t.get_text() for t in ax.texts]
    np.testing.assert_array_equal(
        SizesDisplay.from_estimator(kmeans, X[:20]).sizes,
        np.bincount(kmeans.labels_[:20], minlength=5),
    )


def test_a_mixture_shows_its_weights(ax):
    mixture = GaussianMixture(3, random_state=0).fit(X)
    display = SizesDisplay.from_estimator(mixture).plot(ax)
    np.testing.assert_array_equal(display.sizes, mixture.weights_)
    assert ax.get_ylabel() == "share of all rows"
    counted = SizesDisplay.from_estimator(mixture, X)
    np.testing.assert_array_equal(counted.sizes, np.bincount(mixture.predict(X)))


def test_many_sizes_are_a_curve(ax):
    sizes = RNG.integers(1, 5_000, 500)
    drawn(SizesDisplay(sizes).plot(ax))
    assert not ax.patches and ax.get_yscale() == "log"
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.sort(sizes)[::-1])


def test_empty_clusters_are_counted(ax):
    display = drawn(SizesDisplay([1_000, 0, 3, 0]).plot(ax))
    assert "Empty: 2 clusters" in said(display)


# Distance.


def test_distances_are_counted_and_expected(ax):
    rows = RNG.normal(size=(5_000, 4))
    kmeans = KMeans(1, random_state=0).fit(rows)
    display = DistanceDisplay.from_estimator(kmeans, rows).plot(ax)
    distances = np.linalg.norm(rows - rows.mean(0), axis=1) / np.sqrt(kmeans.variance_)
    np.testing.assert_allclose(np.sqrt(display.squared_distances), distances)
    of_bars = bars(ax)
    limit = np.sqrt(display.limit)
    assert of_bars[:, 2].sum() == 5_000
    beyond = of_bars[:, 0] > limit - 1e-6
    assert of_bars[beyond, 2].sum() == display.n_beyond == (distances > limit).sum()
    for left, width, height in of_bars:
        inside = (distances >= left) & (distances < left + width)
        assert abs(inside.sum() - height) <= 1
    # These rows are what is expected.
    steps = next(p for p in ax.patches if hasattr(p, "get_data")).get_data()
    middle = (steps.edges[:-1] > 1.0) & (steps.edges[1:] < 3.0)
    np.testing.assert_allclose(
        steps.values[middle], of_bars[: len(middle), 2][middle], rtol=0.4
    )
    assert steps.values.sum() == pytest.approx(5_000, rel=1e-2)
    assert f"{display.n_beyond} of 5,000 rows" in said(display)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), limit)


def test_outliers_are_on_a_logarithmic_axis(ax):
    squared = np.concatenate([RNG.chisquare(3, 2_000), [1e4, 3e5]])
    display = drawn(DistanceDisplay(squared, 3).plot(ax))
    assert ax.get_xscale() == "log" and ax.get_xlim()[1] > np.sqrt(3e5)
    assert display.n_beyond == (squared > display.limit).sum() >= 2


def test_counts_stand_for_rows(ax):
    display = DistanceDisplay([1.0, 2.0, 100.0], 2, counts=[500, 400, 7]).plot(ax)
    assert (display.n_rows, display.n_beyond) == (907, 7)
    assert bars(ax)[:, 2].sum() == 907


def test_rows_without_any_distance(ax):
    drawn(DistanceDisplay(np.zeros(5), 2).plot(ax))
