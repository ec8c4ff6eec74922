"""How far is a fit, for someone who looks at a notebook or a terminal?"""

import sys
import time
from html import escape
from typing import Any

from cprime.advice.wording import count, decimals

# A bar that changes more often cannot be read.
SECONDS_BETWEEN = 0.1
CELLS = 30


class ProgressBar:
    """A progress bar for `fit(X, progress=cprime.ProgressBar())`.

    In a notebook it is a bar below the cell, in a terminal a line that is rewritten,
    and anywhere else it says nothing. How many iterations there will be is not known in
    advance: the bar fills relative to the most a fit may take, and is full at its end.

    Examples
    --------
    >>> import numpy as np
    >>> from cprime import KMeans, ProgressBar
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> kmeans = KMeans(2, random_state=0).fit(X, progress=ProgressBar())
    >>> kmeans.n_iter_ > 0
    True
    """

    def __init__(self) -> None:
        self._drawn = -float("inf")
        self._handle: Any = None

    def __call__(self, step: Any) -> None:
        """Take note of an iteration (`cprime.Progress`) or a trial (`cprime.Trial`)."""
        share, text, is_last = _described(step)
        now = time.monotonic()
        if not is_last and now - self._drawn < SECONDS_BETWEEN:
            return
        self._drawn = now
        if _in_a_notebook():
            self._show(_html(share, text))
        elif sys.stderr.isatty():
            filled = round(CELLS * (share or 0.0))
            bar = "" if share is None else f"[{'#' * filled:<{CELLS}}] "
            end = "\n" if is_last else ""
            sys.stderr.write(f"\r{bar}{text}\x1b[K{end}")
            sys.stderr.flush()

    def _show(self, html: str) -> None:
        """Draw below the cell, and after that in the same place."""
        display = sys.modules["IPython"].display
        if self._handle is None:
            self._handle = display.display(display.HTML(html), display_id=True)
        else:
            self._handle.update(display.HTML(html))


def _described(step: Any) -> tuple[float | None, str, bool]:
    """Return which part is done, if known, a line of text, and whether all is."""
    if hasattr(step, "n_tried"):
        best = f"{count(step.best_n_clusters, 'cluster')} ({step.best_shape})"
        return (
            None,
            f"{count(step.n_tried, 'mixture')} tried, best so far: {best}",
            False,
        )
    ended = step.converged or step.iteration == step.max_iter
    is_last = ended and step.restart + 1 == step.n_init
    done = step.restart + (1.0 if ended else step.iteration / step.max_iter)
    start = "" if step.n_init == 1 else f"start {step.restart + 1} of {step.n_init}, "
    state = "converged" if step.converged else "running"
    if ended and not step.converged:
        state = "stopped by max_iter"
    energy = decimals(step.free_energy, 4)
    text = f"{start}iteration {step.iteration}, F {energy}, {state}"
    return done / step.n_init, text, is_last


def _in_a_notebook() -> bool:
    # Whoever runs in one has imported both.
    return "IPython" in sys.modules and "ipykernel" in sys.modules


def _html(share: float | None, text: str) -> str:
    value = "" if share is None else f' value="{share:.3f}"'
    return (
        f'<div><progress max="1"{value} style="width:18em;vertical-align:middle">'
        f'</progress> <span style="font-family:sans-serif">{escape(text)}</span></div>'
    )
