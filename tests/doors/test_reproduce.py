"""`cprime reproduce` runs the paper, shows it, and cannot be fooled."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from cprime import bounds, cli
from cprime.experiments import EXPERIMENTS, claims, formulas, reproduction
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.publication import publish
from cprime.experiments.records import Records

SHARED = Path(__file__).parents[3] / "shared" / "data"
# Without the protein data, which are not here, what needs them is left out.
NAMES = [
    name
    for name in EXPERIMENTS
    if SHARED.is_dir() or name not in ("figure-1-protein", "figure-s3")
]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A quick reproduction of everything."""
    folder = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CPRIME_DATA", str(SHARED))
        assert cli.main(["reproduce", *NAMES, "--quick", "--out", str(folder)]) == 0
    return folder


def shown(name, out):
    module = import_module(f"cprime.experiments.{EXPERIMENTS[name]}")
    return module.show(Records(out / "results.jsonl"), True)


def test_the_page_stands_alone(out):
    page = (out / "index.html").read_text()
    for name in NAMES:
        assert f'<section id="{name}">' in page
    assert re.findall(r'(?:src|href)="(?!data:|#)', page) == []
    assert page.count("data:image/png") == len(list(out.glob("*.png")))


def test_every_figure_and_table_is_a_file(out):
    for name in NAMES:
        exhibit = shown(name, out)
        for figure in exhibit.figures:
            assert (out / f"{figure}.png").read_bytes()[:4] == b"\x89PNG"
            assert "<svg" in (out / f"{figure}.svg").read_text()
        for table in exhibit.tables:
            lines = (out / f"{table.name}.csv").read_text().splitlines()
            assert len(lines) == len(table.rows) + 1
            assert f"| {table.header[0]} |" in (out / f"{table.name}.md").read_text()
    assert list(out.glob(".*")) == []


@pytest.mark.parametrize("name", [n for n in NAMES if n != "table-s1"])
def test_what_does_not_depend_on_the_size_of_a_run_holds(out, name):
    fails = [v.claim for v in shown(name, out).verdicts if not v.holds]
    # Few runs on few sets are not enough to judge single numbers by.
    assert [claim for claim in fails if "Fig. 1" not in claim] == []


def test_a_crossed_number_comes_with_a_reason(out):
    verdicts = [v for name in NAMES for v in shown(name, out).verdicts]
    assert len(verdicts) > 60
    assert [v.claim for v in verdicts if not v.holds and not v.why] == []


def test_a_second_run_has_nothing_left_to_do(out, monkeypatch, capsys):
    def refuse(settings, records):
        assert list(settings) == []
        return iter(())

    monkeypatch.setattr(reproduction, "run", refuse)
    monkeypatch.setenv("CPRIME_DATA", str(SHARED))
    before = (out / "results.jsonl").read_bytes()
    assert cli.main(["reproduce", *NAMES, "--quick", "--out", str(out)]) == 0
    assert (out / "results.jsonl").read_bytes() == before


def test_a_wrong_formula_is_noticed(tmp_path, monkeypatch):
    right = bounds.free_energy_of_variance
    monkeypatch.setattr(
        bounds, "free_energy_of_variance", lambda *of: right(*of) + 1e-6
    )
    found = formulas.run("grid", 1, 0)
    assert found["every"] > claims.EQUAL


def test_free_energies_agree_without_it():
    found = formulas.run("grid", 1, 0)
    assert found["every"] < claims.EQUAL and found["converged"] < claims.CONVERGED


def test_centres_pushed_apart_are_measured():
    true = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    found = np.array([[-0.25, 0.0], [1.25, 0.0], [9.0, 9.0]])
    assert claims._stretch(true, found) == pytest.approx(1.5)
    assert claims._stretch(true, true) == 1.0


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, capsys):
    calls = []

    def run(**values):
        calls.append(values)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return {"F": [-2.7, -2.6], "L": [-2.3, -2.4], "phi": [2.0, 1.0], "centers": C7}

    C7 = np.zeros((7, 2)).tolist()
    monkeypatch.setitem(reproduction.RUNNERS, "seven", run)
    command = ["reproduce", "figure-s4", "--quick", "--out", str(tmp_path)]
    assert cli.main(command) == 130
    assert "go on" in capsys.readouterr().err
    assert not (tmp_path / "index.html").exists()
    assert cli.main(command) == 0
    assert len(calls) == 3
    assert (tmp_path / "index.html").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    assert cli.main(["reproduce", "figure-s1", "--out", str(file / "below")]) == 1
    assert "below" in capsys.readouterr().err


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "figure-9"])
    assert "'figure-9' is not one of all, table-s1" in capsys.readouterr().err


def test_markup_in_texts_is_only_text(tmp_path):
    verdict = Verdict("a < b & c", "<i>", "|", "", False, "why")
    exhibit = Exhibit("Fig. <1>", "text", verdicts=[verdict])
    page = publish({"fig": exhibit}, tmp_path, 1.0).read_text()
    assert "a &lt; b &amp; c" in page and "<i>" not in page
    assert "\\|" in (tmp_path / "verdicts.md").read_text()
