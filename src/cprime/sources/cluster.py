"""How do tasks run: on a cluster of workers, or in this process?

Tasks are those of `dask.delayed`. With a `distributed.Client` in use they go to its
workers, which keep what they are asked to; a worker that is lost loses nothing but
time, because the scheduler knows how everything was made.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from dask import annotate  # type: ignore[attr-defined]
from dask.base import compute, persist
from dask.delayed import delayed

from cprime.sources.display import LONGEST_REASON, short

# A task of Dask, whose result may become an argument of others.
Task = Any

# Seconds a cluster may be without any worker before a fit gives up.
WITHOUT_WORKERS = 60.0
# Seconds after which somebody looks whether there is still a cluster to wait for.
LOOK_EVERY = 2.0
# Partial results that are added up in one task.
ADDED_TOGETHER = 8
# Tasks for every thread whose results are asked for one after another.
UNDER_WAY_PER_THREAD = 3


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


def task_at(
    worker: str | None,
    function: Callable[..., Any],
    *args: Any,
    after: Task | None = None,
) -> Task:
    """Return a call that is run on this worker, as long as it lives.

    Parameters
    ----------
    worker : str, optional
        Its address; by default any.
    function : callable
    *args
        May be tasks.
    after : Task, optional
        What has to be done before.
    """
    if worker is None:
        return task(function, *args)
    with annotate(workers=[worker], allow_other_workers=True):
        if after is None:
            return task(function, *args)
        name = f"{function.__name__}-{uuid4().hex}"
        later = delayed(_after, pure=False)
        return later(after, function, *args, dask_key_name=name)


def shared(value: Any) -> Task:
    """Return a value as a task: it travels to a worker once, however many take it."""
    return task(_itself, value)


def started(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks that are under way, and whose results stay where they are made."""
    with failures_explained():
        return list(persist(*tasks))


def there(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks that were started, once workers have their results."""
    client = current_client()
    if client is not None:
        from distributed import futures_of

        with failures_explained():
            wait_for(client, futures_of(list(tasks)))
    return list(tasks)


def results(tasks: Sequence[Task]) -> list[Any]:
    """Return the results of tasks, once they are all there."""
    with failures_explained():
        client = current_client()
        if client is None:
            return list(compute(*tasks))
        futures = client.compute(list(tasks))
        wait_for(client, futures)
        return list(client.gather(futures))


def in_order(tasks: Sequence[Task]) -> Iterator[Any]:
    """Yield the results of tasks one after another, few of which are here at a time."""
    client = current_client()
    if client is None:
        yield from (results([one])[0] for one in tasks)
        return
    ahead = UNDER_WAY_PER_THREAD * max(sum(threads_of_workers().values()), 1)
    waiting: deque[Any] = deque()
    for one in tasks:
        waiting.append(_submitted(client, one))
        if len(waiting) >= ahead:
            yield _collected(client, waiting.popleft())
    while waiting:
        yield _collected(client, waiting.popleft())


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


def holders(tasks: Sequence[Task]) -> list[str | None]:
    """Return the worker that holds the result of every task; None if none does."""
    client = current_client()
    if client is None:
        return [None] * len(tasks)
    with failures_explained():
        known = client.who_has(list(tasks))
    return [min(known.get(one.key) or (None,)) for one in tasks]


def threads_of_workers() -> dict[str, int]:
    """Return how many threads each worker has; none without a cluster."""
    client = current_client()
    if client is None:
        return {}
    with failures_explained():
        found: dict[str, int] = client.nthreads()
    return found


def _after(_: Any, function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def _itself(value: Any) -> Any:
    return value


def _submitted(client: Any, one: Task) -> Any:
    with failures_explained():
        return client.compute(one)


def _collected(client: Any, future: Any) -> Any:
    with failures_explained():
        wait_for(client, [future])
        return client.gather(future)


def _sum(first: Any, *others: Any) -> Any:
    for other in others:
        first = first + other
    return first


def workers_of(client: Any) -> dict[str, Any]:
    """Return what is known of the workers there are, by their addresses."""
    # While a connection is sought again, nothing is known of them.
    known = client.scheduler_info(n_workers=-1) if _is_connected(client) else {}
    found: dict[str, Any] = known.get("workers", {})
    return found


def wait_for(client: Any, futures: list[Any]) -> None:
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
        without = 0.0 if workers_of(client) else without + LOOK_EVERY
        if without >= WITHOUT_WORKERS:
            raise ClusterError(
                f"The cluster at {client.scheduler.address} has had no workers for "
                f"{without:.0f} seconds: start some with 'dask worker "
                f"{client.scheduler.address}', and fit again."
            )


@contextmanager
def failures_explained() -> Iterator[None]:
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
