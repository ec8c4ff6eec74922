"""Threads side by side, each with a block of its own to read and to compute with.

Compiled code that shares every block among threads has them wait for each other at its
end; here nobody waits.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from cprime.kernels import _native
from cprime.kernels._native import get_num_threads
from cprime.typing import Array

__all__ = ["get_num_threads", "pipeline"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def pipeline(
    read: Callable[[Item, Array], Array],
    compute: Callable[[Item, Array], Result],
    items: Iterable[Item],
    buffers: list[Array],
) -> Generator[Result]:
    """Yield compute(item, read(item, buffer)) of every item, in order.

    Parameters
    ----------
    read : callable
        Its result may lie in the buffer.
    compute : callable
        Compiled code it calls uses no further threads.
    items : iterable
    buffers : list of ndarray
        There is a thread for each of them.
    """
    free: SimpleQueue[Array] = SimpleQueue()
    for buffer in buffers:
        free.put(buffer)
    stop, errors = _native.Stop(), np.geterr()

    def begin() -> None:
        # Numpy keeps what to do about errors for each thread.
        np.seterr(**errors)
        stop.heed_alone()

    def work(item: Item) -> Result:
        buffer = free.get()
        try:
            return compute(item, read(item, buffer))
        finally:
            free.put(buffer)

    n_threads, waiting = len(buffers), iter(items)
    with ThreadPoolExecutor(n_threads, "cprime-sweep", initializer=begin) as pool:
        # One more than there are threads: none waits while a result is looked at.
        ahead = deque(
            pool.submit(work, item) for item in islice(waiting, n_threads + 1)
        )
        try:
            while ahead:
                result = ahead.popleft().result()
                ahead.extend(pool.submit(work, item) for item in islice(waiting, 1))
                yield result
        finally:
            stop.want()
            for late in ahead:
                late.cancel()
