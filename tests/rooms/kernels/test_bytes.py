"""Scores of bytes narrow a search down, never decide it: labels are the reference's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cprime.kernels import native, reference
from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta


def gaussian(rng, n, C, D):
    means = rng.standard_normal((C, D))
    return means[rng.integers(C, size=n)] + 0.3 * rng.standard_normal((n, D)), means


def without_structure(rng, n, C, D):
    return rng.standard_normal((n, D)), rng.standard_normal((C, D))


def integers(rng, n, C, D):
    """Many rows are exactly as far from one mean as from another."""
    return rng.integers(-2, 3, (n, D)).astype(float), rng.integers(-1, 2, (C, D)) * 1.0


def repeated(rng, n, C, D):
    X, means = gaussian(rng, n, C, D)
    return X, means[rng.integers(max(1, C // 3), size=C)]


def nearly_repeated(rng, n, C, D):
    X, means = repeated(rng, n, C, D)
    return X, means + 1e-9 * rng.standard_normal(means.shape)


def far_means(rng, n, C, D):
    """A few means are far out, and would blur the others if all had one unit."""
    X, means = gaussian(rng, n, C, D)
    means[:: C // 4] *= 1e5
    X[0] = means[0]
    return X, means


def uneven_columns(rng, n, C, D):
    X, means = gaussian(rng, n, C, D)
    scale = 10.0 ** rng.uniform(-4, 4, D)
    return X * scale, means * scale


def spiky(rng, n, C, D):
    """All but one feature of a row are less than half a byte."""
    X, means = gaussian(rng, n, C, D)
    X[np.arange(n), rng.integers(D, size=n)] += 1e4
    return X, means


KINDS = [
    gaussian,
    without_structure,
    integers,
    repeated,
    nearly_repeated,
    far_means,
    uneven_columns,
    spiky,
]


@pytest.fixture(params=native.isa_names())
def isa(request):
    best = native.isa_name()
    native.use_isa(request.param)
    yield request.param
    native.use_isa(best)


def coefficients(means):
    return Isotropic().coefficients(Theta(means, 1.0))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("C, D", [(48, 12), (97, 17), (100, 64), (300, 74), (641, 33)])
@pytest.mark.parametrize("offset, scale", [(0.0, 1.0), (1e6, 1.0), (0.0, 1e-35)])
def test_labels_are_those_of_the_reference(isa, kind, C, D, offset, scale):
    rng = np.random.default_rng(C * D)
    X, means = kind(rng, 150, C, D)
    X, means = X * scale + offset, means * scale + offset
    labels = reference.nearest(X, coefficients(means))
    np.testing.assert_array_equal(native.nearest(X, coefficients(means)), labels)
    X = X.astype(np.float32)
    labels = reference.nearest(X, coefficients(means))
    np.testing.assert_array_equal(native.nearest(X, coefficients(means)), labels)


@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(KINDS),
    C=st.integers(40, 200),
    D=st.integers(10, 90),
)
def test_labels_of_any_rows_are_those_of_the_reference(seed, kind, C, D):
    X, means = kind(np.random.default_rng(seed), 70, C, D)
    labels = reference.nearest(X, coefficients(means))
    np.testing.assert_array_equal(native.nearest(X, coefficients(means)), labels)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("C, D", [(256, 12), (300, 74), (641, 33)])
@pytest.mark.parametrize("C_prime", [2, 3])
def test_the_several_closest_are_those_of_the_reference(isa, kind, C, D, C_prime):
    X, means = kind(np.random.default_rng(C * D), 150, C, D)
    for values in (X, X.astype(np.float32)):
        found = native.posterior(values, coefficients(means), C_prime)
        expected = reference.posterior(values, coefficients(means), C_prime)
        np.testing.assert_array_equal(found.K, expected.K)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_means_that_are_nearer_are_those_of_the_reference(isa, kind):
    X, means = kind(np.random.default_rng(0), 200, 120, 40)
    known, means = means[:20], means[20:]
    far = ((X[:, None] - known) ** 2).sum(axis=2)
    start = far.min(axis=1), far.argmin(axis=1)
    found = native.nearer(X, means, known, *start)
    expected = reference.nearer(X, means, known, *start)
    for of, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(of, wanted)


@pytest.mark.parametrize("C_prime, step", [(1, 0.05), (1, 0.1), (1, 0.2), (3, 0.01)])
def test_bounds_from_bytes_hold(isa, C_prime, step):
    """Means walk so far that many rows must search again, and note bounds anew."""
    rng, C = np.random.default_rng(0), 300
    means, kept = 0.8 * rng.standard_normal((C, 50)), None
    own = means[rng.integers(C, size=2500)]
    rows = MemoryRows(own + rng.standard_normal(own.shape))
    searched = []
    for _ in range(12):
        of = coefficients(means)
        kept, stats = rows.sweep(native, kept, of, Exact().plan(), C_prime)
        closest = reference.posterior(rows.block.X, of, C_prime).K
        np.testing.assert_array_equal(kept.K, closest)
        searched.append(stats.evaluations / rows.n_rows)
        means = means + step * rng.standard_normal(means.shape)
    assert 10 < np.mean(searched[3:]) < C - 1
