"""Kill fits at random moments, go on with them, and compare the last bit.

    python tests/kill_and_resume.py 200

So many fits, each in a process of its own that is killed (SIGKILL) at a random moment
of its life, once or several times, and is then left to finish from its checkpoints.
"""

import dataclasses
import os
import pickle
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np
from sklearn.base import clone

import cprime
from cprime import Checkpoint, FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.datasets import make_birch_random
from cprime.storage import container

ROWS = make_birch_random(16, 150, rng=3).data
RANDOM = {"init": "random", "n_init": 2, "max_iter": 20}
FITS = {
    "k-means": KMeans(16, **RANDOM, random_state=0),
    "k-means-C'": KMeans(16, c_prime=3, **RANDOM, random_state=1),
    "lazy k-means": KMeans(16, search="lazy", **RANDOM, random_state=2),
    "EM": KMeans(8, c_prime=None, **RANDOM, random_state=3),
    "annealed": SoftKMeans(4, annealing=3.0, n_init=2, random_state=4),
    "fuzzy": FuzzyKMeans(8, c_prime=4, n_init=2, max_iter=15, random_state=5),
    "mixture": GaussianMixture(6, covariance_type="diag", n_init=2, random_state=6),
    "truncated mixture": GaussianMixture(6, c_prime=2, n_init=2, random_state=7),
    # Rows that are read from a file, in several blocks.
    "file": KMeans(16, init="sampled-k-means++", max_iter=6, random_state=8),
}
# Work, not results.
NOT_COMPARED = ("seconds", "evaluations", "evaluations_")


def rows_of(name, folder):
    if name != "file":
        return ROWS
    path = Path(folder) / "rows.npy"
    if not path.exists():
        np.save(path, np.tile(ROWS, (30, 1)))
    data = cprime.open_data(path, memory="1.1MB")
    assert not data.in_memory
    return data


def fitted(name, folder, checkpoint=None):
    return vars(clone(FITS[name]).fit(rows_of(name, folder), checkpoint=checkpoint))


def difference(one, other, name=""):
    """Return the name of the first value that is not the same, to the last bit."""
    if type(one) is not type(other):
        return name
    if dataclasses.is_dataclass(one):
        one, other = vars(one), vars(other)
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return f"{name}: {sorted(one.keys() ^ other.keys())}"
        inner = (
            difference(one[key], other[key], f"{name}.{key}")
            for key in one
            if key not in NOT_COMPARED
        )
        return next(filter(None, inner), "")
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and np.array_equal(one, other)
        return "" if same else name
    return "" if one == other else name


def begun(name, folder, checkpoints):
    """Return a process that goes on with a fit, and writes what came of it."""
    process = os.fork()
    if process:
        return process
    try:
        checkpoint = Checkpoint(checkpoints, every=0.0, resume=True)
        found = {
            key: np.asarray(value) if isinstance(value, np.memmap) else value
            for key, value in fitted(name, folder, checkpoint).items()
        }
        (Path(checkpoints) / "result").write_bytes(pickle.dumps(found))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def ended(process):
    return os.waitpid(process, 0)[1]


def damaged(checkpoints):
    """Return the checkpoints that cannot be read."""
    found = []
    for path in Path(checkpoints).glob("checkpoint-*.cprime"):
        try:
            with container.open_file(path):
                pass
        except ValueError as error:
            found.append(str(error))
    return found


def killed_and_resumed(name, folder, expected, seconds, rng):
    """Return how often a fit was killed, and what was wrong in the end."""
    kills, wrong = 0, []
    with tempfile.TemporaryDirectory(dir=folder) as checkpoints:
        while kills == 0 or rng.random() < 0.3:
            process = begun(name, folder, checkpoints)
            time.sleep(rng.uniform(0.0, seconds))
            os.kill(process, signal.SIGKILL)
            if ended(process) == signal.SIGKILL:
                kills += 1
                wrong += damaged(checkpoints)
            (Path(checkpoints) / "result").unlink(missing_ok=True)
        status = ended(begun(name, folder, checkpoints))
        if status != 0:
            return kills, [*wrong, f"the resumed fit ended with status {status}"]
        found = pickle.loads((Path(checkpoints) / "result").read_bytes())
        differs = difference(expected, found)
        if differs:
            wrong.append(f"{differs} differs")
        left = list(Path(checkpoints).glob(".*"))
        if left:
            wrong.append(f"{left} were left behind")
    return kills, wrong


def run(n_fits, seed=0):
    """Kill so many fits; return the number of kills, same results, and faults."""
    rng, kills, same, faults = random.Random(seed), 0, 0, []
    names = list(FITS)
    with tempfile.TemporaryDirectory() as folder:
        expected, seconds = {}, {}
        for name in names:
            expected[name] = fitted(name, folder)
            start = time.perf_counter()
            with tempfile.TemporaryDirectory(dir=folder) as checkpoints:
                ended(begun(name, folder, checkpoints))
            seconds[name] = time.perf_counter() - start
            print(f"{name}: {seconds[name]:.2f} s a fit")
        for turn in range(n_fits):
            name = names[turn % len(names)]
            more, wrong = killed_and_resumed(
                name, folder, expected[name], seconds[name], rng
            )
            kills += more
            same += not wrong
            faults += [f"{name}: {fault}" for fault in wrong]
            for fault in wrong:
                print(f"{name}: {fault}")
    print(
        f"{kills} kills, {n_fits} fits, {same} with the same bits, {len(faults)} faults"
    )
    return kills, same, faults


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]) if len(sys.argv) > 1 else 200)[2]))
