"""What do Ctrl-C and SIGTERM do? Stop and keep what there is; Ctrl-C twice: end."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from cprime.cli.errors import INTERRUPTED, StoppedError, TerminatedError

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = b"\x1b[?25h"


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first interrupt, and end at the second.

    Until the context is left: what is kept after the first is kept in here. SIGTERM, by
    which a system asks to end, stops in the same way and leaves by TerminatedError.
    """
    ctrl_c, termination = (signal.getsignal(number) for number in SIGNALS)
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
        if ctrl_c != signal.SIG_IGN:
            signal.signal(signal.SIGINT, ctrl_c)
        if termination == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, termination)


def _end(number: int, frame: FrameType | None) -> None:
    if sys.stderr.isatty():
        os.write(2, SHOW_CURSOR)
    os.write(2, b"\nEnded at once.\n")
    os._exit(INTERRUPTED)
