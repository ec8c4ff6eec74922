"""Rows of one Parquet or Arrow file, or of a folder of them."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType

import pyarrow as pa

from cprime.sources import ipc, parquet
from cprime.sources.arrow import Batches, Head
from cprime.sources.display import shown
from cprime.sources.path_checks import check_readable

KINDS: dict[str, ModuleType] = {
    **dict.fromkeys((".parquet", ".pq"), parquet),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ipc),
}
# A folder with more than that in it is not one of data.
MOST_FILES = 10**6


def files_of(path: Path) -> list[Path]:
    """Return a file, or all files of a folder in the order of their names."""
    if path.is_file():
        if path.suffix.lower() not in KINDS:
            raise ValueError(
                f"{shown(path)} has an unsupported file type: use .npy, .parquet, "
                ".arrow, .feather, .csv, .tsv or .txt (also .csv.gz)."
            )
        return [path]
    inside = list(islice(_inside(path), MOST_FILES + 1))
    if len(inside) > MOST_FILES:
        raise ValueError(
            f"The folder {shown(path)} holds more than {MOST_FILES} files: name the "
            "one in it that holds the data."
        )
    files = sorted(f for f in inside if f.suffix.lower() in KINDS and f.is_file())
    if not files:
        raise ValueError(f"The folder {shown(path)} holds no .parquet or .arrow files.")
    return files


def from_files(files: list[Path], memory: int) -> Batches:
    """Return the rows of Parquet or Arrow files, one file after another.

    Parameters
    ----------
    files : list of Path
    memory : int
        Bytes that may be taken to read a part of a file.
    """
    heads = [_head(file, memory, keep_sizes=len(files) == 1) for file in files]
    for file, head in zip(files, heads):
        if head.names != heads[0].names:
            raise ValueError(
                f"{shown(file)} has other columns than {shown(files[0])}: files of one "
                "folder must have the same."
            )

    def of(names: list[str]) -> Iterator[pa.RecordBatch]:
        # No more than one is open: there may be thousands.
        for file, head in zip(files, heads):
            yield from _kind(file).batches(file, names, memory, head.sizes)

    declared = [head.n_rows for head in heads if head.n_rows is not None]
    n_rows = sum(declared) if len(declared) == len(heads) else None
    parts = [(shown(file.name), head.schema) for file, head in zip(files, heads)]
    return Batches(heads[0].names, parts, of, n_rows)


def _head(file: Path, memory: int, keep_sizes: bool) -> Head:
    head: Head = _kind(file).head(check_readable(file), memory)
    # Sizes of thousands of files take memory, and each holds its file open.
    return head if keep_sizes else head._replace(sizes=None)


def _kind(file: Path) -> ModuleType:
    return KINDS[file.suffix.lower()]


def _inside(folder: Path) -> Iterator[Path]:
    """Yield all files under a folder, those hidden, or in hidden folders, excepted."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        yield from (Path(place) / name for name in names if name[0] not in "._")
