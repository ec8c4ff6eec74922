"""The picture of a choice shows what was tried, and what was not ruled out."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from cprime import AutoMixture, KMeans
from cprime.plots import ChoiceDisplay

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
X = np.concatenate([RNG.normal(c, 1.0, (60, 2)) for c in CENTERS])
CHOSEN = AutoMixture(6, random_state=0).fit(X)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_it_shows_every_fit_and_marks_the_choice(ax):
    display = ChoiceDisplay.from_estimator(CHOSEN).plot(ax)
    assert len(display.value) == len(CHOSEN.results_["shape"])
    assert display.n_clusters[display.chosen] == 3
    assert display.value[display.chosen] == display.value.min()
    assert "3, k-means" in words(ax)
    assert ax.get_title() == "3 spherical clusters of equal size."
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["k-means", "isotropic", "spherical", "diag", "tied", "full"]
    assert "BIC on F" in ax.get_ylabel() and display.ax_ is ax
    ax.figure.canvas.draw()


def test_another_criterion_may_be_asked_for(ax):
    display = ChoiceDisplay.from_estimator(CHOSEN, criterion="icl").plot(ax)
    np.testing.assert_array_equal(display.value, CHOSEN.results_["icl"])
    assert ax.get_ylabel().startswith("ICL")
    with pytest.raises(ValueError, match="criterion='aic' should be"):
        ChoiceDisplay.from_estimator(CHOSEN, criterion="aic")


def test_what_is_plausible_is_shaded_and_what_is_not_separate_is_hollow(ax):
    ChoiceDisplay(
        [1, 2, 3, 4, 2],
        ["full", "full", "full", "full", "diag"],
        [90.0, 10.0, 14.0, 300.0, -60.0],
        chosen=1,
        plausible=[2, 3],
    ).plot(ax)
    assert ax.get_title().endswith("3 is about as good.")
    # The first is the band of differences that are no evidence.
    assert [patch.get_x() + 0.5 for patch in ax.patches[1:]] == [2.0, 3.0]
    hollow = [
        (*line.get_xdata(), *line.get_ydata())
        for line in ax.lines
        if line.get_markerfacecolor() == "white" and len(line.get_xdata())
    ]
    assert hollow == [(2, -70.0)]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[-1] == "clusters are not separate groups"
    ax.figure.canvas.draw()


def test_one_cluster_is_said(ax):
    display = ChoiceDisplay([1, 2], ["tied"] * 2, [1.0, 50.0], chosen=0, plausible=[1])
    display.plot(ax)
    assert ax.get_title() == "One cluster describes these rows best."
    ax.figure.canvas.draw()


def test_one_fit_is_enough(ax):
    ChoiceDisplay([1], ["full"], [0.0], chosen=0, plausible=[1]).plot(ax)
    ax.figure.canvas.draw()


def test_fits_to_a_sample_stand_beside_those_to_all_rows(ax, monkeypatch):
    monkeypatch.setattr("cprime.selection.choice.MOST_ROWS", 120)
    monkeypatch.setattr("cprime.estimators.auto.MOST_ROWS", 120)
    sampled = AutoMixture(6, random_state=0).fit(X)
    assert {*sampled.results_["weight"]} == {120.0, 180.0}
    whole = ChoiceDisplay.from_estimator(CHOSEN)
    display = ChoiceDisplay.from_estimator(sampled).plot(ax)

    # One cluster is as far behind as if all rows had been searched.
    pairs = [
        (d.value[(d.n_clusters == 1) & (d.shape == "full")] - d.value[d.chosen])[0]
        for d in (display, whole)
    ]
    assert pairs[0] == pytest.approx(pairs[1], rel=0.05)


def test_others_are_refused():
    with pytest.raises(TypeError, match="draws a fitted AutoMixture, not KMeans"):
        ChoiceDisplay.from_estimator(KMeans(2).fit(X))
    with pytest.raises(TypeError, match="draws a fitted AutoMixture"):
        ChoiceDisplay.from_estimator(AutoMixture())
