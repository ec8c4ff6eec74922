"""How is what `partial_fit` goes on from kept in a model file?"""

from dataclasses import asdict
from typing import Any

from cprime.checking.units import Units
from cprime.fitting.stream import Stream
from cprime.stats import Stats
from cprime.stepwise import Memory
from cprime.theta import Theta


def told(stream: Stream) -> dict[str, Any]:
    """Return a stream as nested values."""
    return asdict(stream)


def rebuilt(values: dict[str, Any]) -> Stream:
    """Return the stream of nested values, which were checked."""
    memory = values["memory"]
    stats = memory["stats"]
    return Stream(
        Memory(
            Theta(**memory["theta"]),
            None if stats is None else Stats(**stats),
            memory["n_batches"],
            memory["weight"],
        ),
        Theta(**values["overall"]),
        Units(**values["units"]),
        values["n_rows"],
    )
