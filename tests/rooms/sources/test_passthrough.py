"""Columns that go along: all of them as they are, in the order of the rows."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from cprime.sources import open_data
from cprime.sources.passthrough import passthrough

# Longer, all together, than what is read of a file at once.
LONG = "two\nlines" + 500 * "-"
TABLE = pa.table(
    {
        "x": np.arange(70_000.0),
        "id": [f"{i:07}" for i in range(70_000)],
        "said, and meant": ['a "word"', LONG, "", "NA"] * 17_500,
    }
)


def kept(path, columns):
    return pa.Table.from_batches(passthrough(path, columns))


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_columns_keep_their_types(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    if ending == ".parquet":
        pa.parquet.write_table(TABLE, path, row_group_size=9999)
    else:
        with pa.ipc.new_file(path, TABLE.schema) as file:
            file.write_table(TABLE, max_chunksize=9999)
    assert kept(path, "id,said*").equals(TABLE.select([1, 2]))
    assert kept(path, "*").equals(TABLE)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_text_comes_as_it_is_written(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    pa.csv.write_csv(TABLE, tmp_path / "rows.csv")
    if ending == ".csv.gz":
        path.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    found = kept(path, ["id", "said, and meant", "x"])
    assert found.column("id").equals(TABLE.column("id"))
    assert found.column(1).equals(TABLE.column(2))
    assert found.column("x").type == pa.string()
    assert len(found) == open_data(path, "x").n_rows


def test_a_folder_is_one_table(tmp_path):
    for part in range(3):
        rows = TABLE.slice(20_000 * part, 20_000)
        pa.parquet.write_table(rows, tmp_path / f"part-{part}.parquet")
    assert kept(tmp_path, "id").equals(TABLE.select(["id"]).slice(0, 60_000))


def test_what_is_not_there_is_named(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"has no columns 'y', 'z.': it has 'x'"):
        passthrough(tmp_path / "rows.parquet", "y,id,z?")
    with pytest.raises(ValueError, match="have no names"):
        passthrough(tmp_path / "rows.npy", "y")
