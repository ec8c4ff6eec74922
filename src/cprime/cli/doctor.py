"""`cprime doctor`: is everything well here?"""

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import cprime
from cprime.advice import wording
from cprime.cli.console import Voice, literal
from cprime.cli.errors import CANNOT
from cprime.cli.options import Json, Scratch

# What runs a fit, and by which extra the rest is installed.
NEEDED = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
OPTIONAL = {"pyarrow": "files", "matplotlib": "plots", "jinja2": "report"}
# Below this, what does not fit in memory will soon not fit on disk either.
LITTLE_DISK = 1_000_000_000


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes
    ----------
    name, found : str
    advice : str
        What to do about it, if it is not well.
    """

    name: str
    found: str
    advice: str = ""


def doctor(
    scratch: Scratch = None,
    json: Json = False,
) -> None:
    """Check this installation: versions, compiled code, threads, memory, disk.

    Ends with "all well" (exit code 0), or with what is wrong and how to fix it (exit
    code 1).
    """
    voice = Voice(json)
    findings = [
        Finding("cprime", f"{cprime.__version__} ({Path(__file__).parents[1]})"),
        Finding("Python", f"{platform.python_version()} ({sys.executable})"),
        Finding("system", f"{platform.system()} {platform.machine()}"),
        *(_package(name) for name in (*NEEDED, *OPTIONAL)),
        *_kernel(),
        _memory(),
        _disk(scratch),
    ]
    wrong = [finding for finding in findings if finding.advice]
    _show(voice, findings)
    voice.say("\n[green]all well[/]" if not wrong else "")
    for finding in wrong:
        text = f"{finding.name}: {finding.advice}"
        voice.say(f"[red]{literal(text)}[/]")
    voice.result(
        {
            "well": not wrong,
            **{finding.name: finding.found for finding in findings},
            "wrong": {finding.name: finding.advice for finding in wrong},
        }
    )
    if wrong:
        raise typer.Exit(CANNOT)


def _show(voice: Voice, findings: list[Finding]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        mark = "[red]✗[/]" if finding.advice else "[green]✓[/]"
        if voice.out.is_terminal:
            table.add_row(mark, finding.name, literal(finding.found))
        else:
            voice.say(f"{mark} {finding.name:13} {literal(finding.found)}")
    if voice.out.is_terminal:
        voice.say(table)


def _package(name: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        if name in OPTIONAL:
            # Whoever does not miss it is well without it.
            return Finding(
                name, f"not installed: pip install 'cprime[{OPTIONAL[name]}]'"
            )
        return Finding(name, "not installed", f"pip install {name}")


def _kernel() -> list[Finding]:
    """Return what computes, and whether it computes what numpy does."""
    try:
        import numpy as np

        from cprime.kernels import native

        kmeans: Any = cprime.KMeans
    except ImportError as error:
        advice = "pip install --force-reinstall cprime: its compiled code is missing."
        return [Finding("kernel", str(error), advice)]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5)) + 9.0 * rng.integers(0, 3, (3000, 1))
    given: dict[str, Any] = {"n_clusters": 3, "c_prime": 2, "init": X[:3]}
    fits = [kmeans(kernel=name, **given).fit(X) for name in ("native", "reference")]
    same = np.array_equal(fits[0].labels_, fits[1].labels_)
    text = "native (compiled)" + (", agrees with numpy on a small fit" if same else "")
    advice = (
        "Its labels differ from numpy's. Do not trust it; please report this machine."
    )
    others = [name for name in native.isa_names() if name != native.isa_name()]
    able = f" (it could also run {', '.join(others)})" if others else ""
    return [
        Finding("kernel", text, "" if same else advice),
        Finding("vector unit", f"{native.isa_name()}{able}"),
        Finding("threads", _threads(native.get_num_threads())),
    ]


def _threads(n_threads: int) -> str:
    wanted = os.environ.get("OMP_NUM_THREADS")
    why = f", as OMP_NUM_THREADS={wanted} says" if wanted else ""
    return f"{n_threads} of {wording.count(os.cpu_count() or 1, 'processor')}{why}"


def _memory() -> Finding:
    from cprime.sources.memory import bytes_of, total_memory

    total, share = wording.size(total_memory()), wording.size(bytes_of(None))
    return Finding("memory", f"{total}, of which data take {share} at most (--memory)")


def _disk(asked: Path | None) -> Finding:
    from cprime.sources.scratch import scratch_folder

    scratch = scratch_folder() if asked is None else asked
    try:
        with tempfile.TemporaryFile(dir=scratch) as probe:
            probe.write(b"cprime")
        free = shutil.disk_usage(scratch).free
    except OSError as error:
        advice = "Choose a folder you may write to with --scratch, or set TMPDIR."
        return Finding("scratch", f"{scratch}: {error.strerror}", advice)
    advice = "Make room, or choose another folder with --scratch."
    text = f"{scratch}, {wording.size(free)} free"
    return Finding("scratch", text, advice if free < LITTLE_DISK else "")
