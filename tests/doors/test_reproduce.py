"""`cprime reproduce` runs the paper, shows it, and cannot be fooled."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from command_line import INTERRUPTIBLE

from cprime import bounds, cli
from cprime.experiments import (
    EXPERIMENTS,
    claims,
    coverage,
    figure_1,
    figure_s1,
    figure_s2,
    figure_s3,
    figure_s4,
    formulas,
    overlap_claims,
    protein,
    published,
    reproduction,
    table_s1,
)
from cprime.experiments.ensemble import QUICK
from cprime.experiments.exhibits import UNEXPLAINED, Exhibit, Kind, Verdict, score
from cprime.experiments.publication import publish
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.models import Isotropic
from cprime.theta import Theta
from cprime.truncation import Truncated

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
    return module.show(Records(out / "results.jsonl", reproduction.version()), True)


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


# The page explains: the paper's figures and its table show more than one grid, and the
# starts that it prints are not those of either form of k-means++.
CONTRADICTED = {
    "Figs. 1 and S2, grid: L of the truth less F of its phi",
    "Fig. 1, grid: mean L at the start",
    "Fig. 1, grid: the same value, read as mean F at the start",
}


@pytest.mark.parametrize("name", NAMES)
def test_all_other_claims_hold(out, name):
    assert failing(shown(name, out).verdicts) - CONTRADICTED == set()


def test_a_crossed_number_comes_with_a_reason(out):
    verdicts = [v for name in NAMES for v in shown(name, out).verdicts]
    assert len(verdicts) > 100
    assert [
        v.claim for v in verdicts if v.why in ("", UNEXPLAINED) and not v.holds
    ] == []


def test_a_second_run_has_nothing_left_to_do(out, monkeypatch, capsys):
    def refuse(settings, records):
        assert list(settings) == []
        return iter(())

    monkeypatch.setattr(reproduction, "run", refuse)
    monkeypatch.setenv("CPRIME_DATA", str(SHARED))
    before = (out / "results.jsonl").read_bytes()
    assert cli.main(["reproduce", *NAMES, "--quick", "--out", str(out)]) == 0
    assert (out / "results.jsonl").read_bytes() == before


def failing(verdicts):
    return {verdict.claim for verdict in verdicts if verdict.holds is False}


class Exchanged:
    """Results of which two values of a setting have changed places."""

    def __init__(self, out, name, one, other):
        self._records = Records(out / "results.jsonl", reproduction.version())
        self._name, self._exchange = name, {one: other, other: one}

    def __getitem__(self, setting):
        values = dict(setting.values)
        # Formulas of k-means are not compared with those of other algorithms.
        if self._name in values and setting.runner != "formulas":
            value = values[self._name]
            values[self._name] = self._exchange.get(value, value)
            if self._name == "kind" and values["seed"] == QUICK.shown(value):
                values["seed"] = QUICK.shown(values["kind"])
        other = Setting.of(setting.runner, **values)
        # lazy-k-means, for one, has no C' = 2 to change places with.
        return self._records[other if other in self._records else setting]


@pytest.mark.parametrize(
    "module, name, values, claims_that_fail",
    [
        (table_s1, "kind", ("grid", "random"), "Tab. S1, grid, k-means: mean L"),
        (table_s1, "seeding", ("greedy", "plain"), "Tab. S1, grid, k-means: mean NMI"),
        (table_s1, "eps", (0.1, 3.0), "Tab. S1, random, lazy-k-means: mean L"),
        (table_s1, "deviation", (1.0, 1.05), "Tab. S1, random, lazy-k-means: mean L"),
        (figure_1, "seeding", ("greedy", "rows"), "Fig. 1A, k-means on the grid, mean"),
        (
            table_s1,
            "C_prime",
            (1, 2),
            "Tab. S1, random, k-means-C' less k-means: mean L",
        ),
        (figure_s2, "C_prime", (1, 2), "Fig. S2, random"),
        (figure_s3, "kind", ("grid", "random"), "Fig. S3B"),
        (figure_s4, "C_prime", (1, 7), "Fig. S4, k-means: L falls"),
        (figure_s4, "C_prime", (1, 7), "Fig. S4, k-means: phi falls"),
        (claims, "C_prime", (1, 2), "Section 5: on the random set the best likelihood"),
        (claims, "C_prime", (1, 2), "Section 5: k-means pushes centres"),
        (claims, "n_per_cluster", (100, 1000), "Section 5: this overfitting shrinks"),
        (claims, "factor", (0.0, 8.0), "Section 4 suggests: with sigma^2 held wrongly"),
        (claims, "start", ("k-means++", "random rows"), "Section 4 suggests: with"),
    ],
)
def test_results_of_something_else_do_not_hold(
    out, module, name, values, claims_that_fail
):
    if module is figure_s3 and "figure-s3" not in NAMES:
        pytest.skip("the protein data are not here")
    fails = failing(module.show(Exchanged(out, name, *values), True).verdicts)
    assert any(claim.startswith(claims_that_fail) for claim in fails)


@pytest.mark.parametrize(
    "formula, claim",
    [
        ("free_energy_of_variance", "Section E: Eq. 7, Prop. 3 and Cor. 2"),
        ("free_energy_of_quantization_error", "Section E: Eq. 7, Prop. 3 and Cor. 2"),
        ("free_energy_of_entropy", "Section E: Eq. 7 and Prop. 4"),
    ],
)
def test_a_wrong_formula_is_noticed(out, monkeypatch, formula, claim):
    right = getattr(bounds, formula)
    monkeypatch.setattr(
        bounds, formula, lambda *given, **more: right(*given, **more) + 1e-5
    )
    found = {c: formulas.run("grid", c, 0) for c in (1, 2)}

    class Wrong(Records):
        def __getitem__(self, setting):
            if setting.runner == "formulas":
                return found[min(setting["C_prime"], 2)]
            return super().__getitem__(setting)

    fails = failing(
        claims.show(Wrong(out / "results.jsonl", reproduction.version()), True).verdicts
    )
    assert any(of.startswith(claim) for of in fails)
    assert all(of.startswith("Section E") for of in fails)


def test_a_wrong_m_step_is_noticed(tmp_path, monkeypatch):
    right = Isotropic.maximize

    def wrong(self, stats, about):
        theta = right(self, stats, about)
        return Theta(1.02 * theta.means, theta.covariance)

    monkeypatch.setattr(Isotropic, "maximize", wrong)
    records = Records(tmp_path / "results.jsonl", "1")
    list(reproduction.run(figure_s4.settings(True), records))
    fails = failing(figure_s4.show(records, True).verdicts)
    assert "Fig. S4, k-means: F rises in every iteration" in fails


def test_a_posterior_that_does_not_sum_to_one_is_noticed(monkeypatch):
    right = Truncated.normalise

    def wrong(self):
        q, *others = right(self)
        return (0.999 * q, *others)

    monkeypatch.setattr(Truncated, "normalise", wrong)
    assert failing(figure_s1.show(None, True).verdicts)


def test_centres_pushed_apart_are_measured():
    true = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    found = np.array([[-0.25, 0.0], [1.25, 0.0], [9.0, 9.0]])
    np.testing.assert_allclose(overlap_claims._stretches(true, found), [1.5])
    np.testing.assert_allclose(overlap_claims._stretches(true, true), [1.0])


def test_kinds_are_counted_apart():
    four = dict.fromkeys(["one", "two", "three", "four"], False)
    verdicts = [
        Verdict("", "", "", "", True, alternatives=four),
        Verdict("", "", "", "", True, alternatives=four | {"five": True}),
        Verdict("", "", "", "", True, alternatives={"one": False}),
        Verdict("", "", "", "", True),
        Verdict("", "", "", "", False, alternatives=four),
        Verdict("", "", "", "", None, alternatives=four),
    ]
    assert [verdict.kind for verdict in verdicts] == [
        Kind.PINS_DOWN,
        *[Kind.CONSISTENT] * 3,
        Kind.CONTRADICTS,
        Kind.NOT_JUDGED,
    ]
    assert verdicts[1].power == "4 of 5; not five"
    assert [bool(v.why) for v in verdicts] == [False] * 4 + [True] * 2
    assert score(verdicts) == (
        "Of 5 printed numbers and claims, the runs pin down 1, are consistent with 3 "
        "and contradict 1; 1 are not judged."
    )


def test_every_printed_number_is_held_against_four_wrong_ways(out):
    few = {
        verdict.claim
        for name in NAMES
        for verdict in shown(name, out).verdicts
        if verdict.holds is not None
        and re.match(r"[-+]?[0-9]", verdict.published)
        and len(verdict.alternatives) < 4
    }
    assert few == set()


def test_a_quick_run_judges_no_best_of_a_hundred_runs(out):
    best = [v for v in shown("table-s1", out).verdicts if " best " in v.claim]
    assert len(best) > 24
    assert {v.kind for v in best} == {Kind.NOT_JUDGED}


def test_all_claims_of_the_text_are_judged_or_a_reason_is_given(out):
    verdicts = [v.claim for name in NAMES for v in shown(name, out).verdicts]
    laws = Path(__file__).parents[1] / "laws"
    for claim in coverage.CLAIMS:
        assert claim.verdicts or claim.laws or claim.why_not, claim
        for law in claim.laws:
            assert (laws / law).is_file(), law
        for start in claim.verdicts:
            needs_protein = start[:7] in ("Fig. 1G", "Fig. 1H", "Fig. S3")
            if needs_protein and "figure-1-protein" not in NAMES:
                continue
            assert any(of.startswith(start) for of in verdicts), start


class Changed(Records):
    """Results some of whose values are other ones."""

    def __init__(self, out, kind, change):
        super().__init__(out / "results.jsonl", reproduction.version())
        self._kind, self._change = kind, change

    def __getitem__(self, setting):
        result = super().__getitem__(setting)
        if setting.runner != "birch" or setting["kind"] not in self._kind:
            return result
        changed = {
            name: self._change(name, np.array(values)).tolist()
            for name, values in result.items()
            if name in ("L", "F", "phi")
        }
        return result | changed


def higher(name, values):
    return values + (0.1 if name in ("L", "F") else 0.0)


def wider(name, values):
    return values * (1.05 if name == "phi" else 1.0)


@pytest.mark.parametrize(
    "kinds, change, claims_that_fail",
    [
        (
            ["random"],
            higher,
            [
                "Tab. S1, random, k-means: mean L, less the truth's",
                "Tab. S1, random, k-means-C': mean L, less the truth's",
                "Tab. S1, random, lazy-k-means: mean L, less the truth's",
                "Tab. S1, random, k-means: mean L less F of mean phi (Cor. 2)",
            ],
        ),
        (
            ["grid", "random"],
            wider,
            [
                "Tab. S1, grid, k-means: mean L less F of mean phi (Cor. 2)",
                "Tab. S1, grid, k-means-C': mean L less F of mean phi (Cor. 2)",
                "Tab. S1, grid, lazy-k-means: mean L less F of mean phi (Cor. 2)",
                "Tab. S1, random, k-means: mean L less F of mean phi (Cor. 2)",
            ],
        ),
    ],
)
def test_results_that_are_a_little_off_are_noticed(
    out, kinds, change, claims_that_fail
):
    right = Records(out / "results.jsonl", reproduction.version())
    before = failing(table_s1.show(right, True).verdicts)
    after = failing(table_s1.show(Changed(out, kinds, change), True).verdicts)
    assert set(claims_that_fail) <= after - before
    # What does not hang on it stands.
    assert not any("purity" in claim or "NMI" in claim for claim in after - before)


@pytest.mark.parametrize(
    "kind, name, measure, value, claim",
    [
        ("random", "k-means", "L", -5.95, "k-means: mean L, less the truth's"),
        ("random", "k-means-C'", "L", -5.95, "k-means-C': mean L, less the truth's"),
        ("grid", "k-means", "L", -6.217, "k-means: mean L"),
        ("grid", "lazy-k-means", "phi", 5952.0, "lazy-k-means: mean phi"),
        ("random", "lazy-k-means", "purity", 0.89, "lazy-k-means: mean purity, less"),
    ],
)
def test_a_misprint_is_noticed(out, monkeypatch, kind, name, measure, value, claim):
    of_line = published.TABLE_S1[kind][name]
    monkeypatch.setitem(of_line, measure, (value, of_line[measure][1]))
    records = Records(out / "results.jsonl", reproduction.version())
    fails = failing(table_s1.show(records, True).verdicts)
    assert any(of.startswith(f"Tab. S1, {kind}, {claim}") for of in fails)


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, capsys):
    calls = []

    def run(**values):
        calls.append(values)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return {"F": [-2.7, -2.6], "L": [-2.3, -2.4], "phi": [2.0, 1.0], "centers": C7}

    C7 = np.zeros((7, 2)).tolist()
    runner = reproduction.Runner(run, lambda **_: 1.0, fills_machine=True)
    monkeypatch.setitem(reproduction.RUNNERS, "seven", runner)
    command = ["reproduce", "figure-s4", "--quick", "--out", str(tmp_path)]
    assert cli.main(command) == 130
    assert "continue" in capsys.readouterr().err
    assert not (tmp_path / "index.html").exists()
    assert cli.main(command) == 0
    # What was interrupted is run again, and nothing else.
    again = [values for i, values in enumerate(calls) if values in calls[:i]]
    assert again == [calls[1]]
    assert (tmp_path / "index.html").exists()


def test_a_key_press_ends_all_processes_and_loses_nothing(tmp_path):
    arguments = ["reproduce", "table-s1", "--quick", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    results = tmp_path / "results.jsonl"
    wait_until(lambda: results.exists() and len(results.read_text()) > 0)
    # As a terminal does it: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.endswith("\nInterrupted. Run the same command again to continue.\n")
    assert "Traceback" not in errors
    wait_until(lambda: not is_any_left(process.pid))
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl"]
    assert all(
        "result" in json.loads(line) for line in results.read_text().splitlines()
    )


def is_any_left(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(happened):
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    assert cli.main(["reproduce", "figure-s1", "--out", str(file / "below")]) == 1
    message = capsys.readouterr().err
    assert re.fullmatch(
        r"cprime: Results cannot be written to .*below: "
        r"Not a directory. Choose another folder.\n",
        message,
    )
    assert cli.main(["reproduce", "figure-s1", "--out", str(file)]) == 1
    assert "file is a file" in capsys.readouterr().err


def test_a_second_run_touches_nothing_of_the_first(tmp_path, capsys):
    half_a_line = '{"key": "of a run that is just writ'
    (tmp_path / "results.jsonl").write_text(half_a_line)
    with reproduction.alone_in(tmp_path):
        assert cli.main(["reproduce", "figure-s1", "--out", str(tmp_path)]) == 1
    assert "Another run is at work" in capsys.readouterr().err
    assert (tmp_path / "results.jsonl").read_text() == half_a_line


def test_a_page_that_cannot_be_written_leaves_nothing_behind(tmp_path, capsys):
    (tmp_path / "index.html").mkdir()
    assert cli.main(["reproduce", "figure-s1", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert "index.html could not be written: Is a directory" in message
    assert not any(".part" in path.name for path in tmp_path.iterdir())
    assert not (tmp_path / "running").exists()


def test_what_was_complete_stays_on_the_page(tmp_path, monkeypatch):
    command = ["reproduce", "--quick", "--out", str(tmp_path)]
    assert cli.main([*command, "figure-s4"]) == 0
    assert cli.main([*command, "figure-s1"]) == 0
    page = (tmp_path / "index.html").read_text()
    assert '<section id="figure-s4">' in page and '<section id="figure-s1">' in page


def test_missing_data_are_missed_before_anything_else_is_run(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("CPRIME_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for variable in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE"):
        monkeypatch.setenv(variable, os.devnull if "FILE" in variable else "")
    protein._data.cache_clear()
    protein._seeds.cache_clear()
    out = tmp_path / "out"
    assert cli.main(["reproduce", "--quick", "--out", str(out)]) == 1
    message = capsys.readouterr().err
    assert "could not be downloaded" in message and "CPRIME_DATA" in message
    assert (out / "results.jsonl").read_text() == ""


def test_a_missing_library_is_named(tmp_path, monkeypatch, capsys):
    for drawing in ("drawing", "figure_s1"):
        monkeypatch.delitem(sys.modules, f"cprime.experiments.{drawing}")
    for module in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, module, None)
    assert cli.main(["reproduce", "figure-s1", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("cprime: cprime reproduce needs matplotlib")
    assert message.endswith("pip install 'cprime[plots]'\n")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_is_refused(capsys):
    assert cli.main(["reproduce", "figure-9"]) == 2
    assert (
        "'figure-9' is not an experiment; choose from all, table-s1"
        in capsys.readouterr().err
    )


def test_markup_in_texts_is_only_text(tmp_path):
    verdict = Verdict("a < b & c", "<i>", "|", "", False, "why")
    exhibit = Exhibit("Fig. <1>", "text", verdicts=[verdict])
    page = publish(
        {"fig": exhibit}, tmp_path, quick=False, date="2026-01-01", seconds=1.0
    ).read_text()
    assert "a &lt; b &amp; c" in page and "<i>" not in page
    assert "\\|" in (tmp_path / "verdicts.md").read_text()
