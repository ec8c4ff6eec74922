"""The kernel that divides rows by a rule: the same sums by any road."""

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from every_kernel import KERNELS

from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.kernels import fuzzy, get_kernel
from cprime.kernels.fuzzy import FuzzyKernel
from cprime.kernels.memberships import Bezdek, Quadratic
from cprime.models import Distortion
from cprime.search import Plan
from cprime.theta import Theta

RULES = [Bezdek(2.0), Bezdek(1.2), Quadratic(0.5)]
N, D, C = 3 * LEAF_ROWS + 100, 3, 6
rng = np.random.default_rng(0)
X = 1e6 + rng.normal(size=(N, D))
MEANS = 1e6 + rng.normal(size=(C, D))
WEIGHTS = rng.integers(0, 4, N) / 4.0
COEFFICIENTS = Distortion().coefficients(Theta(MEANS, 1.0))

rules = pytest.mark.parametrize("rule", RULES, ids=str)
C_primes = pytest.mark.parametrize("C_prime", [1, 2, C])


def swept(name, rule, C_prime, X=X, kept=None, rows=slice(None)):
    kernel = FuzzyKernel(get_kernel(name), rule)
    block = Block(X[rows], WEIGHTS[rows])
    return kernel.sweep(block, kept, COEFFICIENTS, Plan(), C_prime)


def bits(stats):
    return {f.name: np.asarray(getattr(stats, f.name)).tobytes() for f in fields(stats)}


@rules
@C_primes
def test_statistics_are_the_sums_they_say(kernel_name, rule, C_prime):
    kept, sums = swept(kernel_name, rule, C_prime)
    stats, exact = sums.total(), np.longdouble
    differences = exact(X)[:, None] - exact(MEANS)
    distances = np.sum(differences**2, axis=2)
    K = np.argsort(distances, axis=1, kind="stable")[:, :C_prime]
    u = np.zeros((N, C))
    chosen = np.take_along_axis(distances, K, axis=1).astype(float)
    np.put_along_axis(u, K, rule.memberships(chosen), axis=1)
    shares = WEIGHTS[:, None] * (u**rule.m if isinstance(rule, Bezdek) else u)
    lam = getattr(rule, "lam", 0.0)
    expected = {
        "counts": shares.sum(axis=0),
        "shifts": np.einsum("nc,ncd->cd", shares, differences),
        "scatter": np.sum(shares * distances),
        "quantization_error": np.sum(WEIGHTS * distances.min(axis=1)),
        "entropy": lam * np.sum(WEIGHTS * (1.0 - np.sum(u**2, axis=1))),
        "weight": WEIGHTS.sum(),
    }
    for name, value in expected.items():
        found = getattr(stats, name)
        np.testing.assert_allclose(found, value.astype(float), rtol=1e-9, atol=1e-8)
    # With one cluster per row the log of its density is what it pays.
    paid = stats.scatter - stats.entropy
    assert stats.free_energy == pytest.approx(-paid, rel=1e-12)
    assert stats.evaluations == N * C
    assert stats.changed == np.count_nonzero(WEIGHTS)
    if C_prime < C:
        assert kept.K.tolist() == K.tolist()
    else:
        assert kept.K.shape == (N, 0)


@rules
@C_primes
def test_the_bits_do_not_depend_on_how_rows_are_divided(
    kernel_name, rule, C_prime, monkeypatch
):
    kept, whole = swept(kernel_name, rule, C_prime)
    monkeypatch.setattr(fuzzy, "AT_ONCE", 1)
    kept_by_leaf, by_leaf = swept(kernel_name, rule, C_prime)
    assert bits(by_leaf.total()) == bits(whole.total())
    assert kept_by_leaf.K.tolist() == kept.K.tolist()


@rules
@C_primes
def test_sparse_rows_and_float32_are_the_same_rows(kernel_name, rule, C_prime):
    counts = rng.poisson(0.7, size=(N, D)).astype(np.float32)
    dense, sparse, wide = (
        swept(kernel_name, rule, C_prime, values)[1].total()
        for values in (counts, sp.csr_array(counts), counts.astype(np.float64))
    )
    assert bits(dense) == bits(sparse) == bits(wide)


@rules
@pytest.mark.parametrize("C_prime", [2, C])
def test_every_kernel_gives_the_same_bits(rule, C_prime):
    one, other = (swept(name, rule, C_prime)[1].total() for name in KERNELS)
    assert bits(one) == bits(other)


def test_rows_that_keep_other_clusters_than_before_are_counted(kernel_name):
    kept, _ = swept(kernel_name, RULES[0], 2)
    before = kept.K.copy()
    # The same two in another order are no change; a row of no weight does not count.
    before[:50] = before[:50, ::-1]
    elsewhere = [next(c for c in range(C) if c not in row) for row in kept.K[50:80]]
    before[50:80, 1] = elsewhere
    _, sums = swept(kernel_name, RULES[0], 2, kept=Kept(before))
    assert sums.total().changed == np.count_nonzero(WEIGHTS[50:80])


def test_everything_else_is_asked_of_the_kernel_below(kernel):
    on_top = FuzzyKernel(kernel, Bezdek(2.0))
    values = X[:50]
    assert on_top.nearest(values, COEFFICIENTS).tolist() == (
        kernel.nearest(values, COEFFICIENTS).tolist()
    )
    K = np.zeros((50, 1), dtype=np.int32)
    for method, arguments in {
        "gaps": (values, K, COEFFICIENTS),
        "distances": (values, MEANS),
    }.items():
        one, other = (getattr(k, method)(*arguments) for k in (on_top, kernel))
        assert one.tobytes() == other.tobytes()
    found = on_top.posterior(values, COEFFICIENTS, 3)
    assert found.K.tolist() == kernel.posterior(values, COEFFICIENTS, 3).K.tolist()
    block, line = Block(X, WEIGHTS), np.arange(N)
    points = np.array([[0.2, 0.4], [0.6, 0.8]])
    seeds = [k.draw_seeds(block, line, 7, points) for k in (on_top, kernel)]
    assert seeds[0][0].tolist() == seeds[1][0].tolist()
    assert on_top.fits_at_once(100, 3, 2) == 1
