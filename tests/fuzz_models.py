"""Alter model files at random, with a correct checksum, and try to use them.

    python tests/fuzz_models.py 600

A file either is refused by a plain ValueError or makes an estimator that can be used,
whose methods may refuse rows by a ValueError too. Anything else, a crash, more seconds
or more memory than it may take, is a finding, and is kept.
"""

import contextlib
import json
import math
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.base import clone
from surgery import FIXTURES, put_together, sealed, taken_apart

import cprime
from cprime.storage.container import PREFIX

FILES = sorted(FIXTURES.glob("v*/*.cprime"))
ROWS = np.load(FIXTURES / "v1" / "rows.npy")[:7]
METHODS = ("predict", "predict_proba", "transform", "score_samples", "gap", "bic")
# Address space that a file of some kilobytes may make us take, and time.
MOST_BYTES = 2**30
MOST_SECONDS = 5
BATCH = 250

NUMBERS = [0, 1, -1, 2, 3, 7, 255, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64]
FLOATS = [0.5, -0.0, 1e-320, 1e308, -1e308, 1e-5, float("nan"), float("inf")]
TEXTS = [
    "",
    "a",
    "KMeans",
    "os.system",
    "fitted.means_",
    "<f8",
    "|O",
    "\ud800",
    "x" * 99,
]
TAGS = ["array", "scalar", "float", "names", "tuple", "dict", "random_state"]


def anything(rng, depth=0):
    """Return a value for a header."""
    kind = rng.randrange(7 if depth < 3 else 4)
    if kind < 4:
        pools = (NUMBERS, FLOATS, TEXTS, [None, True, False])
        return rng.choice(pools[kind])
    if kind == 4:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return {rng.choice(TAGS): anything(rng, depth + 1)}
    return {
        rng.choice(TEXTS): anything(rng, depth + 1) for _ in range(rng.randrange(3))
    }


def places(tree):
    """Return every list or object in a header with every key it has."""
    keys = []
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            keys += [(tree, key), *places(tree[key])]
    return keys


def alter_header(header, rng):
    found = places(header)
    inner, key = rng.choice(found)
    change = rng.randrange(5)
    if change == 0:
        inner[key] = anything(rng)
    elif change == 1:
        inner[key] = json.loads(json.dumps(rng.choice(found)[0]))
    elif change == 2:
        del inner[key]
    elif change == 3 and isinstance(inner[key], int | float):
        inner[key] = inner[key] * rng.choice([-1, 0, 0.5, 2, 1e200]) + rng.choice(
            [0, 1]
        )
    elif isinstance(inner, dict):
        inner[rng.choice(TEXTS + TAGS + list(header["fitted"]))] = anything(rng)


def alter_array(header, arrays, rng):
    name, dtype, _ = rng.choice(header["arrays"])
    values = np.frombuffer(arrays[name], dtype).copy()
    if not values.size:
        return
    place = rng.randrange(values.size)
    change = rng.randrange(4)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if change == 0:
            values[place] = np.array(rng.choice(FLOATS[:6] + NUMBERS[:9])).astype(dtype)
        elif change == 1 and dtype[1] == "f":
            values[place] = rng.choice(FLOATS)
        elif change == 2:
            values = np.frombuffer(rng.randbytes(values.nbytes), dtype)
        else:
            values[rng.randrange(values.size)] = values[place]
    arrays[name] = values.tobytes()


def alter_table(header, arrays, rng):
    """Declare an array to be of another shape or type, with as many bytes or others."""
    line = rng.choice(header["arrays"])
    name, dtype, shape = line
    if rng.random() < 0.3:
        line[rng.randrange(3)] = anything(rng)
        return
    line[1] = rng.choice(["<f4", "<f8", "<i4", "<i8", "<u4", "|u1", "|b1", dtype])
    size = np.dtype(line[1]).itemsize
    line[2] = rng.choice([shape[::-1], [*shape, 1], shape[:-1], shape, [2, *shape]])
    wanted = math.prod(line[2]) * size
    if wanted < 2**20 and rng.random() < 0.7:
        repeated = arrays[name] * (wanted // max(len(arrays[name]), 1) + 1)
        arrays[name] = repeated[:wanted]


def altered(content, rng):
    """Return a model file in which something is different."""
    if rng.random() < 0.1:
        damaged = bytearray(content)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        return bytes(damaged) if rng.random() < 0.3 else sealed(bytes(damaged))
    if rng.random() < 0.03:
        fields = list(PREFIX.unpack(content[: PREFIX.size]))
        fields[rng.randrange(1, 5)] = rng.choice([0, 1, 2, 31, 100, 2**31])
        with contextlib.suppress(struct.error):
            return sealed(PREFIX.pack(*fields) + content[PREFIX.size :])
    header, arrays = taken_apart(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        what = rng.randrange(4)
        with contextlib.suppress(KeyError, IndexError, TypeError, ValueError):
            if what <= 1:
                alter_header(header, rng)
            elif what == 2:
                alter_array(header, arrays, rng)
            else:
                alter_table(header, arrays, rng)
    try:
        return put_together(header, arrays)
    except (TypeError, ValueError, RecursionError):
        return sealed(content[: rng.randrange(40, len(content))] + bytes(32))


def use(model, path):
    """Do with a model what people do, and return how often it said no."""
    refusals = 0
    for method in METHODS:
        if hasattr(model, method):
            try:
                getattr(model, method)(ROWS)
            except ValueError:
                refusals += 1
    estimator = model[-1] if hasattr(model, "steps") else model
    for again in (
        lambda: clone(model),
        lambda: repr(model),
        lambda: estimator.to_sklearn().predict(ROWS),
        lambda: estimator.sample(3) if hasattr(estimator, "sample") else None,
        lambda: cprime.save(model, path),
        lambda: cprime.load(path),
        lambda: streamed(estimator),
    ):
        try:
            again()
        except ValueError:
            refusals += 1
    return refusals


def streamed(estimator):
    if hasattr(estimator, "partial_fit"):
        estimator.partial_fit(ROWS)


def tried(content, path):
    """Return what became of a file; raise if it is neither refused nor a model."""
    path.write_bytes(content)
    with contextlib.suppress(ValueError):
        json.dumps(cprime.describe(path))
    try:
        model = cprime.load(path)
    except ValueError as error:
        assert type(error) is ValueError, f"{type(error)} is not a plain ValueError"
        assert "\n" not in str(error), "a message of several lines"
        return "refused"
    return "refused some rows" if use(model, path) else "used"


def batch(seed, folder, report):
    """Try a batch of files; what comes to light is found in the folder afterwards."""
    rng, counts = random.Random(seed), Counter()
    soft = resource.getrlimit(resource.RLIMIT_AS)[1]
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, soft))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    current = folder / "current.cprime"
    for _ in range(BATCH):
        content = altered(rng.choice(FILES).read_bytes(), rng)
        current.write_bytes(content)
        # Of the processor, which others may use too; and in all, should it wait.
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.alarm(20 * MOST_SECONDS)
        counts[tried(content, folder / "tried.cprime")] += 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    report.write_text(json.dumps(counts))


def fuzz(seconds, seed=0, keep=None, say=print):
    """Fuzz for so long; return what became of all files, and what is wrong."""
    end, counts, findings = time.monotonic() + seconds, Counter(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while time.monotonic() < end:
            report = folder / "report.json"
            report.unlink(missing_ok=True)
            process = os.fork()
            if process == 0:
                try:
                    batch(seed, folder, report)
                    os._exit(0)
                except BaseException:
                    (folder / "trace").write_text(traceback.format_exc())
                    os._exit(1)
            status = os.waitpid(process, 0)[1]
            if status == 0:
                counts.update(json.loads(report.read_text()))
            else:
                trace = folder / "trace"
                findings.append(
                    f"seed {seed}, status {status}: "
                    + (trace.read_text() if trace.exists() else "a crash, or too slow")
                )
                say(findings[-1])
                if keep is not None:
                    content = (folder / "current.cprime").read_bytes()
                    (Path(keep) / f"finding-{seed}.cprime").write_bytes(content)
                trace.unlink(missing_ok=True)
            seed += 1
    say(f"{sum(counts.values())} files: {dict(counts)}; {len(findings)} findings")
    return counts, findings


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    sys.exit(bool(fuzz(length, first, keep=tempfile.gettempdir())[1]))
