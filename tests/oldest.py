"""Prints the lowest versions that pyproject.toml promises, as a constraints file."""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
project = tomllib.loads(PROJECT.read_text())["project"]
promised = list(project["dependencies"])
for extra in ("plots", "files", "report", "cli"):
    promised += project["optional-dependencies"][extra]
print(*sorted({line.replace(">=", "==") for line in promised}), sep="\n")
