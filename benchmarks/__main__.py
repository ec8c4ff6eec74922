"""`python -m benchmarks`: run experiments, write their results, make the report."""

import argparse
import os
import time
from pathlib import Path

from benchmarks.experiments import NAMES
from benchmarks.settings import Settings, environment

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Run what the command line asks for."""
    arguments = _parser().parse_args()
    settings = Settings(
        arguments.quick, arguments.threads, tuple(arguments.only), arguments.gigabytes
    )
    folder = arguments.out or (RESULTS / "quick" if settings.quick else RESULTS)
    # Thread pools are sized when numpy and the peers are imported, so not before this.
    os.environ.update(environment(settings.threads))
    from benchmarks import report, results

    asked = arguments.experiments or (["default"] if settings.only else NAMES)
    for name in [] if arguments.report else asked:
        print(f"== {name}", flush=True)
        start = time.perf_counter()
        results.run(name, settings, folder)
        print(f"   {time.perf_counter() - start:.0f} s in all", flush=True)
    report.write(folder)
    print(f"Report: {folder.name}/README.md")


def _name(text: str) -> str:
    if text not in NAMES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(NAMES)}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "experiments",
        nargs="*",
        type=_name,
        metavar="experiment",
        help=f"any of {', '.join(NAMES)}; by default all",
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny inputs: checks the suite"
    )
    parser.add_argument("--threads", type=int, default=2, help="for every contestant")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="job",
        help="jobs of the experiment default, by name; lines of others are kept",
    )
    parser.add_argument(
        "--gigabytes", type=float, default=3.0, help="size of the file of the job file"
    )
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument(
        "--report",
        action="store_true",
        help="run nothing, make tables and plots from the results there are",
    )
    return parser


if __name__ == "__main__":
    main()
