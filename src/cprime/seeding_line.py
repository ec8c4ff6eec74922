"""Where do several restarts begin, if each draws its seeds along the same line?

Which rows a point on the line falls on depends on the line, how likely each row is does
not: restarts that share one are as independent as before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cprime.draws import drawn
from cprime.kernels import Kernel, many_fits, native
from cprime.rows import Rows
from cprime.seeding import Line, Seeds
from cprime.typing import Array


class PlusPlus:
    """Draws the seeds of one restart after another by D^2 sampling, along one line.

    Parameters
    ----------
    rows : Rows
        That lie together.
    C : int
    kernel : Kernel
    n_trials : int
        Of which the best becomes a seed.
    """

    def __init__(self, rows: Rows, C: int, kernel: Kernel, n_trials: int):
        self._rows, self._C, self._kernel = rows, C, kernel
        self._n_trials = n_trials
        self._line: Line | None = None

    def next(self, rng: np.random.Generator) -> "Drawing":
        """Return the draws of the next restart; the line is by the first one's."""
        if self._line is None:
            self._line = Line(self._rows, rng)
        first = rng.random()
        return Drawing(self, first, rng.random((self._C - 1, self._n_trials)))

    def found(self, drawings: Sequence["Drawing"]) -> list[Seeds]:
        """Return the seeds of restarts whose random numbers these are."""
        block, line = self._rows.block, self._line
        assert block is not None and line is not None
        points = np.stack([drawing.points for drawing in drawings])
        firsts = drawn(line.weights, np.array([drawing.first for drawing in drawings]))
        if len(drawings) > 1 and self._kernel is native:
            chosen, evaluations = many_fits.draw_seeds(block, line.rows, firsts, points)
            means = self._rows.take(chosen.ravel()).reshape(*chosen.shape, -1)
            return [Seeds(*of) for of in zip(means, evaluations.tolist())]
        found = []
        for first, of_one in zip(firsts.tolist(), points):
            rows, computed = self._kernel.draw_seeds(block, line.rows, first, of_one)
            found.append(Seeds(self._rows.take(rows), computed))
        return found


@dataclass(frozen=True)
class Drawing:
    """Finds the seeds of one restart, whose random numbers are drawn.

    Attributes
    ----------
    source : PlusPlus
    first : float
        Where on the line the first seed is, in [0, 1) of all weight.
    points : ndarray of shape (C - 1, T)
    """

    source: PlusPlus
    first: float
    points: Array

    def __call__(self) -> Seeds:
        return self.source.found([self])[0]


def found_together(starts: Sequence[Callable[[], Seeds]]) -> list[Seeds]:
    """Return the seeds of several restarts, of those along one line in one go."""
    drawings = [start for start in starts if isinstance(start, Drawing)]
    if len(drawings) == len(starts) and len({id(d.source) for d in drawings}) == 1:
        return drawings[0].source.found(drawings)
    return [start() for start in starts]
