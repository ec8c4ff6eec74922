"""Which model is in a file, and which columns of data does it want?"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cprime.cli.source import Source
from cprime.cli.summary import centers_of


@dataclass(frozen=True)
class Loaded:
    """A model from a file.

    Attributes
    ----------
    estimator : estimator
        One of ours, fitted to rows as they are after scaling.
    scaler : StandardScaler or None
        What scales them.
    about : dict
        What whoever made it wanted to be known; anything may be in there.
    """

    estimator: Any
    scaler: Any
    about: dict[str, Any]

    @property
    def names(self) -> list[str] | None:
        """The columns it was fitted to, if they had names."""
        of = self.estimator if self.scaler is None else self.scaler
        names = getattr(of, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @property
    def n_features(self) -> int:
        return int(centers_of(self.estimator).shape[1])

    @property
    def scaling(self) -> tuple[Any, Any] | None:
        """What is subtracted from every column, and by what it is then divided."""
        if self.scaler is None:
            return None
        return self.scaler.mean_, self.scaler.scale_

    def refuse_without_density(self, purpose: str) -> None:
        """Raise if this is a model of memberships alone."""
        if not hasattr(self.estimator, "gap"):
            name = type(self.estimator).__name__
            raise ValueError(
                f"This is a {name}, which has no density {purpose}: fit another model, "
                "such as --model soft."
            )

    def rows(self, source: Source) -> Any:
        """Open data for this model: its columns in its order, scaled as it was.

        Parameters
        ----------
        source : Source
            May say which columns to take in place of those of the same names.
        """
        from cprime.sources.display import listed

        path = source.path
        by_name = source.columns is None and path.suffix.lower() != ".npy"
        data = source.rows(self.names if by_name else None)
        if by_name and data.names is not None and self.names is not None:
            # A name such as 'a?' is no pattern here.
            _refuse_others(path, data.names, self.names)
        if data.n_features != self.n_features:
            raise ValueError(
                f"{path} has {data.n_features} columns, and the model was fitted to "
                f"{self.n_features}: choose them with --columns."
            )
        if self.names is not None and data.names is None:
            warnings.warn(
                f"The columns of {path} have no names: they are taken to be "
                f"{listed(self.names)}, in this order.",
                stacklevel=2,
            )
        return data if self.scaling is None else data.scaled(*self.scaling)


def _refuse_others(path: Path, found: Sequence[str], names: Sequence[str]) -> None:
    from cprime.sources.display import quoted

    for name in names:
        if name not in found:
            raise ValueError(
                f"{path} has no column {quoted(name)}, to which the model was fitted."
            )


def load(path: Path, beside_data: bool = False) -> Loaded:
    """Return the model in a file, or say why there is none.

    Parameters
    ----------
    path : path
    beside_data : bool, default=False
        Whether the command was given data too, which may stand in its place.
    """
    from cprime.estimators import describe
    from cprime.estimators import load as load_estimator
    from cprime.storage.container import NOT_OURS

    try:
        loaded, about = load_estimator(path), describe(path)["about"]
    except ValueError as error:
        if NOT_OURS not in str(error):
            raise
        hint = "; are MODEL and DATA swapped?" if beside_data else "."
        raise ValueError(f"{path} is not a cprime model{hint}") from None
    about = about if isinstance(about, dict) else {}
    if about.get("complete") is False:
        warnings.warn(f"{path} holds a fit that was interrupted.", stacklevel=2)
    if hasattr(loaded, "steps"):
        scaler, estimator = (step for _, step in loaded.steps)
        return Loaded(estimator, scaler, about)
    return Loaded(loaded, None, about)
