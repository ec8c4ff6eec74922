"""Can files be written where they are to go, without taking the place of others?"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from cprime.cli.outputs import STANDARD_OUTPUT
from cprime.storage.permissions import is_read_only


def check_places(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Refuse files that cannot be written, before hours are spent on what they hold.

    Parameters
    ----------
    outputs : sequence of path or None
        Files to be written; None and standard output are passed over.
    inputs : sequence of path
        Files that must not be overwritten by them.
    """
    places: dict[str, Path] = {}
    for path in outputs:
        if path is None or path == STANDARD_OUTPUT:
            continue
        place = os.path.realpath(path)
        if place in places:
            raise ValueError(f"{path} is named twice: give two different names.")
        places[place] = path
        folder = Path(place).parent
        if not folder.is_dir():
            raise ValueError(
                f"{path} cannot be written: there is no folder {folder}. Make it, or "
                "give another name."
            )
        if Path(place).is_dir():
            raise ValueError(f"{path} is a folder: give another name.")
        _refuse_what_no_file_can_be(path, Path(place))
        if not os.access(folder, os.W_OK):
            raise ValueError(
                f"{path} cannot be written: you may not write to the folder {folder}. "
                "Give another name."
            )
    for path in inputs:
        if os.path.realpath(path) in places:
            raise ValueError(
                f"{path} is an input and must not be overwritten: give the output "
                "another name."
            )
        if path.is_dir():
            _refuse_more_files_of(path, places)


def _refuse_what_no_file_can_be(path: Path, place: Path) -> None:
    try:
        if not stat.S_ISREG(place.stat().st_mode):
            raise ValueError(f"{path} is not a regular file: give another name.")
        if is_read_only(place):
            raise ValueError(
                f"{path} is read-only: give another name, or make it writable."
            )
    except FileNotFoundError:
        return
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written: {error.strerror}. Give another name."
        ) from None


def _refuse_more_files_of(folder: Path, places: dict[str, Path]) -> None:
    """Raise if a file to be written would be taken for one of the data."""
    from cprime.sources.folder import KINDS

    inside = os.path.join(os.path.realpath(folder), "")
    for place, path in places.items():
        if place.startswith(inside) and Path(place).suffix.lower() in KINDS:
            raise ValueError(
                f"{path} would be inside {folder}, all of whose files are read as "
                "data: write it to another folder."
            )
