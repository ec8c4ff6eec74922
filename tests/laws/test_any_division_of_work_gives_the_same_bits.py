"""Sums over leaf blocks do not depend on who added what to what, nor on short cuts."""

import math
from dataclasses import fields, replace
from functools import reduce
from operator import add

import numpy as np
import paper
import pytest
import scipy.sparse as sp
from every_kernel import kernel_names
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, dtypes, fewer_examples, generator

from cprime import KMeans
from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.fitting.initialization import SEEDINGS
from cprime.kernels import get_kernel, native
from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.search import Exact, Lazy
from cprime.summation import LeafSum
from cprime.theta import Theta

mixed_magnitudes = st.floats(-1e200, 1e200)


def joined(draw, runs):
    """Add neighbouring runs in a drawn order until one is left."""
    runs = list(runs)
    while len(runs) > 1:
        i = draw(st.integers(0, len(runs) - 2))
        runs[i : i + 2] = [runs[i] + runs[i + 1]]
    return runs[0]


def bits(value):
    """Return every number of a value or a record of values, to the last bit."""
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: bits(getattr(value, f.name)) for f in fields(value)}
    return np.asarray(value).tobytes()


@given(
    data=st.data(),
    start=st.integers(0, 1000),
    values=st.lists(mixed_magnitudes, min_size=1, max_size=40),
)
def test_leaf_sums_add_up_alike_in_any_bracketing(data, start, values):
    leaves = [LeafSum.of_leaf(start + i, value) for i, value in enumerate(values)]
    in_order, anyhow = reduce(add, leaves), joined(data.draw, leaves)
    assert anyhow == in_order
    assert bits(anyhow.total()) == bits(in_order.total())
    error = paper.EPS * len(values) * math.fsum(map(abs, values))
    assert math.isclose(in_order.total(), math.fsum(values), abs_tol=error)


@fewer_examples
@given(
    data=st.data(),
    name=kernel_names,
    dtype=dtypes,
    C_prime=st.integers(1, 4),
    lazy=st.booleans(),
)
def test_sweeps_of_leaves_add_up_to_the_sweep_of_all_rows(
    data, name, dtype, C_prime, lazy
):
    rng = generator(data.draw)
    n_rows = data.draw(st.integers(1, 7 * LEAF_ROWS))
    X = rng.standard_normal((n_rows, 2)).astype(dtype)
    weights = rng.integers(0, 5, n_rows) / 4.0
    K = None
    if lazy:
        C_prime = min(C_prime, 3)
        kept = rng.permuted(np.tile(np.arange(4, dtype=np.int32), (n_rows, 1)), axis=1)
        K = Kept(np.ascontiguousarray(kept[:, :C_prime]))
    coefficients = Isotropic().coefficients(Theta(rng.standard_normal((4, 2)), 1.0))
    plan = (Lazy(0.5) if lazy else Exact()).plan()

    def swept(rows, K):
        return rows.sweep(get_kernel(name), K, coefficients, plan, C_prime)

    K_leaves, leaves = [], []
    for i, start in enumerate(range(0, n_rows, LEAF_ROWS)):
        leaf = slice(start, start + LEAF_ROWS)
        before = None if K is None else K.part(leaf)
        after, stats = swept(MemoryRows(X[leaf], weights[leaf]), before)
        K_leaves.append(after.K)
        leaves.append(LeafSum.of_leaf(i, stats))
    K_all, stats = swept(MemoryRows(X, weights), K)
    assert bits(joined(data.draw, leaves).total()) == bits(stats)
    assert bits(np.concatenate(K_leaves)) == bits(K_all.K)


def swept_in_parts(parts, kept, coefficients, C_prime):
    """Sweep blocks of whole leaves one by one; return what each keeps, and the sum."""
    sums, first_leaf = [], 0
    for i, block in enumerate(parts):
        kept[i], sum_ = native.sweep(
            block, kept[i], coefficients, Exact().plan(), C_prime
        )
        sums.append(sum_.shifted(first_leaf))
        first_leaf += block.n_rows // LEAF_ROWS
    return reduce(add, sums).total()


def of_work_apart(stats):
    """Return the bits of all results; how many distances they took is none."""
    return bits(replace(stats, evaluations=0))


@pytest.mark.parametrize("leaves", [[7], [1] * 7, [2, 2, 2, 1], [4, 3], [4, 2, 1]])
@pytest.mark.parametrize("C_prime", [1, 3])
def test_neither_bounds_nor_blocks_change_a_bit_of_any_sweep(C_prime, leaves):
    rng = np.random.default_rng(0)
    C, D, n_rows = 256, 24, 7 * LEAF_ROWS - 100
    centres = rng.standard_normal((C, D))
    X = centres[rng.integers(C, size=n_rows)] + 0.5 * rng.standard_normal((n_rows, D))
    block = Block(X.astype(np.float32), rng.integers(0, 5, n_rows) / 3.0)
    ends = LEAF_ROWS * np.cumsum(leaves)
    parts = [block.part(slice(a, b)) for a, b in zip([0, *ends], ends)]
    remembered, plain, in_parts = [None], [None], [None] * len(parts)
    model, theta = Isotropic(), Theta(block.dense(slice(C)).astype(float), 0.25)
    for _ in range(12):
        coefficients = model.coefficients(theta)
        plain = [None if kept is None else Kept(kept.K) for kept in plain]
        stats, expected, by_parts = (
            swept_in_parts(blocks, kept, coefficients, C_prime)
            for blocks, kept in (
                ([block], remembered),
                ([block], plain),
                (parts, in_parts),
            )
        )
        assert of_work_apart(stats) == of_work_apart(expected)
        assert of_work_apart(by_parts) == of_work_apart(expected)
        theta = model.maximize(expected, theta)
    # Rows went on to change clusters while most were spared the search.
    assert expected.changed > 0
    assert stats.evaluations < expected.evaluations / 2
    assert by_parts.evaluations < expected.evaluations / 2


# With C' > 1 two means may come to share all their rows: one is nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init", [*SEEDINGS, "given"])
@fewer_examples
@given(case=cases(), random_state=st.integers(0, 100))
def test_sparse_rows_give_the_bits_of_dense_ones(init, case, random_state):
    kmeans = KMeans(
        case.C,
        init=case.means if init == "given" else init,
        n_init=1,
        c_prime=case.C_prime,
        random_state=random_state,
        max_iter=10,
        kernel=case.kernel_name,
    )

    def fitted(X):
        kmeans.fit(X, sample_weight=case.weights)
        return [
            kmeans.cluster_centers_,
            kmeans.labels_,
            kmeans.inertia_,
            kmeans.variance_,
            kmeans.free_energy_,
            kmeans.gap_,
            kmeans.trace_["free_energy"],
            kmeans.transform(X),
            kmeans.predict_proba(X, sparse=False),
        ]

    dense, sparse = fitted(case.rows.X), fitted(sp.csr_array(case.rows.X))
    assert [bits(value) for value in sparse] == [bits(value) for value in dense]
