"""Other columns of the same rows, as they are: what goes along with predictions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cprime.sources.columns import Wanted, choose
from cprime.sources.display import shown
from cprime.sources.header import check_header, refuse_header
from cprime.sources.memory import bytes_of
from cprime.sources.path_checks import check_readable
from cprime.sources.storage_budget import read_limit


def passthrough(
    path: Path,
    columns: Wanted,
    memory: int | str | None = None,
    header: bool | None = None,
) -> Iterator[Any]:
    """Return the rows of a file in batches of some of its columns, of any type.

    Parameters
    ----------
    path : path
        Of a CSV file all values come as text, just as they are written there.
    columns : str or list of str
        Names, or patterns such as "id*".
    memory : int or str, optional
    header : bool, optional
        As for `open_data`.

    Returns
    -------
    batches : iterator of pyarrow RecordBatch
        All rows, in the order of `open_data`.
    """
    header = check_header(header)
    if path.suffix.lower() == ".npy":
        raise ValueError(
            f"The columns of {shown(path)} have no names by which to keep them: only "
            "those of .parquet, .arrow and .csv files do."
        )
    from cprime.sources import folder, text

    limit = read_limit(bytes_of(memory))
    if check_readable(path).is_file() and text.is_text(path):
        return text.open_as_text(path, columns, limit, header)
    refuse_header(header, path)
    source = folder.from_files(folder.files_of(path), limit)
    places = choose(source.names, columns, shown(path))
    return source.of([source.names[i] for i in places])
