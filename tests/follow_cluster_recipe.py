"""Follows docs/guide/cluster.md as it is written, with processes started by hand.

    python tests/follow_cluster_recipe.py

Of the section on a first try: what its blocks of shell say is run as it stands, in a
folder of its own; the scheduler and the workers in the background, the program in a
process of its own. Everything is on this machine.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "cluster.md"
SECTION = "## A first try"
BLOCK = re.compile(r"```(sh|py)\n(.*?)```", re.DOTALL)
SECONDS = 240


def blocks():
    """Return the blocks of the section, in their order."""
    text = PAGE.read_text(encoding="utf-8").split(SECTION)[1].split("\n## ")[0]
    return BLOCK.findall(text)


def in_background(command, folder, log):
    # The scripts of this environment come first, as they do for whoever activated it.
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ["PATH"]])
    return subprocess.Popen(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def wait_for_scheduler():
    begin = time.monotonic()
    while time.monotonic() - begin < 60:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", 8786)) == 0:
                return
        time.sleep(0.5)
    raise SystemExit("The scheduler does not answer.")


def main():
    started = []
    with tempfile.TemporaryDirectory() as folder:
        log = (Path(folder) / "log").open("w")
        try:
            for kind, text in blocks():
                if kind == "py":
                    (Path(folder) / "first_try.py").write_text(text)
                    continue
                for line in filter(None, text.splitlines()):
                    print(f"$ {line}", flush=True)
                    process = in_background(line, folder, log)
                    if line.startswith("dask "):
                        started.append(process)
                        if line.startswith("dask scheduler"):
                            wait_for_scheduler()
                    elif process.wait(SECONDS):
                        log.flush()
                        print((Path(folder) / "log").read_text()[-4000:])
                        raise SystemExit(f"{line} ended with {process.returncode}")
            print((Path(folder) / "log").read_text().split("Registered to")[-1])
        finally:
            for process in reversed(started):
                os.killpg(process.pid, signal.SIGTERM)
            for process in started:
                process.wait(60)
            log.close()
    print("The recipe works as it is written.")


if __name__ == "__main__":
    main()
