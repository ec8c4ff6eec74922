"""The pages of the guide show what happens when their code is run."""

import importlib.util
import json
from pathlib import Path

import pytest

import cprime

DOCS = Path(__file__).parent.parent.parent / "docs"


def load(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shown, run_notebook = load("shown"), load("run_notebook")


@pytest.mark.parametrize(
    "page", shown.PAGES, ids=lambda page: str(page.relative_to(DOCS.parent))
)
def test_a_page_shows_what_its_code_prints(page):
    text = page.read_text()
    assert shown.lasting(shown.rewritten(text)) == shown.lasting(text)


@pytest.mark.parametrize("path", run_notebook.NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_its_cells_do(path):
    notebook = json.loads(path.read_text())
    now = run_notebook.rewritten(notebook)
    assert run_notebook.lasting(now) == run_notebook.lasting(notebook)
    assert len(run_notebook.lasting(now)) > 5


def test_what_a_cell_shows_is_written_down():
    cell = {"cell_type": "code", "source": ["a = 6\n", "print(a)\n", "a * 7"]}
    found = run_notebook.rewritten({"cells": [cell]})
    assert run_notebook.lasting(found) == ["6\n", "42"]


def test_the_pages_have_code():
    blocks = [len(shown.BLOCK.findall(page.read_text())) for page in shown.PAGES]
    assert len(blocks) > 10 and sum(blocks) > 30


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("```python\nprint(6 * 7)\n```\n```\n41\n```\n", "```\n42\n```\n"),
        ("```python\nprint(6 * 7)\n```\n", "```\n42\n```\n"),
        ("```console\n$ echo a\nb\n$ echo \\\n  c\n```\n", "a\n$ echo \\\n  c\nc\n"),
        ("```console\n$ cprime --version | rev | cut -c1-2\n```\n", "0."),
        ("```console\n$ cprime fit nothing.csv -k 2\n```\n", "nothing.csv cannot"),
    ],
)
def test_what_is_printed_is_written_down(page, printed):
    assert printed in shown.rewritten(page)
    assert printed not in page


def test_times_and_days_do_not_count():
    page = "done in 71.7 ms, at 2026-11-16 02:52:44: 0.05851897122102151"
    other = "done in 3 min, at 2031-01-02 00:00:01: 0.05851897122102157"
    assert shown.lasting(page) == shown.lasting(other)
    assert shown.lasting("gap 0.0264") != shown.lasting("gap 0.0265")


def test_seconds_of_compare_do_not_count():
    page = "  3   -5.7260   -5.7253      0.0008           49     0.398   <- use\n"
    other = "  3   -5.7260   -5.7253      0.0008           49      12.1   <- use\n"
    worse = "  3   -5.7260   -5.7253      0.0009           49     0.398   <- use\n"
    assert shown.lasting(page) == shown.lasting(other) != shown.lasting(worse)


def test_the_reference_has_every_public_name():
    listed = set()
    for page in (DOCS / "api").glob("*.md"):
        module = "cprime"
        for line in page.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif line.startswith("   ") and ":" not in line:
                listed.add(f"{module}.{line.strip()}")
    assert len(listed) > 20
    modules = {f"cprime.{name}" for name in ("bounds", "datasets", "plots")}
    public = {f"cprime.{name}" for name in cprime.__all__} - modules
    public |= {f"cprime.plots.{name}" for name in cprime.plots.__all__}
    public |= {f"cprime.datasets.{name}" for name in cprime.datasets.__all__}
    public |= {
        f"cprime.bounds.{name}"
        for name, thing in vars(cprime.bounds).items()
        if getattr(thing, "__module__", "") == "cprime.bounds" and name[0] != "_"
    }
    assert listed == public
