"""A row of weight w is the row given w times, however rows are shared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import cases, fewer_examples, generator
from test_weights_are_repetitions import assert_same_centres

from cprime import FuzzyKMeans, SoftKMeans

# Two means may come to share all their rows: one is nobody's closest.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KINDS = {
    "soft": (SoftKMeans, {}),
    "annealed": (SoftKMeans, {"annealing": 2.0}),
    "fuzzy": (FuzzyKMeans, {}),
    "entropy": (FuzzyKMeans, {"regularization": "entropy"}),
    "quadratic": (FuzzyKMeans, {"regularization": "quadratic"}),
}


# Few iterations: where clusters are about to split, rounding errors grow.
@pytest.mark.parametrize("kind", KINDS)
@fewer_examples
@given(data=st.data(), case=cases(gridded=False, spare=4, max_rows=30))
def test_repeated_and_shuffled_rows_are_weighted_rows(kind, data, case):
    make, options = KINDS[kind]
    X, seed = case.rows.X, data.draw(st.integers(0, 99))
    counts = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 4)))
    counts[: case.C + 4] += 1
    copy_of = generator(data.draw).permutation(np.repeat(np.arange(len(X)), counts))
    options = {
        "c_prime": case.C_prime,
        "max_iter": 5,
        "random_state": seed,
        "kernel": case.kernel_name,
        **options,
    }
    weighted = make(case.C, **options).fit(X, sample_weight=counts)
    repeated = make(case.C, **options).fit(X[copy_of])
    assert_same_centres(weighted, repeated, X)
    assert weighted.n_relocations_ == repeated.n_relocations_
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-9)
