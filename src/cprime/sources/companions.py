"""Other columns of the same rows, as they are: what goes along with predictions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cprime.sources.columns import Wanted, chosen


def companions(path: Path, columns: Wanted) -> Iterator[Any]:
    """Return the rows of a file in batches of some of its columns, of any type.

    Parameters
    ----------
    path : path
        Of a CSV file all values come as text, just as they are written there.
    columns : str or list of str
        Names, or patterns such as "id*".

    Returns
    -------
    batches : iterator of pyarrow RecordBatch
        All rows, in the order of `open_data`.
    """
    if path.suffix.lower() == ".npy":
        raise ValueError(
            f"The columns of {path} have no names by which to keep them: only those "
            "of .parquet, .arrow and .csv files do."
        )
    from cprime.sources import arrow, text

    if path.is_file() and text.is_text(path):
        return text.open_as_text(path, columns)
    source = arrow.from_files(arrow.files_of(path))
    every = source.schema.names
    return source.of([every[i] for i in chosen(every, columns, str(path))])
