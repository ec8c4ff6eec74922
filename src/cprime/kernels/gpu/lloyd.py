"""k-means from its seeds to its end on the device, whose rows and clusters stay there.

`em` says what is done; this is the same to the bit. Only numbers that decide how it
goes on come to the host: a few of every cluster, and of all rows. Where something
unusual happens, such as a cluster that becomes empty, it is left to `em`.
"""

import math
import time
from collections.abc import Iterator
from functools import reduce
from itertools import repeat
from operator import add
from typing import Any

import numpy as np
import torch

from cprime.kernels.gpu.devices import Replayed, to_device, told_if_full
from cprime.kernels.gpu.m_step import Moved, Sums, arrived, maximize
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.residents import DeviceBlock
from cprime.kernels.gpu.sweeping import sweep_piece
from cprime.kernels.gpu.tree import SCALARS
from cprime.search import Exact
from cprime.stats import ROUNDING, remaining
from cprime.typing import Array

# As `cprime.lloyd` has them.
UNFINISHED, MAX_ITER, STRICT, WITHIN, HANDED_BACK = range(5)


class Lloyd:
    """Fits from several seeds, one after another, and where each of them ended.

    Parameters
    ----------
    block : DeviceBlock
    seeds : ndarray of shape (R, C, D)
    """

    def __init__(self, block: DeviceBlock, seeds: Array):
        self._block, self._seeds = block, seeds
        self._runs: list[_Run] = []

    @told_if_full()
    def run(self, largest: Array, rules: dict[str, Any]) -> None:
        """Run them all.

        Parameters
        ----------
        largest : ndarray of shape (D,)
            The largest absolute value of every feature, in rows that have weight.
        rules : dict
            As `LloydRules` of the compiled code.
        """
        for seeds in self._seeds:
            run = _Run(self._block, to_device(seeds), to_device(largest), rules)
            self._runs.append(run)
            try:
                run.to_its_end()
            finally:
                run.let_go()

    def fits(self) -> Iterator[tuple[Any, ...]]:
        """Yield the numbers of every fit, and its arrays."""
        return (run.found() for run in self._runs)


class _Run:
    """One fit, as far as it is: what the last complete step left, and every step."""

    def __init__(
        self,
        block: DeviceBlock,
        seeds: torch.Tensor,
        largest: torch.Tensor,
        rules: dict[str, Any],
    ):
        self._block, self._largest, self._rules = block, largest, rules
        self._C, self._D = C, _ = seeds.shape
        self._clock = time.perf_counter()
        self._end, self._least = UNFINISHED, math.nan
        self._steps: list[tuple[float, ...]] = []
        # Of the last sweep, once it was made: the variance, F, and sums.
        self._centers, self._last = seeds, (math.nan, math.nan)
        self._sums: Sums | None = None
        # Iterations work on the same tensors: means and K, the means that follow, and
        # what the host is told.
        self._means, self._K = seeds.clone(), list[torch.Tensor]()
        self._after = torch.empty_like(self._means)
        self._told = self._means.new_empty(4 * C + len(SCALARS))
        self._rounding, self._scale = to_device(np.array([ROUNDING])), seeds.new_ones(2)
        self._iteration = Replayed(self._iterate) if block.stays else None

    def to_its_end(self) -> None:
        """Iterate until it has converged, and sweep about what is returned."""
        rules, by_gain = self._rules, self._rules["by_gain"]
        told = self._told_of_seeds()
        of_rows = told.of_rows
        variance = self._variance_of(of_rows["scatter"], of_rows)
        if rules["variance_init"] > 0.0 and rules["variance"] == 0.0:
            variance = max(rules["variance_init"], rules["floor"])
        F = self._free_energy(of_rows["scatter"], variance, of_rows)
        if not math.isfinite(F):
            self._end = HANDED_BACK
            return
        self._note(F, -math.inf, variance, 0.0, 0.0)
        expected_before, end = -math.inf, UNFINISHED
        for iteration in range(1, rules["max_iter"] + 1):
            # The sweep about the seeds is the first E-step: K does not depend on the
            # variance.
            if iteration > 1:
                told = self._told_of_iteration(variance)
                of_rows = told.of_rows
            if told.has_empty:
                self._end = HANDED_BACK
                return
            expected = of_rows["free_energy"] / of_rows["weight"]
            moves = by_gain or not told.is_fixed
            taken, moved = (told.taken, told.moved) if moves else (0.0, 0.0)
            scatter = float(remaining(of_rows["scatter"], taken))
            if moves:
                variance = self._variance_of(scatter, of_rows)
            F = self._free_energy(scatter, variance, of_rows)
            if not math.isfinite(F):
                self._end = HANDED_BACK
                return
            self._least = expected - expected_before if by_gain else moved
            expected_before = expected
            if by_gain and abs(self._least) < rules["within"]:
                end = WITHIN
            if not by_gain and moved <= rules["within"]:
                end = WITHIN
            if not by_gain and of_rows["changed"] == 0:
                end = STRICT
            if moves:
                self._means.copy_(self._after)
            work = of_rows["evaluations"], of_rows["changed"]
            self._note(F, expected, variance, *work)
            if end != UNFINISHED:
                break
        self._finish(variance, MAX_ITER if end == UNFINISHED else end)

    def let_go(self) -> None:
        """Free what only iterations need."""
        self._iteration = None

    def found(self) -> tuple[Any, ...]:
        """Return numbers and arrays, as those of compiled code."""
        of_last: tuple[float, ...] = (math.nan, math.nan, 0, 0)
        counts, shifts = np.empty(0), np.empty(0)
        if self._sums is not None:
            moments = self._sums.moments.cpu().numpy()
            counts, shifts = moments[:, -1].copy(), moments[:, :-1].copy()
            of = dict(zip(SCALARS, self._sums.scalars.tolist()))
            whole = int(of["evaluations"]), int(of["changed"])
            of_last = of["scatter"], of["free_energy"], of["weight"], *whole
        numbers = (
            self._end,
            self._least,
            np.array(self._steps),
            *self._last,
            *of_last,
        )
        means, centers = (of.cpu().numpy() for of in (self._means, self._centers))
        labels = np.empty((0, 1), dtype=np.int32)
        if self._K and self._end != HANDED_BACK:
            labels = torch.cat(self._K).cpu().numpy()
        return numbers, means, centers, counts, shifts, labels

    def _finish(self, variance: float, end: int) -> None:
        centers = self._means
        if self._rules["as_float"]:
            centers = centers.float().double()
        self._scale.copy_(self._scale_of(variance))
        sums = self._swept(centers, self._K)
        of_rows = dict(zip(SCALARS, sums.scalars.tolist()))
        variance = self._variance_of(of_rows["scatter"], of_rows)
        F = self._free_energy(of_rows["scatter"], variance, of_rows)
        self._centers, self._last, self._sums = centers, (variance, F), sums
        self._K, self._end = sums.K, end if math.isfinite(F) else HANDED_BACK

    def _note(
        self,
        F: float,
        expected: float,
        variance: float,
        evaluations: float,
        changed: float,
    ) -> None:
        """Remember a step, and the seconds since the one before."""
        now = time.perf_counter()
        spent, self._clock = now - self._clock, now
        self._steps.append((F, expected, variance, evaluations, changed, spent))

    def _told_of_seeds(self) -> Moved:
        """Sweep about the seeds."""
        self._scale.copy_(self._scale_of(1.0))
        sums = self._swept(self._means)
        self._K = sums.K
        self._maximize(sums)
        return arrived(self._told, self._C)

    def _told_of_iteration(self, variance: float) -> Moved:
        """Sweep about the means, from the clusters rows have."""
        self._scale.copy_(self._scale_of(variance))
        if self._iteration is None:
            self._iterate()
        else:
            self._iteration.run()
        return arrived(self._told, self._C)

    def _iterate(self) -> None:
        sums = self._swept(self._means, self._K)
        self._maximize(sums)
        for before, after in zip(self._K, sums.K):
            before.copy_(after)

    def _swept(self, means: torch.Tensor, K: list[torch.Tensor] | None = None) -> Sums:
        model = DeviceModel(means, self._scale[0], None, self._scale)
        before = repeat(None) if K is None else K
        plan = Exact().plan()
        swept = [sweep_piece(*of, model, plan, 1) for of in zip(self._block, before)]
        total = reduce(add, (of.sums for of in swept)).folded().nodes[0].value
        return Sums(total.moments, total.scalars, [of.K for of in swept])

    def _maximize(self, sums: Sums) -> None:
        maximize(
            self._means,
            sums,
            self._largest,
            self._rounding,
            self._after,
            self._told,
        )

    def _scale_of(self, variance: float) -> torch.Tensor:
        whitening = 1.0 / math.sqrt(variance)
        scale = 0.5 * whitening * whitening, self._bias(variance)
        return torch.tensor(scale, dtype=torch.float64)

    def _variance_of(self, scatter: float, of_rows: dict[str, float]) -> float:
        if self._rules["variance"] > 0.0:
            return float(self._rules["variance"])
        variance = scatter / (self._D * of_rows["weight"])
        return max(variance, float(self._rules["floor"]))

    def _bias(self, variance: float) -> float:
        of_one = -0.5 * self._D * math.log(2.0 * math.pi * variance)
        return of_one - math.log(self._C)

    def _free_energy(
        self, scatter: float, variance: float, of_rows: dict[str, float]
    ) -> float:
        energy = 0.5 * scatter / variance
        return self._bias(variance) - energy / of_rows["weight"]
