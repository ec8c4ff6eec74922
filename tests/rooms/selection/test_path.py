"""A path has a fit for every number of clusters, better the more there are."""

import numpy as np
import pytest

from cprime.kernels import native
from cprime.rows import MemoryRows
from cprime.selection.candidates import Fitter
from cprime.selection.criteria import bic
from cprime.selection.path import Path
from cprime.selection.splits import Splits
from cprime.theta import Theta

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
X = np.concatenate([RNG.normal(c, 1.0, (60, 2)) for c in CENTERS])
FLOOR = np.full(2, 1e-6)


def fitter(shape, X=X, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    rows = MemoryRows(X, weights)
    return Fitter(rows, native, shape, FLOOR, float(weights.sum()))


@pytest.mark.parametrize(
    ("shape", "hard"), [("k-means", True), ("full", False), ("spherical", False)]
)
def test_a_path_climbs_and_finds_the_clusters(shape, hard):
    path = Path(fitter(shape), 0, hard)
    numbers = [found.C for found in path.grow(7)]
    assert numbers == list(range(1, 8))
    scores = [path.fits[C].scores for C in numbers]
    values = [s.log_likelihood for s in scores]
    if hard:
        # Without -log C, the price of a label, F is a function of J.
        values = [s.free_energy + np.log(C) for s, C in zip(scores, numbers)]
    assert np.all(np.diff(values) > 0)
    assert path.leader(bic) == 4
    means = path.fits[4].theta.means
    for center in CENTERS:
        assert ((means - center) ** 2).sum(axis=1).min() < 0.2


def test_shrinking_never_makes_a_fit_worse():
    path = Path(fitter("full"), 0)
    before = {found.C: found.scores.log_likelihood for found in path.grow(6)}
    for found in path.shrink(2):
        assert found.scores.log_likelihood >= before[found.C]


def test_a_path_ends_where_there_are_no_rows_for_more():
    few = np.arange(10.0).reshape(5, 2)
    assert max(found.C for found in Path(fitter("full", few), 0).grow(100)) == 1


def test_a_split_gains_what_a_fit_gains():
    of = fitter("full", X[:120])
    one = Theta(X[:120].mean(axis=0)[None], np.cov(X[:120].T)[None], np.ones(1))
    (split,) = Splits(of, 0).of(of.refined(one, 1))
    two = of.judged(of.refined(split.theta, 50)).scores.log_likelihood
    alone = of.judged(of.refined(one, 1)).scores.log_likelihood
    assert split.gain == pytest.approx(120 * (two - alone), rel=0.05)


def test_a_removal_costs_what_is_lost_without_it():
    of = fitter("diag")
    theta = Theta(CENTERS, np.full((4, 2), 4.0), np.full(4, 0.25))
    losses = of.removal_losses(theta)
    for c in range(4):
        kept = [k for k in range(4) if k != c]
        less = Theta(theta.means[kept], theta.covariance[kept], theta.proportions[kept])
        # Proportions that do not add up to one: what is left of the same density.
        lost = of.judged(theta).scores.log_likelihood
        lost -= of.judged(less).scores.log_likelihood
        assert losses[c] == pytest.approx(len(X) * lost, rel=1e-6)
