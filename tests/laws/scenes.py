"""Sweeps to be made, drawn to be difficult for whoever takes a short cut.

Rows between two means, means on a sphere about all rows, lattices, copies, outliers,
very large and very small numbers, in any layout numpy and scipy know.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from problems import generator

from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.models import Isotropic
from cprime.search import Exact, Lazy, Plan
from cprime.theta import Coefficients, Theta


@dataclass(frozen=True)
class Scene:
    """Everything a kernel is handed for a sweep, and how it came about."""

    recipe: str
    block: Block
    coefficients: Coefficients
    plan: Plan
    C_prime: int
    before: Kept | None

    @property
    def C(self):
        return len(self.coefficients.means)

    @property
    def values(self):
        """Return all rows as a kernel would see them, in their own layout."""
        return self.block.dense(slice(None))

    def swept(self, kernel, kept, coefficients=None):
        # A sum of log-joints may be beyond float64: the loop refuses it, not a kernel.
        with np.errstate(over="ignore"):
            kept, sums = kernel.sweep(
                self.block,
                kept,
                coefficients or self.coefficients,
                self.plan,
                self.C_prime,
            )
            return kept, sums.total()


# Rows and means of about unit size, as float64.


def scattered(rng, N, D, C):
    means = 2.0 * rng.standard_normal((C, D))
    return means[rng.integers(C, size=N)] + rng.standard_normal((N, D)), means


def lattice(rng, N, D, C):
    """Many exact ties: every difference and every square is a float."""
    return rng.integers(-3, 4, (N, D)) / 4.0, rng.integers(-3, 4, (C, D)) / 4.0


def decimal_lattice(rng, N, D, C):
    """As many ties, but for rounding."""
    return 0.1 * rng.integers(-3, 4, (N, D)), 0.1 * rng.integers(-3, 4, (C, D))


def copies(rng, N, D, C):
    """Few places, rows and means on all of them."""
    places = rng.standard_normal((rng.integers(1, 6), D))
    return (places[rng.integers(len(places), size=n)] for n in (N, C))


def between(rng, N, D, C):
    """Rows half-way between two means, or a last bit nearer to one of them."""
    means = rng.standard_normal((C, D))
    one, other = means[rng.integers(C, size=N)], means[rng.integers(C, size=N)]
    return nudged(rng, 0.5 * (one + other)), means


def on_a_sphere(rng, N, D, C):
    """All means are equally far from all rows, but for rounding."""
    means = rng.standard_normal((C, D))
    means /= np.linalg.norm(means, axis=1, keepdims=True) + 1e-300
    return 1e-9 * rng.integers(-1, 2, (N, D)), nudged(rng, means)


def uneven(rng, N, D, C):
    """Features in all sorts of units."""
    units = 10.0 ** rng.uniform(-6.0, 6.0, D)
    rows, means = scattered(rng, N, D, C)
    return units * rows, units * means


def offset(rng, N, D, C):
    """Far from the origin, beyond what float32 can tell apart."""
    rows, means = scattered(rng, N, D, C)
    by = rng.choice([1e4, 1e7]) * rng.standard_normal(D)
    return rows + by, means + by


def with_outliers(rng, N, D, C):
    """Some rows, and sometimes some means, very far from all others."""
    rows, means = scattered(rng, N, D, C)
    how_far = 10.0 ** rng.integers(2, 13)
    rows[rng.random(N) < 0.2] *= how_far
    means[rng.random(C) < rng.choice([0.0, 0.1])] *= how_far
    return rows, means


def nudged(rng, values):
    """Return the values with some of them a last bit higher or lower."""
    towards = rng.choice([-np.inf, np.inf], values.shape)
    some = rng.random(values.shape) < 0.2
    return np.where(some, np.nextafter(values, towards), values)


KINDS = [
    scattered,
    lattice,
    decimal_lattice,
    copies,
    between,
    on_a_sphere,
    uneven,
    offset,
    with_outliers,
]


def unaligned(X):
    """Return the same values at addresses no vector unit would choose."""
    buffer = np.empty(X.nbytes + 1, dtype=np.uint8)
    view = buffer[1:].view(X.dtype).reshape(X.shape)
    view[:] = X
    return view


def wide_csr(X):
    """Return CSR of 64-bit indices."""
    X = sp.csr_array(X)
    parts = (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64))
    return sp.csr_array(parts, shape=X.shape)


def untidy_csr(X):
    """Return CSR in which columns are in no order and zeros are stored, some twice."""
    N, D = X.shape
    columns = np.tile(np.r_[np.arange(D)[::-1], D - 1], N).astype(np.int32)
    values = np.c_[X[:, ::-1], np.zeros(N, X.dtype)].ravel()
    starts = ((D + 1) * np.arange(N + 1)).astype(np.int32)
    return sp.csr_matrix((values, columns, starts), shape=X.shape)


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "every third value": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "unaligned": unaligned,
    "one row": lambda X: np.broadcast_to(X[:1], X.shape),
    "one column": lambda X: np.broadcast_to(X[:, :1], X.shape),
    "CSR": sp.csr_array,
    "CSR, wide": wide_csr,
    "CSR, untidy": untidy_csr,
}

# Powers of two that leave squares inside float64, also of outliers.
EXPONENTS = {np.float32: st.integers(-110, 80), np.float64: st.integers(-390, 390)}
# Those of a block of float32 are such that a product is exact, if its factors are.
BLOCK_SCALES = {np.float32: [3, 5], np.float64: [-3, 5, 300, -300]}


@st.composite
def shapes(draw, fewest_clusters=1):
    """Draw N, D, C: mostly small, now and then large in one respect."""
    size = draw(st.sampled_from(["small"] * 6 + ["leaves", "clusters", "features"]))
    N, D, C = {
        "small": ((1, 150), (1, 40), (1, 120)),
        "leaves": ((LEAF_ROWS - 1, 3 * LEAF_ROWS + 2), (1, 5), (1, 40)),
        "clusters": ((1, 40), (1, 4), (400, 1100)),
        "features": ((1, 20), (200, 2500), (1, 120)),
    }[size]
    C = (fewest_clusters, fewest_clusters + C[1]) if C[0] < fewest_clusters else C
    return tuple(draw(st.integers(*limits)) for limits in (N, D, C))


def drawn_weights(draw, rng, N):
    """Draw weights: absent, exact with zeros, or of very different size."""
    kind = draw(st.sampled_from(["absent", "quarters", "uneven", "every second"]))
    return {
        "absent": np.broadcast_to(1.0, N),
        "quarters": rng.integers(0, 5, N) / 4.0,
        "uneven": 10.0 ** rng.uniform(-6.0, 6.0, N),
        "every second": np.repeat(rng.random(N), 2)[::2],
    }[kind]


def drawn_bias(rng, kind, bias):
    """Return other biases: penalties that differ, tie, or are all but equal."""
    C = len(bias)
    return {
        "equal": bias,
        "unequal": bias + rng.standard_normal(C),
        "all but equal": bias + 1e-14 * rng.standard_normal(C),
        "in steps": bias + rng.integers(0, 5, C) / 32.0,
        "hopeless": bias - 1e3 * (rng.random(C) < 0.3),
    }[kind]


BIASES = ["equal"] * 4 + ["unequal", "all but equal", "in steps", "hopeless"]
LOG_VARIANCES = st.integers(-8, 8) | st.sampled_from([0, -200, 200])


@st.composite
def scenes(draw, layouts=tuple(LAYOUTS), lazy=True, few=False):
    """Draw a sweep of rows of any kind, size and layout.

    With `few` rows keep few of many clusters, none with a handicap: where it pays to
    remember something from sweep to sweep.
    """
    N, D, C = draw(shapes(fewest_clusters=64 if few else 1))
    kind, dtype = draw(st.sampled_from(KINDS)), draw(st.sampled_from([*EXPONENTS]))
    exponent = draw(st.just(0) | EXPONENTS[dtype])
    layout = draw(st.sampled_from(layouts))
    rng = generator(draw)
    rows, means = kind(rng, N, D, C)
    scale = 2.0**exponent
    block_scale = 2.0 ** draw(st.sampled_from([0, 0, 0, *BLOCK_SCALES[dtype]]))
    X = (rows * (scale / block_scale)).astype(dtype)
    means = means * scale
    if draw(st.booleans()):
        means = means.astype(dtype).astype(np.float64)
    block = Block(LAYOUTS[layout](X), drawn_weights(draw, rng, N), block_scale)
    variance = scale**2 * 2.0 ** draw(LOG_VARIANCES)
    if exponent == 0 and draw(st.integers(0, 9)) == 9:
        # Log-joints of all but the nearest rows are beyond float64.
        variance = 2.0**-1000
    coefficients = Isotropic().coefficients(Theta(means, variance))
    biases = "equal" if few else draw(st.sampled_from(BIASES))
    coefficients = replace(
        coefficients, bias=drawn_bias(rng, biases, coefficients.bias)
    )
    C_prime = draw(st.sampled_from([1, 1, 1, C]) | st.integers(1, C))
    C_prime = min(C_prime, draw(st.integers(1, 8))) if few else C_prime
    search = Exact()
    if lazy:
        search = draw(st.sampled_from([Exact(), Lazy(0.25), Lazy(0.1), Lazy(1e200)]))
    before = None
    if draw(st.booleans()):
        before = Kept(any_clusters(rng, N, C, 0 if C_prime == C else C_prime))
    if before is not None and search.depends_on_K and draw(st.booleans()):
        # As they are after a move to an empty cluster.
        moved = rng.random(N) < 0.3
        before = before.reassigned(np.flatnonzero(moved), int(rng.integers(C)))
    recipe = (
        f"{kind.__name__}, {layout}, {dtype.__name__}, N={N}, D={D}, C={C}, "
        f"2**{exponent}, block.scale={block_scale}, variance={variance}, "
        f"biases {biases}, C'={C_prime}, {search}"
    )
    return Scene(recipe, block, coefficients, search.plan(), C_prime, before)


def any_clusters(rng, N, C, C_prime):
    """Return K of any different clusters, near or far."""
    if C_prime == 1:
        return rng.integers(C, size=(N, 1), dtype=np.int32)
    orders = rng.permuted(np.tile(np.arange(C, dtype=np.int32), (N, 1)), axis=1)
    return np.ascontiguousarray(orders[:, :C_prime])
