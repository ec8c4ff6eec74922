"""Options that let pyarrow put all rows of a Parquet file into one page."""

import io

import pyarrow as pa
import pyarrow.parquet as pq


def _unlimited():
    """Return what lifts the limit of rows a page, which older versions do not have."""
    options = {"max_rows_per_page": 2**30}
    try:
        pq.write_table(pa.table({"a": [1]}), io.BytesIO(), **options)
    except TypeError:
        return {}
    return options


LARGE_PAGES = {"data_page_size": 2**30, **_unlimited()}
