"""Data files damaged at random, read under watch: `make fuzz-data SECONDS=600`.

Good files of every kind are changed here and there: bytes flipped, cut out, repeated,
numbers replaced by wild ones. A file that breaks the contract is kept.
"""

import argparse
import gzip
import io
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from watched_reader import Reader

WILD = [0, 1, -1, 2**7, 2**15, 2**31 - 1, -(2**31), 2**32, 2**40, 2**62, -(2**62)]
SIGNS = b",\n\r\"'0123456789.eE+-naif;\t|\x00\xff\xef\xbb\xbf{}()[]: "
DELTA = {"c": "DELTA_BINARY_PACKED"}
BARE = {"store_schema": False, "write_statistics": False}


def seeds(rng):
    """Yield names and bytes of good files."""
    X = rng.normal(size=(60, 3))
    for name, rows in (("f8", X), ("f4", X.astype("f4")), ("i2", X.astype("i2"))):
        yield f"{name}.npy", written(np.save, rows)
    yield "fortran.npy", written(np.save, np.asfortranarray(X.astype(">f8")))
    table = pa.table({"a": X[:, 0], "b": X[:, 1].astype("f4"), "c": [1, 2, 3] * 20})
    mixed = table.append_column("t", pa.array(["x", "yy", None] * 20))
    mixed = mixed.append_column("d", pa.array(["u", "v"] * 30).dictionary_encode())
    for name, options in {
        "snappy": {},
        "zstd": {"compression": "zstd", "row_group_size": 20, **BARE},
        "gzip": {"compression": "gzip", "data_page_version": "2.0"},
        "plain": {"compression": "none", "use_dictionary": False, **BARE},
        "brotli": {"compression": "brotli", "write_page_index": True},
        "split": {"use_byte_stream_split": ["a", "b"], "use_dictionary": [], **BARE},
        "delta": {"column_encoding": DELTA, "use_dictionary": [], **BARE},
        "summed": {"write_page_checksum": True},
    }.items():
        yield f"{name}.parquet", written(pq.write_table, table, turned=True, **options)
    holes = table.set_column(2, "c", pa.array([1, None, 3] * 20))
    yield "holes.parquet", written(pq.write_table, holes, turned=True)
    yield "mixed.parquet", written(pq.write_table, mixed, turned=True)
    for name in ("lz4", "zstd", "uncompressed"):
        options = {"compression": name, "chunksize": 20, "turned": True}
        yield f"{name}.arrow", written(feather.write_feather, table, **options)
        yield f"mixed-{name}.arrow", written(feather.write_feather, mixed, **options)
    text = "a,b,c\n" + "".join(f"{x},{y},{z}\n" for x, y, z in X)
    yield "rows.csv", text.encode()
    yield "numbered.csv", text.replace("a,b,c", "0,1,2").encode()
    yield "nameless.csv", text.replace("a,b,c\n", "").encode()
    quoted = "\n".join('"' + line.replace(",", '"\t"') + '"' for line in text.split())
    yield "quoted.tsv", quoted.encode()
    yield "rows.csv.gz", gzip.compress(text.encode())


def written(write, rows, turned=False, **options):
    """Return the bytes of a file."""
    file = io.BytesIO()
    write(rows, file, **options) if turned else write(file, rows, **options)
    return file.getvalue()


def damaged(data, rng):
    """Return bytes with some changes."""
    data = bytearray(data)
    # Heads and footers are small, and everything hangs on them.
    n_bytes = max(1, len(data))
    for _ in range(1 + int(rng.exponential(0.8))):
        spot = int(rng.integers(n_bytes))
        if rng.random() < 0.5:
            spot = min(int(rng.exponential(120)), n_bytes - 1)
            spot = spot if rng.random() < 0.5 else n_bytes - 1 - spot
        change(data, spot, rng)
    return bytes(data)


def change(data, spot, rng):
    """Change something there; mostly so that the rest stays in its place."""
    length, kind = int(rng.integers(1, 40)), rng.random()
    if kind < 0.25 and spot < len(data):
        data[spot] ^= 1 << int(rng.integers(8))
    elif kind < 0.4:
        data[spot : spot + 1] = [int(rng.integers(256))]
    elif kind < 0.65:
        number = WILD[rng.integers(len(WILD))]
        packed = struct.pack("<q", number)[: 1 << int(rng.integers(4))]
        data[spot : spot + len(packed)] = packed
    elif kind < 0.75:
        other = int(rng.integers(max(1, len(data) - length)))
        data[spot : spot + length] = data[other : other + length]
    elif kind < 0.85:
        data[spot : spot + 1] = [SIGNS[rng.integers(len(SIGNS))]]
    elif kind < 0.9:
        data[spot:spot] = data[spot : spot + length]
    elif kind < 0.95:
        del data[spot : spot + length]
    else:
        del data[spot:]


def main():
    """Damage and read files until the time is over."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("seconds", type=float)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--keep", type=Path, default=Path("build/fuzz-data"))
    asked = ask.parse_args()
    rng = np.random.default_rng(asked.seed)
    good = list(seeds(rng))
    counts = {"read": 0, "refused": 0, "broken": 0}
    end = time.monotonic() + asked.seconds
    with tempfile.TemporaryDirectory() as folder, Reader() as reader:
        while time.monotonic() < end:
            name, data = good[rng.integers(len(good))]
            path = Path(folder) / name
            path.write_bytes(damaged(data, rng))
            # Columns of text are there to be passed over.
            outcome = reader(path, **({"columns": "[abc]"} if "mixed" in name else {}))
            broken = outcome.broken(name)
            if broken:
                counts["broken"] += 1
                asked.keep.mkdir(parents=True, exist_ok=True)
                kept = asked.keep / f"{asked.seed}-{sum(counts.values())}-{name}"
                kept.write_bytes(path.read_bytes())
                print(f"{kept}: {broken}: {outcome.error}: {outcome.message[:300]}")
            else:
                counts["read" if outcome.error is None else "refused"] += 1
    print(f"{sum(counts.values())} files in {asked.seconds:.0f} s: {counts}")
    sys.exit(counts["broken"] > 0)


if __name__ == "__main__":
    main()
