"""`cprime choose`, and `-k auto`: how many clusters are there in a file?"""

import json
import os
import re
import shlex
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import done, run

import cprime
from cprime.cli import progress
from cprime.cli.choice_table import legend_of, lines_of, shown

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
X = np.concatenate([RNG.normal(c, 1.0, (60, 2)) for c in CENTERS])
FEW = ("--max-clusters", 6)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    return path


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_at(number, monkeypatch):
    """Let Ctrl-C be pressed after so many fits."""

    def pressed(self, trial):
        if trial.n_tried == number:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress.Lines, "trial", pressed)


def test_the_answer_is_a_table_a_verdict_and_a_command(rows):
    said = done("choose", rows, *FEW)
    assert "rows.csv: 180 rows x 2 columns" in said
    (chosen,) = re.findall(r"^ +3 .*<- chosen", said, re.M)
    assert "isotropic" in chosen
    assert "3 spherical clusters of equal size. No other number" in said
    assert "3 by BIC on F, ICL, BIC and modes" in said
    assert said.rstrip().endswith(f"next: cprime fit {rows} -k 3 --c-prime 1")


def test_the_next_command_can_be_copied(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typed = ["choose", "rows.csv", "--columns", "b,a", "--shapes", "tied,full"]
    command = done(*typed, "--standardize", *FEW).rpartition("next: ")[2]
    assert command.startswith("cprime fit rows.csv --columns b,a --standardize -k 3 ")
    said = done(*shlex.split(command)[1:])
    assert "Gaussian mixture (tied covariances), 3 clusters" in said
    assert list(cprime.load("rows.cprime").feature_names_in_) == ["b", "a"]


def test_the_best_model_is_kept(rows, tmp_path):
    model = tmp_path / "best.cprime"
    said = done("choose", rows, *FEW, "-o", model)
    auto = cprime.AutoMixture(6, random_state=0).fit(rows)
    kept = cprime.load(model)
    np.testing.assert_array_equal(
        kept.cluster_centers_, auto.best_estimator_.cluster_centers_
    )
    assert f"next: cprime report {model} {rows} -o " in said
    assert json.loads(done("info", model, "--json"))["complete"]


def test_a_scaled_model_remembers_its_scaling(rows, tmp_path):
    done("choose", rows, *FEW, "--standardize", "-o", tmp_path / "m")
    np.testing.assert_allclose(cprime.load(tmp_path / "m")[0].mean_, X.mean(axis=0))


def test_programs_get_everything(rows):
    told = json.loads(done("choose", rows, *FEW, "--json", "-q"))
    assert (told["clusters"], told["shape"], told["plausible"]) == (3, "isotropic", [3])
    assert told["agreement"] == dict.fromkeys(
        ("bic_free_energy", "icl", "bic", "modes"), 3
    )
    lengths = {len(column) for column in told["candidates"].values()}
    assert len(lengths) == 1 and sum(told["candidates"]["chosen"]) == 1
    assert told["next"].startswith("cprime fit ")


def test_one_cluster_is_an_answer_without_a_command(tmp_path):
    np.save(tmp_path / "cloud.npy", RNG.normal(size=(300, 2)))
    said = done("choose", tmp_path / "cloud.npy", *FEW)
    assert "No cluster structure: one cluster describes these rows best." in said
    assert "next:" not in said


def test_clusters_that_are_not_separate_are_explained():
    auto = SimpleNamespace(
        criterion="bic",
        n_clusters_=1,
        plausible_=[1, 3],
        agreement_={"bic": 2, "modes": 1},
        results_={
            "n_clusters": np.array([1, 1, 2, 3, 4, 9]),
            "shape": np.array(["diag", "full", "full", "full", "full", "full"]),
            "weight": np.full(6, 100.0),
            "equal_weights": np.zeros(6, dtype=bool),
            "chosen": np.array([True, False, False, False, False, False]),
            **dict.fromkeys(
                ("bic", "icl", "bic_free_energy", "held_out"),
                np.array([5.0, 6.0, 3.0, 7.0, 8.0, 9.0]),
            ),
        },
    )
    lines = lines_of(auto)
    notes = {line.n_clusters: line.note for line in lines}
    assert notes == {
        1: "<- chosen",
        2: "not separate",
        3: "about as good",
        4: "",
        9: "",
    }
    assert '"not separate": without a valley' in legend_of(lines)
    assert [line and line.n_clusters for line in shown(auto, lines)] == [1, 2, 3]


def test_the_limit_is_said_in_words_of_the_command_line(rows):
    said = done("choose", rows, "--max-clusters", 2)
    assert "The search stopped at --max-clusters." in said
    assert "raise --max-clusters to search further" in said


def test_scaling_is_tried_where_columns_differ_in_scale(tmp_path):
    assert "standardised" not in done("choose", _saved(tmp_path, X), *FEW)
    said = done("choose", _saved(tmp_path, X * [1.0, 100.0]), *FEW)
    assert "does not change the answer: standardised, it would be 3 too." in said
    typed = ["choose", tmp_path / "rows.npy", *FEW, "--standardize"]
    assert "standardised, it" not in done(*typed)
    # Spherical clusters cannot see three groups in a column of small numbers.
    typed = ["choose", tmp_path / "rows.npy", *FEW, "--shapes", "isotropic"]
    said = done(*typed)
    assert "The answer depends on scaling: standardised, it would be 3." in said


def _saved(folder, rows):
    np.save(folder / "rows.npy", rows)
    return folder / "rows.npy"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_fits_any_terminal(rows, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    said = re.sub(r"\x1b\[[0-9;]*m", "", done("choose", rows, *FEW))
    lines = [line for line in said.splitlines() if not line.startswith("next:")]
    assert max(len(line.rstrip()) for line in lines) <= width
    assert "…" not in said and re.search(r"3   isotropic .*<- chosen", said)


def test_ctrl_c_shows_and_keeps_the_best_so_far(
    rows, tmp_path, monkeypatch, interruptible
):
    done("choose", rows, *FEW, "-o", tmp_path / "whole")
    safe = [
        "choose",
        rows,
        *FEW,
        "--checkpoint",
        tmp_path / "kept",
        "-o",
        tmp_path / "m",
    ]
    with monkeypatch.context() as patch:
        interrupted_at(12, patch)
        result = run(*safe)
    assert result.exit_code == 130
    assert "The search was interrupted." in result.stdout
    assert "<- chosen" in result.stdout and "next:" not in result.stdout
    assert (
        f"{tmp_path / 'm'}, marked interrupted. To continue: cprime " in result.stderr
    )
    assert result.stderr.rstrip().endswith("--resume")
    assert not json.loads(done("info", tmp_path / "m", "--json"))["complete"]
    done(*safe, "--resume")
    one, other = (cprime.load(tmp_path / name) for name in ("whole", "m"))
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)


def test_ctrl_c_without_a_checkpoint_says_so(rows, monkeypatch, interruptible):
    interrupted_at(5, monkeypatch)
    result = run("choose", rows, *FEW)
    assert result.exit_code == 130
    assert "The best so far is shown. With --checkpoint DIR" in result.stderr


def test_ctrl_c_while_scaling_is_tried_still_gives_the_answer(
    tmp_path, monkeypatch, interruptible
):
    trials = []

    def pressed(self, trial):
        trials.append(trial.n_tried)
        if trials[-1] == 3 and trials.count(3) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress.Lines, "trial", pressed)
    result = run("choose", _saved(tmp_path, X * [1.0, 100.0]), *FEW)
    assert result.exit_code == 130
    assert "next: cprime fit" in result.stdout and "<- chosen" in result.stdout
    assert "The answer is complete; the check with" in result.stderr


def test_a_model_does_not_take_the_place_of_a_checkpoint(rows, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    output = kept / "checkpoint-1.cprime"
    result = run("choose", rows, "--checkpoint", kept, "-o", output)
    assert result.exit_code == 1
    assert "is where a checkpoint goes" in result.stderr


def test_a_fit_may_choose_its_clusters(rows, tmp_path):
    said = done("fit", rows, "-k", "auto", "-o", tmp_path / "m")
    assert "-k auto  3 spherical clusters of equal size." in said
    assert "model    k-means, 3 clusters, C' = 1" in said
    auto = cprime.AutoMixture(random_state=0).fit(rows)
    np.testing.assert_array_equal(
        cprime.load(tmp_path / "m").cluster_centers_,
        auto.best_estimator_.cluster_centers_,
    )
    told = json.loads(
        done("fit", rows, "-k", "auto", "-o", tmp_path / "m", "--json", "-q")
    )
    assert told["choice"].startswith("3 spherical clusters") and told["clusters"] == 3


@pytest.mark.parametrize(
    "asked, expected",
    [
        (["--model", "kmeans", "--restarts", 2], "k-means, 3 clusters, C' = 1"),
        (["--model", "soft"], "soft k-means, 3 clusters, C' = all"),
        (["--model", "mixture", "--covariance", "tied"], "(tied covariances), 3"),
        (["--model", "mixture", "--c-prime", 7], "3 clusters, C' = all"),
        (["--c-prime", "all"], "k-means, 3 clusters, C' = all"),
    ],
)
def test_a_fit_of_a_named_model_chooses_the_number_alone(
    rows, tmp_path, asked, expected
):
    said = done("fit", rows, "-k", "auto", *asked, "-o", tmp_path / "m")
    assert re.search(r"-k auto  3 (spherical|elongated) clusters ", said)
    assert expected in said


def test_a_stopped_choice_of_a_fit_can_go_on(
    rows, tmp_path, monkeypatch, interruptible
):
    for model in ([], ["--model", "kmeans"]):
        kept = tmp_path / f"kept{len(model)}"
        fit = ["fit", rows, "-k", "auto", *model, "--checkpoint", kept]
        with monkeypatch.context() as patch:
            interrupted_at(6, patch)
            result = run(*fit, "-o", tmp_path / "m")
        assert result.exit_code == 130
        assert "3 clusters" in done(*fit, "--resume", "-o", tmp_path / "m")


@pytest.mark.parametrize(
    "typed, message",
    [
        (
            ["choose", "DATA", "--shapes", "round"],
            "'round' is not a shape; choose",
        ),
        (["choose", "DATA", "--max-clusters", 0], "0 is less than 1"),
        (["choose", "DATA", "--criterion", "aic"], "'aic' is not one of 'bic_free"),
        (["choose", "DATA", "--resume"], "with --checkpoint DIR"),
        (["fit", "DATA", "-k", "auto", "--restarts", 3], "name one with --model"),
        (["fit", "DATA", "-k", "many"], "'many' is not a valid integer, nor 'auto'"),
        (["fit", "DATA", "-k", 2**33], "8589934592 is too large"),
        (["compare", "DATA", "-k", "auto"], "it should be an integer"),
    ],
)
def test_wrong_usage_is_one_line(rows, typed, message):
    result = run(*(rows if word == "DATA" else word for word in typed))
    assert result.exit_code == 2 and message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "has no columns"),
        ("a,b\n", "has no rows"),
        ("a,b\n1,2\n,3\n4,5\n", "NaN at line 3, column 0 ('a')"),
        ("a,b\n1,2\nx,3\n4,5\n", "holds 'x' in line 3"),
    ],
    ids=["nothing", "names alone", "a missing value", "a word"],
)
def test_bad_rows_are_one_line(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    result = run("choose", tmp_path / "bad.csv")
    assert result.exit_code == 1 and message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "lines",
    [["1,2"], ["1,2", "3,4"], ["3,4"] * 50, [f"{i % 7},4" for i in range(50)]],
    ids=["one row", "two rows", "equal rows", "few values and a constant column"],
)
def test_few_or_equal_rows_are_one_cluster(tmp_path, lines):
    (tmp_path / "few.csv").write_text("\n".join(["a,b", *lines, ""]))
    said = done("choose", tmp_path / "few.csv", "--max-clusters", 500)
    assert "No cluster structure" in said


def test_one_column_is_enough(tmp_path):
    column = np.concatenate([RNG.normal(c, 1.0, 80) for c in (0.0, 12.0)])
    np.savetxt(tmp_path / "one.csv", column, header="a", comments="")
    assert "2 clusters" in done("choose", tmp_path / "one.csv", *FEW)


def test_a_search_says_what_it_tries(capsys, monkeypatch):
    from cprime.cli.console import Voice

    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    told = progress.Lines(Voice())
    now[0] += 60.0
    told.trial(cprime.Trial("spherical", 12, -3.0, "diag", 15, 1234, 0.5))
    said = capsys.readouterr().err
    assert said == "12 clusters, spherical, best so far: 15 diag, 1,234 tried\n"


def test_a_comparison_asks_first_whether_there_are_clusters(tmp_path, rows):
    np.save(tmp_path / "cloud.npy", RNG.normal(size=(400, 5)))
    said = done("compare", tmp_path / "cloud.npy", "-k", 4)
    assert said.index("One cluster describes these rows better.") < said.index("Use ")
    assert "cprime choose estimates how many" in said
    assert "One cluster" not in done("compare", rows, "-k", 3)
    told = json.loads(done("compare", rows, "-k", 3, "--json", "-q"))
    assert told["number_of_clusters"].startswith(
        "3 clusters describe these rows better"
    )


@pytest.mark.parametrize("command", [["compare"], ["fit", "-o", "m.cprime"]])
def test_fewer_clusters_are_asked_about(tmp_path, rows, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *where = command
    said = done(name, rows, "-k", 9, *where)
    assert "Fewer clusters describe these rows better: 3 instead of 9." in said
    assert "Fewer clusters" not in done(name, rows, "-k", 3, *where)
