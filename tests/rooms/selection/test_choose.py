"""Fits of all numbers and shapes, and among them some whose clusters are groups."""

import numpy as np

from cprime.kernels import native
from cprime.rows import MemoryRows
from cprime.selection.candidates import Fitter
from cprime.selection.choose import Chooser
from cprime.theta import Theta

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])
X = np.concatenate([c + RNG.standard_t(3, size=(300, 2)) for c in CENTERS])
FLOOR = np.full(2, 1e-6)


def chooser():
    return Chooser(MemoryRows(X, np.ones(900)), native, ("diag",), FLOOR, 8)


def test_tails_that_are_clusters_do_not_hide_groups():
    # Highest L: two groups as one, the tails of all as the third.
    of = chooser()
    fitter = Fitter(of.rows, native, "diag", FLOOR, 900.0)
    tails = Theta(
        np.vstack([CENTERS, [[2.0, 2.0]]]),
        np.vstack([np.full((3, 2), 1.5), [[40.0, 40.0]]]),
        np.array([0.3, 0.3, 0.3, 0.1]),
    )
    four = fitter.fitted(tails, 60)
    of.table["diag", 4] = four
    of.table["diag", 3] = fitter.judged(
        Theta(four.theta.means[:3], np.full((3, 2), 1.5), np.full(3, 1 / 3))
    )
    of.table["diag", 1] = fitter.judged(
        Theta(X.mean(axis=0)[None], X.var(axis=0)[None], np.ones(1))
    )
    assert not of.are_groups(four)
    (found,) = of._grouped()
    assert found.C == 3 and of.are_groups(found)
    for center in CENTERS:
        assert np.abs(found.theta.means - center).sum(axis=1).min() < 0.5


def test_groups_are_kept_beside_a_fit_of_higher_likelihood():
    of = chooser()
    for _ in of.run():
        pass
    best = of.best_of_groups(of.criterion)
    assert best.C == 3
    assert len({found.key for found in of.candidates}) == len(of.candidates)
