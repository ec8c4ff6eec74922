"""A fit that is killed, whenever it is, goes on to the result it would have had."""

import os
import subprocess
import sys
from pathlib import Path

import kill_and_resume

# Memory in place of a disk: what is tested is not how long a disk takes.
QUICK = Path("/dev/shm")


def test_twenty_killed_fits_end_in_the_same_bits():
    folder = {"TMPDIR": str(QUICK)} if QUICK.is_dir() else {}
    found = subprocess.run(
        [sys.executable, "-W", "error", kill_and_resume.__file__, "20"],
        env={**os.environ, **folder},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found
    assert "20 fits, 20 with the same bits, 0 faults" in found.stdout


def test_a_difference_is_noticed():
    one = {"trace_": {"changed": kill_and_resume.ROWS, "seconds": 1.0}, "n_iter_": 3}
    same = {"trace_": {"changed": kill_and_resume.ROWS + 0, "seconds": 2.0}}
    assert kill_and_resume.difference(one, {**same, "n_iter_": 3}) == ""
    assert kill_and_resume.difference(one, {**same, "n_iter_": 4}) == ".n_iter_"
    assert kill_and_resume.difference(one, same) != ""
    same["trace_"]["changed"][5, 1] += 1e-13
    other = {**same, "n_iter_": 3}
    assert kill_and_resume.difference(one, other) == ".trace_.changed"


def test_a_damaged_file_is_noticed(tmp_path):
    (tmp_path / "checkpoint-1.cprime").write_bytes(b"\x89cprime\n")
    assert len(kill_and_resume.damaged(tmp_path)) == 1
