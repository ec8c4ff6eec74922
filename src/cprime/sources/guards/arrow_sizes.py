"""How large do the batches of an Arrow file become, before any of it is believed?

Stops bombs: Arrow believes a batch that says how large it becomes when decompressed,
and reads all of it at once.
"""

import struct
from pathlib import Path

from cprime.sources.display import shown
from cprime.sources.guards.flatbuffers import Table
from cprime.sources.memory import in_words, too_much
from cprime.sources.row_file import OpenFile

MAGIC = b"ARROW1"
LONGEST_HEAD = 2**28
# Fields of the footer: where its dictionaries and its batches are.
BLOCKS = (2, 3)
BLOCK = "<qi4xq"
# What a message begins with, except in old files.
CONTINUED = b"\xff\xff\xff\xff"
# Fields of a message, of a dictionary in it, and of a batch.
KIND, CONTENT = 1, 2
DICTIONARY, OF_DICTIONARY = 2, 1
BUFFERS, COMPRESSION = 2, 3
BUFFER = "<qq"


def refuse_large_batches(path: Path, memory: int) -> None:
    """Raise if what is read at once does not fit in memory."""
    file = OpenFile.to_read(path)
    try:
        sizes = batch_sizes(file)
    except struct.error:
        raise ValueError(
            f"{shown(path)} is damaged: its batches are not where it says."
        ) from None
    largest = max(sizes, default=0)
    if largest > memory:
        raise ValueError(
            f"A batch of {shown(path)} takes {in_words(largest)}, "
            f"{too_much(largest, memory)}, or write the file in smaller batches, as "
            "pyarrow.feather.write_feather does."
        )


def batch_sizes(file: OpenFile) -> list[int]:
    """Return how many bytes every batch takes, decompressed."""
    size = file.size
    tail = file.read(max(0, size - 10), 10)
    (length,) = struct.unpack_from("<i", tail)
    if tail[4:] != MAGIC or not 0 < length <= min(size - 10, LONGEST_HEAD):
        raise struct.error
    footer = Table.root(file.read(size - 10 - length, length))
    blocks = [block for field in BLOCKS for block in footer.structs(field, BLOCK)]
    # What lies in one file is not more than the file.
    if sum(max(0, n_bytes) for _, _, n_bytes in blocks) > size:
        raise struct.error
    return [_size(file, *block) for block in blocks]


def _size(file: OpenFile, at: int, head_bytes: int, body_bytes: int) -> int:
    body = at + head_bytes
    if min(at, body_bytes) < 0 or not 8 <= head_bytes <= LONGEST_HEAD:
        raise struct.error
    data = file.read(at, head_bytes)
    message = Table.root(data[8:] if data[:4] == CONTINUED else data[4:])
    batch = message.table(CONTENT)
    if batch is not None and message.byte(KIND) == DICTIONARY:
        batch = batch.table(OF_DICTIONARY)
    if batch is None:
        raise struct.error
    buffers = list(batch.structs(BUFFERS, BUFFER))
    if any(length > file.size for _, length in buffers):
        raise struct.error
    if batch.table(COMPRESSION) is None:
        return sum(n_bytes for _, n_bytes in buffers)
    return sum(_unpacked(file, body + offset, length) for offset, length in buffers)


def _unpacked(file: OpenFile, at: int, n_bytes: int) -> int:
    """Return how long a compressed buffer says it becomes."""
    if n_bytes <= 0:
        return 0
    (length,) = struct.unpack("<q", file.read(at, 8) if at >= 0 else b"")
    # A buffer that does not become shorter is left as it is, and says -1.
    return max(n_bytes, int(length))
