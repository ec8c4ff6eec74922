"""Results that survive an interrupt: one line per setting, appended when it is done."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cprime.experiments.settings import Setting

FIELDS = {"key", "version", "date", "seconds", "result"}


class Records:
    """A file of results, and what it holds.

    Results of another version are not used: they stay in the file, and the settings
    are run again.

    Parameters
    ----------
    path : Path
        Made if it is not there, in a folder that is. A last line that an interrupt cut
        short is removed: nobody else may be writing.
    version : str
        Of the code whose results count.
    """

    def __init__(self, path: Path, version: str):
        self._path, self._version = path, version
        _make(path)
        self._results: dict[str, dict[str, Any]] = {}
        for record in _read(path):
            if record["version"] == version:
                self._results[record["key"]] = record

    def __contains__(self, setting: Setting) -> bool:
        return setting.key in self._results

    def __getitem__(self, setting: Setting) -> dict[str, Any]:
        result: dict[str, Any] = self._results[setting.key]["result"]
        return result

    def __len__(self) -> int:
        return len(self._results)

    def seconds(self, setting: Setting) -> float:
        """How long this setting took."""
        return float(self._results[setting.key]["seconds"])

    def date(self, setting: Setting) -> str:
        """When this setting was run, YYYY-MM-DD."""
        return str(self._results[setting.key]["date"])[:10]

    def add(self, setting: Setting, result: dict[str, Any], seconds: float) -> None:
        """Note a result, on disk before anything else happens."""
        record = {
            "key": setting.key,
            "version": self._version,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "result": result,
        }
        line = json.dumps(record, allow_nan=False)
        with self._path.open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._results[setting.key] = json.loads(line)


def _make(path: Path) -> None:
    try:
        path.open("ab").close()
    except OSError as error:
        raise OSError(
            f"Results cannot be written to {path}: {error.strerror}. "
            "Choose another folder."
        ) from error


def _read(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    *lines, rest = content.split(b"\n")
    records = [_record(path, number, line) for number, line in enumerate(lines, 1)]
    if rest:
        # Only what begins like a line of ours can be one that was cut short.
        if not rest.startswith(b'{"key": '):
            raise _not_a_result(path, len(lines) + 1)
        with path.open("r+b") as file:
            file.truncate(len(content) - len(rest))
    return records


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise _not_a_result(path, number) from error
    if not isinstance(record, dict) or not record.keys() >= FIELDS:
        raise _not_a_result(path, number)
    return record


def _not_a_result(path: Path, number: int) -> ValueError:
    return ValueError(
        f"Line {number} of {path} is not a result: remove the line, or the file to "
        "start over."
    )
