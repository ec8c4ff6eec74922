"""Are these the same rows as before, wherever they are?"""

import hashlib
from typing import Any

import numpy as np

from cprime.blocks import LEAF_ROWS
from cprime.sources.cluster import Task, added_up
from cprime.typing import Array


def fingerprint_of(hashes: list[Task], *also: Any) -> str:
    """Return a hash of the hashes of leaves, and of what else matters."""
    digest = hashlib.sha256(repr(also).encode())
    digest.update(added_up(hashes))
    return f"sha256:{digest.hexdigest()}"


def leaf_hashes(values: Array) -> bytes:
    """Return the hash of every leaf, one after another."""
    return b"".join(
        hashlib.sha256(np.ascontiguousarray(values[i : i + LEAF_ROWS]).data).digest()
        for i in range(0, len(values), LEAF_ROWS)
    )
