"""SIGTERM, by which systems ask to end, costs no work of a fit that is kept.

    python tests/doors/test_termination.py fit FOLDER SCENE NAME
    python tests/doors/test_termination.py command ARGUMENTS

begin a fit, or a command, that is told to end in the midst of it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import kill_and_resume
import numpy as np
import pytest
from command_line import done

import cprime
from cprime import Checkpoint, GaussianMixture, KMeans, cli
from cprime.cli import progress

DATA = np.random.RandomState(0).standard_normal((4000, 8))
MODELS = {
    "k-means": KMeans(30, c_prime=3, init="random", n_init=2, tol=0.0).set_params(
        max_iter=30, random_state=0
    ),
    "mixture": GaussianMixture(4, tol=1e-5, max_iter=999, random_state=0),
}
STOPPED_AT = 5


def fit_until_terminated(folder, scene, name="k-means"):
    """Fit in this process, and be told to end in the midst of it."""

    def terminate(told):
        if told.iteration == STOPPED_AT and told.restart == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            if scene == "twice":
                os.kill(os.getpid(), signal.SIGTERM)
            print("goes on")

    checkpoint = Checkpoint(folder, every=1000, resume=True)
    if scene == "own handler":
        signal.signal(signal.SIGTERM, lambda *_: print("handled"))
    elif scene == "ignored":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    before = signal.getsignal(signal.SIGTERM)

    def fit():
        MODELS[name].fit(DATA, checkpoint=checkpoint, progress=terminate)

    if scene == "thread":
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()
    elif scene == "swallowed":
        try:
            fit()
        except BaseException:
            print("swallowed")
    else:
        fit()
    assert signal.getsignal(signal.SIGTERM) is before
    print("complete", flush=True)


def python(*arguments):
    """Run this file in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", __file__, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(kill_and_resume.__file__).parent)},
    )


def ended(folder, scene, name="k-means"):
    """Return how a process ended that was told to, and what it said."""
    finished = python("fit", folder, scene, name)
    assert finished.stderr == ""
    return finished.returncode, finished.stdout


def resumed(folder, name="k-means"):
    checkpoint = Checkpoint(folder, resume=True)
    return MODELS[name].fit(DATA, checkpoint=checkpoint), checkpoint.message


@pytest.mark.parametrize(
    ("scene", "name"),
    [
        ("once", "k-means"),
        ("once", "mixture"),
        ("twice", "k-means"),
        ("swallowed", "k-means"),
    ],
)
def test_a_terminated_fit_goes_on_to_the_same_bits(tmp_path, scene, name):
    assert ended(tmp_path, scene, name) == (-signal.SIGTERM, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint-1.cprime",
        "checkpoint-2.cprime",
    ]
    found, message = resumed(tmp_path, name)
    assert f"Resuming from iteration {STOPPED_AT} of restart 1" in message
    again = vars(found).copy()
    assert kill_and_resume.difference(vars(MODELS[name].fit(DATA)), again) == ""


def test_a_program_that_handles_it_goes_on_to_do_so(tmp_path):
    said = "handled\ngoes on\ncomplete\n"
    assert ended(tmp_path / "own", "own handler") == (0, said)
    assert ended(tmp_path / "ignored", "ignored") == (0, "goes on\ncomplete\n")


def test_a_thread_leaves_it_to_the_system(tmp_path):
    assert ended(tmp_path, "thread")[0] == -signal.SIGTERM


def test_the_handler_is_there_as_long_as_the_fit(tmp_path):
    seen = []

    def look(told):
        seen.append(signal.getsignal(signal.SIGTERM))
        raise ZeroDivisionError

    for checkpoint in (Checkpoint(tmp_path), None):
        with pytest.raises(ZeroDivisionError):
            MODELS["k-means"].fit(DATA, checkpoint=checkpoint, progress=look)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert callable(seen[0]) and seen[1] == signal.SIG_DFL


def test_a_forked_child_is_ended_and_writes_nothing(tmp_path):
    read, write = os.pipe()

    def fork(told):
        child = os.fork()
        if child == 0:
            try:
                os.write(write, b"here")
                time.sleep(60)
            finally:
                os._exit(1)
        os.read(read, 4)
        os.kill(child, signal.SIGTERM)
        assert os.waitpid(child, 0)[1] == signal.SIGTERM
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        MODELS["k-means"].fit(DATA, checkpoint=Checkpoint(tmp_path), progress=fork)
    os.close(read)
    os.close(write)


@pytest.fixture
def cloud(tmp_path):
    np.save(tmp_path / "cloud.npy", DATA)
    return tmp_path / "cloud.npy"


def run_until_terminated(*arguments):
    """Run a command in this process, and be told to end, twice as by `timeout`."""

    def terminate(*_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def in_an_iteration(self, told):
        if told.iteration == STOPPED_AT:
            terminate()

    progress.Lines.__call__ = in_an_iteration
    progress.Lines.rows = terminate
    sys.exit(cli.main(arguments))


def command(*arguments):
    """Return how a command ends that is told to."""
    return python("command", *arguments)


def test_a_terminated_command_keeps_the_best_so_far(cloud, tmp_path):
    fit = ["fit", cloud, "-k", 20, "--tol", 0, "--max-iter", 12]
    done(*fit, "-o", tmp_path / "whole", "-q")
    safe = [*fit, "--checkpoint", tmp_path / "kept", "-o", tmp_path / "m"]
    ended = command(*safe)
    assert ended.returncode == 143
    assert f"interrupted after {STOPPED_AT} iterations" in ended.stdout
    assert ended.stderr.startswith("Terminated. The best so far is in")
    assert ended.stderr.endswith("--resume\n") and ended.stderr.count("\n") == 1
    assert cprime.describe(tmp_path / "m")["about"]["complete"] is False
    assert "after 12 iterations" in done(*safe, "--resume")
    whole, found = (cprime.load(tmp_path / name) for name in ("whole", "m"))
    assert kill_and_resume.difference(vars(whole), vars(found)) == ""
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_terminated_prediction_leaves_what_was_there(cloud, tmp_path):
    done("fit", cloud, "-k", 5, "--tol", 0.1, "-o", tmp_path / "m", "-q")
    (tmp_path / "l.csv").write_text("from before")
    ended = command("predict", tmp_path / "m", cloud, "-o", tmp_path / "l.csv")
    assert (ended.returncode, ended.stderr) == (143, "Terminated.\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cloud.npy", "l.csv", "m"]
    assert (tmp_path / "l.csv").read_text() == "from before"


def test_the_system_terminates_a_command_in_the_midst_of_a_sweep(cloud, tmp_path):
    """Though whoever started it wants interrupts to be ignored."""
    command = [sys.executable, "-m", "cprime", "fit", str(cloud), "-k", "100", "-q"]
    command += ["--c-prime", "all", "--tol", "0", "--max-iter", "100000"]
    command += ["-o", str(tmp_path / "m"), "--checkpoint", str(tmp_path / "kept")]
    process = subprocess.Popen(
        [*command, "--every", "0"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    second, deadline = tmp_path / "kept/checkpoint-2.cprime", time.monotonic() + 60
    while not second.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 143
    assert told.startswith("Terminated. The best so far is in")
    assert told.count("\n") == 1
    assert sorted(path.name for path in second.parent.iterdir()) == [
        "checkpoint-1.cprime",
        "checkpoint-2.cprime",
    ]


if __name__ == "__main__":
    what = {"fit": fit_until_terminated, "command": run_until_terminated}
    what[sys.argv[1]](*sys.argv[2:])
