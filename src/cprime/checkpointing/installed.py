"""Does this come with Python or a package, and so has a name and a version?"""

import functools
import sys
import sysconfig
import types
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

STANDARD = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]


@functools.cache
def is_installed(module: str) -> bool:
    """Tell whether a module is none of the user's own.

    A package that is installed where it is developed counts as the user's own: its code
    may change from one day to the next.
    """
    top = module.partition(".")[0]
    if top in ("cprime", "__main__"):
        return top == "cprime"
    known = sys.modules.get(top)
    spec = find_spec(top) if known is None else getattr(known, "__spec__", None)
    if spec is None:
        return False
    if spec.origin in ("built-in", "frozen"):
        return True
    places = (
        [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    )
    return bool(places) and all(_is_of_packages(Path(place)) for place in places)


def _is_of_packages(path: Path) -> bool:
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    return any(folder in path.parents for folder in STANDARD)


def public_name(value: Any) -> str | None:
    """Return the name by which anybody finds this, if that says all there is to know.

    So it is for functions and classes of installed packages, and for compiled functions
    of any module.
    """
    module = getattr(value, "__module__", None)
    if module is None:
        module = getattr(getattr(value, "__objclass__", None), "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if isinstance(value, np.ufunc) and module is None:
        module = "numpy"
    if not (isinstance(module, str) and isinstance(name, str)):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value:
        return None
    # What wraps a function may bear the name of its module.
    home = getattr(value, "__globals__", {}).get("__name__", module)
    compiled = isinstance(value, types.BuiltinFunctionType | np.ufunc)
    return f"{module}.{name}" if compiled or is_installed(str(home)) else None


def version(name: str) -> str:
    """Return the version of the package that a name begins with, if it has one."""
    package = sys.modules.get(name.partition(".")[0])
    return str(getattr(package, "__dict__", {}).get("__version__", ""))
