"""A row of weight w is the row given w times; weight 0 is the row left out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import Case, cases, fewer_examples, generator

from cprime import KMeans
from cprime.fitting.initialization import SEEDINGS
from cprime.rows import MemoryRows

# With C' > 1 two means may come to share all their rows: one is nobody's closest.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
inits = pytest.mark.parametrize("init", [*SEEDINGS, "rows", "far away"])


def estimator(init, case, random_state):
    # All but the first of these are empty at first and must be moved.
    far_away = case.means + 1e4 * np.ptp(case.X) * np.arange(case.C)[:, None]
    return KMeans(
        case.C,
        init={"rows": case.means, "far away": far_away}.get(init, init),
        n_init=1,
        c_prime=case.C_prime,
        max_iter=20,
        random_state=random_state,
        kernel=case.kernel_name,
    )


def assert_same_centres(one, other, X):
    tolerance = max(1e-9, float(np.finfo(X.dtype).eps)) * np.abs(X).max()
    assert np.abs(one.cluster_centers_ - other.cluster_centers_).max() <= tolerance


@inits
@fewer_examples
@given(data=st.data(), case=cases(gridded=False, spare=4, max_rows=30))
def test_repeated_and_shuffled_rows_are_weighted_rows(init, data, case):
    X, seed = case.rows.X, data.draw(st.integers(0, 99))
    counts = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 4)))
    counts[: case.C + 4] += 1
    copy_of = generator(data.draw).permutation(np.repeat(np.arange(len(X)), counts))
    weighted, repeated = (estimator(init, case, seed) for _ in range(2))
    weighted.fit(X, sample_weight=counts)
    repeated.fit(X[copy_of])
    assert weighted.labels_[copy_of].tolist() == repeated.labels_.tolist()
    assert weighted.predict(X).tolist() == weighted.labels_.tolist()
    assert_same_centres(weighted, repeated, X)
    assert weighted.n_relocations_ == repeated.n_relocations_
    F, J = repeated.free_energy_, repeated.inertia_
    assert math.isclose(weighted.free_energy_, F, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(weighted.inertia_, J, rel_tol=1e-9)


@inits
@pytest.mark.parametrize("distance", [1e3, 1e20, -1e20])
def test_a_row_without_weight_has_no_say_however_far_it_is(kernel_name, init, distance):
    X = np.random.default_rng(8).normal(size=(60, 3))
    case = Case(MemoryRows(X), X[:4], C_prime=2, kernel_name=kernel_name)
    without, with_outlier = (estimator(init, case, random_state=0) for _ in range(2))
    without.fit(X)
    outlier = np.full((1, 3), distance)
    with_outlier.fit(np.vstack([X, outlier]), sample_weight=np.r_[case.weights, 0.0])
    assert with_outlier.labels_[:-1].tolist() == without.labels_.tolist()
    assert_same_centres(with_outlier, without, X)
