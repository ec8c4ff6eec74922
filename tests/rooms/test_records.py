"""Results survive interrupts, and are never taken for those of something else."""

import pytest

import cprime
from cprime.experiments import reproduction
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

ONE, TWO = Setting.of("fake", x=1), Setting.of("fake", x=2)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "results.jsonl"


@pytest.fixture
def runs(monkeypatch):
    """Return what the fake runner was asked for."""
    asked = []

    def fake(x):
        asked.append(x)
        return {"y": 0.1 * x}

    runner = reproduction.Runner(fake, lambda x: x, fills_machine=True)
    monkeypatch.setitem(reproduction.RUNNERS, "fake", runner)
    return asked


def test_a_setting_is_its_values_in_any_order():
    assert Setting.of("fake", a=1, b=2) == Setting.of("fake", b=2, a=1)
    assert Setting.of("fake", a=1)["a"] == 1
    assert len({ONE, TWO, Setting.of("fake", x=1)}) == 2


def test_what_was_run_is_not_run_again(file, runs):
    records = Records(file)
    assert list(reproduction.run([ONE], records)) == [ONE]
    again = Records(file)
    assert again[ONE] == records[ONE] == {"y": 0.1}
    assert reproduction.missing([ONE, TWO, TWO], again) == [TWO]
    assert list(reproduction.run([TWO], again)) == [TWO]
    assert runs == [1, 2]
    assert Records(file)[TWO] == {"y": 0.2}
    assert again.seconds(TWO) >= 0.0


def test_a_line_cut_short_is_run_again(file, runs):
    list(reproduction.run([ONE, TWO], Records(file)))
    whole = file.read_text()
    file.write_text(whole[:-20])
    records = Records(file)
    assert ONE in records and TWO not in records
    list(reproduction.run([TWO], records))
    assert ONE in Records(file) and TWO in Records(file)


def test_a_line_that_is_no_result_is_named(file, runs):
    list(reproduction.run([ONE], Records(file)))
    file.write_text("what?\n" + file.read_text())
    with pytest.raises(ValueError, match=r"Line 1 of .*results.jsonl is not a result"):
        Records(file)


def test_results_of_another_version_do_not_count(file, runs, monkeypatch):
    list(reproduction.run([ONE], Records(file)))
    monkeypatch.setattr(cprime, "__version__", "9.9")
    assert ONE not in Records(file)


def test_what_is_not_a_number_is_not_written(file):
    records = Records(file)
    with pytest.raises(ValueError, match="JSON"):
        records.add(ONE, {"y": float("nan")}, 0.0)
    assert ONE not in Records(file)
