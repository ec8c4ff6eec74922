"""L - F is the KL divergence from the truncated to the full posterior (Prop. 3)."""

import math

import mpmath
import numpy as np
import paper
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, variances

from cprime import KMeans, bounds
from cprime.models import Isotropic
from cprime.theta import Theta


@st.composite
def truncations(draw, case):
    """Draw any C' clusters for every row, near or far."""
    orders = st.permutations(range(case.C))
    K = [draw(orders)[: case.C_prime] for _ in range(len(case.X))]
    return np.array(K, dtype=np.int32)


def divergence(y, means, variance, K):
    """Return sum_{c in K} q log(q / p(c | y)), literally, with digits to spare."""
    with mpmath.workdps(340):
        joint = [
            mpmath.exp(
                -sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(y, mu))
                / (2 * mpmath.mpf(variance))
            )
            for mu in means
        ]
        kept, everything = sum(joint[c] for c in K), sum(joint)
        q, posterior = ([p / total for p in joint] for total in (kept, everything))
        return float(sum(q[c] * mpmath.log(q[c] / posterior[c]) for c in K))


@given(data=st.data(), case=cases(max_rows=8), variance=variances)
def test_the_gap_of_every_row_is_the_divergence_to_every_digit(data, case, variance):
    K = data.draw(truncations(case))
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    options = {"K": K, "kernel": case.kernel}
    gaps = bounds.gap_per_row(case.rows, coefficients, **options)
    # The exponent is a difference of log-joints and keeps their rounding.
    joint = np.abs(paper.log_joint(case.X, case.means, variance)).max(axis=1)
    for gap, y, k, size in zip(gaps, case.X, K, joint):
        expected = divergence(y, case.means, variance, k)
        error = paper.EPS * (64 + 8 * size)
        assert math.isclose(gap, expected, rel_tol=error, abs_tol=1e-300)
    mean = paper.mean(gaps, case.weights)
    gap = bounds.gap(case.rows, coefficients, **options)
    assert math.isclose(gap, mean, rel_tol=1e-13)


@given(data=st.data(), case=cases(), variance=variances)
def test_the_free_energy_is_below_the_likelihood_by_the_gap(data, case, variance):
    K = data.draw(st.none() | truncations(case))
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    options = {"C_prime": case.C_prime, "K": K, "kernel": case.kernel}
    F = bounds.free_energy(case.rows, coefficients, **options)
    L = bounds.log_likelihood(case.rows, coefficients, kernel=case.kernel)
    gap = bounds.gap(case.rows, coefficients, **options)
    everything = np.ones((len(case.X), case.C), dtype=bool)
    assert gap >= 0.0
    assert math.isclose(L - F, gap, abs_tol=paper.rounding(L, F))
    assert math.isclose(
        L,
        paper.free_energy(case.X, case.weights, case.means, variance, everything),
        abs_tol=paper.rounding(L),
    )


@given(case=cases(gridded=False, spare=3))
def test_the_gap_of_k_means_is_the_one_of_the_third_proposition(case):
    kmeans = KMeans(case.C, init=case.means, kernel=case.kernel_name)
    kmeans.fit(case.rows.X, sample_weight=case.weights)
    means, variance = kmeans.cluster_centers_.astype(np.float64), kmeans.variance_
    exponents = -0.5 * paper.squared_distances(case.X, means) / variance
    sums = np.logaddexp.reduce(exponents, axis=1)
    expected = case.D / 2 + paper.mean(sums, case.weights)
    error = paper.rounding(np.abs(sums).max())
    assert math.isclose(kmeans.gap_, expected, abs_tol=error)
    assert kmeans.log_likelihood_ == kmeans.free_energy_ + kmeans.gap_


def test_the_gap_vanishes_as_clusters_separate(kernel_name):
    blob = np.random.default_rng(0).normal(size=(50, 2))
    gaps = []
    for separation in [2.0, 4.0, 8.0, 16.0]:
        X = np.vstack([blob, blob + separation])
        kmeans = KMeans(2, init=X[[0, 50]], kernel=kernel_name).fit(X)
        gaps.append(kmeans.gap_)
        assert kmeans.free_energy_ <= kmeans.log_likelihood_
    assert np.all(np.diff(gaps) < 0)
    assert 0.0 < gaps[-1] < 1e-50


@pytest.mark.parametrize("exponent", [46.0, 300.0, 700.0])
def test_a_gap_far_below_the_rounding_of_the_likelihood_is_reported(kernel, exponent):
    # One row on its mean; the other mean is 2 * exponent away in squared distance.
    X, means = np.zeros((1, 1)), np.array([[0.0], [math.sqrt(2.0 * exponent)]])
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    gap = bounds.gap(X, coefficients, kernel=kernel)
    assert 0.0 < gap < 1.1e-20
    assert math.isclose(gap, math.exp(-exponent), rel_tol=1e-12)
