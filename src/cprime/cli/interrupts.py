"""What does Ctrl-C do? Once: stop and keep what there is. Twice: end at once."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from cprime.cli.errors import INTERRUPTED

SHOW_CURSOR = b"\x1b[?25h"


@contextmanager
def ended_by_the_second() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first interrupt, and end at the second.

    Until the context is left: what is kept after the first is kept in here.
    """
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        # Whoever started this wants it to ignore interrupts.
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, _end)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(number: int, frame: FrameType | None) -> None:
    if sys.stderr.isatty():
        os.write(2, SHOW_CURSOR)
    os.write(2, b"\nEnded at once.\n")
    os._exit(INTERRUPTED)
