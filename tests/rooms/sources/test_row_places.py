"""Columns and rows that are left out, and where those that are left stand."""

import gzip

import numpy as np
import pytest

from cprime import GaussianMixture, KMeans, open_data
from cprime.estimators.predictions import predictions


@pytest.fixture(params=["plain", "packed"])
def written(request, tmp_path):
    def write(text):
        path = tmp_path / ("x.csv" if request.param == "plain" else "x.csv.gz")
        content = text.encode()
        path.write_bytes(content if path.suffix == ".csv" else gzip.compress(content))
        return path

    return write


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b,name\n1,2,x\n3,{},y\n", 3),
        ('a,b,name\n1,2,"x\ny"\n\n3,{},z\n5,6,z\n', 5),
        ("\n".join(["a,b,name", *["1,2,x"] * 5000, "3,{},y\n"]), 5002),
    ],
)
def test_errors_name_lines_of_text_files(written, text, line):
    path = written(text.format(""))
    with pytest.raises(ValueError, match=f"NaN at line {line}, column 1 "):
        KMeans(1).fit(open_data(path, "a,b"))
    with pytest.raises(ValueError, match=f"holds nan at line {line}, column 'b'"):
        open_data(path, "a,b").standardized()
    known = KMeans(1).fit([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match=f"Line {line} of x.csv.* holds nan in"):
        list(predictions(known, open_data(path, "a,b")))
    with pytest.raises(ValueError, match=f"holds 'none here' in line {line}, not a"):
        open_data(written(text.format("none here")), "a,b")
    with pytest.raises(ValueError, match=f"Line {line} of .* has 4 columns, not 3"):
        open_data(written(text.format("4,5")), "a,b")


def test_without_names_the_first_row_is_the_first_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1.5,2.5\n,3.5\n")
    with pytest.raises(ValueError, match="NaN at line 2, column 0;"):
        KMeans(1).fit(path)


def test_other_files_have_rows(tmp_path):
    np.save(tmp_path / "x.npy", [[1.0, 2.0], [np.nan, 4.0]])
    with pytest.raises(ValueError, match="NaN at row 1, column 0;"):
        KMeans(1).fit(tmp_path / "x.npy")


def test_columns_are_left_out(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,a,b,name\n7,1,2,x\n8,3,4,y\n")
    with pytest.raises(ValueError, match="leave the column out with drop='name'"):
        open_data(path)
    assert open_data(path, drop="name").names == ("id", "a", "b")
    assert open_data(path, drop=["name", "i*"]).load().tolist() == [[1, 2], [3, 4]]
    assert open_data(path, "b,a,id", drop="id").names == ("b", "a")
    assert open_data(np.eye(3), drop="1").load().tolist() == [[1, 0], [0, 0], [0, 1]]
    with pytest.raises(ValueError, match="has no column 'nome': it has 'id', 'a'"):
        open_data(path, drop="nome")
    with pytest.raises(ValueError, match="has no columns left"):
        open_data(path, "a", drop="a,name")
    with pytest.raises(ValueError, match="drop=3 should be names or patterns"):
        open_data(path, drop=3)


def test_all_columns_of_text_are_named_where_types_are_known(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1.0, 2.0], "who": ["x", "y"], "where": ["u", "v"]})
    with pytest.raises(ValueError, match="leave it out with drop='who,where'"):
        open_data(table)
    assert open_data(table, drop="who,where").names == ("a",)


@pytest.mark.parametrize("memory", [None, 2**20])
def test_rows_with_missing_values_are_left_out(tmp_path, memory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 2))
    missing = rng.random(len(X)) < 0.1
    X[missing, rng.integers(2, size=missing.sum())] = np.nan
    np.save(tmp_path / "x.npy", X)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g")
    for name in ("x.npy", "x.csv"):
        data = open_data(tmp_path / name, memory=memory, drop_missing=True)
        assert data.in_memory == (memory is None)
        np.testing.assert_array_equal(data.load(), X[~missing])
        np.testing.assert_array_equal(data.place_of.dropped, np.flatnonzero(missing))
        last = int(np.flatnonzero(~missing)[-1])
        expected = f"row {last}" if name == "x.npy" else f"line {last + 1}"
        assert data.standardized().place_of(data.n_rows - 1) == expected
    found = GaussianMixture(2, random_state=0).fit(open_data(X, drop_missing=True))
    same = GaussianMixture(2, random_state=0).fit(X[~missing])
    np.testing.assert_array_equal(found.means_, same.means_)


def test_some_row_must_be_left():
    with pytest.raises(ValueError, match="Every row of an array has a missing value"):
        open_data(np.full((3, 2), np.nan), drop_missing=True)
