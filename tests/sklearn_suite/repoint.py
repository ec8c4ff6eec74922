"""A pytest plugin: scikit-learn's own tests of k-means and mixtures, run on ours.

The public names are bound to our classes before the tests are collected, because tests
take them inside their decorators. Only items that touch one of them are kept, and each
excluded one must be named below with its reason: an exclusion that matches nothing is
an error.
"""

import pytest
import sklearn.cluster
import sklearn.mixture

import cprime

PRIVATE_N_INIT = "reads the private attribute _n_init"
PRIVATE_SEEDING = (
    "calls the private method _init_centroids; see tests/rooms/test_seeding"
)
WORDING = "expects scikit-learn's wording of printed lines"
OWN_ALGORITHM = "expects a warning about scikit-learn's own choice of algorithm"
PRIVATE_INITIALIZE = "calls the private method _initialize"
PRIVATE_ESTIMATE = "counts calls of a private function"
ABORT = "expects a fit to be aborted because of a covariance"
EXCHANGED = "expects a message in which the largest and smallest value are exchanged"

OURS = {"KMeans": cprime.KMeans, "GaussianMixture": cprime.GaussianMixture}
EXCLUDED = {
    "test_kmeans_init_auto_with_initial_centroids": PRIVATE_N_INIT,
    "test_n_init_auto": PRIVATE_N_INIT,
    "test_sample_weight_init": PRIVATE_SEEDING,
    "test_sample_weight_zero": PRIVATE_SEEDING,
    "test_kmeans_verbose": WORDING,
    "test_warning_elkan_1_cluster": OWN_ALGORITHM,
    "test_gaussian_mixture_precisions_init": PRIVATE_INITIALIZE,
    "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": (
        PRIVATE_ESTIMATE
    ),
    "test_regularisation": ABORT,
    "test_check_weights": EXCHANGED,
}


def pytest_configure(config):
    sklearn.cluster.KMeans = cprime.KMeans
    sklearn.mixture.GaussianMixture = cprime.GaussianMixture


def pytest_collection_modifyitems(config, items):
    kept, left_out = [], []
    excluded = dict.fromkeys(EXCLUDED, 0)
    for item in items:
        if not _touches_our_class(item):
            left_out.append(item)
        elif item.originalname in EXCLUDED:
            excluded[item.originalname] += 1
            left_out.append(item)
        else:
            kept.append(item)
    unused = [name for name, count in excluded.items() if count == 0]
    if unused:
        raise pytest.UsageError(f"exclusions that match no test: {unused}")
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
    config.stash[_EXCLUDED] = excluded


def pytest_terminal_summary(terminalreporter, config):
    excluded = config.stash[_EXCLUDED]
    stats = terminalreporter.stats
    n_run = len(stats.get("passed", [])) + len(stats.get("failed", []))
    n_excluded = sum(excluded.values())
    terminalreporter.write_line(
        f"{n_run + n_excluded} items touch our classes; {n_run} run on them, "
        f"{n_excluded} excluded:"
    )
    for name, count in excluded.items():
        terminalreporter.write_line(f"  {count:2d}  {name}: {EXCLUDED[name]}")


_EXCLUDED = pytest.StashKey()


def _touches_our_class(item):
    params = getattr(item, "callspec", None)
    values = list(params.params.values()) if params else []
    classes = [v for v in values if isinstance(v, type)]
    classes += [type(v) for v in values if hasattr(v, "fit")]
    estimators = [c for c in classes if hasattr(c, "fit")]
    if estimators:
        return any(c in OURS.values() for c in estimators)
    return any(name in item.function.__code__.co_names for name in OURS)
