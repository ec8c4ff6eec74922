"""What the documentation shows is what happens."""

import contextlib
import doctest
import importlib.util
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from cprime.checkpointing import checkpoint
from cprime.estimators import exchange, fuzzy, kmeans, mixture, soft
from cprime.experiments.exhibits import UNEXPLAINED, Kind

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


# Lines of the table of times of `docs/speed.md`, and the measurements they stand for.
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


# The same of whole fits, on that page and in the README, by the job that measures it.
WHOLE_FITS = {
    "`KMeans(200)`, KDD proteins 145,751 x 74": "fit-kdd-200",
    "`KMeans(2000)`, KDD": "fit-kdd-2000",
    "`KMeans(1000)`, blobs 200,000 x 64": "fit-blobs-1000",
    "`GaussianMixture(15, c_prime=3)`, KDD": "mixture-full-15",
    '`GaussianMixture(50, covariance_type="diag", c_prime=5)`, KDD': "mixture-diag-50",
    '`GaussianMixture(50, covariance_type="diag")`, KDD': "mixture-diag-50",
    "`KMeans(3, n_init=100)`, iris": "restarts-iris",
    "`KMeans(10, n_init=100)`, digits": "restarts-digits",
    "`KMeans(3)`, iris": "single-iris",
    "`KMeans(10)`, digits": "single-digits",
    "`GaussianMixture(3)`, iris": "mixture-iris",
}


# Which of ours a line is about, where several did the job.
OURS = {'`GaussianMixture(50, covariance_type="diag")`, KDD': {"cprime, C'=50"}}


def times_in(page, first):
    """Return the cells of a table by what its lines are called."""
    text = (ROOT / page).read_text()
    table = re.search(rf"\| {re.escape(first)}\| cprime \|.*?\n\n", text, re.S)
    lines = [line.strip("|").split("|") for line in table.group().splitlines()[2:]]
    return {cells[0].strip(): cells[1:] for cells in lines if len(cells) > 1}


def results(experiment):
    file = ROOT / "benchmarks" / "results" / f"{experiment}.json"
    return json.loads(file.read_text())["rows"]


def assert_measured(shown, rows, names):
    """Compare the cells of a line with the times of these contestants."""
    for cell, who in zip(shown, names, strict=True):
        if not cell.strip():
            continue
        found = next(r["seconds"] for r in rows if r["contestant"] in who)
        number, unit = cell.replace("*", "").split()
        # As many digits as are shown.
        error = 0.5 * 10.0 ** -len(number.partition(".")[2])
        expected = found / SECONDS[unit]
        assert float(number) == pytest.approx(expected, abs=1.001 * error), (who, rows)


def test_the_page_on_speed_has_the_times_that_were_measured():
    table = times_in("docs/speed.md", "")
    assert set(table) == set(MEASURED)
    for name, (experiment, case) in MEASURED.items():
        rows = [row for row in results(experiment) if row["case"] == case]
        assert_measured(table[name], rows, CONTESTANTS)


@pytest.mark.parametrize(
    ("page", "first"),
    [("README.md", "`fit` "), ("docs/speed.md", "`fit` with default parameters ")],
)
def test_whole_fits_took_as_long_as_is_shown(page, first):
    table = times_in(page, first)
    assert len(table) >= 4 and set(table) <= set(WHOLE_FITS)
    for name, cells_of_line in table.items():
        rows = [r for r in results("default") if r["job"] == WHOLE_FITS[name]]
        ours = OURS.get(name, CONTESTANTS[0])
        assert_measured(cells_of_line, rows, (ours, *CONTESTANTS[1:3]))


def test_the_page_on_the_paper_has_the_verdicts_that_were_measured():
    page = (ROOT / "docs" / "reproduction" / "index.md").read_text()
    measured = (ROOT / "docs" / "reproduction" / "verdicts.md").read_text()
    title, _, _, _, *lines = measured.strip().splitlines()
    version, date = re.search(r"cprime (\S+), (\S+)\*\*", title).groups()
    assert f"Version {version}, {date}" in " ".join(page.split())
    assert UNEXPLAINED not in measured
    kinds = Counter(cells(line)[0] for line in lines)
    judged = len(lines) - kinds[Kind.NOT_JUDGED]
    assert (
        f"Of {judged} printed numbers and claims, the runs pin down "
        f"{kinds[Kind.PINS_DOWN]}, are consistent with {kinds[Kind.CONSISTENT]} and "
        f"contradict {kinds[Kind.CONTRADICTS]}; {kinds[Kind.NOT_JUDGED]} are not judged"
    ) in page
    rows = {tuple(cells(line)[:6]) for line in lines}
    tables = re.findall(r"\| verdict \| claim \|.*?\n\n", page, re.S)
    shown = [
        tuple(cells(line))
        for table in tables
        for line in table.strip().splitlines()[2:]
    ]
    shown = [line for line in shown if len(line) == 6]
    assert len(shown) > 10
    for line in shown:
        assert line in rows, line
    # All that is pinned down or contradicted is shown.
    for kind in (Kind.PINS_DOWN, Kind.CONTRADICTS):
        assert sum(line[0] == kind for line in shown) == kinds[kind]


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]
