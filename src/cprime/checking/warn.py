"""Warnings that point at the line a user wrote."""

import sys
import warnings


def warn(message: str, category: type[Warning]) -> None:
    """Warn as if from the first caller outside this library and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("cprime", "sklearn")
