"""Do segments of leaves come to the nodes of the tree of all other kernels?"""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest

from cprime.blocks import LEAF_ROWS
from cprime.summation import LeafSum

for package in ("torch", "triton"):
    pytest.importorskip(package, reason="cprime[gpu] is not installed: make test-gpu")

import torch

from cprime.kernels.gpu.devices import to_device
from cprime.kernels.gpu.tree import Segments


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 7, 8, 13, 488])
@pytest.mark.parametrize("level", [0, 1, 3, 5])
def test_nodes_of_segments_are_those_of_leaves(n_leaves, level):
    values = np.random.default_rng(0).standard_normal(n_leaves)
    leaves = reduce(add, (LeafSum.of_leaf(i, v) for i, v in enumerate(values)))
    segments = Segments.of_rows(n_leaves * LEAF_ROWS, level)
    of_segments = []
    for start, stop in zip(segments.starts, segments.starts[1:]):
        run = (LeafSum.of_leaf(i - start, values[i]) for i in range(start, stop))
        of_segments.append(reduce(add, run).total())
    found = segments.folded(to_device(of_segments, torch.float64)[:, None])
    assert segments.nodes == tuple((n.start, n.level) for n in leaves.nodes)
    assert [float(of_node) for of_node in found] == [n.value for n in leaves.nodes]
    by_leaf = replace(segments, level=0)
    found = by_leaf.folded(to_device(values, torch.float64)[:, None])
    assert [float(of_node) for of_node in found] == [n.value for n in leaves.nodes]
