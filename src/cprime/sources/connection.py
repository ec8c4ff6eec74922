"""How does this process get hold of a cluster, and let go of it?"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client as _Client

from cprime.sources.cluster import ClusterError
from cprime.sources.display import LONGEST_REASON, quoted, short

# Dask does not say what it takes.
Client: Any = _Client
# Seconds a scheduler has to answer.
TO_ANSWER = 10


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Give the client of a cluster that is in use inside, or say why there is none.

    Parameters
    ----------
    address : str
        Of the scheduler, as "tcp://host:8786".
    """
    logger = logging.getLogger("distributed")
    level = logger.level
    # What happens to a cluster is told by errors of ours, in one line.
    logger.setLevel(logging.CRITICAL + 1)
    try:
        try:
            client = Client(address, timeout=TO_ANSWER)
        except (OSError, ValueError, TypeError) as error:
            said = short(str(error).partition("\n")[0], LONGEST_REASON)
            raise ClusterError(
                f"No scheduler answers at {quoted(address)} ({said}): start one with "
                "'dask scheduler', and give the address it prints."
            ) from None
        try:
            yield client
        finally:
            client.close(timeout=TO_ANSWER)
    finally:
        logger.setLevel(level)
