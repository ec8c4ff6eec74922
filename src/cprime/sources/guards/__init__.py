"""Is what a file declares of its own sizes possible, before Arrow believes it?

- `parquet_sizes` stops Parquet files of a few bytes that declare gigabytes, or footers
  on which Arrow ends the process; `thrift` reads them, and no further than they go.
- `arrow_sizes` stops Arrow files whose batches become gigabytes when decompressed;
  `flatbuffers` reads them, and no further than they go.
"""
