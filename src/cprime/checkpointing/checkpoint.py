"""How does a fit survive a power cut?"""

import logging
import math
import os
from pathlib import Path

LOG = logging.getLogger("cprime.checkpoint")


class Checkpoint:
    """Keeps a fit in a folder while it runs: `fit(X, checkpoint=Checkpoint(folder))`.

    A fit that was killed continues from there with `resume=True`, and ends in the same
    result to the last bit. Restarts then run one by one.

    Parameters
    ----------
    folder : path
        Created if it does not exist. Every fit needs a folder of its own: a second one
        at the same time is refused, and the error names the process that uses it.
    every : float, default=60.0
        Seconds between two checkpoints. One is written when the fit begins, too, and
        when it ends or is interrupted, by Ctrl-C or SIGTERM.
    resume : bool, default=False
        Continue from the checkpoint in the folder, which must be of the same estimator,
        parameters and data. If there is none yet, the fit starts from the beginning;
        if it had finished, its result is returned at once. False refuses a folder
        with an unfinished fit.

    Attributes
    ----------
    message : str
        Where the last fit began, in words for a user. It is also logged, by the name
        "cprime.checkpoint", and printed by a `verbose` estimator.

    Notes
    -----
    A RandomState given as `random_state` is set back to where it was when the fit
    began. An `init` that is called is called once more for every restart before.
    It is recognised, in the same minor version of Python, by its code and what that
    uses: captured values, defaults, globals, other functions, and versions of packages.
    One that uses what cannot be compared between processes, such as a Generator, is
    refused: let it draw from the `random_state` it is given.
    SIGTERM ends the process as always, after the checkpoint was written: in the main
    thread, unless the program handles the signal itself.

    Examples
    --------
    >>> import tempfile
    >>> from cprime import Checkpoint, KMeans
    >>> from cprime.datasets import make_birch_grid
    >>> X = make_birch_grid(rng=1).data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = KMeans(9, random_state=0).fit(X, checkpoint=Checkpoint(folder))
    ...     again = Checkpoint(folder, resume=True)
    ...     second = KMeans(9, random_state=0).fit(X, checkpoint=again)
    >>> first.inertia_ == second.inertia_
    True
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every: float = 60.0,
        resume: bool = False,
    ):
        if not (isinstance(every, int | float) and 0.0 <= every < math.inf):
            raise ValueError(f"every={every!r} should be a number of seconds, >= 0.")
        self.folder = Path(folder)
        self.every = float(every)
        self.resume = bool(resume)
        self.message = ""

    def __repr__(self) -> str:
        options = f"every={self.every!r}, resume={self.resume!r}"
        return f"Checkpoint({str(self.folder)!r}, {options})"

    def inside(self, name: str) -> "Checkpoint":
        """Return the checkpoint of a fit that is part of another."""
        return Checkpoint(self.folder / name, self.every, self.resume)

    def say(self, message: str) -> None:
        """Tell a user where a fit begins."""
        self.message = message
        LOG.info(message)
