"""What does code say, and which names does it use?"""

import dis
from collections.abc import Iterator
from types import CodeType

from cprime.checkpointing.installed import is_installed

# What finds a value by a name that is made when it is called.
LOOK_UP = frozenset({"eval", "exec", "globals", "locals", "vars"})


class UnknownError(Exception):
    """Something that cannot be told from another one later; the message says what."""


def described(code: CodeType) -> Iterator[str | bytes]:
    """Yield everything about code but its constants, and where it is written."""
    yield repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))
    yield repr((code.co_name, code.co_flags))
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield code.co_code
    yield code.co_exceptiontable


def all_names(code: CodeType) -> set[str]:
    """Return every name in code: of globals, attributes, and what it imports."""
    return {name for inner in _nested(code) for name in inner.co_names}


def global_names(code: CodeType) -> set[str]:
    """Return the names code looks up outside itself."""
    return {
        step.argval
        for inner in _nested(code)
        for step in dis.get_instructions(inner)
        if step.opname == "LOAD_NAME"
        or (step.opname.startswith("LOAD_") and "GLOBAL" in step.opname)
    }


def refuse_imports(code: CodeType) -> None:
    """Raise if code imports anything but installed packages: nobody knows what."""
    for inner in _nested(code):
        steps = list(dis.get_instructions(inner))
        for place, step in enumerate(steps):
            # Two steps before, how many folders up it looks is loaded.
            if step.opname == "IMPORT_NAME" and (
                steps[place - 2].argval != 0 or not is_installed(step.argval)
            ):
                raise UnknownError(
                    f"it imports {step.argval!r} when it is called, which should be "
                    "imported at the top of its file"
                )


def refuse_names_made_up(code: CodeType) -> None:
    """Raise if code looks up names that are not in it, whatever they are."""
    for name in sorted(LOOK_UP & global_names(code)):
        raise UnknownError(f"it calls {name}, which may use anything")


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
