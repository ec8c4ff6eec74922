"""Where do rows come from? Files, folders, Arrow's collections, iterators, arrays."""

from cprime.sources.data import Data
from cprime.sources.opening import is_source, open_data
from cprime.sources.raw import RawRows

__all__ = ["Data", "RawRows", "is_source", "open_data"]
