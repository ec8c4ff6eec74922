"""What do Ctrl-C and SIGTERM do? Stop and keep what there is; Ctrl-C twice: end."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from cprime.cli.errors import INTERRUPTED, StoppedError, TerminatedError

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = b"\x1b[?25h"
# Seconds after which an interrupt that was dropped is raised again.
AGAIN = 0.01


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first interrupt, and end at the second.

    Until the context is left: what is kept after the first is kept in here. SIGTERM, by
    which a system asks to end, stops in the same way and leaves by TerminatedError.

    What is raised while an object is deleted, as the many results on a cluster are,
    Python only reports. An interrupt that comes just then is raised again.
    """
    ctrl_c, termination = (signal.getsignal(number) for number in SIGNALS)
    report = sys.unraisablehook
    terminated = False

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, _end)
        raise KeyboardInterrupt

    def terminate(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        # `timeout` sends it twice: the second must not end what the first began.
        if not terminated:
            terminated = True
            raise KeyboardInterrupt

    def dropped(what: Any) -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            report(what)
            return
        signal.signal(signal.SIGINT, first)
        threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()

    sys.unraisablehook = dropped
    # Whoever started this may want it to ignore interrupts.
    if ctrl_c != signal.SIG_IGN:
        signal.signal(signal.SIGINT, first)
    if termination == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except (KeyboardInterrupt, StoppedError) as stop:
        if terminated:
            raise TerminatedError(str(stop)) from None
        raise
    finally:
        sys.unraisablehook = report
        signal.signal(signal.SIGINT, ctrl_c)
        if termination == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, termination)


def _end(number: int, frame: FrameType | None) -> None:
    if sys.stderr.isatty():
        os.write(2, SHOW_CURSOR)
    os.write(2, b"\nEnded at once.\n")
    os._exit(INTERRUPTED)
