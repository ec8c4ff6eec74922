"""Follows the README line by line in a fresh environment, and compares what it prints.

`make readme` runs it. Blocks are run as they are written, from the first to the last:
`sh` in the folder of the sources, `diff` as the import it leaves, `python` as a program
of its own, and `console` command by command in an empty folder. Times, sizes of files
that hold them, and days do not count.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n(?:```\n(.*?)^```\n)?", re.M | re.S)


def shown():
    """Return the module that knows what lasts of what is printed."""
    spec = importlib.util.spec_from_file_location("shown", ROOT / "docs" / "shown.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Follower:
    """Runs the blocks of a README with the programs of one environment.

    Parameters
    ----------
    programs : path
        The folder of `python`, `pip` and `cprime`.
    sources : path
        Where to install from.
    folder : path
        Where to work; empty.
    """

    def __init__(self, programs, sources, folder):
        self.sources, self.folder = sources, folder
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "COLUMNS": "80"}
        self.lasting = shown().lasting
        self.wrong = []

    def follow(self, text, *, skip=()):
        """Run all blocks, but for those of some languages; return how many were run."""
        run = {
            "sh": self.shell,
            "diff": self.diff,
            "python": self.python,
            "console": self.console,
        }
        n_run = 0
        for language, block, printed in BLOCK.findall(text):
            if language in run and language not in skip:
                run[language](block, printed)
                n_run += 1
        return n_run

    def shell(self, block, printed):
        """Run lines of a shell where the sources are; they only have to succeed."""
        done = self._run(["bash", "-ec", block], self.sources)
        if done.returncode:
            self.wrong.append(f"{block}\n{done.stdout}{done.stderr}")

    def diff(self, block, printed):
        """Run what is left of a program after a change."""
        lines = [line[1:] for line in block.splitlines() if line[:1] in "+ "]
        self.python("\n".join(lines), "")

    def python(self, block, printed):
        """Run a program."""
        self._compare(block, self._run(["python", "-c", block]), printed)

    def console(self, block, printed):
        """Run commands one after the other, each with what it prints below it."""
        for command, expected in re.findall(
            r"^\$ (.*)\n((?:[^$\n].*\n|\n)*)", block, re.M
        ):
            self._compare(command, self._run(["bash", "-c", command]), expected)

    def _run(self, command, folder=None):
        return subprocess.run(
            command,
            cwd=folder or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def _compare(self, what, done, expected):
        found = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
        if done.returncode:
            self.wrong.append(f"$ {what}\n{done.stderr}")
        elif self.lasting(found.strip("\n")) != self.lasting(expected.strip("\n")):
            self.wrong.append(f"$ {what}\n--- expected\n{expected}--- found\n{found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path, help="where to make it")
    place = parser.parse_args().environment.absolute()
    venv.create(place, clear=True, with_pip=True)
    with tempfile.TemporaryDirectory() as folder:
        follower = Follower(place / "bin", ROOT, Path(folder))
        n_run = follower.follow((ROOT / "README.md").read_text())
    print(f"{n_run} blocks of README.md were run as written.")
    if follower.wrong:
        sys.exit("\n\n".join(follower.wrong))
    print("All printed what the README says.")


if __name__ == "__main__":
    main()
