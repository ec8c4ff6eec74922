"""The page from the paper to the code leads to what there is."""

import importlib.util
from pathlib import Path

import pytest

import cprime.bounds

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("paper_map", DOCS / "paper_map.py")
paper_map = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(paper_map)

ENTRIES = [entry for entries in paper_map.SECTIONS.values() for entry in entries]


def test_the_page_is_what_the_code_says():
    assert (DOCS / "paper.md").read_text() == paper_map.page()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.where)
def test_every_part_has_code_that_explains_itself_and_a_law(entry):
    assert len(paper_map.described(entry.code)) > 10
    for law in entry.laws.split(", "):
        assert "def test_" in paper_map.law_file(law).read_text()


def test_all_numbered_parts_are_there():
    numbers = set()
    for entry in paper_map.EQUATIONS:
        words = entry.where.split("(")[0].replace("Eqs.", "").replace("Eq.", "")
        first, _, last = words.partition(" to ")
        if last:
            numbers |= set(range(int(first), int(last) + 1))
        else:
            numbers |= {int(word) for word in words.split(",")}
    assert numbers == set(range(1, 28))
    places = {entry.where for entry in paper_map.STATEMENTS + paper_map.ALGORITHMS}
    wanted = {f"Prop. {i}" for i in range(1, 5)} | {f"Alg. {i}" for i in range(1, 4)}
    assert wanted | {"Cor. 1", "Cor. 2"} <= places


def test_a_function_that_moves_breaks_it(monkeypatch):
    monkeypatch.delattr(cprime.bounds, "gap")
    with pytest.raises(AttributeError, match="gap"):
        paper_map.page()


def test_a_function_that_is_only_passed_on_breaks_it(monkeypatch):
    monkeypatch.setattr(cprime.bounds, "gap", paper_map.page)
    with pytest.raises(AttributeError, match="is defined in"):
        paper_map.page()


def test_a_law_that_is_not_there_breaks_it():
    with pytest.raises(FileNotFoundError, match="there is no law"):
        paper_map.law_file("everything_is_fine")
