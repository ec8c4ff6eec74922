"""Runs what the pages of the guide show, and writes down what it prints.

`make shown` does it for all pages; a test compares. In a page, blocks of python follow
one another in one namespace, each with what it prints in a plain block right below.
In blocks of console, what follows a line with a dollar is what that command prints.
Pages run in a folder of their own, which is empty at first.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGES = [
    HERE.parent / "README.md",
    HERE / "index.md",
    *sorted((HERE / "guide").glob("*.md")),
    *sorted((HERE / "api").glob("*.md")),
]

BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:```\n(?P<printed>.*?)```\n)?"
    r"|```console\n(?P<session>.*?)```\n",
    re.S,
)
# What is another number every time: how long it took, also as the last of a line of
# `cprime compare`; how large a file is that holds such numbers; and which day it is.
TIME = re.compile(r" *\b\d+(\.\d+)?(e-\d+)? (ms|s|min)\b")
SECONDS = re.compile(r"^( *\d+(?: \(all\))? .* \d+\*?) +[\d.]+( +<- use)?$", re.M)
SIZE = re.compile(r"\b\d+(\.\d+)? (bytes|kB|MB)\b")
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b( \d\d:\d\d:\d\d)?")


# The last digits of a number may be others with another version of numpy.
LONG = re.compile(r"\b\d+\.\d{9,}\b")


def rewritten(page: str) -> str:
    """Return a page with what its blocks print when they are run now."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def block(found: re.Match[str]) -> str:
        if found["session"] is not None:
            return f"```console\n{_session(found['session'])}```\n"
        with contextlib.redirect_stdout(_Heard()) as printed:
            exec(compile(found["code"], "the guide", "exec"), names)
        shown = f"```\n{printed.text()}```\n" if printed.text() else ""
        return f"```python\n{found['code']}```\n{shown}"

    with _in_a_folder():
        try:
            return BLOCK.sub(block, page)
        finally:
            if pyplot := sys.modules.get("matplotlib.pyplot"):
                pyplot.close("all")


def lasting(page: str) -> str:
    """Return a page without what is another number every time, or elsewhere."""
    for what, word in ((TIME, " a time"), (SIZE, "a size"), (DAY, "a day")):
        page = what.sub(word, page)
    page = SECONDS.sub(r"\1 a time\2", page)
    return LONG.sub(lambda found: f"{float(found[0]):.6g}", page)


def _session(text: str) -> str:
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)\n", text, re.M)
    return "".join(f"$ {command}\n{_output(command)}" for command in commands)


def _output(command: str) -> str:
    """Return what a command says; what it says of progress is not shown."""
    first, pipe, rest = command.replace("\\\n", "").partition(" | ")
    if not first.startswith("cprime "):
        return _of_shell(command)
    from cprime.cli import main

    with (
        contextlib.redirect_stdout(_Heard()) as printed,
        contextlib.redirect_stderr(_Heard()) as errors,
    ):
        failed = main(shlex.split(first)[1:]) != 0
    said = printed.text() + (errors.text() if failed else "")
    if pipe:
        return _of_shell(rest, said)
    return "".join(f"{line.rstrip()}\n" for line in said.strip("\n").splitlines())


def _of_shell(command: str, given: str = "") -> str:
    # `python` is the one that runs this.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    return done.stdout + done.stderr


class _Heard(io.TextIOWrapper):
    """What is said, as text or as bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@contextlib.contextmanager
def _in_a_folder() -> Iterator[None]:
    before, width = Path.cwd(), os.environ.get("COLUMNS")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COLUMNS"] = "80"
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            if width is None:
                del os.environ["COLUMNS"]
            else:
                os.environ["COLUMNS"] = width


def main(names: list[str]) -> None:
    """Write down what these pages print, or all of them."""
    for page in [Path(name) for name in names] or PAGES:
        text = page.read_text()
        now = rewritten(text)
        if lasting(now) != lasting(text):
            page.write_text(now)
            print(f"{page}: written anew")


if __name__ == "__main__":
    main(sys.argv[1:])
