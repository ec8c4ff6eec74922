"""Run one function of the suite in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.settings import environment


def call(function: Callable[..., Any], threads: int, **arguments: Any) -> Any:
    """Return function(**arguments), computed in a fresh process with these threads.

    Arguments and result travel as JSON.
    """
    address = f"{function.__module__}:{function.__name__}"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", address],
        input=json.dumps(arguments),
        env=os.environ | environment(threads),
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{address} with {arguments} failed:\n{done.stderr}")
    # What libraries print comes before.
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Answer one call from the parent process."""
    module, _, name = sys.argv[1].partition(":")
    function = getattr(import_module(module), name)
    print(json.dumps(function(**json.load(sys.stdin))))


if __name__ == "__main__":
    main()
