"""One dial from k-means to Gaussian mixtures."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cprime import bounds, datasets, plots
    from cprime.estimators import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

__version__ = "0.1.0"

__all__ = [
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "SoftKMeans",
    "bounds",
    "datasets",
    "plots",
]

# Where names are that are no modules of their own. All are looked up when somebody asks
# for them: the command line answers before it has read all of scikit-learn, and who
# does not draw does not wait for matplotlib.
_HOMES = {
    "FuzzyKMeans": "estimators",
    "GaussianMixture": "estimators",
    "KMeans": "estimators",
    "SoftKMeans": "estimators",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"cprime.{_HOMES.get(name, name)}")
        found = getattr(module, name) if name in _HOMES else module
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
