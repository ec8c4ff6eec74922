"""Every kernel finds what the reference finds, with covariances of any shape.

Whatever is screened in float32, given up early or whitened beforehand: clusters along
the axes are the same to the last row, their distances to the last bit. With matrices
the order of products is a kernel's own, and near ties may be decided either way.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from every_kernel import KERNELS
from hypothesis import given
from hypothesis import strategies as st
from mixtures import MODELS
from problems import generator

from cprime.blocks import Kept
from cprime.kernels import get_kernel, reference
from cprime.models import Diagonal, Full
from cprime.rows import MemoryRows
from cprime.search import Plan
from cprime.theta import Theta

others = pytest.mark.parametrize("name", [k for k in KERNELS if k != "reference"])
OF_AXES, OF_MATRICES = ("spherical", "diag"), ("tied", "full")
# By how many nats variances differ: at 150, some are beyond what is screened.
WIDTHS = {"alike": 0.3, "different": 3.0, "extreme": 150.0}


@st.composite
def scenes(draw, names, far):
    """Draw rows, weights, and a model with clusters some of which are hard to tell."""
    rng = generator(draw)
    N, D = draw(st.integers(1, 400)), draw(st.integers(1, 20))
    C = draw(st.integers(2, 40))
    model = MODELS[draw(st.sampled_from(names))]()
    offset = draw(st.sampled_from([0.0, 1e3, 1e8]))
    X = rng.normal(size=(N, D)) + offset
    means = rng.normal(size=(C, D)) + offset
    # Float32 sees them in another order, or not at all.
    near = draw(st.sampled_from([0.0, 1e-7, 1e-6]))
    means[C // 2 :] = means[0] + near * rng.normal(size=(C - C // 2, D))
    if far and draw(st.booleans()):
        # Squares from about 1e38 on are beyond float32.
        X[: N // 2] += draw(st.sampled_from([1e6, 3e18, 5e18, 7e18, 1e20, 1e60]))
    widths = WIDTHS[draw(st.sampled_from(list(WIDTHS)))]
    covariance = model.unit(C, D)
    if covariance.ndim == 3:
        roots = np.eye(D) + 0.3 * rng.normal(size=covariance.shape)
        covariance = roots @ np.swapaxes(roots, 1, 2) + 0.01 * np.eye(D)
    else:
        covariance = np.exp(rng.uniform(-widths, widths, size=covariance.shape))
        covariance[C // 2 :] = covariance[0]
    proportions = rng.dirichlet(np.full(C, 9.0)) if draw(st.booleans()) else None
    weights = rng.uniform(0, 2, size=N) * (rng.uniform(size=N) < 0.9)
    weights[0] = 1.0
    coefficients = model.coefficients(Theta(means, covariance, proportions))
    C_prime = draw(st.sampled_from([1, 2, min(5, C), C - 1, C]))
    return MemoryRows(X, weights), coefficients, C_prime


def same_sums(found, expected, share):
    for field in fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        size = np.max(np.abs(other))
        # The log of a total that is 1 but for rounding.
        room = 1e-13 * expected.weight if field.name == "entropy" else 1e-300
        if np.isfinite(size):
            assert np.allclose(one, other, rtol=0, atol=share * size + room), field


def before(draw, scene):
    """Draw the clusters rows kept before: none, the closest of a moment ago, or any.

    Some rows may have been moved to one cluster, which is then in all their places.
    """
    rows, coefficients, C_prime = scene
    C, rng = len(coefficients.means), generator(draw)
    kind = draw(st.sampled_from(["none", "closest", "any"]))
    if C_prime == C or kind == "none":
        return None
    if kind == "closest":
        nudged = coefficients.means + 1e-3 * rng.normal(size=coefficients.means.shape)
        of_then = replace(coefficients, means=nudged)
        with np.errstate(over="ignore"):
            kept = Kept(reference.posterior(rows.X, of_then, C_prime).K)
    else:
        K = np.argsort(rng.uniform(size=(rows.n_rows, C)), axis=1)[:, :C_prime]
        kept = Kept(K.astype(np.int32))
    moved = np.flatnonzero(rng.random(rows.n_rows) < draw(st.sampled_from([0.0, 0.3])))
    return kept.reassigned(moved, int(rng.integers(C)))


@others
@given(scene=scenes(OF_AXES, far=True), data=st.data())
def test_along_the_axes_to_the_last_row(name, scene, data):
    rows, coefficients, C_prime = scene
    kernel, kept = get_kernel(name), before(data.draw, scene)
    plan = Plan(reluctance=data.draw(st.sampled_from([1.0, 1.21])))
    with np.errstate(over="ignore"):
        K, sums = kernel.sweep(rows.block, kept, coefficients, plan, C_prime)
        expected, of = reference.sweep(rows.block, kept, coefficients, plan, C_prime)
        found = kernel.posterior(rows.X, coefficients, C_prime)
        looked_up = reference.posterior(rows.X, coefficients, C_prime)
    assert np.array_equal(K.K, expected.K)
    same_sums(sums.total(), of.total(), 1e-11)
    assert np.array_equal(found.K, looked_up.K)
    assert np.array_equal(found.distances, looked_up.distances)


@others
@pytest.mark.parametrize("C_prime", [2, 3, 5])
def test_rows_that_were_moved_to_their_closest_cluster(name, C_prime):
    """What is in all places is as close as can be: it bounds none of the others."""
    rng = np.random.default_rng(0)
    N, D, C = 500, 6, 30
    X, means = rng.normal(size=(N, D)), rng.normal(size=(C, D))
    theta = Theta(means, np.exp(rng.normal(size=(C, D))))
    coefficients, rows = Diagonal().coefficients(theta), MemoryRows(X)
    expected = reference.posterior(X, coefficients, C_prime).K
    for n_moved in (0, N // 2, N):
        K = expected.copy()
        K[:n_moved] = K[:n_moved, :1]
        found, _ = get_kernel(name).sweep(
            rows.block, Kept(K), coefficients, Plan(), C_prime
        )
        assert np.array_equal(found.K, expected)


@others
@given(scene=scenes(OF_MATRICES, far=False))
def test_with_matrices_but_for_near_ties(name, scene):
    rows, coefficients, C_prime = scene
    kernel, C = get_kernel(name), len(coefficients.means)
    everything = reference.posterior(rows.X, coefficients, C)
    scores = np.empty((rows.n_rows, C))
    np.put_along_axis(scores, everything.K, everything.relative, axis=1)
    found = kernel.posterior(rows.X, coefficients, C_prime)
    kept = np.take_along_axis(scores, found.K, axis=1)
    best = -np.sort(-scores, axis=1)[:, :C_prime]
    scale = 1e-6 if np.abs(coefficients.means).max() > 1e6 else 1e-9
    energy = everything.distances.max(axis=1, initial=1.0)[:, None]
    assert np.all(np.abs(kept - best) <= scale * (1.0 + energy))
    _, stats = rows.sweep(kernel, None, coefficients, Plan(), C_prime)
    _, expected = rows.sweep(reference, None, coefficients, Plan(), C_prime)
    if C_prime < C and np.any(
        -np.sort(-scores, axis=1)[:, C_prime] > best[:, -1] - 1e-4
    ):
        # Rows that keep either of two clusters have sums of either.
        return
    same_sums(stats, expected, 1e-5 if scale > 1e-9 else 1e-9)


@others
def test_a_cluster_given_up_early_is_not_kept(name):
    # Means that differ in the last features alone, a row on one of them, and penalties
    # beside which a distance seen so far is nothing.
    D = 16
    means = np.zeros((3, D))
    means[0], means[1, 0], means[1, -1] = -256.0, 2.0**-30, 64.0
    covariance = np.tile(np.eye(D), (3, 1, 1))
    proportions = np.array([0.98, 0.01, 0.01])
    coefficients = Full().coefficients(Theta(means, covariance, proportions))
    values, before = means[[2]], Kept(np.array([[2]], dtype=np.int32))
    block = MemoryRows(values).block
    K, sums = get_kernel(name).sweep(block, before, coefficients, Plan(), 1)
    assert K.K.tolist() == [[2]]
    expected = reference.sweep(block, before, coefficients, Plan(), 1)[1].total()
    assert np.isclose(sums.total().free_energy, expected.free_energy)


@others
def test_parameters_of_different_clusters_are_refused(name):
    coefficients = Full().coefficients(
        Theta(np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    )
    values, kernel = np.zeros((5, 3)), get_kernel(name)
    fewer = replace(coefficients, whitening=np.ones((1, 3)))
    with pytest.raises(ValueError, match="differ"):
        kernel.posterior(values, fewer, 1)
    with pytest.raises(ValueError, match="cannot keep"):
        kernel.posterior(values, coefficients, 3)
