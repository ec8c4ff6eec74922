"""Can a cluster do what a fit will ask of it?"""

from typing import Any

from cprime.sources.cluster import (
    ClusterError,
    current_client,
    failures_explained,
    wait_for,
    workers_of,
)
from cprime.version import __version__

# Seconds for all workers to say which version they have.
TO_ANSWER = 60.0


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

    with failures_explained():
        # A cluster that grows when there is work starts its first workers for this.
        first = client.submit(installed, pure=False)
        wait_for(client, [first])
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
    limits = [worker["memory_limit"] for worker in workers_of(client).values()]
    most = max(limits, default=0)
    if limits and most and largest > most:
        raise ClusterError(
            f"A chunk of X takes {largest / 2**20:,.0f} MiB, and no worker has more "
            f"than {most / 2**20:,.0f} MiB of memory: divide X into smaller chunks, "
            "for example X.rechunk((100_000, -1)), or give workers more memory."
        )
