"""Threads side by side: results come in order, and nobody works for nothing."""

import threading
import time

import numpy as np
import pytest

from cprime.blocks import Block
from cprime.kernels import native
from cprime.kernels.block_pipeline import pipeline
from cprime.models import Isotropic
from cprime.search import Exact
from cprime.theta import Theta


def buffers(count=3):
    return [np.empty(1) for _ in range(count)]


def read(item, buffer):
    buffer[:] = item
    return buffer


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 2, 50])
def test_results_come_in_order_whoever_is_done_first(n_items, count):
    def compute(item, values):
        time.sleep(0.002 * (item % 3 == 0))
        # Nobody else has written to it since.
        return item, int(values[0])

    found = list(pipeline(read, compute, range(n_items), buffers(count)))
    assert found == [(item, item) for item in range(n_items)]


def test_threads_work_at_the_same_time():
    together = threading.Barrier(3)

    def compute(item, values):
        return together.wait(10)

    found = pipeline(read, compute, range(3), buffers(3))
    assert sorted(found) == [0, 1, 2]


def test_only_a_few_results_wait_to_be_asked_for():
    done = []
    found = pipeline(
        read, lambda item, values: done.append(item), range(99), buffers(2)
    )
    next(found)
    time.sleep(0.1)
    assert len(done) <= 5
    found.close()


@pytest.mark.parametrize("culprit", ["read", "compute"])
def test_an_error_comes_in_its_turn_and_ends_all(culprit):
    def unless_it_is(name):
        def function(item, values):
            if item == 2 and name == culprit:
                raise ValueError("two")
            return item

        return function

    before = threading.active_count()
    found = pipeline(unless_it_is("read"), unless_it_is("compute"), range(9), buffers())
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(found)
    assert threading.active_count() == before


def test_numpy_treats_errors_as_the_caller_asked_for():
    def compute(item, values):
        return float(np.float64(1e300) * 1e300)

    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        list(pipeline(read, compute, range(3), buffers()))
    with np.errstate(over="ignore"):
        assert list(pipeline(read, compute, [0], buffers())) == [np.inf]


def test_compiled_code_uses_no_thread_but_that_it_is_called_in():
    def compute(item, values):
        return native.get_num_threads()

    assert set(pipeline(read, compute, range(4), buffers())) == {1}


def test_compiled_code_stops_when_nobody_waits_for_it_any_more():
    X = np.broadcast_to(np.float32(1.0), (2**24, 64))
    means = np.random.default_rng(0).normal(size=(20_000, 64))
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    begun = threading.Event()

    def compute(item, values):
        if item == 1:
            # Hours of work, in a call that nobody can interrupt but us.
            begun.set()
            block = Block(X, np.broadcast_to(1.0, len(X)))
            native.sweep(block, None, coefficients, Exact().plan(), 1)

    found = pipeline(read, compute, range(2), buffers(2))
    next(found)
    assert begun.wait(10)
    started = time.perf_counter()
    found.close()
    assert time.perf_counter() - started < 30.0
