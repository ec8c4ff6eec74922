"""Linear algebra by one thread: how many there might be must not change a bit.

BLAS divides a product among its threads, and rounds accordingly.
"""

import threading
from contextlib import ContextDecorator
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
# How many are inside, and how many threads each library had before the first of them.
_inside = 0
_before: list[int] = []


class one_thread(ContextDecorator):  # noqa: N801
    """Let BLAS use a single thread while anybody is inside; also a decorator."""

    def __enter__(self) -> None:
        global _inside, _before
        with _lock:
            _inside += 1
            if _inside == 1:
                _before = [library.get_num_threads() for library in _libraries()]
                _set([1] * len(_before))

    def __exit__(self, *_: object) -> None:
        global _inside
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set(_before)


def _set(numbers: list[int]) -> None:
    for library, number in zip(_libraries(), numbers):
        library.set_num_threads(number)


@cache
def _libraries() -> list[Any]:
    # To look for them takes milliseconds, and this is entered in every iteration.
    found = ThreadpoolController().lib_controllers
    return [library for library in found if library.user_api == "blas"]
