"""Clustering problems for laws that hold whatever the data."""

import math
from dataclasses import dataclass

import numpy as np
from every_kernel import kernel_names
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cprime.convergence import Tolerance
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact

# Far below the variance of any drawn rows: reached only when all lie on a mean.
FLOOR = 2.0**-80
# Every iteration up to `max_iter` is run and can be looked at.
NEVER_CONVERGED = Tolerance(shift=-math.inf, log_variance=0.0)

# For tests that are repeated for every way to start.
fewer_examples = settings(max_examples=settings.default.max_examples // 3)
# For tests that everything else rests on.
many_examples = settings(max_examples=settings.default.max_examples * 3)

dtypes = st.sampled_from([np.float32, np.float64])
variances = st.floats(-6.0, 6.0).map(np.exp2)


@dataclass(frozen=True)
class Case:
    """Weighted rows, first means, a C', and the kernel that is to sweep them."""

    rows: MemoryRows
    means: np.ndarray
    C_prime: int
    kernel_name: str

    @property
    def kernel(self):
        return get_kernel(self.kernel_name)

    @property
    def X(self):
        return self.rows.X.astype(np.float64)

    @property
    def weights(self):
        return self.rows.weights

    @property
    def C(self):
        return len(self.means)

    @property
    def D(self):
        return self.rows.n_features

    def problem(self, model=None, search=None, C_prime=None):
        """Return the case as a problem for the EM loop."""
        return Problem(
            self.rows,
            model or Isotropic(floor=FLOOR),
            search or Exact(),
            self.kernel,
            C_prime or self.C_prime,
        )


def generator(draw):
    """Return a numpy generator with a drawn seed."""
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


@st.composite
def _gridded(draw, shape):
    """Small multiples of 1/4: exact in float32, full of ties and repeated rows."""
    steps = st.integers(-8, 8)
    return draw(hnp.arrays(np.int64, shape, elements=steps)) / 4.0


@st.composite
def _scattered(draw, shape):
    """Normal draws of any size at any offset: no ties."""
    values = generator(draw).standard_normal(shape)
    scale, offset = 2.0 ** draw(st.integers(-8, 8)), draw(st.integers(-1000, 1000))
    return scale * (values + offset)


@st.composite
def cases(draw, gridded=True, scattered=True, max_rows=20, max_C=5, spare=None):
    """Draw a case. Weights are multiples of 1/4, some of them 0, or absent.

    With `spare` at least C + spare rows have weight: enough to keep a variance.
    """
    C, D = draw(st.integers(1, max_C)), draw(st.integers(1, 3))
    weighty = 1 if spare is None else C + spare
    N = draw(st.integers(max(C, weighty, 2), max_rows))
    kinds = [_gridded((N, D))] * gridded + [_scattered((N, D))] * scattered
    X = draw(st.one_of(kinds)).astype(draw(dtypes))
    weights = None
    if draw(st.booleans()):
        weights = draw(hnp.arrays(np.int64, N, elements=st.integers(0, 12))) / 4.0
        weights[:weighty] = np.maximum(weights[:weighty], 0.25)
    which = draw(st.permutations(range(N)))[:C]
    means = X[which].astype(np.float64)
    rows, C_prime = MemoryRows(X, weights), draw(st.integers(1, C))
    return Case(rows, means, C_prime, draw(kernel_names))


@st.composite
def labellings(draw, case):
    """Draw any K of one cluster per row, not that of the closest means."""
    label = st.integers(0, case.C - 1)
    return draw(hnp.arrays(np.int32, (len(case.X), 1), elements=label))
