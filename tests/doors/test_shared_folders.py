"""Of several fits with one folder for checkpoints one runs, and the others say which.

    python tests/doors/test_shared_folders.py

resumes fits in folders that are named on standard input, and says what came of it.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cprime import Checkpoint, KMeans
from cprime.checkpointing.rotation import Rotation
from cprime.datasets import make_birch_random
from cprime.storage import locks
from cprime.storage.locks import FolderLock

DATA = make_birch_random(6, 50, rng=1).data
MODEL = {"n_clusters": 6, "init": "random", "n_init": 2, "random_state": 0}
ROUNDS = 5
SECONDS_BEFORE_IT_HANGS = 60


def fitted(folder, resume=True, progress=None, **changes):
    checkpoint = Checkpoint(folder, every=0, resume=resume)
    model = KMeans(**MODEL | changes)
    return model.fit(DATA, checkpoint=checkpoint, progress=progress)


def until(happened):
    deadline = time.monotonic() + SECONDS_BEFORE_IT_HANGS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def resume_what_is_named():
    for name in sys.stdin:
        folder = Path(name.strip())

        def wait(told, folder=folder):
            # Whoever runs goes on only when the others have had their say.
            print(json.dumps({"runs": os.getpid()}), flush=True)
            until((folder.parent / f"{folder.name} may end").exists)

        try:
            found = fitted(folder, progress=wait).inertia_
        except RuntimeError as error:
            found = str(error)
        print(json.dumps(found), flush=True)


@pytest.fixture
def start():
    """Give what starts a process that resumes fits."""
    started = []

    def one():
        process = subprocess.Popen(
            [sys.executable, "-W", "error", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield one
    for process in started:
        process.kill()
        process.communicate()


def test_of_three_that_resume_at_once_one_runs(start, tmp_path):
    processes = [start() for _ in range(3)]
    expected = KMeans(**MODEL).fit(DATA).inertia_
    for place in range(ROUNDS):
        folder = tmp_path / f"round {place}"
        if place % 2:
            with pytest.raises(ZeroDivisionError):
                fitted(folder, progress=lambda told: 1 / 0)
        for process in processes:
            process.stdin.write(f"{folder}\n")
            process.stdin.flush()
        said = {p: json.loads(p.stdout.readline()) for p in processes}
        (runs,) = (p for p in processes if said[p] == {"runs": p.pid})
        for process in set(processes) - {runs}:
            assert f"is in use: process {runs.pid} on " in said[process]
        (tmp_path / f"{folder.name} may end").touch()
        assert said_in_the_end(runs) == expected
        assert sorted(path.name for path in folder.iterdir()) == [
            "checkpoint-1.cprime",
            "checkpoint-2.cprime",
        ]


def said_in_the_end(process):
    """Return the last thing a process says of a fit."""
    while isinstance(said := json.loads(process.stdout.readline()), dict):
        pass
    return said


def test_a_killed_fit_holds_nothing(start, tmp_path):
    process = start()
    process.stdin.write(f"{tmp_path / 'kept'}\n")
    process.stdin.flush()
    process.stdout.readline()
    with pytest.raises(RuntimeError, match=rf"in use: process {process.pid} on "):
        fitted(tmp_path / "kept")
    process.kill()
    process.wait()
    assert fitted(tmp_path / "kept").inertia_ == KMeans(**MODEL).fit(DATA).inertia_


def test_of_two_threads_one_runs(tmp_path):
    begun, go_on, found = threading.Event(), threading.Event(), []

    def wait(told):
        begun.set()
        assert go_on.wait(SECONDS_BEFORE_IT_HANGS)

    first = threading.Thread(target=lambda: found.append(fitted(tmp_path, False, wait)))
    first.start()
    assert begun.wait(SECONDS_BEFORE_IT_HANGS)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for resume in (True, False):
        with pytest.raises(RuntimeError, match=r"in use: .* \(this one\) on .* since "):
            fitted(tmp_path, resume)
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}
    go_on.set()
    first.join()
    whole = KMeans(**MODEL).fit(DATA)
    np.testing.assert_array_equal(found[0].cluster_centers_, whole.cluster_centers_)


def test_a_fit_that_fails_holds_nothing_though_its_traceback_is_kept(tmp_path):
    with pytest.raises(ZeroDivisionError) as kept:
        fitted(tmp_path, progress=lambda told: 1 / 0)
    fitted(tmp_path)
    with pytest.raises(ValueError, match="tol was") as also_kept:
        fitted(tmp_path, tol=0.5)
    fitted(tmp_path, resume=False)
    assert kept.traceback and also_kept.traceback


def test_a_result_is_there_for_any_number_of_readers(tmp_path):
    expected = fitted(tmp_path).inertia_
    lock = FolderLock(tmp_path)
    lock.acquire()
    try:
        assert fitted(tmp_path).inertia_ == expected
        with pytest.raises(RuntimeError, match="in use"):
            fitted(tmp_path, resume=False)
    finally:
        lock.release()
    fitted(tmp_path)
    assert not (tmp_path / locks.NAME).exists()


def test_a_result_replaced_while_it_is_read_is_not_taken_for_another(tmp_path):
    fitted(tmp_path)
    found = Rotation(tmp_path)
    found.look()
    fitted(tmp_path, resume=False, n_init=1)
    with pytest.raises(ValueError, match="another fit has just re"), found.opened():
        pass
    found.latest.unlink()
    with pytest.raises(ValueError, match="just removed it"), found.opened():
        pass


def test_a_folder_that_cannot_be_locked_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(FolderLock, "acquire", lambda self: False)
    with pytest.warns(RuntimeWarning, match="make sure that no other fit uses it"):
        fitted(tmp_path)


if __name__ == "__main__":
    resume_what_is_named()
