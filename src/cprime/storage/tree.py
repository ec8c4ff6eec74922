"""How do nested values become a header and arrays, and come back?

Text, numbers, truth and lists are themselves. Everything else is an object with one
name that says what it is: {"array": "fitted.means_"}.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cprime.storage.container import Blocks, Stored
from cprime.typing import Array

Tree = Any
# The state of the generator behind numpy's RandomState.
KEY_LENGTH = 624


def packed(value: Any, name: str, arrays: dict[str, Array | Blocks]) -> Tree:
    """Return what a header says of a value, and put its arrays with the others.

    Parameters
    ----------
    value : object
    name : str
        What its array is called; those inside it have names that begin with this.
    arrays : dict
        Is added to.
    """
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Blocks):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        arrays[name] = np.asarray(value)
        return {"scalar": name}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU" and value.ndim == 1:
            return {"names": [_name(text, name) for text in value]}
        arrays[name] = value
        return {"array": name}
    if isinstance(value, list | tuple):
        inner = [packed(v, f"{name}._{i}", arrays) for i, v in enumerate(value)]
        return inner if isinstance(value, list) else {"tuple": inner}
    if isinstance(value, dict):
        return {"dict": {k: packed(v, f"{name}.{k}", arrays) for k, v in value.items()}}
    if isinstance(value, np.random.RandomState):
        return {"random_state": packed(_state(value), name, arrays)}
    raise ValueError(
        f"{name.partition('.')[2] or name} is a {type(value).__name__}, which cannot "
        "be kept in a file"
    )


def unpacked(tree: Tree, arrays: dict[str, Stored]) -> Any:
    """Return the value a header tells of, or say why there is none.

    Arrays are read, and taken out of `arrays`: a file has no array for two purposes, or
    a small one could fill the memory.
    """
    if isinstance(tree, list):
        return [unpacked(inner, arrays) for inner in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) != 1:
        raise ValueError("its header holds an object of unknown kind")
    ((kind, of),) = tree.items()
    if kind not in _KINDS:
        raise ValueError(f"its header holds an object of unknown kind: {kind!r:.60}")
    return _KINDS[kind](of, arrays)


def stored(tree: Tree, arrays: dict[str, Stored]) -> Stored:
    """Return the array a header tells of, to be read in parts."""
    if not (isinstance(tree, dict) and list(tree) == ["array"]):
        raise ValueError("its header lacks an array where one is expected")
    return _taken(tree["array"], arrays)


def _taken(name: Any, arrays: dict[str, Stored]) -> Stored:
    if not (isinstance(name, str) and name in arrays):
        raise ValueError(f"its header names an array that is missing: {name!r:.60}")
    return arrays.pop(name)


def _array(name: Any, arrays: dict[str, Stored]) -> Array:
    return _taken(name, arrays).load()


def _scalar(name: Any, arrays: dict[str, Stored]) -> Any:
    array = _taken(name, arrays)
    if array.shape != ():
        raise ValueError(f"{name!r} is an array, not a number")
    return array.load()[()]


def _float(text: Any, arrays: dict[str, Stored]) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text!r:.60} is not a number")
    return float(text)


def _names(texts: Any, arrays: dict[str, Stored]) -> Array:
    _list(texts, arrays)
    names = np.empty(len(texts), dtype=object)
    names[:] = [_name(text, "names") for text in texts]
    return names


def _name(text: Any, name: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{name} holds {text!r:.60}, which is not text")
    return str(text)


def _list(inner: Any, arrays: dict[str, Stored]) -> list[Any]:
    if not isinstance(inner, list):
        raise ValueError("its header lacks a list where one is expected")
    return [unpacked(value, arrays) for value in inner]


def _dict(inner: Any, arrays: dict[str, Stored]) -> dict[str, Any]:
    if not isinstance(inner, dict):
        raise ValueError("its header lacks an object where one is expected")
    return {name: unpacked(value, arrays) for name, value in inner.items()}


def _state(random_state: np.random.RandomState) -> dict[str, Any]:
    state: Any = random_state.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"random_state draws from {state['bit_generator']}: give an integer, or a "
            "RandomState that draws from MT19937, to keep it in a file"
        )
    return {
        "key": state["state"]["key"],
        "pos": int(state["state"]["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }


def _random_state(inner: Any, arrays: dict[str, Stored]) -> np.random.RandomState:
    state = unpacked(inner, arrays)
    wrong = ValueError("its random_state is not a valid state of numpy's")
    if not (
        isinstance(state, dict)
        and state.keys() == {"key", "pos", "has_gauss", "gauss"}
        and isinstance(state["key"], np.ndarray)
        and (state["key"].dtype, state["key"].shape) == (np.uint32, (KEY_LENGTH,))
        and type(state["has_gauss"]) is int
        and state["has_gauss"] in (0, 1)
        and type(state["gauss"]) is float
    ):
        raise wrong
    # Beyond its end numpy would read what is not the state.
    if not (type(state["pos"]) is int and 0 <= state["pos"] <= KEY_LENGTH):
        raise wrong
    found = np.random.RandomState(0)
    found.set_state(
        ("MT19937", state["key"], state["pos"], state["has_gauss"], state["gauss"])
    )
    return found


_KINDS: dict[str, Callable[[Any, dict[str, Stored]], Any]] = {
    "array": _array,
    "scalar": _scalar,
    "float": _float,
    "names": _names,
    "tuple": lambda inner, arrays: tuple(_list(inner, arrays)),
    "dict": _dict,
    "random_state": _random_state,
}
