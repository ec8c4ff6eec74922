"""When does the compiled kernel note bounds, and where are they from sweep to sweep?"""

from typing import NamedTuple

from cprime.blocks import Kept
from cprime.kernels import _native
from cprime.search import Plan

# Rows that keep more clusters than this gain little from bounds on others.
MOST_KEPT = 6
# Below this many multiply-adds a row, looking at all clusters is cheaper than bounds.
LEAST_WORK = 6000
FEWEST_CLUSTERS = 64
# While more than this share of the rows change clusters, bounds rarely hold; of rows
# that keep several clusters more change one of them.
SETTLED, SETTLED_OF_SEVERAL = 0.03, 0.05


class HintsOfSweep(NamedTuple):
    """Bounds of the rows, and the sweep whose K they hold for."""

    store: _native.HintStore
    serial: int

    @property
    def nbytes(self) -> int:
        return self.store.nbytes


def hints_pay(C: int, D: int, C_prime: int) -> bool:
    """Return whether bounds save more than they take."""
    return C >= FEWEST_CLUSTERS and C * D >= LEAST_WORK and C_prime <= MOST_KEPT


def hint_store(kept: Kept, C: int, plan: Plan) -> tuple[_native.HintStore | None, bool]:
    """Return where bounds are kept, if anywhere, and whether those of this very K."""
    if kept.K.shape[1] > 1 and plan.reluctance != 1.0:
        # Bounds tell which several are closest, not which a row is loath to leave.
        return None, False
    if isinstance(kept.hints, HintsOfSweep):
        store, serial = kept.hints
        if store.serial == serial:
            return store, True
    settled = SETTLED if kept.K.shape[1] == 1 else SETTLED_OF_SEVERAL
    is_worth_it = kept.changed <= settled and plan.keep_hints
    return (_native.HintStore(len(kept.K), C) if is_worth_it else None), False
