"""Which worker sweeps which block, so that no block has to move?

Left to itself, a scheduler sends a task to another worker whenever that seems less
busy, and the block goes with it. So every block has a home: where it is, unless workers
have unequal shares of the rows. Then blocks move, once.
"""

from collections.abc import Callable, Sequence
from typing import Any

from cprime.sources.cluster import (
    Task,
    holders,
    started,
    task_at,
    there,
    threads_of_workers,
)

# The worker that holds a block; None if it is being made again, or there is no cluster.
Home = str | None
# A block moves if that makes the largest share smaller by this part of a mean share.
WORTH_A_MOVE = 0.05


def levelled(
    homes: Sequence[Home], sizes: Sequence[int], threads: dict[str, int]
) -> list[Home]:
    """Return homes by which all threads have about the same number of rows.

    Parameters
    ----------
    homes : sequence of Home
        Of every block, as it is.
    sizes : sequence of int
        Rows of every block.
    threads : dict of str to int
        How many each worker has.
    """
    found = list(homes)
    of_worker: dict[str, list[int]] = {worker: [] for worker in threads}
    for block, home in enumerate(homes):
        if home in of_worker:
            of_worker[home].append(block)

    def share(worker: str, change: int = 0) -> float:
        rows = sum(sizes[block] for block in of_worker[worker]) + change
        return rows / threads[worker]

    least = WORTH_A_MOVE * sum(sizes) / max(sum(threads.values()), 1)
    while of_worker:
        busiest = max(of_worker, key=share)
        idlest = min(of_worker, key=share)
        fitting = [
            block
            for block in of_worker[busiest]
            if share(idlest, sizes[block]) < share(busiest) - least
        ]
        if not fitting:
            break
        moved = max(fitting, key=lambda block: sizes[block])
        of_worker[busiest].remove(moved)
        of_worker[idlest].append(moved)
        found[moved] = idlest
    return found


def brought(tasks: Sequence[Task], homes: Sequence[Home]) -> list[Task]:
    """Return the same results, each where its home is."""
    now = holders(tasks)
    moving = [i for i, home in enumerate(homes) if home not in (None, now[i])]
    moved = in_turn([homes[i] for i in moving], _itself, [[tasks[i]] for i in moving])
    arrived = there(started(moved))
    found = list(tasks)
    for i, here in zip(moving, arrived):
        found[i] = here
    return found


def settled(blocks: list[Task], sizes: Sequence[int]) -> tuple[list[Task], list[Home]]:
    """Return the blocks after those moved that should, and where they are now."""
    now = holders(blocks)
    if None in now and threads_of_workers():
        # Some are being made, for the first time or because they were lost.
        now = holders(there(blocks))
    if None in now:
        return blocks, now
    homes = levelled(now, sizes, threads_of_workers())
    if homes == now:
        return blocks, homes
    moved = brought(blocks, homes)
    return moved, holders(moved)


def in_turn(
    homes: Sequence[Home], function: Callable[..., Any], arguments: Sequence[list[Any]]
) -> list[Task]:
    """Return a call for every home, each run there, as many at a time as have threads.

    Of a worker that has more tasks than threads, a scheduler gives some to workers that
    have nothing to do, whatever has to move.
    """
    tasks: list[Task] = []
    for home, turn, of_home in zip(homes, turns(homes), arguments):
        before = None if turn is None else tasks[turn]
        tasks.append(task_at(home, function, *of_home, after=before))
    return tasks


def turns(homes: Sequence[Home]) -> list[int | None]:
    """Return, for every home, which of the calls before it there it has to wait for."""
    threads = threads_of_workers()
    of_worker: dict[str, list[int]] = {worker: [] for worker in threads}
    before: list[int | None] = []
    for block, home in enumerate(homes):
        if home not in of_worker:
            before.append(None)
            continue
        earlier = of_worker[home]
        n_threads = threads[home]
        before.append(earlier[-n_threads] if len(earlier) >= n_threads else None)
        earlier.append(block)
    return before


def _itself(value: object) -> object:
    return value
