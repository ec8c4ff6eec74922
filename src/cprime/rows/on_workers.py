"""What there is for every row of a Dask collection, on the workers that hold it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from cprime.blocks import Kept
from cprime.rows import block_tasks
from cprime.rows.block_tasks import Moved
from cprime.sources.cluster import Task, results, shared, started, task, task_at
from cprime.typing import Array

if TYPE_CHECKING:
    from cprime.rows.dask import DaskRows


@dataclass(frozen=True)
class DaskColumn:
    """Some numbers for every row, on the workers that hold the rows.

    Attributes
    ----------
    tasks : list of Task
        Numbers of the rows of every block, or several kinds of them.
    place : int, optional
        Which of several they are.
    """

    tasks: list[Task]
    place: int | None = None

    def of(self, block: int) -> Any:
        """Return the numbers of a block, as `block_tasks.chosen` takes them."""
        one = self.tasks[block]
        return one if self.place is None else (one, self.place)


@dataclass(frozen=True)
class DaskKept:
    """The clusters every row keeps, which workers remember, or find out again.

    Attributes
    ----------
    rows : DaskRows
    shape : (int, int)
    origin : list of Task
        How they came about, for all blocks; or a task for each.
    changed : float
        As of `Kept`.
    """

    rows: "DaskRows"
    shape: tuple[int, int]
    origin: list[Any]
    changed: float = 1.0

    def origin_of(self, block: int) -> list[Task]:
        """Return how the clusters of a block came about."""
        return [of[block] if isinstance(of, tuple) else of for of in self.origin]

    def array(self) -> DaskColumn:
        """Return the clusters of all rows, on the workers."""
        scaling = shared(self.rows._scaling)
        homes = self.rows._settle()
        return DaskColumn(
            [
                task_at(
                    homes[i],
                    block_tasks.clusters_of_block,
                    held,
                    self.rows._weights.of(i),
                    scaling,
                    self.origin_of(i),
                )
                for i, held in enumerate(self.rows.X.blocks)
            ]
        )

    def parts(self) -> Iterator[Array]:
        """Yield the clusters of consecutive rows, which come here one by one."""
        for of_block in self.array().tasks:
            yield results([of_block])[0]

    def part(self, indices: Array) -> Kept:
        """Return what these rows keep."""
        kept = np.empty((len(indices), self.shape[1]), dtype=np.int32)
        tasks = self.array().tasks
        data = self.rows.X
        inside = data.inside(indices)
        wanted = [
            task(_some, tasks[i], indices[at] - data.places[i].start)
            for i, at in inside
        ]
        for (_, at), K in zip(inside, results(wanted)):
            kept[at] = K
        return Kept(kept)

    def labels(self) -> Any:
        """Return each row's closest cluster as a Dask array; None if C' = C.

        In the chunks of the collection. Workers keep them as long as it is in use.
        """
        if self.shape[1] == 0:
            return None
        tasks = [task(_labels, K) for K in self.array().tasks]
        return self.rows._in_chunks(tasks, np.empty(0, dtype=np.int32))

    def reassigned(self, indices: Array, cluster: int) -> "DaskKept":
        """Return the same with these rows, of one cluster each, moved to `cluster`."""
        moved = started([shared(Moved(uuid4().hex, indices, cluster))])
        return replace(self, origin=[*self.origin, *moved], changed=1.0)


def _some(K: Array, indices: Array) -> Array:
    return K[indices]


def _labels(K: Array) -> Array:
    return K[:, 0].copy()
