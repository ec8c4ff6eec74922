"""Rows on workers stay where they are."""

import faulthandler
import sys
import time
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from cprime.kernels import get_kernel
from cprime.rows.dask import DaskRows
from cprime.search import Exact
from cprime.sources.collection import DaskData
from cprime.theta import Coefficients

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
D, C = 3, 8


@dataclass(frozen=True)
class Uneven:
    """A kernel that takes much longer for blocks that begin with some values."""

    kernel: Any
    slow: frozenset[float]

    def sweep(self, block, *more):
        time.sleep(0.5 if block.X[0, 0] in self.slow else 0.1)
        return self.kernel.sweep(block, *more)


def rows_of_chunk(block_info=None):
    info = block_info[None]
    rng = np.random.default_rng(info["chunk-location"][0])
    return rng.normal(size=info["chunk-shape"]) * 3.0


@pytest.fixture
def client():
    faulthandler.dump_traceback_later(100, exit=True, file=sys.__stderr__)
    with (
        LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as found,
    ):
        found.wait_for_workers(3, timeout=60)
        yield found
    faulthandler.cancel_dump_traceback_later()


def collection():
    chunks = ((4_096,) * 12, (D,))
    return da.map_blocks(
        rows_of_chunk, chunks=chunks, dtype=float, meta=np.empty((0, 0))
    )


def settled(rows):
    """Return the homes of blocks once none has to move any more."""
    for _ in range(10):
        homes = rows.X.settle()
        if rows.X.settle() == homes:
            break
    return homes


def test_blocks_stay_where_they_are_while_other_workers_have_nothing_to_do(client):
    rows, K = DaskRows(DaskData(collection().persist())), None
    means, homes = rows.take(np.arange(C)), settled(rows)
    firsts = rows.take(np.array([place.start for place in rows.X.places]))[:, 0]
    slow = frozenset(v for v, home in zip(firsts, homes) if home == homes[0])
    kernel = Uneven(get_kernel("auto"), slow)
    for _ in range(3):
        of_sweep = Coefficients(np.zeros(C), means, 1.0), Exact().plan(), 1
        K, _ = rows.sweep(kernel, K, *of_sweep)
        holders = client.who_has(rows.X.blocks)
        assert [holders[block.key] for block in rows.X.blocks] == [(h,) for h in homes]
