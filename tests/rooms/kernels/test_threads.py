"""How many threads the environment leaves us."""

import os

import pytest

from cprime.kernels import threads


@pytest.fixture
def four_processors(monkeypatch):
    monkeypatch.setattr(threads, "_processors", lambda: 4)
    monkeypatch.setattr(threads, "_granted", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def test_by_default_as_many_as_there_are_processors(four_processors):
    assert threads.allowed_threads() == 4


@pytest.mark.parametrize(
    ("said", "meant"), [("3", 3), ("8", 8), ("2,1", 2), (" 1 ", 1)]
)
def test_what_a_person_says_counts(four_processors, monkeypatch, said, meant):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert threads.allowed_threads() == meant


@pytest.mark.parametrize("said", ["", "0", "-2", "many"])
def test_what_makes_no_sense_does_not(four_processors, monkeypatch, said):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert threads.allowed_threads() == 4


@pytest.mark.parametrize(
    ("files", "granted"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "nonsense\n"}, None),
        ({}, None),
    ],
)
def test_a_control_group_may_grant_fewer(tmp_path, files, granted):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert threads._granted(tmp_path) == (granted or len(os.sched_getaffinity(0)))
