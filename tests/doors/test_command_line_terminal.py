"""The command line before a user: help, progress, Ctrl-C, completion."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from importlib import import_module
from unittest.mock import Mock

import numpy as np
import pytest
from command_line import INTERRUPTIBLE, done, run
from rich.console import Console
from typer.main import get_command

import cprime
from cprime.advice import wording
from cprime.cli import progress
from cprime.cli.app import app
from cprime.cli.console import Voice

COMMANDS = [
    "example",
    "choose",
    "fit",
    "predict",
    "info",
    "report",
    "compare",
    "sample",
    "doctor",
    "bench",
    "reproduce",
]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """Rows that keep a fit busy for a while."""
    path = tmp_path_factory.mktemp("cloud") / "cloud.npy"
    rng = np.random.default_rng(0)
    np.save(path, rng.standard_normal((20_000, 8), dtype=np.float32))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_for_newcomers(command):
    said = done(command, "--help")
    assert f"Usage: cprime {command}" in said
    assert said == done(command, "-h")
    # Types as the parser calls them.
    assert not re.search(r"[<{]\w+[>}\[]", said)
    for parameter in get_command(app).commands[command].params:
        assert parameter.help, parameter.name


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_below_help_are_not_broken_at_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = done(command, "--help")
    module = import_module(f"cprime.cli.{command}")
    lines = getattr(module, "EPILOG", "").splitlines()
    for line in lines:
        assert not line.startswith(" ") or f" {line.strip()} " in said


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["--every", "x"], "Invalid value for '--every': it should be a number."),
        (["--seed", "x"], "Invalid value for '--seed': it should be an integer."),
        (["--model", "x"], "Invalid value for '--model': 'x' is not one of 'kmeans'"),
    ],
)
def test_values_are_refused_in_plain_words(typed, expected):
    assert expected in run("fit", "rows.npy", "-k", 3, *typed).stderr


def test_the_first_page_shows_the_way():
    said = done()
    assert said == done("--help")
    for command in COMMANDS:
        assert f"│ {command} " in said
    assert "cprime fit wine.csv -k 3 --standardize" in said
    assert re.search(r"0 success; 1 .*; 2 wrong usage;\s+130 interrupted", said)


def test_the_version_is_told():
    assert done("--version") == f"cprime {cprime.__version__}\n"


def test_help_reads_nothing_heavy():
    heavy = "{'numpy', 'sklearn', 'pyarrow', 'matplotlib', 'scipy'}"
    code = (
        "import sys; from cprime.cli import main; main(['fit', '--help']); "
        f"sys.exit(bool({heavy} & sys.modules.keys()))"
    )
    finished = subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    assert finished.returncode == 0


def test_python_m_is_the_same():
    command = [sys.executable, "-m", "cprime", "--version"]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.stdout == f"cprime {cprime.__version__}\n"


def test_shells_can_complete(monkeypatch):
    monkeypatch.setenv("_CPRIME_COMPLETE", "source_bash")
    assert "complete -o default -F _cprime_completion cprime" in run().stdout
    monkeypatch.setenv("_CPRIME_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "cprime fit data.npy --c")
    monkeypatch.setenv("COMP_CWORD", "3")
    offered = run().stdout.split()
    assert {"--c-prime", "--columns", "--checkpoint", "--covariance"} <= set(offered)
    monkeypatch.setenv("COMP_WORDS", "cprime fit data.npy --model ")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert run().stdout.split() == ["kmeans", "soft", "fuzzy", "mixture"]


def of_iteration(iteration, restart=0, **changes):
    values = {
        "restart": restart,
        "n_init": 2,
        "iteration": iteration,
        "max_iter": 10,
        "free_energy": -1.25,
        "changed": 3,
        "seconds": 0.5,
        "evaluations": 100,
        "n_rows": 1000,
        "converged": False,
    }
    return cprime.Progress(**values | changes)


def test_a_pipe_gets_a_line_now_and_then(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress.follow_progress(Voice()) as follow:
        for iteration in range(1, 10):
            now[0] += 1.0
            follow(of_iteration(iteration))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "start 1 of 2, iteration 5 of at most 10, F -1.2500, 2,000 rows/s, "
        "at most 0:08 left"
    ]


def test_what_lasts_is_said_to_a_pipe(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.05)
    with progress.follow_progress(Voice()) as follow:
        follow.stage("reading this")
        follow.stage("reading that")
        time.sleep(0.3)
    assert capsys.readouterr().err == "reading that ...\n"


def test_a_program_gets_lines_of_json(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    with progress.follow_progress(Voice(json=True)) as follow:
        follow.stage("reading")
        follow(of_iteration(3, restart=1))
        follow.rows(500, 1000)
    stage, iteration, rows = map(json.loads, capsys.readouterr().err.splitlines())
    assert stage == {"event": "stage", "doing": "reading"}
    assert iteration["iteration"] == 3 and iteration["restart"] == 2
    assert iteration["seconds_left_at_most"] == pytest.approx(3.5)
    assert rows["rows"] == 500 and rows["of_rows"] == 1000


def test_what_follows_the_last_iteration_is_said(capsys):
    with progress.follow_progress(Voice(json=True)) as follow:
        follow(of_iteration(3, converged=True))
        assert capsys.readouterr().err == ""
        follow(of_iteration(10, restart=1))
    told = json.loads(capsys.readouterr().err)
    assert told == {"event": "stage", "doing": "evaluating the fit"}


def test_quiet_hears_nothing(capsys):
    with progress.follow_progress(Voice(quiet=True)) as follow:
        follow.stage("reading")
        follow(of_iteration(3))
        follow.rows(1, 2)
        follow.read(1)
    assert capsys.readouterr().err == ""


def test_time_left_is_that_of_recent_iterations():
    told = []
    reporter = progress.Reporter(Voice())
    reporter.show = lambda values, share: told.append((values, share))
    # The first has no sweep of its own, and says nothing about the others.
    reporter(of_iteration(1, seconds=1e-6))
    assert "seconds_left_at_most" not in told[-1][0]
    reporter(of_iteration(2, seconds=0.5))
    reporter(of_iteration(3, seconds=1.5))
    assert told[-1][0]["seconds_left_at_most"] == pytest.approx(17.0)
    assert told[-1][1] == pytest.approx(0.15)


def screen_of(command, width, exit_code=0):
    """Run a command in a terminal, and return all that it has shown."""
    terminal, its_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width)}
    process = subprocess.Popen(
        [sys.executable, "-m", "cprime", *map(str, command)],
        stdout=its_end,
        stderr=its_end,
        env=environment,
        close_fds=True,
    )
    os.close(its_end)
    screen = read_all(terminal, process)
    assert process.wait() == exit_code
    return screen


def test_a_narrow_terminal_breaks_errors_between_words(tmp_path):
    command = ["fit", tmp_path / "none.csv", "-k", 3, "--covariance", "diag"]
    screen = screen_of(command, 60, exit_code=2)
    lines = screen.splitlines()
    assert len(lines) > 1 and max(map(len, lines)) <= 60
    assert " ".join(lines) == run(*command).stderr.strip()


@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_keeps_the_iteration(cloud, tmp_path, width):
    fit = ["fit", cloud, "-k", 64, "--tol", 0, "-o", tmp_path / "m"]
    screen = screen_of([*fit, "--restarts", 3], width)
    where = r"start \d of 3, iteration" if width == 60 else "iteration"
    assert re.search(rf"{where} \d+ of at most 300 ", screen)


def test_what_is_known_goes_before_where_it_is():
    voice = Voice()
    bar = progress.Bar(voice, Mock())
    told = ("iteration 5 of at most 300", "F -1.2500", "2,000 rows/s")
    for width, known in {
        70: "F -1.2500  2,000 rows/s",
        57: "F -1.2500",
        40: "",
    }.items():
        voice.err.width = width
        assert bar._fitting(*told) == (told[0], known)


def test_a_terminal_gets_a_bar(cloud, tmp_path):
    fit = ["fit", cloud, "-k", 64, "--tol", 0, "-o", tmp_path / "m"]
    screen = screen_of([*fit, "--restarts", 3], 120)
    assert re.search(r"start \d of 3, iteration \d+ of at most 300", screen)
    assert re.search(r"F -?\d+\.\d+ .*rows/s .*at most \d+:\d\d left", screen)
    # The bar goes, what was found stays.
    assert "\x1b[?25h" in screen
    assert "next:" in screen[screen.rindex("\x1b[?25h") :]


def read_all(terminal, process):
    read, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.5)
        try:
            read += os.read(terminal, 65536) if ready else b""
        except OSError:  # its other end is closed
            break
        if not ready and process.poll() is not None:
            break
    return read.decode(errors="replace")


def interrupted_at(iteration, monkeypatch):
    """Let Ctrl-C be pressed in some iteration."""

    def pressed(self, told):
        if told.iteration == iteration:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress.Lines, "__call__", pressed)


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_the_best_so_far(cloud, tmp_path, monkeypatch, interruptible):
    fit = ["fit", cloud, "-k", 20, "--tol", 0, "--max-iter", 12]
    done(*fit, "-o", tmp_path / "whole", "-q")
    safe = [*fit, "--checkpoint", tmp_path / "kept", "-o", tmp_path / "m"]
    with monkeypatch.context() as patch:
        interrupted_at(3, patch)
        result = run(*safe)
    assert result.exit_code == 130
    assert "interrupted after 3 iterations" in result.stdout
    assert "To continue: cprime fit" in result.stderr
    assert result.stderr.rstrip().endswith("--resume")
    assert not json.loads(done("info", tmp_path / "m", "--json"))["complete"]
    assert "interrupted after 3 iterations" in done("info", tmp_path / "m")
    done("predict", tmp_path / "m", cloud, "-o", tmp_path / "l.npy", "-q")
    said = done(*safe, "--resume")
    assert "after 12 iterations" in said
    whole, resumed = (cprime.load(tmp_path / name) for name in ("whole", "m"))
    assert np.array_equal(whole.cluster_centers_, resumed.cluster_centers_)
    assert whole.gap_ == resumed.gap_
    # Once more: there is nothing left to do but to write it.
    assert "had finished" in done(*safe, "--resume")


def test_a_stopped_fit_without_checkpoint_says_so(
    cloud, tmp_path, monkeypatch, interruptible
):
    interrupted_at(2, monkeypatch)
    result = run("fit", cloud, "-k", 5, "--tol", 0, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 130
    told = json.loads(result.stdout)
    assert told["complete"] is False and told["iterations"] == 2
    assert "With --checkpoint DIR" in result.stderr


def test_a_stopped_prediction_leaves_what_was_there(
    cloud, tmp_path, monkeypatch, interruptible
):
    done("fit", cloud, "-k", 5, "--tol", 0.1, "-o", tmp_path / "m", "-q")
    (tmp_path / "l.csv").write_text("from before")

    def pressed(self, n_done, total):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress.Lines, "rows", pressed)
    result = run("predict", tmp_path / "m", cloud, "-o", tmp_path / "l.csv")
    assert result.exit_code == 130 and result.stderr == "\nInterrupted.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.csv", "m"]
    assert (tmp_path / "l.csv").read_text() == "from before"


def test_resuming_something_else_is_refused(cloud, tmp_path):
    fit = ["fit", cloud, "-k", 5, "--checkpoint", tmp_path / "kept"]
    fit += ["-o", tmp_path / "m", "--resume", "-q"]
    done(*fit)
    result = run(*fit, "--tol", 0.5)
    assert result.exit_code == 1
    assert "tol" in result.stderr and result.stderr.count("\n") == 1


def test_a_key_press_stops_a_fit(cloud, tmp_path):
    arguments = ["fit", str(cloud), "-k", "100", "--c-prime", "all", "--tol", "0"]
    arguments += ["-o", str(tmp_path / "m"), "--max-iter", "100000"]
    arguments += ["--checkpoint", str(tmp_path / "kept"), "--every", "0"]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # One generation is there from the beginning, the next when there is more to keep.
    first, second = (tmp_path / "kept" / f"checkpoint-{i}.cprime" for i in (1, 2))
    wait_until(lambda: second.exists() and modified(first) > modified(second))
    process.send_signal(signal.SIGINT)
    said, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told and "To continue: " in told
    assert "interrupted after" in said


def test_the_second_ctrl_c_ends_at_once():
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from cprime.cli.interrupts import stop_on_interrupt\n"
        "with stop_on_interrupt():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(60)\n"
        "    except KeyboardInterrupt:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(60)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30
    )
    assert finished.returncode == 130
    assert finished.stderr == "\nEnded at once.\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_while_an_object_is_deleted_is_not_lost(name):
    """Python only reports what is raised there, and goes on."""
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from cprime.cli.errors import TerminatedError\n"
        "from cprime.cli.interrupts import stop_on_interrupt\n"
        "class Result:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "        time.sleep(0.1)\n"
        "try:\n"
        "    with stop_on_interrupt():\n"
        "        Result()\n"
        "        time.sleep(20)\n"
        "except (KeyboardInterrupt, TerminatedError):\n"
        "    print('stopped')\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=15
    )
    assert (finished.stdout, finished.stderr) == ("stopped\n", "")


def test_what_reads_may_stop_reading(cloud, tmp_path):
    done("fit", cloud, "-k", 3, "-o", tmp_path / "m", "-q")
    command = f"{sys.executable} -m cprime predict {tmp_path}/m {cloud} -o - -q"
    finished = subprocess.run(
        f"{command} | head -2", shell=True, capture_output=True, text=True
    )
    assert finished.stdout.startswith("label,probability,")
    assert finished.stdout.count("\n") == 2
    assert finished.stderr == ""


def modified(path):
    return path.stat().st_mtime_ns


def wait_until(happened):
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_narrow_terminal_is_no_problem(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert Console().width == 40
    assert "fit" in done("--help") and "--columns" in done("fit", "--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_at_60_columns_is_whole(monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "60")
    said = done(command, "--help")
    # No name is cut, and no example is broken: it can be copied.
    assert "\N{HORIZONTAL ELLIPSIS}" not in said
    assert max(map(len, said.splitlines())) <= 60
    examples = said.partition(" Examples ")[2]
    assert all(
        re.match(r" {3}(cprime [a-z]+ .*)?$|\s*$", line.rstrip() or " ")
        for line in examples.split("Ctrl-C")[0].splitlines()
    )


def test_the_first_commands_run_as_they_are_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    examples = re.findall(r"^   (cprime [a-z]+ .*?)\s*$", done("--help"), re.MULTILINE)
    assert len(examples) == 6
    monkeypatch.chdir(tmp_path)
    for example in examples:
        assert run(*example.split()[1:]).exit_code == 0, example


@pytest.mark.parametrize("width", [36, 50, 80, 120])
def test_a_comparison_keeps_its_numbers(tmp_path, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    rows = 1e4 * np.random.default_rng(0).standard_normal((300, 3))
    np.save(tmp_path / "rows.npy", rows)
    compare = ["compare", tmp_path / "rows.npy", "-k", 12]
    fits = json.loads(done(*compare, "--json"))["fits"]
    said = done(*compare)
    table = [line for line in said.splitlines() if re.match(r" +\d", line)]
    assert len(table) == len(fits) == 6
    for line, of in zip(table, fits):
        assert len(line.rstrip()) <= width
        assert wording.gap(of["gap"]) in line
        assert (f"{of['free_energy']:.4f}" in line) == (width > 36)
    assert sum("<- use" in line for line in table) == 1
    assert ("   L   " in said) == ("iterations" in said) == (width > 50)


def test_a_comparison_warns_of_scales_as_a_fit_does(tmp_path):
    rows = np.random.default_rng(0).standard_normal((200, 3)) * [1.0, 1.0, 1e5]
    np.save(tmp_path / "rows.npy", rows)
    typed = [tmp_path / "rows.npy", "-k", 2]
    said = run("compare", *typed).stderr
    assert "Columns have very different scales." in said
    assert said == run("fit", *typed, "-o", tmp_path / "m").stderr
    assert "scales" not in run("compare", *typed, "--standardize").stderr
