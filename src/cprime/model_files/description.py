"""What does a model file say about itself?"""

from typing import Any

import numpy as np

from cprime.model_files.saving import Path, class_name
from cprime.sources.display import short
from cprime.storage import container, tree


def describe(path: Path) -> dict[str, Any]:
    """Return what a model file says about itself.

    Parameters
    ----------
    path : path

    Returns
    -------
    description : dict
        Of plain values: `class`, `parameters`, `fitted`, `about`, `cprime` (the version
        that wrote it), `format`, `bytes`, and for a pipeline `scaler` and `steps`. An
        array is described by its `dtype` and `shape`, a very long text by its
        beginning; only `about` comes back whole.
    """
    with container.open_file(path) as file:
        class_name(file)
        # What a user keeps beside a model is not ours to understand.
        about = file.header.pop("about", {})
        told = _told(file.header, file.arrays)
        return {
            **told,
            "about": about,
            "format": container.FORMAT,
            "bytes": file.n_bytes,
        }


def _told(of: Any, arrays: dict[str, Any]) -> Any:
    """Return what a header tells in plain values; arrays by their type and shape."""
    if isinstance(of, list):
        return [_told(inner, arrays) for inner in of]
    if isinstance(of, str):
        return short(of)
    if not isinstance(of, dict):
        return of
    if list(of) == ["array"]:
        stored = tree.stored(of, arrays)
        return {"dtype": np.dtype(stored.dtype).name, "shape": list(stored.shape)}
    if list(of) == ["scalar"]:
        return tree.unpacked(of, arrays).item()
    if list(of) == ["random_state"]:
        return "RandomState"
    if len(of) == 1 and next(iter(of)) in ("dict", "names", "tuple", "float"):
        return _told(next(iter(of.values())), arrays)
    return {short(name): _told(inner, arrays) for name, inner in of.items()}
