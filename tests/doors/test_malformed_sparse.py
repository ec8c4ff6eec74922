"""A sparse matrix whose arrays do not fit together is refused before they are used.

What is legal, however unusual, gives the answer of the dense rows and stays as it was.
"""

import copy
import re

import numpy as np
import pytest
import scipy.sparse as sp
from malformed_sparse import DENSE, malformed, unusual
from sklearn.exceptions import ConvergenceWarning
from sparse_doors import OF_CENTERS, OF_PAGES, OF_ROWS, fitted, refused, starting

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans, bounds
from cprime.models import Isotropic
from cprime.sources import sparse
from cprime.theta import Theta

MALFORMED = [pytest.param(X, says, id=name) for name, X, says in malformed()]
UNUSUAL = [pytest.param(X, id=name) for name, X in unusual()]


@pytest.mark.parametrize(("X", "says"), MALFORMED)
def test_is_refused_in_one_line_at_every_door(X, says):
    for doors, name in ((OF_ROWS, "X"), (OF_PAGES, "X"), (OF_CENTERS, "init")):
        for where, door in doors.items():
            said = refused(door, X)
            assert said is not None, where
            assert re.search(rf"\b{name} (is a malformed|has shape)", said), where
            assert re.search(says, said), where
            assert "\n" not in said and len(said) < 250, where


@pytest.mark.parametrize("X", UNUSUAL)
def test_unusual_matrices_give_the_answers_of_dense_rows(X):
    before = frozen(X)
    of_rows = KMeans(2, random_state=0).fit(X)
    dense = fitted(KMeans)
    assert np.array_equal(of_rows.labels_, dense.labels_)
    assert np.array_equal(of_rows.cluster_centers_, dense.cluster_centers_)
    for cls in (KMeans, SoftKMeans, FuzzyKMeans, GaussianMixture):
        model = fitted(cls)
        for question in ("predict", "transform", "score_samples"):
            if hasattr(model, question):
                ask = getattr(model, question)
                assert np.array_equal(ask(X), ask(DENSE))
        shares = model.predict_proba(X, sparse=False)
        assert np.array_equal(shares, model.predict_proba(DENSE))
    with pytest.warns(ConvergenceWarning, match="Every row lies on"):
        started = starting(KMeans, X)
    assert np.array_equal(started.cluster_centers_, DENSE)
    coefficients = Isotropic().coefficients(Theta(DENSE[[0, 6]], 1.0))
    assert bounds.gap(X, coefficients) == bounds.gap(DENSE, coefficients)
    assert_same(before, frozen(X))


@pytest.mark.parametrize("door", OF_PAGES.values(), ids=OF_PAGES)
def test_unusual_matrices_are_drawn(door):
    (X,) = (X for name, X in unusual() if name == "csc int64 repeated, believed")
    assert refused(door, X) is None


def test_an_honest_matrix_is_not_copied():
    X = sp.csr_array(DENSE)
    assert sparse.canonical(sparse.sound(X)) is X


def test_sparse_rows_of_a_mixture_are_refused_as_such():
    with pytest.raises(TypeError, match="dense data is required"):
        GaussianMixture(2).fit(sp.csr_array(DENSE))


def test_sparse_weights_are_refused_as_such():
    X = sp.csr_array(np.ones((12, 1)))
    X.indices[3] = 1000
    with pytest.raises(TypeError, match="sample_weight is sparse"):
        KMeans(2).fit(DENSE, sample_weight=X)


def frozen(X):
    """Return all that a matrix holds, as it is now."""
    return {name: (value, copy.deepcopy(value)) for name, value in vars(X).items()}


def assert_same(before, now):
    assert before.keys() == now.keys()
    for name, (value, held) in before.items():
        assert now[name][0] is value, name
        assert str(held) == str(now[name][1]), name
