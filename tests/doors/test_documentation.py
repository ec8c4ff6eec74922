"""What the documentation shows is what happens."""

import contextlib
import doctest
import importlib.util
import io
import json
import re
from pathlib import Path

import pytest

from cprime.checkpointing import checkpoint
from cprime.estimators import exchange, fuzzy, kmeans, mixture, soft
from cprime.experiments.exhibits import UNEXPLAINED

ROOT = Path(__file__).parent.parent.parent


def test_the_readme_example_prints_what_it_says():
    readme = (ROOT / "README.md").read_text()
    code, output = re.search(
        r"```python\n(.*?)```\n```\n(.*?)```", readme, re.S
    ).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == output


@pytest.mark.parametrize(
    "module",
    [kmeans, soft, fuzzy, mixture, exchange, checkpoint],
    ids=lambda m: m.__name__,
)
def test_the_docstring_example(module):
    result = doctest.testmod(module)
    assert result.attempted >= 5 and result.failed == 0


def test_the_guide_shows_what_was_measured():
    path = ROOT / "docs" / "choosing" / "measure.py"
    spec = importlib.util.spec_from_file_location("measure", path)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    page, found = measure.PAGE.read_text(), json.loads(measure.RESULTS.read_text())
    assert measure.with_tables(page, found) == page
    for picture in re.findall(r"\]\((choosing/.*?)\)", page):
        assert (ROOT / "docs" / picture).exists()


# Lines of the README's table of times, and the measurements they stand for.
MEASURED = {
    "whole fit, KDD proteins 145,751 x 74, C=200": ("fit", "KDD 145,751 x 74, C=200"),
    "whole fit, the same with C=2000": ("fit", "KDD 145,751 x 74, C=2000"),
    "whole fit, blobs 200,000 x 64, C=1000": ("fit", "blobs 200,000 x 64, C=1000"),
    "one scan, the same": ("scan", "blobs 200,000 x 64, C=1000"),
    "one iteration of EM, KDD, C=200 (`GaussianMixture`)": (
        "em",
        "KDD 145,751 x 74, C=200",
    ),
    "one iteration, diagonal mixture, KDD, C=200, C'=5": (
        "mixtures",
        "KDD 145,751 x 74, C=200, diag",
    ),
    "one iteration, full covariances, KDD, C=50, C'=3": (
        "mixtures",
        "KDD 145,751 x 74, C=50, full",
    ),
    "100 restarts, BIRCH 2,500 x 2, C=25": (
        "restarts",
        "BIRCH 2,500 x 2, C=25, 100 restarts",
    ),
    "iterations 2 to 6, digits 1,797 x 64, C=25": (
        "early",
        "digits 1,797 x 64, C=25",
    ),
}
CONTESTANTS = (
    {"cprime", "cprime, C'=200 (EM)", "cprime, C'=5", "cprime, C'=3"},
    {"scikit-learn", "GaussianMixture, richer"},
    {"intelex"},
    {"faiss"},
)
SECONDS = {"s": 1.0, "ms": 1e-3}


def times_in_the_readme():
    """Return the cells of every line of the table, by what the line is called."""
    table = re.search(r"\| \| cprime \|.*?\n\n", (ROOT / "README.md").read_text(), re.S)
    lines = [line.strip("|").split("|") for line in table.group().splitlines()[2:]]
    return {cells[0].strip(): cells[1:] for cells in lines if len(cells) > 1}


def test_the_readme_has_the_times_that_were_measured():
    table = times_in_the_readme()
    assert set(table) == set(MEASURED)
    for name, (experiment, case) in MEASURED.items():
        file = ROOT / "benchmarks" / "results" / f"{experiment}.json"
        rows = [r for r in json.loads(file.read_text())["rows"] if r["case"] == case]
        for cell, who in zip(table[name], CONTESTANTS, strict=True):
            found = [r["seconds"] for r in rows if r["contestant"] in who]
            if not cell.strip():
                continue
            number, unit = cell.replace("*", "").split()
            # As many digits as are shown.
            error = 0.5 * 10.0 ** -len(number.partition(".")[2])
            shown = float(number), found[0] / SECONDS[unit]
            assert shown[0] == pytest.approx(shown[1], abs=1.001 * error), (name, who)


def test_the_readme_has_the_verdicts_that_were_measured():
    readme = (ROOT / "README.md").read_text()
    measured = (ROOT / "docs" / "reproduction" / "verdicts.md").read_text()
    title, _, _, _, *lines = measured.strip().splitlines()
    version, date = re.search(r"cprime (\S+), (\S+)\*\*", title).groups()
    assert f"version {version}, {date}" in readme
    assert UNEXPLAINED not in measured
    held = sum(line.startswith("| ✓ |") for line in lines)
    assert f"{held} of {len(lines)} hold" in readme
    rows = {tuple(cells(line)[1:5]): cells(line)[0] for line in lines}
    table = re.search(r"\| \| claim \|.*?\n\n", readme, re.S).group().splitlines()
    assert len(table) > 10
    for line in table[2:-1]:
        verdict, *shown = cells(line)
        assert rows[tuple(shown)] == verdict, line


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]
