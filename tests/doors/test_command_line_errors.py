"""Whatever goes wrong: one helpful line, a fitting exit code, nothing half-done."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import done, flows, run, write

from cprime.cli import doctor, errors, main
from cprime.cli.option_names import use_option_names

CANNOT, USAGE = 1, 2
HOSTILE = "evil\x1b[2J\u202ename\n<script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Good files, and bad ones."""
    folder = write(tmp_path_factory.mktemp("bad"))
    done(
        "fit",
        folder / "flows.csv",
        "--columns",
        "f*",
        "-k",
        3,
        "-o",
        folder / "m.cprime",
    )
    fuzzy = ["--model", "fuzzy", "-o", folder / "fuzzy.cprime"]
    done("fit", folder / "flows.npy", "-k", 3, *fuzzy)
    model = (folder / "m.cprime").read_bytes()
    (folder / "cut.cprime").write_bytes(model[:-40])
    (folder / "flipped.cprime").write_bytes(
        model[:-40] + bytes([model[-40] ^ 1]) + model[-39:]
    )
    wrong = np.load(folder / "flows.npy")
    wrong[17, 2] = np.nan
    np.save(folder / "nan.npy", wrong)
    np.save(folder / "empty.npy", np.empty((0, 4)))
    np.save(folder / "three.npy", wrong[:, :3])
    few = flows().rename_columns(["f0", "a", "f2", "b", "id", HOSTILE])
    pa.parquet.write_table(few, folder / "few.parquet")
    (folder / "words.csv").write_text("f0,f1\n1,2\n3,four\n")
    (folder / "file").touch()
    (folder / "parts").mkdir()
    pa.parquet.write_table(flows(), folder / "parts" / "1.parquet")
    for name, columns in {"odd": "f?,y", "even": "f1,y", "greek": "\u03bb,y"}.items():
        (folder / f"{name}.csv").write_text(f"{columns}\n1,2\n1,4\n9,2\n9,4\n")
        done("fit", folder / f"{name}.csv", "-k", 2, "-o", folder / f"{name}.cprime")
    (folder / "vast.csv").write_text("a,b\n1,1e300\n2,-1e300\n3,1e299\n")
    (folder / "sub").mkdir()
    return folder


FIT = ["fit", "flows.csv", "--columns", "f*", "--standardize", "-o", "o.cprime"]
CASES = [
    # What is typed, how it ends, and what a user is told.
    (["ftt"], USAGE, "There is no command ftt. Did you mean fit? Try 'cprime --help'."),
    ([*FIT, "--colums", "f*"], USAGE, "no option --colums. Did you mean --columns?"),
    (["predict", "m.cprime", "flows.csv", "--ouput", "x"], USAGE, "mean --output?"),
    (FIT, USAGE, "cprime fit: Missing option '-k'"),
    (["predict", "m.cprime"], USAGE, "cprime predict: Missing argument 'DATA'"),
    ([*FIT, "-k", "x"], USAGE, "valid integer"),
    ([*FIT, "-k", 0], USAGE, "0 is less than 1"),
    ([*FIT, "-k", 3, "--c-prime", 4], USAGE, "cannot keep 4 of 3 clusters"),
    ([*FIT, "-k", 3, "--c-prime", "two"], USAGE, "'two' is neither a positive integer"),
    ([*FIT, "-k", 3, "--model", "kmean"], USAGE, "'kmean' is not one of 'kmeans'"),
    ([*FIT, "-k", 3, "--covariance", "diag"], USAGE, "use --model mixture"),
    ([*FIT, "-k", 3, "--init", "kmeans"], USAGE, "choose from k-means++"),
    ([*FIT, "-k", 3, "--resume"], USAGE, "with --checkpoint DIR"),
    ([*FIT, "-k", 3, "--labels", "l.txt"], USAGE, "should end in .parquet, .csv or"),
    (["compare", "flows.npy", "-k", 3, "--model", "fuzzy"], USAGE, "no likelihood"),
    (
        [*FIT, "-k", 3, "--model", "fuzzy", "--report", "r.html"],
        USAGE,
        "no density to report on",
    ),
    ([*FIT, "-k", 3, "--every", "nan"], USAGE, "nan is not a number"),
    ([*FIT, "-k", 3, "--seed", 2**40], USAGE, "is too large"),
    (["sample", "fuzzy.cprime", "-o", "-"], CANNOT, "has no density to draw from"),
    (["report", "fuzzy.cprime", "flows.npy"], CANNOT, "has no density to report on"),
    (
        ["reproduce", "figure-9"],
        USAGE,
        "'figure-9' is not an experiment; choose from all, table-s1",
    ),
    (
        [
            "predict",
            "m.cprime",
            "flows.csv",
            "-o",
            "l.csv",
            "--keep",
            "id",
            "--keep-all",
        ],
        USAGE,
        "cannot be combined",
    ),
    (
        ["predict", "m.cprime", "flows.csv", "-o", "-", "--json"],
        USAGE,
        "goes to standard output already",
    ),
    ([*FIT, "-k", 9999], CANNOT, "flows.csv has 1,500 rows, fewer than the 9999"),
    (["fit", "none.csv", "-k", 3, "-o", "o"], CANNOT, "none.csv cannot be opened: No"),
    (["fit", "file", "-k", 3, "-o", "o"], CANNOT, "has an unsupported file type"),
    (["fit", "empty.npy", "-k", 3, "-o", "o"], CANNOT, "empty.npy has no rows"),
    (["fit", "flows.parquet", "-k", 3, "-o", "o"], CANNOT, "Column 'name' of flows.p"),
    (
        ["fit", "words.csv", "-k", 1, "-o", "o"],
        CANNOT,
        "'f1' of words.csv holds 'four'",
    ),
    (["fit", "nan.npy", "-k", 3, "-o", "o"], CANNOT, "NaN at row 17, column 2"),
    (
        ["fit", "nan.npy", "-k", 3, "-o", "o", "--standardize"],
        CANNOT,
        "nan.npy holds nan at row 17, column 2",
    ),
    ([*FIT, "-k", 3, "--columns", "f*,zz"], CANNOT, "flows.csv has no column 'zz'"),
    ([*FIT, "-k", 3, "--memory", "lots"], CANNOT, "--memory 'lots' is not an amount"),
    ([*FIT, "-k", 3, "--scratch", "none"], CANNOT, "--scratch 'none' is not a folder"),
    ([*FIT, "-k", 3, "-o", "none/m"], CANNOT, "there is no folder"),
    ([*FIT, "-k", 3, "-o", "sub"], CANNOT, "sub is a folder"),
    (
        [*FIT, "-k", 3, "-o", "flows.csv"],
        CANNOT,
        "flows.csv is an input and must not be",
    ),
    ([*FIT, "-k", 3, "--report", "x.html", "-o", "x.html"], CANNOT, "is named twice"),
    ([*FIT, "-k", 3, "--report", "o.pdf"], USAGE, "'o.pdf' should end in .html or"),
    (["report", "m.cprime", "flows.csv", "-o", "o.pdf"], USAGE, "should end in .html"),
    (
        [*FIT, "-k", 3, "-o", "-"],
        USAGE,
        "for -o: this cannot be written to standard output",
    ),
    (
        [*FIT, "-k", 3, "--labels", "-"],
        USAGE,
        "--labels: this cannot be written to standard",
    ),
    (
        [*FIT, "-k", 3, "--report", "-"],
        USAGE,
        "--report: this cannot be written to standard",
    ),
    (
        ["report", "m.cprime", "flows.csv", "-o", "-"],
        USAGE,
        "cannot be written to standard",
    ),
    ([*FIT, "-k", 3, "-o", "/dev/null"], CANNOT, "/dev/null is not a regular file"),
    ([*FIT, "-k", 3, "-o", 300 * "x"], CANNOT, "File name too long"),
    (
        [*FIT, "-k", 3, "--checkpoint", "sub", "-o", "sub/checkpoint-1.cprime"],
        CANNOT,
        "is where a checkpoint goes",
    ),
    (
        [*FIT, "-k", 3, "--checkpoint", "sub", "-o", "sub/checkpoint.lock"],
        CANNOT,
        "is where a checkpoint goes",
    ),
    (
        ["predict", "m.cprime", "parts", "-o", "parts/labels.parquet"],
        CANNOT,
        "would be inside parts, all of whose files are read",
    ),
    (["predict", "odd.cprime", "even.csv", "-o", "l.csv"], CANNOT, "no column 'f?'"),
    (
        ["sample", "greek.cprime", "--with-labels", "-o", "s.npy"],
        CANNOT,
        "A .npy file cannot hold a column named",
    ),
    (["fit", "vast.csv", "-k", 2, "--standardize"], CANNOT, "'b' of vast.csv are too"),
    ([*FIT, "-k", 3, "--checkpoint", "file"], CANNOT, "file"),
    (["info", "none.cprime"], CANNOT, "none.cprime"),
    (["info", "flows.parquet"], CANNOT, "flows.parquet is not a cprime model."),
    (
        ["report", "flows.parquet", "m.cprime"],
        CANNOT,
        "flows.parquet is not a cprime model; are MODEL and DATA swapped?",
    ),
    (["fit", "m.cprime", "-k", 3], USAGE, "m.cprime is a model: give the file that"),
    (["choose", "flows.csv", "-k", 3], USAGE, "There is no option -k."),
    (["info", "cut.cprime"], CANNOT, "'cut.cprime': it is cut off"),
    (["info", "flipped.cprime"], CANNOT, "flipped.cprime"),
    (["sample", "cut.cprime", "-o", "s.csv"], CANNOT, "it is cut off"),
    (["predict", "fuzzy.cprime", "nan.npy", "-o", "l.csv"], CANNOT, "Row 17 of nan."),
    (["predict", "m.cprime", "three.npy", "-o", "l.csv"], CANNOT, "has 3 columns, and"),
    (
        ["predict", "m.cprime", "few.parquet", "-o", "l.csv"],
        CANNOT,
        "no columns 'f1', 'f3'",
    ),
    (["predict", "m.cprime", "flows.csv", "-o", "flows.csv"], CANNOT, "not be overw"),
    (
        ["predict", "m.cprime", "flows.csv", "-o", "l.npy", "--keep", "name"],
        CANNOT,
        "to keep other columns write .parquet",
    ),
    (
        ["predict", "m.cprime", "flows.npy", "-o", "l.csv", "--keep", "name"],
        CANNOT,
        "no names by which to keep them",
    ),
    (["report", "m.cprime", "none.csv", "-o", "r.html"], CANNOT, "none.csv cannot be"),
    (["compare", "flows.npy", "-k", 9999], CANNOT, "fewer than the 9999 clusters"),
]


@pytest.mark.parametrize("typed, code, told", CASES, ids=lambda of: str(of)[:60])
def test_an_error_is_one_helpful_line(folder, monkeypatch, typed, code, told):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir())
    result = run(*typed)
    assert result.exit_code == code
    assert told in result.stderr
    assert result.stderr.startswith("cprime") and result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert sorted(os.listdir()) == before


def test_nothing_is_written_over_by_what_fails(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    out = tmp_path / "labels.csv"
    out.write_text("from before")
    assert run("predict", "m.cprime", "nan.npy", "-o", out).exit_code == CANNOT
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert out.read_text() == "from before"


def test_what_is_wrong_with_the_data_is_said_before_that_a_model_is_there(
    folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("none", "flows"):
        (tmp_path / f"{name}.cprime").touch()
    assert "none.csv cannot be opened" in run("fit", "none.csv", "-k", 2).stderr
    typed = ["fit", folder / "flows.csv", "--columns", "f9", "-k", 2]
    assert "has no column 'f9'" in run(*typed).stderr


def test_a_model_nobody_named_is_not_overwritten(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows.cprime").write_text("precious")
    result = run("fit", folder / "flows.npy", "-k", 2)
    assert result.exit_code == USAGE
    assert "flows.cprime exists; use -o to overwrite it or to" in result.stderr
    assert (tmp_path / "flows.cprime").read_text() == "precious"
    assert (
        run("fit", folder / "flows.npy", "-k", 2, "-o", "flows.cprime").exit_code == 0
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="everyone may write, being root")
def test_a_folder_of_others_is_refused_before_the_fit(folder, tmp_path):
    tmp_path.chmod(0o500)
    result = run("fit", folder / "flows.npy", "-k", 2, "-o", tmp_path / "m")
    assert result.exit_code == CANNOT and "you may not write" in result.stderr


def test_a_read_only_model_is_refused_before_the_fit(folder, tmp_path):
    (tmp_path / "m").write_text("precious")
    (tmp_path / "m").chmod(0o444)
    result = run("fit", folder / "none.npy", "-k", 2, "-o", tmp_path / "m")
    assert result.exit_code == CANNOT
    assert "is read-only: give another name, or make it writable" in result.stderr
    assert (tmp_path / "m").read_text() == "precious"


def test_a_failed_report_does_not_lose_the_model(folder, tmp_path, monkeypatch):
    def fails(*given, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cprime.report.write", fails)
    out = tmp_path / "m.cprime"
    result = run(
        "fit", folder / "flows.npy", "-k", 2, "-o", out, "--report", tmp_path / "r.html"
    )
    assert result.exit_code == CANNOT
    assert (
        "No space left on device" in result.stderr and f"is in {out}" in result.stderr
    )
    assert "2 clusters" in done("info", out)


def test_names_from_files_cannot_move_a_cursor(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    result = run("fit", "few.parquet", "-k", 2, "-o", tmp_path / "m")
    assert result.exit_code == CANNOT and "holds text" in result.stderr
    numbers = flows().select(["f0", "f1"]).rename_columns(["f0", HOSTILE])
    pa.parquet.write_table(numbers, tmp_path / "hostile.parquet")
    done("fit", tmp_path / "hostile.parquet", "-k", 2, "-o", tmp_path / "m")
    for said in (result.stderr, done("info", tmp_path / "m")):
        assert "script" in said
        assert not {"\x1b", "\u202e"} & set(said)


def test_where_an_error_comes_from_is_shown_on_request(folder, monkeypatch):
    monkeypatch.setenv("CPRIME_DEBUG", "1")
    shown = run("info", folder / "cut.cprime").stderr
    assert "Traceback (most recent call last)" in shown
    assert shown.splitlines()[-1].startswith("cprime: ")


def test_what_should_not_happen_is_one_line_too(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_memory", lambda: {}["surprise"])
    assert main(["doctor"]) == CANNOT
    assert capsys.readouterr().err == (
        "cprime: KeyError: 'surprise'. This should not happen; CPRIME_DEBUG=1 shows "
        "where it did.\n"
    )


@pytest.mark.parametrize(
    "error, line",
    [
        (FileNotFoundError(2, "No such file", "a\nb"), "a b: No such file"),
        (OSError(28, "Could not write it"), "Could not write it"),
        (MemoryError(), "there is not enough memory. Use a smaller --memory"),
        (ModuleNotFoundError("x", name="arrow.csv"), "arrow is missing: pip install"),
        (ValueError("c_prime=None, or n_init=3"), "--c-prime all, or --restarts 3"),
    ],
)
def test_errors_in_words(error, line):
    assert errors.line_of(error).startswith(line)


def test_parameters_are_called_as_on_the_command_line():
    assert use_option_names("n_clusters=5 and max_iter") == "-k 5 and --max-iter"
    assert (
        use_option_names("say resume=True, or give `scratch`")
        == "say --resume, or give --scratch"
    )
    # What is in quotation marks is the name of something else.
    assert (
        use_option_names("Column 'max_iter' holds text")
        == "Column 'max_iter' holds text"
    )
    assert use_option_names("a memory of my_n_init") == "a memory of my_n_init"
