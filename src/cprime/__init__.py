"""One dial from k-means to Gaussian mixtures."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cprime.version import __version__ as __version__

if TYPE_CHECKING:
    from cprime import bounds, datasets, plots
    from cprime.estimators import (
        AutoMixture,
        Checkpoint,
        Coreset,
        FuzzyKMeans,
        GaussianMixture,
        KMeans,
        Progress,
        SoftKMeans,
        Trial,
        coreset,
        describe,
        load,
        save,
    )
    from cprime.notebook import ProgressBar
    from cprime.sources import Data, open_data

__all__ = [
    "AutoMixture",
    "Checkpoint",
    "Coreset",
    "Data",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "Progress",
    "ProgressBar",
    "SoftKMeans",
    "Trial",
    "bounds",
    "coreset",
    "datasets",
    "describe",
    "load",
    "open_data",
    "plots",
    "save",
]

# Names that are modules, and those that are in other rooms; all others are in
# `estimators`. They are looked up when somebody asks for them: the command line answers
# before it has read scikit-learn, and who does not draw does not wait for matplotlib.
_MODULES = ("bounds", "datasets", "plots")
_HOMES = {"Data": "sources", "open_data": "sources", "ProgressBar": "notebook"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name in _MODULES:
            return import_module(f"cprime.{name}")
        home = _HOMES.get(name, "estimators")
        found = getattr(import_module(f"cprime.{home}"), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
