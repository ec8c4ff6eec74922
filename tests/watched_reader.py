"""Data files, read in a process of its own with little memory, watched from outside.

Whatever a file holds, it is read correctly or refused with one line for people: no
crash, no hang, no other error, no memory beyond what was allowed.
"""

import json
import os
import re
import resource
import select
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

SECONDS_BEFORE_IT_HANGS = 30
# Beyond what the process takes when it starts, in MiB: of addresses, and of memory.
ROOM_OF_ADDRESSES, ROOM = 3000, 160
LONGEST_LINE = 500
# What small, strange data may well be warned of.
WARNINGS = re.compile("cluster|sample|distinct|variance|converge")


class Outcome(NamedTuple):
    """What came of a file: its shape, or an error."""

    shape: tuple[int, int] | None = None
    fingerprint: str | None = None
    error: str | None = None
    message: str = ""
    chained: bool = False
    warned: tuple[str, ...] = ()
    grown: float = 0.0
    seconds: float = 0.0

    def broken(self, name: str = "") -> str:
        """Return what of the contract does not hold; nothing if all of it does."""
        wrong = []
        if self.warned:
            wrong.append(f"warns: {self.warned}")
        if self.grown > ROOM:
            wrong.append(f"takes {self.grown:.0f} MiB")
        if self.error is not None:
            if self.error not in {
                "ValueError", "TypeError", "OSError", "FileNotFoundError",
                "PermissionError",
            }:  # fmt: skip
                wrong.append(f"raises {self.error}")
            if self.chained:
                wrong.append("tells of inner errors")
            if not self.message.isprintable() or len(self.message) > LONGEST_LINE:
                wrong.append("is not one printable line")
            if name not in self.message and "row" not in self.message:
                wrong.append("names neither file nor row")
        return "; ".join(wrong)


class Reader:
    """A process that reads one file after another, started again if it ends."""

    def __init__(self):
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def __call__(self, path: Any, **options: Any) -> Outcome:
        """Let a file be read, fitted and predicted; return what came of it."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        job = {"path": str(path), "options": options}
        print(json.dumps(job), file=self._process.stdin, flush=True)
        started = time.monotonic()
        ready, _, _ = select.select(
            [self._process.stdout], [], [], SECONDS_BEFORE_IT_HANGS
        )
        answer = self._process.stdout.readline() if ready else ""
        seconds = time.monotonic() - started
        if not answer:
            ended = self._end()
            return Outcome(error=f"Crash({ended})" if ready else "Hang")
        return Outcome(**json.loads(answer), seconds=seconds)

    def _end(self) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        with process:
            process.stdin.close()
            process.terminate()
            return process.wait()


def read(path, memory="8MB", uid=None, **options):
    """Open, load, fit and predict; return what is there to tell."""
    from cprime import KMeans, open_data

    if uid is not None:
        os.seteuid(uid)
    try:
        data = open_data(path, memory=memory, **options)
        found = {"shape": data.shape, "fingerprint": data.fingerprint()}
        if data.n_rows * data.n_features < 10**5:
            km = KMeans(1, max_iter=2, random_state=0).fit(data)
            km.predict(data if options else path)
        return found
    finally:
        if uid is not None:
            os.seteuid(0)


def told(job):
    """Return what comes of a file, to be told outside."""
    before = peak(reset=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = read(job["path"], **job["options"])
        except BaseException as error:
            inner = error.__cause__ or error.__context__
            answer = {
                "error": type(error).__name__,
                "message": str(error),
                "chained": inner is not None and not error.__suppress_context__,
            }
    warned = [str(w.message) for w in caught if not WARNINGS.search(str(w.message))]
    return {**answer, "warned": warned, "grown": peak() - before}


def peak(reset=False):
    """Return the most memory this process has held, in MiB."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    held = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(held[1]) / 1024


def main():
    """Read files as they are asked for."""
    import pyarrow.csv
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    import cprime  # noqa: F401

    sizes = Path("/proc/self/status").read_text()
    addresses = int(re.search(r"VmSize:\s+(\d+)", sizes)[1]) * 1024
    limit = addresses + ROOM_OF_ADDRESSES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        print(json.dumps(told(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
