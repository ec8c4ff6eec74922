"""How do tasks run: on a cluster of workers, or in this process?

Tasks are those of `dask.delayed`. With a `distributed.Client` in use they go to its
workers, which keep what they are asked to; a worker that is lost loses nothing but
time, because the scheduler knows how everything was made.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from dask.base import compute, persist
from dask.delayed import delayed

from cprime.sources.display import LONGEST_REASON, short
from cprime.version import __version__

# A task of Dask, whose result may become an argument of others.
Task = Any

# Seconds a cluster may be without any worker before a fit gives up.
WITHOUT_WORKERS = 60.0
# Seconds after which somebody looks whether there is still a cluster to wait for.
LOOK_EVERY = 2.0
# Seconds for all workers to say which version they have.
TO_ANSWER = 60.0
# Partial results that are added up in one task.
ADDED_TOGETHER = 8


class ClusterError(RuntimeError):
    """A cluster did not do what it was asked to. The message says why."""


def current_client() -> Any:
    """Return the `distributed.Client` in use, or None."""
    if sys.modules.get("distributed") is None:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def task(function: Callable[..., Any], *args: Any) -> Task:
    """Return a call that is run when its result is wanted; arguments may be tasks."""
    return delayed(function, pure=False)(*args)


def shared(value: Any) -> Task:
    """Return a value as a task: it travels to a worker once, however many take it."""
    return task(_itself, value)


def started(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks that are under way, and whose results stay where they are made."""
    with _failures_explained():
        return list(persist(*tasks))


def results(tasks: Sequence[Task]) -> list[Any]:
    """Return the results of tasks, once they are all there."""
    with _failures_explained():
        client = current_client()
        if client is None:
            return list(compute(*tasks))
        futures = client.compute(list(tasks))
        _wait(client, futures)
        return list(client.gather(futures))


def added_up(tasks: Sequence[Task], finish: Callable[[Any], Any] | None = None) -> Any:
    """Return the sum of the results, which neighbours form on the workers.

    What `finish` makes of it there is what comes here.
    """
    level = list(tasks)
    while len(level) > 1:
        level = [
            task(_sum, *level[i : i + ADDED_TOGETHER])
            for i in range(0, len(level), ADDED_TOGETHER)
        ]
    if finish is not None:
        level = [task(finish, *level)]
    return results(level)[0]


def check_workers() -> None:
    """Raise unless there are workers, all of them with this version of cprime."""
    client = current_client()
    if client is None:
        return

    # Not a function of this module, which a worker may lack.
    def installed() -> Any:
        try:
            from cprime.version import __version__ as version
        except ImportError:
            return None
        return version

    with _failures_explained():
        # A cluster that grows when there is work starts its first workers for this.
        first = client.submit(installed, pure=False)
        _wait(client, [first])
        found = client.sync(client._run, installed, callback_timeout=TO_ANSWER)
    for worker, version in sorted(found.items()):
        if version is None:
            raise ClusterError(
                f"Worker {worker} has no cprime: install cprime {__version__} where "
                "workers run, and start them again."
            )
        if version != __version__:
            raise ClusterError(
                f"Worker {worker} has cprime {version} and this process {__version__}, "
                "which may give other results: install the same version on both."
            )


def check_memory(largest: int) -> None:
    """Raise if a chunk of so many bytes is more than the memory of any worker."""
    client = current_client()
    if client is None:
        return
    limits = [worker["memory_limit"] for worker in _workers(client).values()]
    most = max(limits, default=0)
    if limits and most and largest > most:
        raise ClusterError(
            f"A chunk of X takes {largest / 2**20:,.0f} MiB, and no worker has more "
            f"than {most / 2**20:,.0f} MiB of memory: divide X into smaller chunks, "
            "for example X.rechunk((100_000, -1)), or give workers more memory."
        )


def _itself(value: Any) -> Any:
    return value


def _sum(first: Any, *others: Any) -> Any:
    for other in others:
        first = first + other
    return first


def _workers(client: Any) -> dict[str, Any]:
    # While a connection is sought again, nothing is known of them.
    known = client.scheduler_info(n_workers=-1) if _is_connected(client) else {}
    found: dict[str, Any] = known.get("workers", {})
    return found


def _wait(client: Any, futures: list[Any]) -> None:
    """Wait until all are there, one has failed, or there is nobody to wait for."""
    from distributed import wait

    without = 0.0
    while True:
        try:
            wait(futures, timeout=LOOK_EVERY)
            return
        except TimeoutError:
            pass
        if client.status == "closed":
            raise CancelledError("no scheduler answers")
        without = 0.0 if _workers(client) else without + LOOK_EVERY
        if without >= WITHOUT_WORKERS:
            raise ClusterError(
                f"The cluster at {client.scheduler.address} has had no workers for "
                f"{without:.0f} seconds: start some with 'dask worker "
                f"{client.scheduler.address}', and fit again."
            )


@contextmanager
def _failures_explained() -> Iterator[None]:
    """Say in words of a user's what has happened to a cluster."""
    try:
        yield
    except (CancelledError, OSError) as error:
        client = current_client()
        if isinstance(error, OSError) and _is_connected(client):
            # One of a worker's: a file that is not there, for example.
            raise
        raise ClusterError(
            "The connection to the scheduler was lost "
            f"({_first_line(error)}): its work cannot be recovered. Start a cluster "
            "and fit again; a fit with a checkpoint goes on where it was."
        ) from error
    except ModuleNotFoundError as error:
        raise ClusterError(
            f"A worker lacks a package ({error}): install what this process has where "
            "workers run."
        ) from error
    except RuntimeError:
        raise
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise ClusterError(
            f"A block was on several workers when they died, one after another: "
            f"{_first_line(error)} As a rule, they have too little memory for it: "
            "divide X into smaller chunks, give workers more memory, or, if workers "
            "come and go, allow more of it (distributed.scheduler.allowed-failures)."
        ) from error


def _is_connected(client: Any) -> bool:
    return client is None or client.status == "running"


def _first_line(error: BaseException) -> str:
    return short(str(error).partition("\n")[0] or type(error).__name__, LONGEST_REASON)
