"""`cprime fit`, `predict` and the rest: what a user with a file gets."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from command_line import N_CLUSTERS, N_ROWS, done, features, flows, run, write
from sklearn import datasets

import cprime
from cprime.cli import bench
from cprime.kernels import native

TOLD = ["label", "probability", "runner_up", "log_density", "outlier_score"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of rows, and models of them, plain and standardized."""
    folder = write(tmp_path_factory.mktemp("flows"))
    data = [folder / "flows.parquet", "--columns", "f*", "-k", N_CLUSTERS]
    done("fit", *data, "-o", folder / "plain.cprime")
    done("fit", *data, "--standardize", "-o", folder / "scaled.cprime")
    return folder


@pytest.fixture(scope="module")
def X():
    return features(flows())


def table(path):
    return pa.parquet.read_table(path)


def test_a_model_is_what_python_fits(folder, X):
    model = cprime.load(folder / "plain.cprime")
    same = cprime.KMeans(N_CLUSTERS, random_state=0).fit(X)
    assert np.array_equal(model.cluster_centers_, same.cluster_centers_)
    assert model.gap_ == same.gap_ and list(model.feature_names_in_) == [
        *["f0", "f1", "f2", "f3"]
    ]


@pytest.mark.parametrize("kind", [".parquet", ".csv", ".npy"])
def test_every_kind_of_file_gives_the_same_model(folder, tmp_path, kind):
    columns = [] if kind == ".npy" else ["--columns", "f*"]
    said = done("fit", folder / f"flows{kind}", *columns, "-k", 3, "-o", tmp_path / "m")
    assert f"flows{kind}: 1,500 rows x 4 columns" in said
    found = cprime.load(tmp_path / "m").cluster_centers_
    same = cprime.KMeans(3, random_state=0).fit(folder / "flows.npy").cluster_centers_
    assert np.array_equal(found, same)


def test_a_fit_ends_with_what_it_came_to(folder, tmp_path):
    model, page, labels = (tmp_path / n for n in ("m.cprime", "r.html", "l.parquet"))
    said = done(
        *("fit", folder / "flows.parquet", "--columns", "f*", "-k", N_CLUSTERS),
        *("--c-prime", 3, "--standardize", "--restarts", 2, "--seed", 4),
        *("-o", model, "--report", page, "--labels", labels),
    )
    fitted = cprime.load(model)[-1]
    assert "flows.parquet: 1,500 rows x 4 columns, standardized" in said
    assert "k-means, 5 clusters, C' = 3" in said
    assert "k-means++, seed 4, best of 2" in said
    assert f"converged after {fitted.n_iter_} iterations" in said
    assert f"{fitted.free_energy_:.4f} nats per row" in said
    assert "C' = 3 is enough here." in said
    assert f"next: cprime predict {model} NEW.parquet -o labels.parquet" in said
    assert "<html" in page.read_text()[:2000]
    assert table(labels).column_names == TOLD and table(labels).num_rows == N_ROWS


def test_a_gap_is_put_into_words(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "cloud.npy", rng.standard_normal((500, 2)))
    said = done("fit", tmp_path / "cloud.npy", "-k", 8, "-o", tmp_path / "m")
    assert "Hard labels lose information." in said
    # First of all, whether there are clusters.
    assert "One cluster describes these rows better. BIC is " in said
    assert f"next: cprime choose {tmp_path / 'cloud.npy'}" in said
    groups = rng.standard_normal((900, 2)) + 2.6 * rng.integers(3, size=(900, 2))
    np.save(tmp_path / "groups.npy", groups)
    said_of_groups = done("fit", tmp_path / "groups.npy", "-k", 9, "-o", tmp_path / "m")
    assert f"next: cprime compare {tmp_path / 'groups.npy'} -k 9" in said_of_groups
    said = done(
        "fit", tmp_path / "cloud.npy", "-k", 8, "--c-prime", "all", "-o", tmp_path / "m"
    )
    assert "C' = all" in said and "nothing is left out" in said


def test_the_same_command_gives_the_same_model(folder, tmp_path):
    for name in ("one", "two"):
        done(
            "fit",
            folder / "flows.npy",
            "-k",
            4,
            "--init",
            "random",
            "-o",
            tmp_path / name,
        )
    one, two = (cprime.load(tmp_path / name) for name in ("one", "two"))
    assert np.array_equal(one.cluster_centers_, two.cluster_centers_)
    assert cprime.describe(tmp_path / "one")["about"]["seed"] == 0


@pytest.mark.parametrize(
    "asked, expected",
    [
        (["--model", "soft"], cprime.SoftKMeans(4, random_state=0)),
        (["--model", "fuzzy"], cprime.FuzzyKMeans(4, random_state=0)),
        (["--model", "mixture"], cprime.GaussianMixture(4, random_state=0)),
        (
            *[["--model", "mixture", "--covariance", "diag", "--c-prime", 2]],
            cprime.GaussianMixture(
                4, covariance_type="diag", c_prime=2, random_state=0
            ),
        ),
        (
            *[["--init", "afk-mc2", "--restarts", 3, "--max-iter", 7, "--tol", 0.1]],
            cprime.KMeans(
                4, init="afk-mc2", n_init=3, max_iter=7, tol=0.1, random_state=0
            ),
        ),
    ],
    ids=["soft", "fuzzy", "mixture", "diag", "search"],
)
def test_every_model_can_be_asked_for(folder, tmp_path, asked, expected):
    done("fit", folder / "flows.npy", "-k", 4, *asked, "-o", tmp_path / "m")
    assert cprime.load(tmp_path / "m").get_params() == expected.get_params()
    assert "4 clusters" in done("info", tmp_path / "m")
    done("predict", tmp_path / "m", folder / "flows.npy", "-o", tmp_path / "l.csv")
    head = (tmp_path / "l.csv").read_text().splitlines()[0].split(",")
    assert head == (TOLD[:3] if "fuzzy" in asked else TOLD)


def test_rows_that_stay_on_disk_give_the_same(folder, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "many.npy", rng.standard_normal((70_000, 4)))
    for name, memory in (("less", ["--memory", "1.1MB"]), ("more", [])):
        command = ["fit", tmp_path / "many.npy", "-k", 3, *memory]
        command += ["--init", "sampled-k-means++", "--max-iter", 3]
        said = done(
            *command, "-o", tmp_path / name, "--labels", tmp_path / f"{name}.npy"
        )
        assert "sampled-k-means++" in said
    less, more = (cprime.load(tmp_path / name) for name in ("less", "more"))
    assert np.array_equal(less.cluster_centers_, more.cluster_centers_)
    less, more = (np.load(tmp_path / f"{name}.npy") for name in ("less", "more"))
    assert np.array_equal(less, more) and len(more) == 70_000


def test_threads_change_nothing(folder, tmp_path):
    before = native.get_num_threads()
    try:
        done("fit", folder / "flows.npy", "-k", 5, "--threads", 1, "-o", tmp_path / "m")
        assert native.get_num_threads() == 1
    finally:
        native.set_num_threads(before)


def test_a_model_nobody_named_is_called_after_the_data(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("fit", folder / "flows.npy", "-k", 2, "-q")
    assert [path.name for path in tmp_path.iterdir()] == ["flows.cprime"]


@pytest.mark.parametrize("name", ["plain", "scaled"])
def test_predictions_are_the_estimators(folder, tmp_path, X, name):
    out = tmp_path / "labels.parquet"
    said = done(
        "predict", folder / f"{name}.cprime", folder / "flows.parquet", "-o", out
    )
    assert said.startswith("1,500 rows labelled in ")
    model, told = cprime.load(folder / f"{name}.cprime"), table(out).to_pydict()
    named = flows().select(["f0", "f1", "f2", "f3"]).to_pandas()
    assert list(told) == TOLD
    assert np.array_equal(told["label"], model.predict(named))
    shares = model.predict_proba(named)
    np.testing.assert_allclose(told["probability"], shares.max(axis=1))
    assert np.array_equal(told["runner_up"], np.argsort(-shares, axis=1)[:, 1])
    np.testing.assert_allclose(told["log_density"], model.score_samples(named))


def test_columns_are_found_by_name(folder, tmp_path):
    shuffled = flows().select(["name", "f2", "f0", "id", "f3", "f1"])
    pa.parquet.write_table(shuffled, tmp_path / "shuffled.parquet")
    for data in (folder / "flows.parquet", tmp_path / "shuffled.parquet"):
        done(
            "predict",
            folder / "plain.cprime",
            data,
            "-o",
            tmp_path / f"{data.stem}.csv",
        )
    same, other = ((tmp_path / f"{n}.csv").read_text() for n in ("flows", "shuffled"))
    assert same == other


def test_columns_may_be_given_other_names(folder, tmp_path):
    renamed = flows().rename_columns(["a", "b", "c", "d", "id", "name"])
    pa.parquet.write_table(renamed, tmp_path / "renamed.parquet")
    rows = [tmp_path / "renamed.parquet", "--columns", "a,b,c,d"]
    done("predict", folder / "plain.cprime", *rows, "-o", tmp_path / "one.npy")
    done(
        "predict",
        folder / "plain.cprime",
        folder / "flows.npy",
        "-o",
        tmp_path / "two.npy",
    )
    assert np.array_equal(np.load(tmp_path / "one.npy"), np.load(tmp_path / "two.npy"))


def test_every_kind_of_table_holds_the_same(folder, tmp_path):
    model, data = folder / "plain.cprime", folder / "flows.parquet"
    for kind in (".parquet", ".csv", ".npy"):
        done("predict", model, data, "-o", tmp_path / f"l{kind}")
    expected = table(tmp_path / "l.parquet").to_pydict()
    read = pa.csv.read_csv(tmp_path / "l.csv").to_pydict()
    array = np.load(tmp_path / "l.npy")
    for name in TOLD:
        assert np.array_equal(expected[name], read[name])
        assert np.array_equal(expected[name], array[name])
    said = done("predict", model, data, "-o", "-")
    assert said == (tmp_path / "l.csv").read_text()


@pytest.mark.parametrize("kind", [".parquet", ".csv"])
def test_other_columns_are_kept_on_request(folder, tmp_path, kind):
    out = tmp_path / "l.parquet"
    command = ["predict", folder / "plain.cprime", folder / f"flows{kind}", "-o", out]
    done(*command, "--keep", "name,i*")
    kept = table(out)
    assert kept.column_names == ["name", "id", *TOLD]
    assert kept.column("name").to_pylist() == flows().column("name").to_pylist()
    ids = flows().column("id").to_pylist()
    assert kept.column("id").to_pylist() == (
        ids if kind == ".parquet" else list(map(str, ids))
    )
    done(*command, "--keep-all")
    assert table(out).column_names == [*flows().column_names, *TOLD]


def test_a_kept_column_with_our_name_keeps_it(folder, tmp_path):
    data = flows().append_column("label", [["mine"] * N_ROWS])
    pa.parquet.write_table(data, tmp_path / "data.parquet")
    out = tmp_path / "l.parquet"
    command = ["predict", folder / "plain.cprime", tmp_path / "data.parquet"]
    done(*command, "--keep", "label", "-o", out)
    assert table(out).column_names == ["label", "cprime_label", *TOLD[1:]]
    assert set(table(out).column("label").to_pylist()) == {"mine"}


def test_no_column_is_lost_to_one_of_ours(tmp_path):
    lines = "x,y,label,cprime_label\n1,2,a,b\n1,4,c,d\n9,2,e,f\n9,4,g,h\n"
    (tmp_path / "x.csv").write_text(lines)
    model, out = tmp_path / "m.cprime", tmp_path / "l.csv"
    done("fit", tmp_path / "x.csv", "--columns", "x,y", "-k", 2, "-o", model)
    done("predict", model, tmp_path / "x.csv", "--keep-all", "-o", out)
    kept, *rows = (line.split(",")[:5] for line in out.read_text().splitlines())
    assert kept == ["x", "y", "label", "cprime_label", "cprime_cprime_label"]
    assert [row[2:4] for row in rows] == [
        ["a", "b"],
        ["c", "d"],
        ["e", "f"],
        ["g", "h"],
    ]


@pytest.mark.parametrize("name", ["\u00e9" * 120, "\u65e5" * 78])
def test_a_name_may_be_as_long_as_the_system_allows(folder, tmp_path, name):
    path = tmp_path / f"{name}.cprime"
    done("fit", folder / "flows.npy", "-k", 2, "-o", path)
    assert "2 clusters" in done("info", path)


def warned(*typed):
    """Return what a command that succeeds warns of."""
    result = run(*typed)
    assert result.exit_code == 0
    return [line for line in result.stderr.splitlines() if line.startswith("warning")]


def test_a_fit_warns_of_columns_that_spoil_it(folder, tmp_path):
    out = ["-k", 2, "-o", tmp_path / "m.cprime"]
    (line,) = warned("fit", folder / "flows.npy", *out)
    assert "very different scales" in line and "add --standardize" in line
    assert not warned("fit", folder / "flows.npy", *out, "--standardize")
    assert not warned("fit", folder / "flows.npy", *out, "--model", "mixture")
    typed = ["fit", folder / "flows.csv", "--columns", "id,f0,f3", "--standardize"]
    (line,) = warned(*typed, *out)
    assert "1 column is a row number. 'id' rises by one" in line
    assert line.endswith("Leave it out: --drop 'id'.")


@pytest.mark.parametrize("more", [[], ["--standardize"]])
def test_a_fit_says_what_may_be_an_id(tmp_path, more):
    rng = np.random.default_rng(0)
    numbers = 10_000 + np.cumsum(rng.integers(1, 9, size=50))
    X = np.column_stack([100 * rng.standard_normal((50, 2)), numbers, numbers + 0.5])
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,key,t", comments="")
    typed = ["fit", tmp_path / "x.csv", "-k", 2, "-o", tmp_path / "m.cprime", *more]
    (line,) = warned(*typed)
    assert "1 column may be an id. 'key' holds integers that only rise" in line
    assert line.endswith("leave it out: --drop 'key'.")
    assert not warned(*typed, "--drop", "key")


def test_a_warning_of_columns_leaves_their_names_alone(tmp_path):
    rows = "\n".join(f"{i % 7},{1e4 * (i % 5)}" for i in range(30))
    (tmp_path / "named.csv").write_text(f"my tol=1 or max_iter here,wide\n{rows}\n")
    typed = ["fit", tmp_path / "named.csv", "-k", 2, "-o", tmp_path / "m.cprime"]
    (line,) = warned(*typed)
    assert "'my tol=1 or max_iter here' of" in line and "add --standardize" in line


def test_columns_without_names_are_said_to_be_taken_in_order(folder, tmp_path):
    model, out = tmp_path / "m.cprime", tmp_path / "l.csv"
    typed = ["--columns", "f*", "--standardize", "-k", 2, "-o", model]
    done("fit", folder / "flows.csv", *typed)
    upper = tmp_path / "FLOWS.NPY"
    upper.write_bytes((folder / "flows.npy").read_bytes())
    for path in (folder / "flows.npy", upper):
        (line,) = warned("predict", model, path, "-o", out)
        assert "have no names: they are taken to be 'f0', 'f1'" in line
    assert not warned("predict", model, folder / "flows.csv", "-o", out)


def test_a_model_of_an_interrupted_fit_says_so(folder, tmp_path):
    model, out = tmp_path / "m.cprime", tmp_path / "l.csv"
    done("fit", folder / "flows.npy", "-k", 2, "-o", model)
    cprime.save(cprime.load(model), model, about={"complete": False})
    (line,) = warned("predict", model, folder / "flows.npy", "-o", out)
    assert "holds a fit that was interrupted" in line


def test_text_is_quoted_only_where_it_must_be(folder, tmp_path):
    odd = ["plain"] * (N_ROWS - 1) + ['a "b", c\n']
    for texts, expected in ((odd[:-1] * 2, "plain,"), (odd, '"plain",')):
        data = flows().append_column("said", [texts[:N_ROWS]])
        pa.parquet.write_table(data, tmp_path / "data.parquet")
        command = ["predict", folder / "plain.cprime", tmp_path / "data.parquet"]
        done(*command, "--keep", "said", "-o", tmp_path / "l.csv")
        assert (tmp_path / "l.csv").read_text().splitlines()[1].startswith(expected)
        read = pa.csv.read_csv(
            tmp_path / "l.csv",
            parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        )
        assert read.column("said").to_pylist() == texts[:N_ROWS]


def test_outlier_scores_of_a_models_own_rows_are_uniform(folder, tmp_path):
    done("sample", folder / "scaled.cprime", "-n", 4000, "-o", tmp_path / "s.parquet")
    done(
        "predict",
        folder / "scaled.cprime",
        tmp_path / "s.parquet",
        "-o",
        tmp_path / "l.npy",
    )
    scores = np.sort(np.load(tmp_path / "l.npy")["outlier_score"])
    # Kolmogorov's distance to the uniform distribution, at one in ten thousand.
    assert np.abs(scores - np.arange(4000) / 4000).max() < 2.2 / np.sqrt(4000)


def test_samples_are_in_the_units_of_the_data(folder, tmp_path, X):
    for name in ("one", "two"):
        said = done(
            *("sample", folder / "scaled.cprime", "-n", 3000, "--seed", 3),
            *("--with-labels", "-o", tmp_path / f"{name}.parquet"),
        )
    assert said.startswith("3,000 rows drawn with seed 3: ")
    drawn = table(tmp_path / "one.parquet")
    assert drawn.equals(table(tmp_path / "two.parquet"))
    assert drawn.column_names == ["f0", "f1", "f2", "f3", "label"]
    spread = features(drawn).std(axis=0) / X.std(axis=0)
    assert np.all((spread > 0.8) & (spread < 1.25))
    done("sample", folder / "plain.cprime", "-n", 7, "-o", tmp_path / "s.npy")
    assert np.load(tmp_path / "s.npy").shape == (7, 4)


def test_a_model_file_tells_about_itself(folder):
    said = done("info", folder / "scaled.cprime")
    assert "a model by cprime" in said
    assert "4 columns, standardized: f0, f1, f2, f3" in said
    assert "fitted to" in said and "flows.parquet" in said
    assert re.search(r"made by +cprime fit .*flows.parquet --columns 'f\*' -k 5", said)
    told = json.loads(done("info", folder / "scaled.cprime", "--json"))
    model = cprime.load(folder / "scaled.cprime")[-1]
    assert told["gap"] == model.gap_ and told["clusters"] == N_CLUSTERS
    assert told["standardized"] and told["columns"] == ["f0", "f1", "f2", "f3"]
    assert told["about"]["fingerprint"].startswith("sha256:")


def test_a_report_can_be_made_later(folder, tmp_path):
    out = tmp_path / "report.html"
    done("report", folder / "scaled.cprime", folder / "flows.parquet", "-o", out)
    page = out.read_text()
    assert "flows.parquet" in page and "f3" in page


def test_comparisons_start_from_the_same_seeds(folder, X):
    told = json.loads(done("compare", folder / "flows.npy", "-k", 4, "--json", "-q"))
    assert [fit["c_prime"] for fit in told["fits"]] == [1, 2, 3, 4]
    for fit in told["fits"]:
        same = cprime.KMeans(4, c_prime=fit["c_prime"], random_state=0).fit(X)
        assert (fit["free_energy"], fit["gap"]) == (same.free_energy_, same.gap_)
    # k-means is enough, or else EM: so few rows take no time.
    assert told["recommended"] == (1 if told["fits"][0]["gap"] < 0.01 else 4)
    assert told["units"] == "nats per row"


def test_a_comparison_recommends(folder):
    said = done(
        "compare", folder / "flows.parquet", "--columns", "f*", "-k", 2, "--standardize"
    )
    assert "2 (all)" in said and "C'" in said
    assert "in nats per row, with columns standardized." in said
    assert re.search(r"Use (C' = 1: k-means|all 2 clusters: EM)\.", said)


def test_doctor_finds_all_well():
    said = done("doctor")
    assert said.rstrip().endswith("all well")
    assert native.isa_name() in said
    told = json.loads(done("doctor", "--json"))
    assert told["well"] and told["wrong"] == {}


def test_doctor_says_what_is_wrong(tmp_path):
    result = run("doctor", "--scratch", tmp_path / "none")
    assert result.exit_code == 1
    assert "all well" not in result.stdout and "--scratch" in result.stdout
    told = json.loads(run("doctor", "--scratch", tmp_path / "none", "--json").stdout)
    assert not told["well"] and list(told["wrong"]) == ["scratch"]


def test_quiet_is_quiet_and_json_is_one_object(folder, tmp_path):
    fit = [
        "fit",
        folder / "flows.npy",
        "-k",
        3,
        "--columns",
        "0,3",
        "-o",
        tmp_path / "m",
    ]
    result = run(*fit, "-q")
    assert (result.stdout, result.stderr) == ("", "")
    result = run(*fit, "--json")
    told = json.loads(result.stdout)
    model = cprime.load(tmp_path / "m")
    assert told["free_energy"] == model.free_energy_ and told["complete"]
    assert told["files"] == {"model": str(tmp_path / "m")}
    assert all("event" in json.loads(line) for line in result.stderr.splitlines())
    assert run(*fit, "--json", "-q").stderr == ""


def test_warnings_are_lines(tmp_path):
    np.save(tmp_path / "same.npy", np.repeat(np.eye(3), 5, axis=0))
    fit = ["fit", tmp_path / "same.npy", "-k", 4, "-o", tmp_path / "m"]
    result = run(*fit, "-q")
    assert result.exit_code == 0
    assert re.fullmatch(r"warning: Number of distinct clusters .*\n", result.stderr)
    result = run(*fit, "--json", "-q")
    assert json.loads(result.stderr)["event"] == "warning"
    assert len(json.loads(result.stdout)["warnings"]) == 1


def test_benchmarks_are_honest(monkeypatch):
    def fit():
        return cprime.KMeans(2).fit(np.eye(3))

    def made(seed):
        for name, measure in (("k-means", "inertia"), ("EM", "F")):
            fast, slow = (
                bench.Contestant(
                    of, lambda: cprime.KMeans(2).fit(np.eye(3)), lambda of: 7
                )
                for of in ("cprime", "another")
            )
            yield bench.Race(name, measure, lambda of: 1.5, (fast, slow))

    monkeypatch.setattr(bench, "_races", made)
    monkeypatch.setattr(bench, "_load", lambda: 3.0)
    result = run("bench", "--rounds", 2, "--json")
    told = json.loads(result.stdout)
    assert [race["race"] for race in told["races"]] == ["k-means", "EM"]
    for row in told["races"][0]["contestants"]:
        assert row["rounds"] == 2 and row["evaluations"] == 7 and row["seconds"] > 0
    assert "This machine was busy" in told["warnings"][0]
    monkeypatch.setattr(bench, "_load", lambda: 0.0)
    said = run("bench", "--rounds", 1)
    assert said.stderr == "" and " scikit-learn (median of " in said.stdout


@pytest.mark.parametrize("name", ["wine.csv", "iris.parquet", "digits.npy"])
def test_an_example_is_a_file_to_start_with(name, tmp_path):
    file = tmp_path / name
    said = done("example", file)
    X = getattr(datasets, f"load_{file.stem}")().data
    assert said.startswith(f"{len(X):,} rows x {X.shape[1]} columns: ")
    np.testing.assert_allclose(cprime.open_data(file).load(), X)
    assert "3 clusters" in done("fit", file, "-k", 3, "-o", tmp_path / "m.cprime")
    written = file.read_bytes()
    refused = run("example", file)
    assert refused.exit_code == 1 and "exists: add --overwrite" in refused.stderr
    assert file.read_bytes() == written
    done("example", file, "--overwrite")


def test_an_example_that_there_is_not(tmp_path):
    refused = run("example", tmp_path / "cars.csv")
    assert refused.exit_code == 2
    assert "'cars' is not an example" in " ".join(refused.stderr.split())
    assert list(tmp_path.iterdir()) == []
