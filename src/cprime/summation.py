"""Sums over leaf blocks that come out the same to the bit, however work is divided."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cprime.typing import Array


def sum_in_order(table: Array) -> float:
    """Return the sum of a table, each row from left to right and then row by row.

    An order that compiled code shares, which the one of `np.sum` is not.

    Parameters
    ----------
    table : ndarray of shape (C, D)
    """
    of_rows = np.add.accumulate(table, axis=1)[:, -1]
    return float(np.add.accumulate(of_rows)[-1])


class Node(NamedTuple):
    """The sum of the 2**level leaves that begin at leaf `start`."""

    start: int
    level: int
    value: Any

    def is_left_sibling_of(self, other: "Node") -> bool:
        return self.level == other.level and self.start % 2 ** (self.level + 1) == 0


@dataclass(frozen=True)
class LeafSum:
    """The sum over a run of consecutive leaf blocks.

    Floating point addition is not associative, so adding up per thread, per file or per
    worker would change the last bits. Here the order of additions is fixed once: leaves
    are the lowest level of one binary tree, and a sum is only ever formed from a left
    and a right sibling. A run keeps its largest complete nodes, at most two per level,
    so `+` of neighbouring runs gives the same bits in whatever order it is done.

    Attributes
    ----------
    nodes : tuple of Node
        Disjoint, from left to right, without gaps.
    settle : callable, optional
        What is done to the sum of all once it is known, and not to parts of it, because
        it does not add to the bit. None that comes of it says that the sum lost what
        was wanted.
    """

    nodes: tuple[Node, ...]
    settle: Callable[[Any], Any] | None = None

    @classmethod
    def of_leaf(cls, index: int, value: Any) -> "LeafSum":
        """Return the run that holds the leaf `index` alone."""
        return cls((Node(index, 0, value),))

    def shifted(self, n_leaves: int) -> "LeafSum":
        """Return the same sums as those of leaves so many further to the right.

        So rows swept by themselves, in leaves 0, 1, ..., join those that lie before
        them. Where the nodes would not be nodes of the tree, their sums are not the
        tree's either.
        """
        if any(n_leaves % 2**node.level for node in self.nodes):
            largest = 2 ** max(node.level for node in self.nodes)
            raise ValueError(
                f"a sum of {largest} leaf blocks cannot be moved by {n_leaves}: "
                f"move it by a multiple of {largest}"
            )
        moved = (Node(start + n_leaves, *rest) for start, *rest in self.nodes)
        return LeafSum(tuple(moved), self.settle)

    @property
    def start(self) -> int:
        return self.nodes[0].start

    @property
    def stop(self) -> int:
        return self.nodes[-1].start + int(2 ** self.nodes[-1].level)

    def __add__(self, following: "LeafSum") -> "LeafSum":
        if self.stop != following.start:
            raise ValueError(
                f"leaf blocks {self.start} to {self.stop - 1} are not followed by "
                f"blocks {following.start} to {following.stop - 1}"
            )
        nodes = list(self.nodes)
        for node in following.nodes:
            while nodes and nodes[-1].is_left_sibling_of(node):
                left = nodes.pop()
                node = Node(left.start, left.level + 1, left.value + node.value)
            nodes.append(node)
        return LeafSum(tuple(nodes), self.settle)

    def folded(self) -> "LeafSum":
        """Return a run that ends the rows with its sum alone, which travels lightly."""
        *rest, total = (node.value for node in self.nodes)
        for value in reversed(rest):
            total = value + total
        return LeafSum((Node(self.start, 0, total),), self.settle)

    def total(self) -> Any:
        """Return the value of the whole run, smallest nodes of its end first."""
        (node,) = self.folded().nodes
        return node.value if self.settle is None else self.settle(node.value)
