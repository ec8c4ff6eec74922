"""Where do blocks of whole leaves begin and end, if chunks end anywhere?"""

from collections.abc import Iterator

import numpy as np

from cprime.blocks import LEAF_ROWS

# A block ends at a multiple of this share of a typical chunk, or more: at most half of
# that moves to the next, once, and sums over a block are a few nodes of the tree.
SHARE_OF_CHUNK = 4


def leaf_runs(lengths: tuple[int, ...]) -> list[slice]:
    """Return consecutive blocks of rows, each about a chunk, that end with a leaf.

    They end at a multiple of several leaves where chunks are long: sums over a block
    are then few nodes of the tree of all sums.

    Parameters
    ----------
    lengths : tuple of int
        Rows of every chunk. Some may have none.
    """
    n_rows, filled = sum(lengths), [n for n in lengths if n > 0]
    unit = LEAF_ROWS
    while unit * 2 * SHARE_OF_CHUNK <= n_rows / len(filled):
        unit *= 2
    ends = [round(end / unit) * unit for end in np.cumsum(filled).tolist()]
    ends = sorted({end for end in ends if 0 < end < n_rows} | {n_rows})
    return [slice(start, stop) for start, stop in zip([0, *ends], ends)]


def overlaps(lengths: tuple[int, ...], place: slice) -> Iterator[tuple[int, int, int]]:
    """Yield the chunks that have rows in a place, and from where to where.

    Counted from the first row of the chunk.
    """
    ends = np.cumsum(lengths)
    first = int(np.searchsorted(ends, place.start, side="right"))
    for i in range(first, len(lengths)):
        begin = int(ends[i]) - lengths[i]
        if begin >= place.stop:
            return
        start, stop = max(place.start, begin), min(place.stop, int(ends[i]))
        if start < stop:
            yield i, start - begin, stop - begin


def tree_nodes(place: slice) -> Iterator[slice]:
    """Yield the largest parts of a block that are nodes of the tree of all sums.

    Counted from the block's first row. A kernel that sweeps one of them adds its leaves
    up in the order in which it would have done it among all rows.
    """
    start = place.start // LEAF_ROWS
    stop = -(-place.stop // LEAF_ROWS)
    while start < stop:
        size = start & -start if start else 1 << (stop.bit_length())
        while start + size > stop:
            size //= 2
        rows = slice(start * LEAF_ROWS, min((start + size) * LEAF_ROWS, place.stop))
        yield slice(rows.start - place.start, rows.stop - place.start)
        start += size
