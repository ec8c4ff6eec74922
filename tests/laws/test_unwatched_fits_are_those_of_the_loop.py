"""Fits of k-means that run whole in compiled code are those of `em`, to the bit."""

import math
import signal
import time
from operator import attrgetter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from problems import generator

from cprime import KMeans, convergence, em, lloyd
from cprime.kernels import native
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact, Lazy

WORK = ("iteration", "free_energy", "expected", "evaluations", "changed", "relocated")


@st.composite
def cases(draw):
    """Rows with copies, ties and weights, several first means, and a way to fit."""
    rng = generator(draw)
    # More than a leaf of rows, now and then.
    N = draw(st.sampled_from([3, 20, 150, 4500]))
    C, D = draw(st.integers(2, min(9, N))), draw(st.integers(1, 17))
    X = rng.normal(size=(N, D)) * draw(st.sampled_from([1e-3, 1.0, 1e4]))
    X += draw(st.sampled_from([0.0, 1e3]))
    if draw(st.booleans()):
        X = np.round(4.0 * rng.normal(size=(N, D))) / 4.0
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    weights = None
    if draw(st.booleans()):
        weights = rng.integers(0, 4, size=N) * draw(st.sampled_from([1.0, 0.3]))
        weights[0] = 1.0
    if draw(st.booleans()):
        X = sp.csr_array(np.where(X > 0, X, 0.0).astype(X.dtype))
    rows = MemoryRows(X, weights)
    seeds = [rows.take(rng.choice(N, size=C, replace=False)) for _ in range(3)]
    if draw(st.booleans()):
        # A mean that no row is closest to.
        seeds[1][-1] += 1e6
    model = Isotropic(
        floor=draw(st.sampled_from([1e-30, 1e-2])),
        variance=draw(st.sampled_from([None, None, 0.5])),
        variance_init=draw(st.sampled_from([None, None, 2.0])),
    )
    search = draw(st.sampled_from([Exact(), Exact(), Lazy(0.1)]))
    problem = Problem(rows, model, search, native, C_prime=1)
    stop = convergence.Tolerance(draw(st.sampled_from([-math.inf, 0.0, 1e-4])), 0.0)
    if draw(st.booleans()):
        # Rule of the k-means that a mixture starts from.
        stop = convergence.Gain(draw(st.sampled_from([1e-9, 1e-2])))
    return problem, stop, draw(st.sampled_from([1, 2, 50])), np.stack(seeds)


def fitted_in_python(problem, means, stop, max_iter, dtype):
    """Return all steps of a fit, and its end as an estimator would have it."""
    steps = list(em.steps(problem, means, stop, max_iter))
    theta = steps[-1].theta
    rounded = theta.means.astype(dtype).astype(np.float64)
    theta = type(theta)(rounded, theta.covariance)
    return steps, em.finish(problem, theta, steps[-1].K)


def bits(theta):
    return theta.means.tobytes(), float(theta.covariance)


@given(cases())
def test_steps_and_end_are_the_same(case):
    problem, stop, max_iter, seeds = case
    dtype, ended = problem.rows.X.dtype, []
    assert lloyd.is_possible(problem, stop, seeds.shape[1], dtype)
    lloyd.fits(problem, stop, max_iter, seeds, dtype, ended)
    assert len(ended) == len(seeds)
    for means, found in zip(seeds, ended):
        steps, fit = fitted_in_python(problem, means, stop, max_iter, dtype)
        if found is None:
            # What is left to the loop in Python is there for a reason.
            assert any(has_empty(problem, step) or step.relocated for step in steps)
            continue
        history = list(found.history())
        for of in (*map(attrgetter, WORK), lambda step: step.theta.covariance):
            assert list(map(of, history)) == list(map(of, steps))
        assert found.last.converged == steps[-1].converged
        assert bits(found.last.theta) == bits(steps[-1].theta)
        assert bits(found.fit.theta) == bits(fit.theta)
        assert found.fit.free_energy == fit.free_energy
        assert found.fit.K.K.tobytes() == fit.K.K.tobytes()
        for name, value in vars(fit.stats).items():
            assert np.array_equal(getattr(found.fit.stats, name), value)


def has_empty(problem, step):
    labels = step.K.labels()[problem.rows.weights > 0]
    return len(np.unique(labels)) < len(step.theta.means)


def attributes(model):
    """Return what a fit reports, but for how long it took."""
    found = {k: v for k, v in vars(model).items() if k.endswith("_") and k[0] != "_"}
    trace = {k: v for k, v in found.pop("trace_").items() if k != "seconds"}
    restarts = found.pop("restarts_")
    of_restarts = {f"{name} of restarts": v for name, v in restarts.items()}
    return {**found, **trace, **of_restarts}


@pytest.mark.parametrize("C", [3, 12, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("init", ["k-means++", "random", "far"])
def test_whether_someone_looks_on_changes_no_attribute(C, dtype, init):
    rng = np.random.default_rng(C)
    X = np.concatenate([c + rng.normal(size=(40, 3)) for c in range(10)]).astype(dtype)
    weights = rng.integers(0, 3, size=len(X))
    if init == "far":
        # Clusters become empty, and are moved.
        init = X[:C] + 100.0 * (np.arange(C) % 2)[:, None]
    options = {"init": init, "n_init": 1 if C == 3 else 6, "random_state": 0}
    if not isinstance(init, str):
        options["n_init"] = 1
    alone = KMeans(C, **options).fit(X, sample_weight=weights)
    seen = KMeans(C, **options)
    seen.fit(X, sample_weight=weights, progress=lambda progress: None)
    of_alone, of_seen = attributes(alone), attributes(seen)
    assert of_alone.keys() == of_seen.keys()
    for name, value in of_seen.items():
        assert np.array_equal(of_alone[name], value), name
    if not isinstance(init, str):
        assert alone.n_relocations_ > 0


def test_an_interrupt_keeps_what_is_complete():
    X = np.random.default_rng(0).normal(size=(20_000, 8))

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    model = KMeans(40, n_init=10_000, tol=0.0, random_state=0)
    started = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - started < 6.0
    assert model.predict(X).shape == (len(X),)
