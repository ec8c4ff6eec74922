"""A fit can be watched, stopped early, and interrupted without losing what it has."""

import importlib
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from versions import with_callbacks_only

import cprime.fitting.callbacks
from cprime import KMeans
from cprime.datasets import make_birch_random

pytestmark = with_callbacks_only
DATA = make_birch_random(10, 50, rng=1).data


class Recorder:
    """Notes every hook; asks to stop an iteration or a restart of a given number."""

    def __init__(self, stop_at=("", -1)):
        self.events = []
        self.inertias = []
        self.stop_at = stop_at

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.events.append(("end", context.task_name, context.task_id))
        if context.task_name == "iteration":
            self.inertias.append(-fitted_estimator.score(X))
        return (context.task_name, context.task_id) == self.stop_at

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_callbacks_see_fit_restarts_and_iterations():
    recorder = Recorder()
    km = KMeans(10, random_state=0, n_init=2).set_callbacks(recorder).fit(DATA)
    begun = [e[1:] for e in recorder.events if e[0] == "begin"]
    ended = [e[1:] for e in recorder.events if e[0] == "end"]
    assert sorted(begun) == sorted(ended)
    assert begun[:3] == [("fit", 0), ("init", 0), ("iteration", 0)]
    assert ended[-1] == ("fit", 0)
    assert begun.count(("init", 1)) == 1
    assert (recorder.events[0], recorder.events[-1]) == ("setup", "teardown")
    assert min(recorder.inertias) == pytest.approx(km.inertia_, rel=1e-9)


def test_a_callback_stops_a_run_early():
    km = KMeans(10, random_state=0).set_callbacks(Recorder(("iteration", 1))).fit(DATA)
    assert km.n_iter_ == 2 and not km.converged_
    np.testing.assert_array_equal(km.labels_, km.predict(DATA))


def test_a_callback_stops_further_restarts():
    recorder = Recorder(("init", 0))
    KMeans(10, random_state=0, n_init=5).set_callbacks(recorder).fit(DATA)
    assert ("begin", "init", 1) not in recorder.events


def test_watching_changes_nothing():
    plain = KMeans(10, random_state=0, n_init=2).fit(DATA)
    watched = KMeans(10, random_state=0, n_init=2).set_callbacks(Recorder()).fit(DATA)
    np.testing.assert_array_equal(plain.cluster_centers_, watched.cluster_centers_)


def test_a_scikit_learn_without_callbacks_will_do(monkeypatch):
    mixin = cprime.fitting.callbacks.CallbackSupportMixin
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    try:
        without = importlib.reload(cprime.fitting.callbacks)
        assert without.with_callbacks(len) is len
        assert not hasattr(without.CallbackSupportMixin, "set_callbacks")
        monkeypatch.delattr(mixin, "set_callbacks")
        monkeypatch.delattr(mixin, "_init_callback_context")
        assert KMeans(10, random_state=0).fit(DATA).converged_
    finally:
        monkeypatch.undo()
        importlib.reload(cprime.fitting.callbacks)


class InterruptAfter:
    """A callback that behaves like Ctrl-C after so many iterations."""

    def __init__(self, n):
        self.n = n

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context):
        if context.task_name == "iteration":
            self.n -= 1
            if self.n < 0:
                raise KeyboardInterrupt

    def on_fit_task_end(self, estimator, context): ...

    def teardown(self, estimator, context): ...


def test_an_interrupt_keeps_the_last_complete_iteration():
    km = KMeans(10, random_state=0).fit(DATA[:200])
    km.set_callbacks(InterruptAfter(3))
    with pytest.raises(KeyboardInterrupt):
        km.fit(DATA)
    assert km.n_iter_ == 3 and not km.converged_
    assert len(km.trace_["iteration"]) == 4
    three = KMeans(10, random_state=0, max_iter=3).fit(DATA)
    np.testing.assert_array_equal(km.cluster_centers_, three.cluster_centers_)
    assert km.labels_.shape == (len(DATA),)
    assert km.free_energy_ == three.trace_["free_energy"][-1]
    # Nothing of the fit before may be mistaken for this one's.
    assert not hasattr(km, "inertia_") and not hasattr(km, "gap_")
    assert km.predict(DATA).shape == (len(DATA),)


def test_an_interrupt_keeps_the_best_complete_restart():
    first = KMeans(10, random_state=0).fit(DATA)
    km = KMeans(10, random_state=0, n_init=3)
    km.set_callbacks(InterruptAfter(first.n_iter_ + 1))
    with pytest.raises(KeyboardInterrupt):
        km.fit(DATA)
    np.testing.assert_array_equal(km.cluster_centers_, first.cluster_centers_)
    np.testing.assert_array_equal(km.labels_, first.labels_)
    assert km.inertia_ == first.inertia_ and km.converged_
    assert km.free_energy_ == first.free_energy_


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    X = DATA[:100]
    km = KMeans(3, random_state=0).fit(X)
    before = km.predict(X)
    wider = np.column_stack([X, X[:, 0]])
    wider[5, 2] = np.nan
    with pytest.raises(ValueError, match="NaN at row 5, column 2"):
        km.fit(wider)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        km.fit(wider[:2])
    np.testing.assert_array_equal(km.predict(X), before)
    with pytest.raises(ValueError, match="X has 3 features, but KMeans is expecting 2"):
        km.predict(wider[:2])


def test_an_interrupt_before_the_first_iteration_loses_nothing():
    def interrupted(X, n_clusters, random_state):
        raise KeyboardInterrupt

    km = KMeans(3, init=interrupted)
    with pytest.raises(KeyboardInterrupt):
        km.fit(DATA)
    with pytest.raises(NotFittedError):
        km.predict(DATA)
    km.set_params(init=DATA[:3]).fit(DATA)
    labels = km.predict(DATA)
    with pytest.raises(KeyboardInterrupt):
        km.set_params(init=interrupted).fit(DATA[:, :1])
    np.testing.assert_array_equal(km.predict(DATA), labels)


def test_parameters_set_after_a_fit_do_not_change_what_it_says():
    km = KMeans(3, random_state=0).fit(DATA)
    gap, bic = km.gap(DATA), km.bic(DATA)
    km.set_params(c_prime=2, variance=1.0)
    assert (km.gap(DATA), km.bic(DATA)) == (gap, bic)
