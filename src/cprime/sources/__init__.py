"""Where do rows come from? Files, folders, Arrow's collections, iterators, arrays."""

from cprime.sources.data import Data
from cprime.sources.open import is_dask, is_source, open_data
from cprime.sources.row_file import RowFile

__all__ = ["Data", "RowFile", "is_dask", "is_source", "open_data"]
