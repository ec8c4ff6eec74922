"""Results survive interrupts, and are never taken for those of something else."""

import os
import signal

import pytest

import cprime
from cprime.experiments import reproduction
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

ONE, TWO = Setting.of("fake", x=1), Setting.of("fake", x=2)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "results.jsonl"


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
    records = Records(file, "1")
    assert list(reproduction.run([ONE], records)) == [ONE]
    again = Records(file, "1")
    assert again[ONE] == records[ONE] == {"y": 0.1}
    assert reproduction.missing([ONE, TWO, TWO], again) == [TWO]
    assert list(reproduction.run([TWO], again)) == [TWO]
    assert runs == [1, 2]
    assert Records(file, "1")[TWO] == {"y": 0.2}
    assert again.seconds(TWO) >= 0.0


def test_a_line_cut_short_is_run_again(file, runs):
    list(reproduction.run([ONE, TWO], Records(file, "1")))
    whole = file.read_text()
    file.write_text(whole[:-20])
    records = Records(file, "1")
    assert ONE in records and TWO not in records
    list(reproduction.run([TWO], records))
    assert ONE in Records(file, "1") and TWO in Records(file, "1")


@pytest.mark.parametrize(
    "line", [b"what?", b"5", b"[1, 2]", b'{"key": "a"}', b"\xff\xfe", b""]
)
def test_a_line_that_is_no_result_is_named(file, runs, line):
    list(reproduction.run([ONE], Records(file, "1")))
    whole = file.read_bytes()
    file.write_bytes(line + b"\n" + whole)
    with pytest.raises(ValueError, match=r"Line 1 of .*results.jsonl is not a result"):
        Records(file, "1")
    assert file.read_bytes() == line + b"\n" + whole


def test_a_file_of_somebody_else_is_left_alone(file):
    file.write_text("my diary, one line, no end")
    with pytest.raises(ValueError, match=r"Line 1 of .*results.jsonl is not a result"):
        Records(file, "1")
    assert file.read_text() == "my diary, one line, no end"


def test_results_of_another_version_do_not_count(file, runs):
    list(reproduction.run([ONE], Records(file, "1")))
    assert ONE not in Records(file, "2")
    assert ONE in Records(file, "1")


def test_a_version_is_of_the_experiments_too(monkeypatch):
    reproduction.version.cache_clear()
    before = reproduction.version()
    assert before.startswith(cprime.__version__)
    sources = reproduction.inspect.getsource
    monkeypatch.setattr(
        reproduction.inspect,
        "getsource",
        lambda module: sources(module).replace("0.15, 2.5, 18", "0.15, 2.5, 17"),
    )
    reproduction.version.cache_clear()
    assert reproduction.version() != before
    reproduction.version.cache_clear()


def test_only_one_at_a_time(tmp_path):
    with (
        reproduction.alone_in(tmp_path),
        pytest.raises(FileExistsError, match="Another run is at work"),
        reproduction.alone_in(tmp_path),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
    # Left by a process that is no more.
    (tmp_path / "running").write_text(str(2**22 + 1))
    with reproduction.alone_in(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_killed_is_noticed(file, monkeypatch):
    monkeypatch.setattr(reproduction, "_run", die)
    monkeypatch.setattr(reproduction, "allowed_threads", lambda: 2)
    fake = reproduction.Runner(die, lambda x: x)
    monkeypatch.setitem(reproduction.RUNNERS, "fake", fake)
    with pytest.raises(RuntimeError, match="ended from outside"):
        list(reproduction.run([ONE, TWO], Records(file, "1")))


def die(setting):
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_is_not_a_number_is_not_written(file):
    records = Records(file, "1")
    with pytest.raises(ValueError, match="JSON"):
        records.add(ONE, {"y": float("nan")}, 0.0)
    assert ONE not in Records(file, "1")
