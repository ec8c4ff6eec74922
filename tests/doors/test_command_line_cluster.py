"""`cprime fit folder/ --cluster`: the same model as on one machine, whoever dies."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import INTERRUPTIBLE, done, run
from distributed import LocalCluster

from cprime.sources.cluster_folder import Piece, read_piece

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LENGTHS, D = (9_000, 0, 7_001, 12_000), 4
PATIENCE = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four files in groups of 5,000 rows, with weights and names of rows."""
    place = tmp_path_factory.mktemp("data") / "flows"
    place.mkdir()
    rng = np.random.default_rng(0)
    for i, n_rows in enumerate(LENGTHS):
        X = rng.normal(size=(n_rows, D)) + 2.5 * rng.integers(0, 4, size=(n_rows, 1))
        columns = {f"f{j}": X[:, j] for j in range(D)}
        columns |= {
            "times": rng.random(n_rows),
            "name": [f"r{k}" for k in range(n_rows)],
        }
        file = place / f"part-{i}.parquet"
        pq.write_table(pa.table(columns), file, row_group_size=5_000)
    return place


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as found:
        found.wait_for_workers(2, timeout=60)
        yield found.scheduler_address


def known(stdout):
    """Return what a fit came to, without what is not of the fit itself."""
    found = json.loads(stdout)
    for name in ("seconds", "files", "next", "began", "number_of_clusters"):
        del found[name]
    return found


@pytest.mark.parametrize(
    "options",
    [
        ["--columns", "f*", "--init", "k-means||"],
        ["--columns", "f*", "--init", "k-means||", "--weights", "times"],
        [
            *("--columns", "f*", "--model", "mixture", "--covariance", "diag"),
            *("--standardize", "--init", "k-means||"),
        ],
    ],
    ids=["plain", "weights", "standardized"],
)
def test_a_fit_is_the_one_on_this_machine(folder, cluster, tmp_path, options):
    here, there = (tmp_path / f"{name}.parquet" for name in ("here", "there"))
    typed = ["fit", folder, "-k", "6", "--max-iter", "9", "--json", "-q", *options]
    model = tmp_path / "model.cprime"
    expected = done(*typed, "-o", model, "--labels", here)
    found = done(*typed, "-o", model, "--labels", there, "--cluster", cluster)
    assert known(found) == known(expected)
    assert pq.read_table(there).equals(pq.read_table(here))


def test_predictions_are_those_of_this_machine(folder, cluster, tmp_path):
    model = tmp_path / "model.cprime"
    done("fit", folder, "-k", "4", "--columns", "f*", "-o", model)
    tables = tmp_path / "here.csv", tmp_path / "there.csv"
    kept = ["--keep", "name"]
    done("predict", model, folder, "-o", tables[0], *kept)
    said = done("predict", model, folder, "-o", tables[1], *kept, "--cluster", cluster)
    assert "28,001 rows labelled" in said
    assert tables[0].read_bytes() == tables[1].read_bytes()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["-k", "auto"], "-k"),
        (["-k", "3", "--report", "page.html"], "--report"),
        (["-k", "3", "--missing", "drop"], "--missing"),
        (["-k", "3", "--memory", "1GB"], "--memory"),
        (["-k", "3", "--threads", "2"], "--threads"),
        (["-k", "3", "--weights", "times", "--standardize"], "--cluster"),
    ],
)
def test_what_is_for_one_machine_is_said(folder, options, name):
    result = run("fit", folder, *options, "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert f"Invalid value for {name}: " in result.stderr


def test_a_cluster_that_is_not_there_is_said(folder, monkeypatch):
    monkeypatch.setattr("cprime.sources.connection.TO_ANSWER", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense"):
        result = run("fit", folder, "-k", "3", "--cluster", address)
        assert result.exit_code == 1
        assert f"No scheduler answers at '{address}'" in result.stderr
        assert "'dask scheduler'" in result.stderr


def test_files_that_cannot_be_read_are_said(folder, cluster, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n1,2\n")
    result = run("fit", rows, "-k", "1", "--cluster", cluster)
    assert "whose workers read .parquet and .arrow files" in result.stderr
    result = run("fit", folder, "-k", "3", "--cluster", cluster)
    assert "Column 'name' of part-0.parquet holds text" in result.stderr
    holes = tmp_path / "holes"
    holes.mkdir()
    for i in range(2):
        X = np.zeros(4_000)
        X[123] = np.nan if i else 0.0
        pq.write_table(pa.table({"a": X, "b": X}), holes / f"{i}.parquet")
    for command in (
        ["fit", holes, "-k", "2", "-o", tmp_path / "m.cprime"],
        ["predict", _model_of_zeros(tmp_path), holes, "-o", tmp_path / "t.csv"],
    ):
        result = run(*command, "--cluster", cluster)
        assert result.exit_code == 1
        assert "NaN at row 4123, column 0 ('a')" in result.stderr


def _model_of_zeros(tmp_path):
    file, model = tmp_path / "zeros.parquet", tmp_path / "zeros.cprime"
    X = np.random.default_rng(0).random(50)
    pq.write_table(pa.table({"a": X, "b": X}), file)
    done("fit", file, "-k", "2", "-o", model)
    return model


def test_a_worker_that_does_not_see_the_files_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"A worker has no file .* same place"):
        read_piece(Piece(tmp_path / "a.parquet", None, 3), ["a"], "f8", None, None)


def begun(typed, kept):
    """Start a fit in a process of its own, and wait until it is in full swing."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *map(str, typed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    begin, seen = time.monotonic(), set()
    # The first of them hold no iteration yet.
    while len(seen) < 8:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begin < PATIENCE
        files = kept.glob("checkpoint-*.cprime")
        seen |= {(file.name, file.stat().st_mtime_ns) for file in files}
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_fit_that_is_ended_goes_on_from_its_checkpoint(
    folder, cluster, tmp_path, how
):
    kept, model = tmp_path / "kept", tmp_path / "model.cprime"
    typed = ["fit", folder, "-k", "40", "--columns", "f*", "--tol", "0", "-o", model]
    typed += ["--max-iter", "60", "--json"]
    expected = done(*typed, "--init", "k-means||", "-q")
    typed += ["--init", "k-means||", "--cluster", cluster]
    typed += ["--checkpoint", kept, "--every", "0"]
    process = begun(typed, kept)
    os.kill(process.pid, how)
    out, err = process.communicate(timeout=PATIENCE)
    if how == signal.SIGINT:
        assert process.returncode == 130, err
        assert "To continue: cprime fit" in err and "--resume" in err
        assert json.loads(out)["complete"] is False
    found = done(*typed, "--resume", "-q")
    assert "iteration" in json.loads(found)["began"]
    assert known(found) == known(expected)
