"""What the processor changes of a result: no bit where compiled code of ours computes.

Another processor is played by telling the compiled kernel, BLAS and numpy to do without
the newest vector units; each reads that when it is loaded, so every fit of this file is
made in a process of its own.
"""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.kernels import native

# Numpy warns of a feature that the processor does not have anyway.
OTHERS = {
    "BLAS": {"OPENBLAS_CORETYPE": "Haswell"},
    "numpy": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
    "kernel": {"CPRIME_TEST_PATH": "avx2"},
    "SSE2": {"CPRIME_TEST_PATH": "baseline"},
}
ROUNDING = 1e-12

ESTIMATORS = {
    "k-means": KMeans(9, random_state=0),
    "k-means-C'": KMeans(9, c_prime=2, random_state=0),
    "EM": KMeans(9, c_prime=None, random_state=0),
    "soft": SoftKMeans(9, random_state=0),
    "isotropic": GaussianMixture(9, covariance_type="isotropic", random_state=0),
    "spherical": GaussianMixture(9, covariance_type="spherical", random_state=0),
    "diag": GaussianMixture(9, covariance_type="diag", random_state=0),
    "tied": GaussianMixture(9, covariance_type="tied", random_state=0),
    "full": GaussianMixture(9, covariance_type="full", random_state=0),
    "fuzzy": FuzzyKMeans(9, random_state=0),
}
# What the guide promises of every fit, to the bit, wherever there are fused operations.
TO_THE_BIT = set(ESTIMATORS) - {"tied", "full", "fuzzy"}
# And where there are none.
TO_THE_BIT_ON_SSE2 = {"k-means", "k-means-C'"}


def results():
    """Return what fits say of overlapping clusters, by estimator and attribute."""
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [
            center + rng.normal(size=(200, 37))
            for center in 0.6 * rng.normal(size=(9, 37))
        ]
    )
    found = {}
    for name, estimator in ESTIMATORS.items():
        estimator.fit(X, sample_weight=rng.integers(1, 5, size=len(X)))
        of = {
            "centers": getattr(estimator, "means_", None),
            "covariances": getattr(estimator, "covariances_", 0.0),
            "labels": estimator.predict(X),
            "memberships": estimator.predict_proba(X),
        }
        if of["centers"] is None:
            of["centers"] = estimator.cluster_centers_
        for attribute in ("free_energy", "gap", "log_likelihood", "inertia"):
            of[attribute] = getattr(estimator, f"{attribute}_", 0.0)
        if hasattr(estimator, "score_samples"):
            of["densities"] = estimator.score_samples(X)
        found |= {f"{name}/{attribute}": value for attribute, value in of.items()}
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return _elsewhere({}, tmp_path_factory.mktemp("here"))


def _elsewhere(environment, folder):
    path = folder / "results.npz"
    subprocess.run(
        [sys.executable, __file__, str(path)],
        env={**os.environ, **environment},
        check=True,
    )
    with np.load(path) as found:
        return dict(found)


@pytest.mark.parametrize("other", OTHERS)
def test_another_processor(here, tmp_path, other):
    path = OTHERS[other].get("CPRIME_TEST_PATH")
    if path is not None and path not in native.isa_names():
        pytest.skip(f"this machine has no {path}")
    there = _elsewhere(OTHERS[other], tmp_path)
    promised = TO_THE_BIT_ON_SSE2 if other == "SSE2" else TO_THE_BIT
    assert here.keys() == there.keys()
    for name, value in here.items():
        estimator, attribute = name.split("/")
        size = np.abs(value).max()
        assert np.all(np.abs(value - there[name]) <= ROUNDING * size), name
        if attribute == "labels" or (
            estimator in promised and attribute != "memberships"
        ):
            assert np.array_equal(value, there[name]), name


if __name__ == "__main__":
    if "CPRIME_TEST_PATH" in os.environ:
        native.use_isa(os.environ["CPRIME_TEST_PATH"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(sys.argv[1], **results())
