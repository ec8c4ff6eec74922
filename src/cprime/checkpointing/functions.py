"""Is this the same function as before, in another process too?

A function is its code and everything that code uses: what it captures, its defaults,
and globals, functions among them. Installed packages go by name and version. What
cannot be compared between processes is refused. What a function reads when it is called
(files, the environment, attributes found by `getattr`) is not known.
"""

import functools
import hashlib
import logging
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cprime.checkpointing import used_code
from cprime.checkpointing.installed import is_installed, public_name, version
from cprime.checkpointing.used_code import UnknownError

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
# Values that are what they look like.
PLAIN: dict[type, Callable[[Any], str]] = {
    type(None): repr,
    type(...): repr,
    bool: repr,
    int: hex,
    float: float.hex,
    complex: repr,
    str: repr,
    bytes: repr,
    range: repr,
}
# Kinds of arrays whose bytes say everything.
KINDS = "biufcmMSU"
# Of a class, what says nothing about what it does, or says it twice.
UNTOLD = {
    "_abc_impl",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__static_attributes__",
    "__weakref__",
}


def identity_of(parameter: str, function: Any) -> dict[str, str]:
    """Return what tells a function from others, or say that nothing does.

    The same source gives the same in every process of the same Python; names of files
    and numbers of lines do not matter.

    Parameters
    ----------
    parameter : str
        What it was given as.
    function : callable
    """
    try:
        name = f"{function.__module__}.{function.__qualname__}"
    except AttributeError:
        raise ValueError(
            f"{parameter}={function!r:.60} has no name by which a checkpoint could "
            "recognise it when the fit is resumed: define a named function that calls "
            "it."
        ) from None
    try:
        digest = _Reader().digest(function, parameter)
    except UnknownError as error:
        raise ValueError(
            f"{parameter}={name!s:.60} could not be recognised on resuming: "
            f"{error}. Use a function that depends only on numbers, text, arrays, "
            "lists and dicts of these, and such functions; or fit without a checkpoint."
        ) from None
    return {"function": name, "python": PYTHON, "digest": digest.hex()}


def difference(parameter: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return in words how two functions differ, which they do."""
    before, now = (f"{of.get('function')!r:.80}" for of in (old, new))
    if before != now:
        return f"{parameter} was the function {before} and is now {now}"
    if old.get("python") != new.get("python"):
        return (
            f"{parameter}, the function {now}, was compiled by Python "
            f"{old.get('python')!s:.9} and is now by {new.get('python')}, which cannot "
            "be compared"
        )
    return (
        f"{parameter} is another function with the name {now}: its code, or a value, a "
        "function or a package it uses, has changed"
    )


class _Reader:
    """Reads a value and everything it uses, each once."""

    def __init__(self) -> None:
        # What is being read, and how deep it lies: functions may call each other.
        self._above: dict[int, int] = {}
        self._read: dict[int, bytes] = {}
        # Whatever was read stays, so that no other has its id.
        self._alive: list[Any] = []

    def digest(self, value: Any, name: str) -> bytes:
        """Return a hash of a value that goes by this name."""
        if type(value) in PLAIN:
            return _hash(type(value).__name__, PLAIN[type(value)](value))
        place = id(value)
        if place in self._above:
            return _hash("above", str(self._above[place]))
        if place not in self._read:
            self._alive.append(value)
            self._above[place] = len(self._above)
            try:
                self._read[place] = _hash(*self._parts(value, name))
            except RecursionError:
                raise UnknownError(f"{name!r} is nested too deeply") from None
            finally:
                del self._above[place]
        return self._read[place]

    def _parts(self, value: Any, name: str) -> Iterator[str | bytes]:
        """Yield what a value is, and what it is made of."""
        kind = type(value)
        yield kind.__name__
        if kind in (list, tuple):
            yield from (self.digest(v, name) for v in value)
        elif kind is dict:
            for key, v in value.items():
                yield self.digest(key, name)
                yield self.digest(v, str(key))
        elif kind in (set, frozenset):
            # Their order is another one in every process.
            yield from sorted(self.digest(v, name) for v in value)
        elif kind is slice:
            yield self.digest((value.start, value.stop, value.step), name)
        elif kind is np.ndarray or isinstance(value, np.generic):
            if value.dtype.kind not in KINDS:
                raise UnknownError(f"it uses {name!r}, an array of {value.dtype}")
            yield from (repr(value.shape), value.dtype.str, value.tobytes())
        elif isinstance(value, np.dtype):
            yield repr(value)
        elif isinstance(value, logging.Logger):
            yield value.name
        elif kind is types.CodeType:
            yield from used_code.described(value)
            yield from (self.digest(v, name) for v in value.co_consts)
        elif (public := public_name(value)) is not None:
            yield from (public, version(public))
        elif kind is types.FunctionType:
            yield from self._function(value)
        elif kind is types.MethodType:
            yield self.digest(value.__func__, name)
            yield self.digest(value.__self__, "self")
        elif kind is types.BuiltinMethodType and value.__self__ is not None:
            yield value.__name__
            yield self.digest(value.__self__, name)
        elif kind is functools.partial:
            yield self.digest((value.func, value.args, value.keywords), name)
        elif kind in (staticmethod, classmethod):
            yield self.digest(value.__func__, name)
        elif kind is property:
            yield self.digest((value.fget, value.fset, value.fdel), name)
        elif isinstance(value, type):
            yield from self._class(value)
        elif _is_plain_class(kind):
            yield self.digest(kind, name)
            yield self.digest(getattr(value, "__dict__", None), name)
        else:
            told = f"{kind.__module__}.{kind.__qualname__}"
            raise UnknownError(f"it uses {name!r}, a {told}")

    def _function(self, function: types.FunctionType) -> Iterator[str | bytes]:
        code, known = function.__code__, function.__globals__
        yield from (str(function.__module__), function.__qualname__)
        yield self.digest(code, function.__name__)
        defaults = function.__defaults__ or ()
        last = code.co_varnames[: code.co_argcount][-len(defaults) :]
        yield self.digest(dict(zip(last, defaults)), function.__name__)
        yield self.digest(function.__kwdefaults__, function.__name__)
        yield self.digest(vars(function), function.__name__)
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            try:
                captured = cell.cell_contents
            except ValueError:
                yield "empty"
            else:
                yield self._used(captured, name, code)
        # What a function of an installed package uses comes with its version.
        if is_installed(str(known.get("__name__"))):
            return
        used_code.refuse_imports(code)
        used_code.refuse_names_made_up(code)
        for name in sorted(used_code.global_names(code)):
            yield name
            if name in known:
                yield self._used(known[name], name, code)

    def _used(self, value: Any, name: str, code: types.CodeType) -> bytes:
        """Return a hash of a value that code uses: of a module, what it uses of it."""
        if type(value) is not types.ModuleType:
            return self.digest(value, name)
        if is_installed(value.__name__):
            return _hash("module", value.__name__, version(value.__name__))
        if id(value) in self._above:
            return _hash("module above", value.__name__)
        self._above[id(value)] = len(self._above)
        try:
            found = vars(value)
            used = sorted(used_code.all_names(code) & found.keys())
            parts = ((n.encode(), self._used(found[n], n, code)) for n in used)
            return _hash("module", value.__name__, *(p for both in parts for p in both))
        finally:
            del self._above[id(value)]

    def _class(self, of: type) -> Iterator[str | bytes]:
        yield from (str(of.__module__), of.__qualname__)
        yield self.digest((type(of), of.__bases__), of.__name__)
        for name in sorted(vars(of).keys() - UNTOLD):
            yield name
            yield self.digest(vars(of)[name], name)


def _is_plain_class(of: type) -> bool:
    """Tell whether all there is to know of an instance are its class and its `vars`."""
    return not any(is_installed(base.__module__) for base in of.__mro__[:-1])


def _hash(*parts: str | bytes) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found.digest()
