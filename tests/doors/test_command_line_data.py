"""Columns, rows and weights on the command line: what is used, and what is left out."""

import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from command_line import done, features, flows, run
from numpy.testing import assert_allclose, assert_array_equal

import cprime

COLUMNS = ["f0", "f1", "f2", "f3"]
FIT = ["-k", 4, "--init", "random", "--restarts", 1]
DIAG = ["--model", "mixture", "--covariance", "diag"]


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def gaps(in_folder):
    """Rows of which some have gaps, as flows.csv; return them with NaN there."""
    table = flows()
    X = features(table)
    X[7::50, 1] = np.nan
    columns = {
        name: pa.array(X[:, i], from_pandas=True) for i, name in enumerate(COLUMNS)
    }
    columns["name"] = table.column("name")
    pa.csv.write_csv(pa.table(columns), "flows.csv")
    return X


@pytest.fixture
def counted(in_folder):
    """Rows with a column 'n' of how often they count, and the same rows repeated."""
    X = features(flows())[:300]
    n = np.random.default_rng(0).integers(0, 4, size=len(X))
    names = [*COLUMNS, "n"]
    pa.csv.write_csv(pa.table(dict(zip(names, [*X.T, n]))), "once.csv")
    repeated = pa.table(dict(zip(COLUMNS, np.repeat(X, n, axis=0).T)))
    pa.csv.write_csv(repeated, "repeated.csv")
    return X, n


def test_columns_of_text_are_left_out_by_name(in_folder):
    pa.csv.write_csv(flows(), "flows.csv")
    said = run("fit", "flows.csv", *FIT).stderr
    assert said.endswith("leave the column out with --drop 'name'.\n")
    done("fit", "flows.csv", *FIT, "--drop", "name, id", "-o", "dropped", "-q")
    done("fit", "flows.csv", *FIT, "--columns", "f*", "-o", "chosen", "-q")
    dropped, chosen = cprime.load("dropped"), cprime.load("chosen")
    assert list(dropped.feature_names_in_) == COLUMNS
    assert_array_equal(dropped.cluster_centers_, chosen.cluster_centers_)
    result = run("fit", "flows.csv", *FIT, "--drop", "nome", "-o", "m")
    assert "flows.csv has no column 'nome'" in result.stderr and result.exit_code == 1


def test_rows_with_gaps_are_an_error_that_says_what_to_do(gaps):
    for more in ([], ["--standardize"]):
        said = run("fit", "flows.csv", *FIT, "--drop", "name", *more).stderr
        assert "nan at line 9, column" in said.lower()
        assert "add --missing drop to leave those rows out" in said


def test_rows_with_gaps_are_left_out_aloud(gaps):
    typed = ["fit", "flows.csv", *FIT, "--drop", "name", "--missing", "drop"]
    result = run(*typed, "-o", "m.cprime")
    assert result.exit_code == 0
    warning = "warning: 30 of 1,500 rows have missing values and are left out.\n"
    assert result.stderr.startswith(warning)
    assert "flows.csv: 1,470 rows x 4 columns" in result.stdout
    complete = gaps[~np.isnan(gaps).any(axis=1)]
    same = cprime.KMeans(4, init="random", n_init=1, random_state=0).fit(complete)
    found = cprime.load("m.cprime")
    assert_allclose(found.cluster_centers_, same.cluster_centers_, rtol=1e-12)
    # What may be done next reads the same rows.
    command = result.stdout.rpartition("next: cprime ")[2]
    assert "--missing drop" in command
    assert run(*shlex.split(command)).exit_code == 0
    refused = run(*typed, "--labels", "l.csv", "-o", "m.cprime")
    assert refused.exit_code == 2 and "have no label" in refused.stderr


def test_gaps_are_marginalized_where_the_model_can(gaps):
    typed = ["fit", "flows.csv", "-k", 3, "--drop", "name", "--missing", "marginalize"]
    done(*typed, *DIAG, "-o", "m.cprime", "--labels", "l.csv", "-q")
    same = cprime.GaussianMixture(
        3, covariance_type="diag", missing="marginalize", random_state=0
    ).fit(gaps)
    assert_allclose(cprime.load("m.cprime").means_, same.means_, rtol=1e-9)
    assert len(pa.csv.read_csv("l.csv")) == len(gaps)
    for more, expected in (
        ([], "marginalize needs a number of clusters and --model mixture with"),
        (["--model", "mixture"], "--covariance diag, spherical or isotropic; drop"),
        ([*DIAG, "--standardize"], "cannot be combined with --standardize"),
        ([*DIAG, "-k", "auto"], "marginalize needs a number of clusters"),
    ):
        result = run(*typed, *more, "-o", "m.cprime")
        assert result.exit_code == 2 and expected in result.stderr
    result = run("choose", "flows.csv", "--missing", "marginalize")
    assert result.exit_code == 2 and "use drop" in result.stderr


@pytest.mark.parametrize("more", [[], ["--standardize"], [*DIAG, "--init", "kmeans"]])
def test_weights_are_repetitions(counted, more):
    for name, weights in (("once", ["--weights", "n"]), ("repeated", [])):
        done("fit", f"{name}.csv", "-k", 3, *weights, *more, "-o", name, "-q")
    once, repeated = (cprime.load(name) for name in ("once", "repeated"))
    if "--standardize" in more:
        (scaler, once), (same, repeated) = (
            m.named_steps.values() for m in (once, repeated)
        )
        assert_allclose(scaler.mean_, same.mean_, rtol=1e-12)
        assert_allclose(scaler.scale_, same.scale_, rtol=1e-12)
    assert list(getattr(once, "feature_names_in_", COLUMNS)) == COLUMNS
    assert once.free_energy_ == pytest.approx(repeated.free_energy_, rel=1e-9)


def test_weights_count_in_comparisons_and_choices(counted):
    few = ["--max-clusters", 4, "--shapes", "diag", "--standardize"]
    for command in (["compare", "-k", 3, "--standardize"], ["choose", *few]):
        name, *more = command
        once, repeated = (
            json.loads(done(name, *of, *more, "--json"))
            for of in (["once.csv", "--weights", "n"], ["repeated.csv"])
        )
        if name == "compare":
            assert once["number_of_clusters"] == repeated["number_of_clusters"]
            for key in ("free_energy", "log_likelihood"):
                found, same = (
                    [fit[key] for fit in of["fits"]] for of in (once, repeated)
                )
                assert_allclose(found, same, rtol=1e-9)
        else:
            assert once["clusters"] == repeated["clusters"]
            assert "--weights n" in once["next"]


def test_what_is_no_weight_is_named_with_its_line(in_folder):
    with open("rows.csv", "w") as file:
        file.write("a,b,n\n1,2,1\n,4,-5\n5,6,1\n\n7,8,-1\n")
    typed = ["fit", "rows.csv", "-k", 1, "--weights", "n", "-o", "m"]
    said = run(*typed).stderr
    assert "Column 'n' of rows.csv holds -5 at line 3, which is not a weight" in said
    said = run(*typed, "--missing", "drop").stderr
    assert "Column 'n' of rows.csv holds -1 at line 6, which is not a weight" in said


def test_what_is_too_large_is_named_with_its_line(in_folder):
    with open("rows.csv", "w") as file:
        file.write("a,row 2\n1,2\n,4\n5,6\n\n7,1e300\n")
    for command in (["fit", "-o", "m"], ["compare"]):
        name, *more = command
        said = run(name, "rows.csv", "-k", 1, "--missing", "drop", *more).stderr
        assert "is 1e+300 at line 6, column 1" in said and "row " not in said
