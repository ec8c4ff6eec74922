"""What does SIGTERM do to a fit that is kept? It stops as at Ctrl-C, and then ends."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGTERM; on leaving, end the process by that signal.

    In the main thread only, where signals are handled, and only if they are left to the
    system: a program that handles SIGTERM itself goes on to do so.
    """
    here, main = threading.current_thread(), threading.main_thread()
    if here is not main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    process, terminated = os.getpid(), False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        if os.getpid() != process:
            # A forked child has nothing to keep.
            _end()
        # Whoever is told twice, as by `timeout`, still has a state to write.
        if not terminated:
            terminated = True
            raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGTERM, stop)
        yield
    finally:
        # The signal may come while this is done.
        try:
            if signal.getsignal(signal.SIGTERM) is stop:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
        finally:
            if terminated:
                _end()


def _end() -> None:
    """End as terminated, as if the signal had not been handled."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTERM)
    # The first process of a container is not ended by that.
    raise SystemExit(128 + signal.SIGTERM)
