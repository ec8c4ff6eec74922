"""A pytest plugin: scikit-learn's own k-means tests, run on `cprime.KMeans`.

The public name is bound to our class before the tests are collected, because they take
it inside their decorators. Only items that touch the class are kept, and each excluded
one must be named below with its reason: an exclusion that matches nothing is an error.
"""

import pytest
import sklearn.cluster

import cprime

PRIVATE_N_INIT = "reads the private attribute _n_init"
PRIVATE_SEEDING = (
    "calls the private method _init_centroids; see tests/rooms/test_seeding"
)
WORDING = "expects scikit-learn's wording of printed lines"
OWN_ALGORITHM = "expects a warning about scikit-learn's own choice of algorithm"

EXCLUDED = {
    "test_kmeans_init_auto_with_initial_centroids": PRIVATE_N_INIT,
    "test_n_init_auto": PRIVATE_N_INIT,
    "test_sample_weight_init": PRIVATE_SEEDING,
    "test_sample_weight_zero": PRIVATE_SEEDING,
    "test_kmeans_verbose": WORDING,
    "test_warning_elkan_1_cluster": OWN_ALGORITHM,
}


def pytest_configure(config):
    sklearn.cluster.KMeans = cprime.KMeans


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
    config.stash[_SUMMARY] = (len(kept), excluded)


def pytest_terminal_summary(terminalreporter, config):
    n_kept, excluded = config.stash[_SUMMARY]
    n_excluded = sum(excluded.values())
    terminalreporter.write_line(
        f"{n_kept + n_excluded} items touch KMeans; {n_kept} run on cprime.KMeans, "
        f"{n_excluded} excluded:"
    )
    for name, count in excluded.items():
        terminalreporter.write_line(f"  {count:2d}  {name}: {EXCLUDED[name]}")


_SUMMARY = pytest.StashKey()


def _touches_our_class(item):
    params = getattr(item, "callspec", None)
    classes = [
        v for v in (params.params.values() if params else ()) if isinstance(v, type)
    ]
    estimators = [c for c in classes if hasattr(c, "fit")]
    if estimators:
        return cprime.KMeans in estimators
    return "KMeans" in item.function.__code__.co_names
