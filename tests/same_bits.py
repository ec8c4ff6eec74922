"""Two versions of cprime, side by side: do they give the same bits?

`python tests/same_bits.py OLD NEW`, where OLD and NEW are Pythons that each have one
installed. Both fit every estimator on both kernels, in memory and from a file, and save
models and unfinished checkpoints; attributes, labels and posteriors are compared, and
the new version loads and resumes what the old one has written.
"""

import contextlib
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

LITTLE_MEMORY = 2**20
# What a stopwatch says is nobody's result.
TIMES = "seconds"


class StopError(Exception):
    """Ends a fit that is kept."""


def estimators():
    """Yield names and estimators, not fitted."""
    from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

    for kernel in ("native", "reference"):
        options = {"random_state": 3, "kernel": kernel}
        for c_prime in (1, 3, None):
            yield (
                f"k-means C'={c_prime} {kernel}",
                KMeans(7, c_prime=c_prime, n_init=2, **options),
            )
            for covariance in ("isotropic", "spherical", "diag", "tied", "full"):
                yield (
                    f"{covariance} C'={c_prime} {kernel}",
                    GaussianMixture(
                        7, covariance_type=covariance, c_prime=c_prime, **options
                    ),
                )
        yield f"lazy {kernel}", KMeans(7, search="lazy", **options)
        yield f"soft {kernel}", SoftKMeans(7, c_prime=3, n_init=2, **options)
        yield f"annealed {kernel}", SoftKMeans(7, annealing=1.5, **options)
        yield f"fuzzy {kernel}", FuzzyKMeans(7, n_init=2, **options)
        for rule in ("entropy", "quadratic"):
            yield f"{rule} {kernel}", FuzzyKMeans(7, regularization=rule, **options)
    yield "many clusters", KMeans(150, c_prime=2, random_state=0)


def data():
    """Return overlapping rows, and weights."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.normal(size=(7, 15))
    X = np.concatenate([center + rng.normal(size=(700, 15)) for center in centers])
    return X, rng.integers(1, 4, size=len(X)).astype(float)


def results_of(estimator, X):
    """Return every number an estimator has learned or says, by name."""
    found = {"predict": estimator.predict(X), "proba": estimator.predict_proba(X)}
    for method in ("score_samples", "transform"):
        if hasattr(estimator, method):
            found[method] = getattr(estimator, method)(X)
    for name, value in vars(estimator).items():
        if not name.endswith("_") or name == "_stream_":
            continue
        if isinstance(value, dict):
            columns = value.items()
            found |= {f"{name}{key}": of for key, of in columns if TIMES not in key}
        else:
            found[name] = value
    return {name: np.asarray(value) for name, value in found.items()}


def record(folder):
    """Fit everything there is, and write it to a folder."""
    from sklearn.base import clone

    from cprime import Checkpoint, open_data

    X, weights = data()
    np.save(folder / "rows.npy", X)
    rows = open_data(folder / "rows.npy", memory=LITTLE_MEMORY)
    everything = {}
    for name, estimator in estimators():
        estimator.fit(X, sample_weight=weights)
        estimator.save(folder / f"{name}.cprime")
        for attribute, value in results_of(estimator, X).items():
            everything[f"{name}/{attribute}"] = value
        if estimator.get_params().get("annealing") is None:
            seeds = getattr(estimator, "cluster_centers_", None)
            start = {"init": X[:7]} if seeds is not None else {"means_init": X[:7]}
            if estimator.get_params().get("n_clusters") != 150:
                other = clone(estimator).set_params(n_init=1, **start)
                other.fit(rows, sample_weight=weights)
                for attribute, value in results_of(other, X).items():
                    everything[f"{name} from a file/{attribute}"] = value

        def stop(step):
            if step.iteration == 3:
                raise StopError

        checkpoint = Checkpoint(folder / f"{name}.kept", every=0.0)
        with contextlib.suppress(StopError):
            clone(estimator).fit(X, None, weights, checkpoint=checkpoint, progress=stop)
    np.savez(folder / "results.npz", **everything)


def resume(folder):
    """Load and resume what is in a folder; write what came of it beside it."""
    from sklearn.base import clone

    import cprime

    X, weights = data()
    everything = {}
    for name, estimator in estimators():
        loaded = cprime.load(folder / f"{name}.cprime")
        everything[f"{name}/proba"] = loaded.predict_proba(X)
        kept = cprime.Checkpoint(folder / f"{name}.kept", resume=True)
        resumed = clone(estimator).fit(X, None, weights, checkpoint=kept)
        for attribute, value in results_of(resumed, X).items():
            everything[f"{name}/{attribute}"] = value
    np.savez(folder / "resumed.npz", **everything)


def bits(array):
    """Return all there is to an array."""
    return array.dtype.str, array.shape, array.tobytes()


def differences(one, other):
    """Return the names under which two files differ, and by how much."""
    with np.load(one) as before, np.load(other) as after:
        for name in sorted(after.files):
            if name not in before.files:
                yield f"{name} is new"
            elif bits(before[name]) != bits(after[name]):
                yield f"{name} differs"
        yield from (f"{name} is gone" for name in set(before.files) - set(after.files))


def main(old, new):
    """Run both versions; return how many results differ."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = Path(scratch) / "old", Path(scratch) / "new"
        for python, folder in zip((old, new), folders):
            folder.mkdir()
            subprocess.run([python, __file__, "record", str(folder)], check=True)
        subprocess.run([new, __file__, "resume", str(folders[0])], check=True)
        files = [folder / "results.npz" for folder in folders]
        found = [f"fit: {line}" for line in differences(*files)]
        with np.load(files[0]) as fits:
            n_results = len(fits.files)
        resumed = differences(folders[0] / "resumed.npz", files[0])
        found += [
            f"resumed: {line}"
            for line in resumed
            if "from a file" not in line and not line.endswith("is gone")
        ]
    print(*found, sep="\n")
    print(f"{n_results} results compared, {len(found)} differ.")
    return len(found)


if __name__ == "__main__":
    if sys.argv[1] in ("record", "resume"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            {"record": record, "resume": resume}[sys.argv[1]](Path(sys.argv[2]))
    else:
        sys.exit(main(*sys.argv[1:]) > 0)
