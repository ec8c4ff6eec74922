"""One dial from k-means to Gaussian mixtures."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cprime import bounds, datasets
    from cprime.estimators import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

__version__ = "0.1.0"

__all__ = [
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "SoftKMeans",
    "bounds",
    "datasets",
]

# Where a name lives. It is looked up when somebody asks for it, so that the command
# line can answer a question before it has read all of scikit-learn.
_HOMES = {
    "FuzzyKMeans": "cprime.estimators",
    "GaussianMixture": "cprime.estimators",
    "KMeans": "cprime.estimators",
    "SoftKMeans": "cprime.estimators",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            found = getattr(import_module(_HOMES[name]), name)
        elif name in __all__:
            found = import_module(f"cprime.{name}")
        else:
            raise AttributeError(f"module 'cprime' has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
