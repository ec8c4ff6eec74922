"""How are the steps of a search written, and read to the same bits?

They are many and small: all numbers are in one array, and one of integers says what
they are.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cprime.selection.criteria import Scores
from cprime.selection.splits import Split
from cprime.storage import tree
from cprime.storage.container import Stored
from cprime.theta import Theta
from cprime.typing import Array

Entry = tuple[float, Any]
NOTHING, NUMBER, INTEGER, ARRAY, *OTHERS = range(7)
# What else a step may come to.
KINDS: dict[int, Any] = dict(zip(OTHERS, (Theta, Scores, Split)))


def packed(entries: Iterable[Entry], arrays: dict[str, Any]) -> Any:
    """Return what a header says of the steps, and put their arrays with the others."""
    codes: list[int] = []
    numbers: list[Array] = []
    for entry in entries:
        for value in entry:
            _put(value, codes, numbers)
    kept = {
        "codes": np.array(codes, dtype=np.int64),
        "numbers": np.concatenate([np.empty(0), *numbers]),
    }
    return tree.packed(kept, "steps", arrays)


def unpacked(told: Any, arrays: dict[str, Stored], n_features: int) -> list[Entry]:
    """Return the steps a header tells of, or say why they cannot be of these rows."""
    try:
        kept = tree.unpacked(told, arrays)
        reader = _Reader(kept["codes"], kept["numbers"], n_features)
        values = list(reader.values())
        return list(zip(values[::2], values[1::2], strict=True))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"it holds no steps of a search ({error!r:.60})") from error


def _put(value: Any, codes: list[int], numbers: list[Array]) -> None:
    if value is None:
        codes.append(NOTHING)
    elif isinstance(value, np.ndarray) and value.ndim:
        codes += [ARRAY, value.ndim, *value.shape]
        numbers.append(np.ravel(value).astype(np.float64, casting="safe"))
    elif isinstance(value, int):
        codes += [INTEGER, value]
    elif isinstance(value, float | np.ndarray):
        codes.append(NUMBER)
        numbers.append(np.array([value], dtype=np.float64))
    else:
        code = next(code for code, kind in KINDS.items() if isinstance(value, kind))
        codes.append(code)
        for name in _fields(KINDS[code]):
            _put(getattr(value, name), codes, numbers)


def _fields(kind: Any) -> list[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(kind._fields)


class _Reader:
    """Reads values that `_put` has written, or something else."""

    def __init__(self, codes: Array, numbers: Array, n_features: int):
        if (codes.dtype, numbers.dtype) != (np.int64, np.float64):
            raise TypeError("numbers of another type")
        self._codes: Iterator[int] = iter(codes.tolist())
        self._numbers, self._place = numbers, 0
        self._D = n_features

    def values(self) -> Iterator[Any]:
        for code in self._codes:
            yield self._value(code)

    def _value(self, code: int) -> Any:
        if code == NOTHING:
            return None
        if code == INTEGER:
            return self._code()
        if code == NUMBER:
            return float(self._next(1)[0])
        if code == ARRAY:
            shape = [self._code() for _ in range(self._code())]
            if min(shape, default=0) < 1:
                raise IndexError("an empty array")
            return self._next(math.prod(shape)).reshape(shape)
        kind = KINDS[code]
        found = kind(*(self._value(self._code()) for _ in _fields(kind)))
        if kind is Theta:
            _refuse_other_shapes(found, self._D)
        return found

    def _code(self) -> int:
        code = next(self._codes, None)
        if code is None:
            raise IndexError("the end")
        return code

    def _next(self, count: int) -> Array:
        found = self._numbers[self._place : self._place + count]
        if len(found) < count:
            raise IndexError("too few numbers")
        self._place += count
        return found.copy()


def _refuse_other_shapes(theta: Theta, D: int) -> None:
    """Raise if compiled code could be misled by these parameters."""
    C = len(theta.means)
    shapes = ((), (C,), (C, D), (C, D, D), (1, D, D))
    covariance, proportions = np.asarray(theta.covariance), theta.proportions
    if not (
        theta.means.shape == (C, D)
        and covariance.shape in shapes
        and (proportions is None or proportions.shape == (C,))
        and all(
            values is None or np.isfinite(values).all()
            for values in (theta.means, covariance, proportions)
        )
    ):
        raise ValueError("its clusters do not have these features")
