"""How is long work kept, and gone on with?"""

from pathlib import Path
from typing import Annotated

import typer

from cprime.cli.options import LONG, option

CheckpointFolder = Annotated[
    Path | None,
    option(
        "--checkpoint",
        panel=LONG,
        metavar="DIR",
        help="Save checkpoints in this folder, to resume after Ctrl-C, a power cut or "
        "a crash.",
    ),
]
Every = Annotated[
    float,
    option(
        "--every",
        panel=LONG,
        metavar="SECONDS",
        least=0.0,
        help="Time between checkpoints.",
    ),
]
Resume = Annotated[
    bool,
    option(
        "--resume",
        panel=LONG,
        help="Resume from the checkpoint, with exactly the same result. Starts from "
        "the beginning if there is none yet.",
    ),
]


def refuse_resume_from_nowhere(resume: bool, checkpoint: Path | None) -> None:
    """Raise if nobody says where to go on from."""
    if resume and checkpoint is None:
        raise typer.BadParameter(
            "say where the checkpoint is, with --checkpoint DIR", param_hint="--resume"
        )
