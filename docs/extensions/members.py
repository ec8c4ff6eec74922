"""Which members of a class have a place in the reference: those that are ours.

What estimators have from scikit-learn is in scikit-learn's documentation.
"""

from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Ask for a say in what is documented."""
    app.connect("autodoc-skip-member", is_from_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def is_from_elsewhere(
    app: Any, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """Return True for what was written in another package, else leave it to others."""
    # What is compiled knows its class, not its module.
    home = getattr(thing, "__objclass__", thing)
    module = getattr(home, "__module__", None) or ""
    return True if module.partition(".")[0] not in ("cprime", "") else None
