"""Results that survive an interrupt: one line per setting, appended when it is done."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cprime
from cprime.experiments.settings import Setting


class Records:
    """A file of results, and what it holds.

    Results of another version of cprime are not used: they stay in the file, and the
    settings are run again.

    Parameters
    ----------
    path : Path
        Made if it is not there. A last line that an interrupt cut short is removed.
    """

    def __init__(self, path: Path):
        self._path = path
        _make(path)
        self._results: dict[str, dict[str, Any]] = {}
        for record in _read(path):
            if record["version"] == cprime.__version__:
                self._results[record["key"]] = record

    def __contains__(self, setting: Setting) -> bool:
        return setting.key in self._results

    def __getitem__(self, setting: Setting) -> dict[str, Any]:
        result: dict[str, Any] = self._results[setting.key]["result"]
        return result

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
            "version": cprime.__version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "result": result,
        }
        line = json.dumps(record, allow_nan=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._results[setting.key] = json.loads(line)


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as error:
        raise OSError(
            f"Results cannot be written to {path}: {error.strerror}. "
            "Choose another folder."
        ) from error


def _read(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    records = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(
                f"Line {number} of {path} is not a result: remove the line, or the "
                "file to start over."
            ) from error
    return records
