"""Reading ahead: the next block comes in while the last one is computed with."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import TypeVar

from cprime.typing import Array

Item = TypeVar("Item")
Result = TypeVar("Result")
# One block is in use, one is ready, one is being read.
BUFFERS = 3


def read_ahead(
    read: Callable[[Item, Array], Result], items: Iterable[Item], buffers: list[Array]
) -> Iterator[Result]:
    """Yield read(item, buffer) of every item, in order, from a thread that is ahead.

    Parameters
    ----------
    read : callable
    items : iterable
    buffers : list of ndarray, at least two
        Used in turns: a result that lies in its buffer is valid until the next.
    """
    waiting = zip(items, cycle(buffers))
    with ThreadPoolExecutor(1, thread_name_prefix="cprime-read") as reader:
        ahead = deque(
            reader.submit(read, *job) for job in islice(waiting, len(buffers) - 1)
        )
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(reader.submit(read, *job) for job in islice(waiting, 1))
