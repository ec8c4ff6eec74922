"""Which model does the user want, and how is it to be searched for?"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import typer


class Model(StrEnum):
    """What is fitted."""

    kmeans = "kmeans"
    soft = "soft"
    fuzzy = "fuzzy"
    mixture = "mixture"


class Covariance(StrEnum):
    """What shape the clusters of a mixture have."""

    full = "full"
    tied = "tied"
    diag = "diag"
    spherical = "spherical"
    isotropic = "isotropic"


class Missing(StrEnum):
    """What becomes of rows of which a value is missing."""

    error = "error"
    drop = "drop"
    marginalize = "marginalize"


class Init(StrEnum):
    """Where a fit starts."""

    kmeans_plus_plus = "k-means++"
    parallel = "k-means||"
    greedy = "greedy-k-means++"
    sampled = "sampled-k-means++"
    plain = "plain-k-means++"
    afk_mc2 = "afk-mc2"
    random = "random"
    kmeans = "kmeans"
    rows = "random_from_data"


OF_BOTH = {Init.kmeans_plus_plus, Init.parallel, Init.greedy, Init.random}
OF_CENTERS = {*OF_BOTH, Init.sampled, Init.plain, Init.afk_mc2}
OF_MIXTURES = {*OF_BOTH, Init.kmeans, Init.rows}
# Shapes of clusters to which rows can belong that have gaps.
ALONG_AXES = (Covariance.diag, Covariance.spherical, Covariance.isotropic)
ALL, AUTO = "all", "auto"
MOST_CLUSTERS = 2**32 - 1


@dataclass(frozen=True)
class ModelSpec:
    """A model as it was asked for on the command line.

    Attributes
    ----------
    model : Model
    k : int or None
        Number of clusters; None is to be chosen.
    c_prime : int or None
        Clusters every row keeps; None is all.
    covariance, init, restarts, max_iter, tol
        None is what the estimator does by itself.
    seed : int
    missing : Missing, default=Missing.error
    """

    model: Model
    k: int | None
    c_prime: int | None
    covariance: Covariance | None
    init: Init | None
    restarts: int | None
    max_iter: int | None
    tol: float | None
    seed: int
    missing: Missing = Missing.error

    def __post_init__(self) -> None:
        if self.covariance is not None and self.model != Model.mixture:
            raise typer.BadParameter(
                f"--model {self.model.value} has spherical clusters; for other "
                "covariances use --model mixture",
                param_hint="--covariance",
            )
        if self.k is not None and (self.c_prime or 0) > self.k:
            raise typer.BadParameter(
                f"rows cannot keep {self.c_prime} of {self.k} clusters; use at most "
                f"{self.k}, or all",
                param_hint="--c-prime",
            )
        marginal = self.model == Model.mixture and self.covariance in ALONG_AXES
        if self.missing == Missing.marginalize and not (marginal and self.k):
            raise typer.BadParameter(
                "marginalize needs a number of clusters and --model mixture with "
                f"--covariance {', '.join(ALONG_AXES[:-1])} or {ALONG_AXES[-1]}; drop "
                "works with every model",
                param_hint="--missing",
            )
        known = OF_MIXTURES if self.model == Model.mixture else OF_CENTERS
        if self.init is not None and self.init not in known:
            raise typer.BadParameter(
                f"{self.init.value!r} is not for --model {self.model.value}; "
                f"choose from {', '.join(i.value for i in Init if i in known)}",
                param_hint="--init",
            )

    @property
    def are_round(self) -> bool:
        """Whether clusters measure all columns with one yardstick."""
        round_ones = (Covariance.spherical, Covariance.isotropic)
        return self.model != Model.mixture or self.covariance in round_ones

    def with_c_prime(self, c_prime: int | None) -> "ModelSpec":
        """Return the same with another C'."""
        return replace(self, c_prime=c_prime)

    def with_choice(self, k: int, covariance: str) -> "ModelSpec":
        """Return the same with a number of clusters, and a shape if it has one."""
        c_prime = None if self.c_prime is None else min(self.c_prime, k)
        shape = Covariance(covariance) if self.model == Model.mixture else None
        return replace(self, k=k, c_prime=c_prime, covariance=shape)

    def estimator(self) -> Any:
        """Return it as Python knows it, ready to be fitted."""
        import cprime

        given = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "n_init": self.restarts,
        }
        settings: dict[str, Any] = {n: v for n, v in given.items() if v is not None}
        settings |= {"c_prime": self.c_prime, "random_state": self.seed}
        if self.init is not None:
            name = "init_params" if self.model == Model.mixture else "init"
            settings[name] = self.init.value
        if self.missing == Missing.marginalize:
            settings["missing"] = self.missing.value
        if self.covariance is not None:
            settings["covariance_type"] = self.covariance.value
        classes: dict[Model, Any] = {
            Model.kmeans: cprime.KMeans,
            Model.soft: cprime.SoftKMeans,
            Model.fuzzy: cprime.FuzzyKMeans,
            Model.mixture: cprime.GaussianMixture,
        }
        return classes[self.model](self.k, **settings)


def refuse_standardized_gaps(missing: Missing, standardize: bool) -> None:
    """Raise if columns are to be scaled of which some values are missing."""
    if missing == Missing.marginalize and standardize:
        raise typer.BadParameter(
            "marginalize cannot be combined with --standardize, and --covariance diag "
            "does not need it",
            param_hint="--missing",
        )


def parse_clusters(text: str) -> int | None:
    """Return the number of clusters as it was typed; None is "auto"."""
    if text == AUTO:
        return None
    try:
        k = int(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a valid integer, nor {AUTO!r}", param_hint="-k"
        ) from None
    if not 1 <= k <= MOST_CLUSTERS:
        bound = "less than 1" if k < 1 else "too large"
        raise typer.BadParameter(f"{k} is {bound}", param_hint="-k")
    return k


def parse_c_prime(text: str | None, model: Model) -> int | None:
    """Return C' as it was typed; None is all clusters.

    Parameters
    ----------
    text : str or None
        A whole number, "all", or nothing: 1 for k-means, and all for other models.
    model : Model
    """
    if text is None:
        return 1 if model == Model.kmeans else None
    if text == ALL:
        return None
    if not (text.isdecimal() and int(text) >= 1):
        raise typer.BadParameter(
            f"{text!r} is neither a positive integer nor {ALL!r}",
            param_hint="--c-prime",
        )
    return int(text)
