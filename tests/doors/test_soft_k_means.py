"""`SoftKMeans` from the outside: stiffness, annealing, and what a fit tells."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from cprime import KMeans, SoftKMeans

rng = np.random.default_rng(0)
CENTRES = 10.0 * np.array([[i, j] for i in range(3) for j in range(3)])
TRUTH = np.repeat(np.arange(9), 40)
X = CENTRES[TRUTH] + rng.normal(size=(360, 2))
# All nine in one corner, where no fit from there gets out of.
CORNER = CENTRES[0] + 0.1 * rng.normal(size=(9, 2))


def test_a_fit_has_everything_it_promises(kernel_name):
    soft = SoftKMeans(9, stiffness=0.5, random_state=0, kernel=kernel_name).fit(X)
    assert soft.stiffness_ == 0.5
    assert soft.variance_ == 1.0
    assert soft.stiffness_path_.tolist() == [0.5]
    assert soft.cluster_centers_.shape == (9, 2)
    assert soft.labels_.tolist() == soft.predict(X).tolist()
    assert adjusted_rand_score(TRUTH, soft.labels_) == 1.0
    assert soft.converged_ and soft.n_iter_ == len(soft.trace_["iteration"]) - 1
    assert soft.log_likelihood_ - soft.free_energy_ == soft.gap_ == 0.0
    assert soft.free_energy_ == pytest.approx(soft.free_energy(X), abs=1e-12)
    assert np.mean(soft.score_samples(X)) == pytest.approx(soft.log_likelihood_)
    assert soft.score(X) == pytest.approx(-soft.inertia_)
    assert soft.transform(X).shape == (360, 9)
    # Centres are free, the variance is not.
    assert soft.bic(X) == pytest.approx(
        -2 * 360 * soft.log_likelihood_ + 18 * np.log(360)
    )
    drawn, labels = soft.sample(1000, random_state=0)
    spread = drawn - soft.cluster_centers_[labels]
    assert np.std(spread) == pytest.approx(1.0, abs=0.05)


def test_responsibilities_fall_with_the_squared_distance_times_stiffness():
    soft = SoftKMeans(9, stiffness=0.02, init=CENTRES).fit(X)
    r = np.exp(-0.02 * soft.transform(X) ** 2)
    r /= r.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(soft.predict_proba(X), r, atol=1e-12)


def test_truncated_responsibilities_are_exactly_zero_beyond_the_closest():
    soft = SoftKMeans(9, stiffness=0.02, init=CENTRES, c_prime=2).fit(X)
    assert soft.gap_ > 0.0
    r = soft.predict_proba(X, c_prime=2, sparse=True)
    assert r.nnz == 720


def test_by_default_stiffness_is_that_of_the_start(kernel_name):
    soft = SoftKMeans(9, init=CENTRES, n_init=1, kernel=kernel_name).fit(X)
    nearest = np.sum((X - CENTRES[TRUTH]) ** 2)
    assert soft.variance_ == pytest.approx(nearest / (2 * 360))
    assert soft.stiffness_ == pytest.approx(1 / (2 * soft.variance_))
    # Of the first start, if there are several: all fits are of the same problem.
    several = SoftKMeans(9, init="random", n_init=3, random_state=1).fit(X)
    one = SoftKMeans(9, init="random", n_init=1, random_state=1).fit(X)
    assert several.stiffness_ == one.stiffness_
    assert several.free_energy_ >= one.free_energy_
    assert several.evaluations_ > one.evaluations_


def test_the_seeds_that_gave_the_stiffness_are_the_start():
    calls = []

    def init(X, n_clusters, random_state):
        calls.append(n_clusters)
        return X[:n_clusters]

    soft = SoftKMeans(3, init=init, n_init=2, max_iter=1).fit(X)
    assert calls == [3, 3]
    given = SoftKMeans(3, init=X[:3], max_iter=1).fit(X)
    assert soft.cluster_centers_.tolist() == given.cluster_centers_.tolist()


def test_annealing_finds_clusters_that_a_bad_start_does_not(kernel_name):
    options = {"stiffness": 0.5, "init": CORNER, "kernel": kernel_name}
    stuck = SoftKMeans(9, **options).fit(X)
    assert adjusted_rand_score(TRUTH, stuck.labels_) < 0.9
    annealed = SoftKMeans(9, annealing=1.2, random_state=0, **options).fit(X)
    assert adjusted_rand_score(TRUTH, annealed.labels_) == 1.0
    assert annealed.free_energy_ > stuck.free_energy_


def test_the_path_goes_from_where_clusters_coincide_to_the_stiffness():
    soft = SoftKMeans(9, stiffness=0.5, annealing=1.5, random_state=0).fit(X)
    path = soft.stiffness_path_
    assert path[0] == pytest.approx(1 / (2 * X.var(axis=0).sum()))
    np.testing.assert_allclose(path[1:-1] / path[:-2], 1.5)
    assert 1.0 <= path[-1] / path[-2] <= 1.5
    assert path[-1] == soft.stiffness_ == 0.5


# Some of the nine centres in one place are nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_at_the_first_stiffness_of_annealing_clusters_coincide():
    stiffness = 1 / (2 * X.var(axis=0).sum())
    first = SoftKMeans(9, stiffness=stiffness, random_state=0, tol=1e-12).fit(X)
    np.testing.assert_allclose(
        first.cluster_centers_, np.tile(X.mean(axis=0), (9, 1)), atol=0.01
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_annealing_towards_less_than_the_first_stiffness_is_one_stage():
    soft = SoftKMeans(3, stiffness=1e-6, annealing=2.0, random_state=0).fit(X)
    assert soft.stiffness_path_ == pytest.approx([1e-6])
    np.testing.assert_allclose(
        soft.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)), atol=1e-3
    )


def test_so_soft_that_clusters_coincide_is_said():
    with pytest.warns(ConvergenceWarning, match="stiffness so low that clusters"):
        SoftKMeans(9, stiffness=1e-6, random_state=0).fit(X)


def test_the_same_random_state_is_the_same_fit():
    one, other = (
        SoftKMeans(9, annealing=1.5, random_state=3, n_init=2).fit(X) for _ in range(2)
    )
    assert one.cluster_centers_.tobytes() == other.cluster_centers_.tobytes()
    assert one.evaluations_ == other.evaluations_


def test_high_stiffness_is_k_means():
    soft = SoftKMeans(9, init=CENTRES, stiffness=1e9).fit(X)
    kmeans = KMeans(9, init=CENTRES).fit(X)
    assert soft.labels_.tolist() == kmeans.labels_.tolist()
    np.testing.assert_allclose(soft.cluster_centers_, kmeans.cluster_centers_)


@pytest.mark.parametrize("exponent", [-500, 500])
@pytest.mark.parametrize("annealing", [None, 2.0])
def test_units_do_not_matter(exponent, annealing):
    scale = 2.0**exponent
    options = {"annealing": annealing, "random_state": 0}
    here = SoftKMeans(9, **options).fit(X)
    there = SoftKMeans(9, **options).fit(scale * X)
    assert (scale * here.cluster_centers_).tolist() == there.cluster_centers_.tolist()
    assert there.stiffness_ == here.stiffness_ / scale / scale
    np.testing.assert_allclose(
        there.stiffness_path_ * scale * scale, here.stiffness_path_, rtol=1e-10
    )


def test_sparse_rows_and_float32_are_welcome():
    counts = rng.poisson(1.0, size=(100, 4)).astype(np.float32)
    options = {"annealing": 2.0, "random_state": 0, "stiffness": 1.0}
    dense, sparse = (
        SoftKMeans(3, **options).fit(rows) for rows in (counts, sp.csr_array(counts))
    )
    assert dense.cluster_centers_.dtype == np.float32
    assert dense.cluster_centers_.tolist() == sparse.cluster_centers_.tolist()


DEGENERATE = {
    "all rows equal": np.ones((10, 2)),
    "two places": np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0),
    "a row per cluster": np.array([[0.0, 0.0], [1.0, 5.0], [9.0, 2.0]]),
    "a constant column": np.c_[rng.normal(size=30), np.full(30, 7.0)],
    "far from the origin": 1e8 + rng.normal(size=(30, 2)),
    "very small": 1e-150 * rng.normal(size=(30, 2)),
    "very large": 1e150 * rng.normal(size=(30, 2)),
}


# Clusters that coincide, or have a row each, come with a warning of ours and no other.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("c_prime", [None, 1, 2])
@pytest.mark.parametrize("annealing", [None, 3.0])
def test_degenerate_data_give_finite_numbers(kernel_name, name, c_prime, annealing):
    rows = DEGENERATE[name]
    soft = SoftKMeans(
        3, c_prime=c_prime, annealing=annealing, random_state=0, kernel=kernel_name
    ).fit(rows)
    for value in vars(soft).values():
        if isinstance(value, float | np.ndarray):
            assert np.isfinite(value).all()
    r = soft.predict_proba(rows)
    assert np.isfinite(r).all()
    assert np.abs(r.sum(axis=1) - 1.0).max() <= 1e-12


def test_one_row_per_cluster_says_that_stiffness_means_little():
    with pytest.warns(ConvergenceWarning, match="Every row lies on a cluster center"):
        SoftKMeans(3, random_state=0).fit(DEGENERATE["a row per cluster"])


WRONG = {
    "stiffness": [0.0, -1.0, np.inf, "stiff"],
    "annealing": [1.0, 0.5, np.inf, "slow"],
    "c_prime": [0, 1.5],
}


@pytest.mark.parametrize(
    ("parameter", "value"),
    [(name, v) for name, values in WRONG.items() for v in values],
)
def test_a_wrong_parameter_is_named_with_its_value(parameter, value):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter .* Got {value!r}"):
        SoftKMeans(3, **{parameter: value}).fit(X)


def test_messages_say_what_to_do():
    with pytest.raises(ValueError, match=r"c_prime=4 should be .* n_clusters=3"):
        SoftKMeans(3, c_prime=4).fit(X)
    with pytest.raises(ValueError, match=r"annealing=1.00001 .* factor of at least"):
        SoftKMeans(3, annealing=1.00001).fit(X)
    with pytest.raises(ValueError, match=r"stiffness=1e\+308, or variance=.* Give"):
        SoftKMeans(3, stiffness=1e308).fit(X)
    with pytest.raises(ValueError, match=r"not a finite number.* lower stiffness"):
        SoftKMeans(3, stiffness=1e307).fit(X)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        SoftKMeans(3).fit(X[:2])
    with pytest.raises(NotFittedError):
        SoftKMeans(3).predict(X)


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    soft = SoftKMeans(3, random_state=0).fit(X)
    before = soft.cluster_centers_
    soft.set_params(stiffness=1e308)
    with pytest.raises(ValueError):
        soft.fit(X[:, :1])
    assert soft.cluster_centers_ is before
    assert soft.n_features_in_ == 2


def test_verbose_tells_the_free_energy(capsys):
    SoftKMeans(3, init=X[:3], verbose=1, max_iter=2, tol=0.0).fit(X)
    printed = capsys.readouterr().out
    assert "Restart 1 of 1" in printed
    assert "Iteration 2, free energy -" in printed
