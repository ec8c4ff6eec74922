"""How does a command let the workers of a Dask cluster do its work?"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from cprime import extras


def refuse_on_cluster(cluster: str | None, given: Mapping[str, Any]) -> None:
    """Raise if an option was given that means nothing, or cannot be, on a cluster.

    Parameters
    ----------
    cluster : str or None
        Its address.
    given : mapping
        By the names of options, what was given for them; None and False are nothing.
    """
    for name, value in given.items():
        if cluster is not None and value not in (None, False):
            raise typer.BadParameter(
                "this is for one machine, and cannot be combined with --cluster",
                param_hint=name,
            )


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let the workers of a cluster do the work of fits; None is this process."""
    if address is None:
        yield
        return
    extras.require("dask", "--cluster")
    from cprime.sources.connection import connected

    with connected(address):
        yield
