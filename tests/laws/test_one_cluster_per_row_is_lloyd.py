"""C' = 1 is Lloyd's k-means, and its means do not depend on sigma^2 (Prop. 2)."""

from itertools import pairwise

import numpy as np
import paper
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import FLOOR, NEVER_CONVERGED, cases, labellings, variances

from cprime import KMeans, em
from cprime.blocks import Kept
from cprime.models import Isotropic
from cprime.theta import Theta

any_variance = variances | st.floats(1e-200, 1e200)


def lloyd(X, weights, means):
    """Return labels, ties to the lowest index, and the means of the labelled rows."""
    labels = [int(np.argmin(row)) for row in paper.squared_distances(X, means)]
    centres = means.copy()
    for c in range(len(means)):
        rows = [n for n, label in enumerate(labels) if label == c and weights[n] > 0]
        if rows:
            centres[c] = np.average(X[rows], axis=0, weights=weights[rows])
    return labels, centres


def steps(case, variance_init=None):
    model = Isotropic(floor=FLOOR, variance_init=variance_init)
    problem = case.problem(model, C_prime=1)
    return list(em.steps(problem, case.means, NEVER_CONVERGED, max_iter=8))


@given(case=cases())
def test_labels_and_centres_are_lloyds_in_every_iteration(case):
    ulp = np.spacing(np.abs(case.X).max())
    history = steps(case)
    for before, after in pairwise(history):
        if after.relocated:
            # Lloyd says nothing about empty clusters.
            break
        labels, centres = lloyd(case.X, case.weights, before.theta.means)
        assert paper.labels(after.K.K, case.C).tolist() == labels
        assert np.abs(after.theta.means - centres).max() <= 8 * ulp


@given(data=st.data(), case=cases(scattered=False))
def test_labels_do_not_depend_on_the_labels_before_not_even_in_a_tie(data, case):
    before = Kept(data.draw(labellings(case)))
    K, _ = case.problem(C_prime=1).sweep(Theta(case.means, 1.0), before)
    labels, _ = lloyd(case.X, case.weights, case.means)
    assert paper.labels(K.K, case.C).tolist() == labels


@given(case=cases(gridded=False, max_rows=40, spare=1))
def test_a_fit_is_lloyd_until_labels_stay(case):
    X, weights, centres = case.X, case.weights, case.means
    labels, changed, emptied = None, True, False
    while changed:
        before, (labels, centres) = labels, lloyd(X, weights, centres)
        changed = labels != before
        emptied |= len({c for c, w in zip(labels, weights) if w > 0}) < case.C
    # Lloyd says nothing about empty clusters.
    assume(not emptied)
    kmeans = KMeans(case.C, init=case.means, tol=0.0, kernel=case.kernel_name)
    kmeans.fit(case.rows.X, sample_weight=weights)
    assert kmeans.labels_.tolist() == labels
    eps = np.finfo(case.rows.X.dtype).eps
    assert np.abs(kmeans.cluster_centers_ - centres).max() <= 8 * eps * np.abs(X).max()


@given(case=cases(), one=any_variance, other=any_variance)
def test_the_first_variance_does_not_matter_to_the_bit(case, one, other):
    for a, b in zip(steps(case, one), steps(case, other), strict=True):
        assert a.theta.means.tobytes() == b.theta.means.tobytes()
        assert a.K.K.tobytes() == b.K.K.tobytes()


def test_a_converged_fit_is_a_fixed_point_of_lloyd_also_after_a_relocation(
    kernel_name,
):
    # The empty cluster cannot take the lone row; it moves once nothing else changes.
    X = np.array([-50.0, 0.0, 1.0, 2.0, 3.0, 9.0, 10.0])[:, None]
    init = np.array([[-40.0], [1000.0], [2.0]])
    kmeans = KMeans(3, init=init, tol=0.0, kernel=kernel_name).fit(X)
    assert kmeans.converged_
    assert kmeans.n_relocations_ == 1
    labels, centres = lloyd(X, np.ones(len(X)), kmeans.cluster_centers_)
    assert kmeans.labels_.tolist() == labels
    assert np.array_equal(kmeans.cluster_centers_, centres)


def test_ties_go_to_the_lowest_index(kernel_name):
    X = np.array([[0.0], [2.0], [4.0]])
    init = np.array([[0.0], [4.0]])
    kmeans = KMeans(2, init=init, max_iter=1, kernel=kernel_name).fit(X)
    # The row at 2 joins the first mean, which moves to 1; then it is strictly closer.
    assert kmeans.cluster_centers_.ravel().tolist() == [1.0, 4.0]
    assert kmeans.labels_.tolist() == [0, 0, 1]
