"""Results on disk: one JSON file per experiment, complete in itself."""

import json
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import machine
from benchmarks.comparison import Row
from benchmarks.experiments import NAMES
from benchmarks.settings import Settings


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment."""
    return import_module(f"benchmarks.experiments.{name}")


def run(name: str, settings: Settings, folder: Path) -> None:
    """Run an experiment and write `<name>.json`."""
    result = {
        "experiment": name,
        "date": datetime.now(UTC).date().isoformat(),
        "settings": {
            "quick": settings.quick,
            "threads": settings.threads,
            "rounds": settings.rounds,
            "seconds": settings.seconds,
        },
        "machine": machine.description(),
        **experiment(name).measure(settings),
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    if settings.only and file.exists():
        result["rows"] = _with_other_jobs(result["rows"], json.loads(file.read_text()))
    file.write_text(json.dumps(result, indent=1) + "\n")


def load_all(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the results there are, in the order of the suite."""
    files = {name: folder / f"{name}.json" for name in NAMES}
    return {
        name: json.loads(file.read_text())
        for name, file in files.items()
        if file.exists()
    }


def _with_other_jobs(rows: list[Row], before: dict[str, Any]) -> list[Row]:
    """Return lines of some jobs, and those of other jobs that were there before."""
    measured = {row["job"] for row in rows}
    return [row for row in before["rows"] if row["job"] not in measured] + rows
