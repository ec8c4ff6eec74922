"""Every number a fit reports, against fifty digits: 1e-12 of it may be wrong, no more.

Forty small problems: one to six features and clusters, every C', with and without
weights, float32 and float64, at the origin and at 1e6, overlapping or so well separated
that the gap is far below what a difference of two floats can show.
"""

from typing import NamedTuple

import numpy as np
import pytest
from fifty_digits import Mixture
from mpmath import log, sqrt

from cprime import KMeans

N_PROBLEMS = 40
EXACT = 1e-12
# Below this, float64 and float32 hold fewer digits than they promise.
LEAST = {np.dtype("f8"): 1e-300, np.dtype("f4"): 1e-37}


class Problem(NamedTuple):
    rows: np.ndarray
    sample_weight: np.ndarray | None
    init: np.ndarray
    c_prime: int

    @property
    def weights(self):
        given = self.sample_weight
        return np.ones(len(self.rows)) if given is None else given

    @property
    def output(self):
        """Return how far numbers in the dtype of the rows may be off."""
        single = self.rows.dtype == np.float32
        return float(np.finfo("f4").eps) if single else EXACT, LEAST[self.rows.dtype]

    def fit(self, **options):
        options = {"init": self.init, "c_prime": self.c_prime, **options}
        model = KMeans(len(self.init), **options)
        return model.fit(self.rows, sample_weight=self.sample_weight)


def problem(seed):
    rng = np.random.default_rng(seed)
    D, C = rng.integers(1, 7, size=2)
    # Neighbouring centres stand this many standard deviations apart, along one line.
    apart, offset = rng.choice([1.0, 2.0, 6.0, 11.0]), rng.choice([0.0, 1e6])
    direction = rng.normal(size=D)
    direction /= np.linalg.norm(direction)
    centres = offset + apart * np.arange(C)[:, None] * direction
    truth = np.arange(C * rng.integers(2, 5)) % C
    rows = centres[truth] + rng.normal(size=(len(truth), D))
    rows = rows.astype(rng.choice(["f4", "f8", "f8"]))
    weights = rng.uniform(0.1, 5.0, size=len(rows))
    sample_weight = weights if rng.random() < 0.5 else None
    return Problem(rows, sample_weight, rows[:C], 1 + rng.binomial(C - 1, 0.3))


@pytest.fixture(scope="module", params=range(N_PROBLEMS))
def given(request):
    return problem(request.param)


@pytest.fixture(scope="module")
def model(kernel_name, given):
    """Return a fit of a few iterations: the numbers need not have converged."""
    return given.fit(max_iter=3, kernel=kernel_name)


@pytest.fixture(scope="module")
def mixture(given, model):
    """Return the fitted mixture and its rows in fifty digits."""
    means, variance = model.cluster_centers_, model.variance_
    return Mixture(given.rows, means, variance, given.weights, given.c_prime)


def assert_exact(values, truth, relative=EXACT, absolute=0.0):
    """Compare number by number, in fifty digits: the comparison rounds nothing."""
    values = np.ravel(values).tolist()
    truth = truth if isinstance(truth, list) else [truth]
    assert len(values) == len(truth)
    for value, exact in zip(values, truth):
        assert abs(value - exact) <= max(relative * abs(exact), absolute)


def test_distances(given, model, mixture):
    distances = [sqrt(square) for squares in mixture.squares for square in squares]
    assert_exact(model.transform(given.rows), distances, *given.output)


def test_labels_inertia_and_score(given, model, mixture):
    J = mixture.quantization_error()
    assert model.labels_.tolist() == mixture.labels
    assert model.predict(given.rows).tolist() == mixture.labels
    assert_exact(model.inertia_, J)
    assert_exact(model.score(given.rows, sample_weight=given.sample_weight), -J)


# A log density near zero is a difference of larger numbers: 1e-12 nats are allowed.
def test_free_energy_and_log_likelihood(given, model, mixture):
    data, nats = (given.rows, given.sample_weight), {"absolute": EXACT}
    densities = mixture.log_densities()
    L, F = mixture.mean(densities), mixture.mean(mixture.free_energies())
    assert_exact(model.free_energy_, F, **nats)
    assert_exact(model.free_energy(*data), F, **nats)
    assert_exact(model.log_likelihood_, L, **nats)
    assert_exact(model.log_likelihood(*data), L, **nats)
    assert_exact(model.score_samples(given.rows), densities, **nats)


def test_gap(given, model, mixture):
    data, least = (given.rows, given.sample_weight), {"absolute": 1e-300}
    gaps = mixture.gaps()
    of_clusters = [mixture.mean(gaps, cluster) for cluster in range(mixture.C)]
    assert_exact(model.gap_, mixture.mean(gaps), **least)
    assert_exact(model.gap(*data), mixture.mean(gaps), **least)
    assert_exact(model.gap(*data, per="row"), gaps, **least)
    assert_exact(model.gap(*data, per="cluster"), of_clusters, **least)


def test_many_gaps_are_beyond_subtraction_and_many_are_not(kernel_name):
    """The test above would not say much if every gap were large, or zero."""
    fits = (problem(i).fit(max_iter=3, kernel=kernel_name) for i in range(N_PROBLEMS))
    gaps = np.array([model.gap_ for model in fits])
    assert np.sum((gaps > 1e-300) & (gaps < 1e-20)) >= 8
    assert np.sum(gaps > 1e-3) >= 4


def test_posterior(given, model, mixture):
    posteriors = [q for of_row in mixture.posteriors() for q in of_row]
    found = model.predict_proba(given.rows, c_prime=given.c_prime)
    assert_exact(found, posteriors, *given.output)


def test_information_criteria(given, model, mixture):
    L, F = mixture.log_densities(), mixture.free_energies()
    for bound, of_rows in [("likelihood", L), ("free_energy", F)]:
        bic = mixture.criterion(of_rows, log(mixture.W))
        aic = mixture.criterion(of_rows, 2)
        data = (given.rows, given.sample_weight, bound)
        assert_exact(model.bic(*data), bic, absolute=EXACT)
        assert_exact(model.aic(*data), aic, absolute=EXACT)


def test_one_iteration(kernel_name, given):
    """Means and sigma^2 after one E- and M-step from a start that is given."""
    model = given.fit(variance_init=1.5, max_iter=1, kernel=kernel_name)
    start = Mixture(given.rows, given.init, 1.5, given.weights, given.c_prime)
    means, variance = start.m_step()
    coordinates = [coordinate for mean in means for coordinate in mean]
    assert_exact(model.cluster_centers_, coordinates, *given.output)
    assert_exact(model.trace_["variance"][-1], variance)
    if given.c_prime == 1:
        # sigma^2 then belongs to the labels and the rounded means of the last sweep.
        means = model.cluster_centers_
        end = Mixture(given.rows, means, 1.0, given.weights, C_prime=1)
        variance = end.quantization_error() / (end.D * end.W)
    assert_exact(model.variance_, variance)
