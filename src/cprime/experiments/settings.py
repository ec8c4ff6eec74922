"""What is to be run: plain values, so that a result can be found again."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One piece of work whose result is a line in the results file.

    Attributes
    ----------
    runner : str
        Who does it: a name in `cprime.experiments.reproduction.RUNNERS`.
    values : tuple of (name, value)
        The arguments of the runner, seeds included. Plain numbers and strings.
    """

    runner: str
    values: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, runner: str, **values: Any) -> "Setting":
        """Return a setting with its values in the order of their names."""
        return cls(runner, tuple(sorted(values.items())))

    @property
    def key(self) -> str:
        """What stands for this setting in a file."""
        return json.dumps([self.runner, dict(self.values)])

    def __getitem__(self, name: str) -> Any:
        return dict(self.values)[name]
