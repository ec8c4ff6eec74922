"""Linear algebra by one thread: how many there might be must not change a bit.

BLAS divides a product among its threads, and rounds accordingly.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
# How many are inside, and what the first of them has to undo.
_inside = 0
_undo: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use a single thread while anybody is inside; also a decorator."""
    global _inside, _undo
    with _lock:
        _inside += 1
        if _inside == 1:
            _undo = _libraries().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _undo.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    # To look for them takes milliseconds.
    return ThreadpoolController()
