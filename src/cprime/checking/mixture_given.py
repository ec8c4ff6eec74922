"""Which parameters does a user, or the fit before, want a mixture to start from?"""

from typing import Any

from cprime.checking import mixture_inputs
from cprime.checking.units import Units
from cprime.theta import Given, Theta


def wanted(mixture: Any, C: int, D: int, units: Units) -> Given:
    """Return what `weights_init`, `means_init` and `precisions_init` say.

    In computing units, or raise and say what is wrong with them.
    """
    means = covariance = weights = None
    if mixture.weights_init is not None:
        if mixture.equal_weights:
            raise ValueError(
                "equal_weights=True holds all weights at 1 / n_components: leave "
                "weights_init out, or set equal_weights=False."
            )
        weights = mixture_inputs.checked_weights(mixture.weights_init, C)
    if mixture.means_init is not None:
        means = units.means_in(mixture_inputs.checked_means(mixture.means_init, C, D))
    if mixture.precisions_init is not None:
        of = mixture._covariances
        precisions = mixture_inputs.checked_precisions(
            mixture.precisions_init, of, C, D
        )
        covariance = units.covariance_in(mixture_inputs.covariances_of(precisions, of))
    return Given(means, covariance, weights)


def refuse_checkpoint(mixture: Any, checkpoint: Any) -> None:
    """Raise if a warm start is to be kept."""
    if checkpoint is not None and _is_warm(mixture):
        raise ValueError(
            "warm_start=True continues from the previous fit, which a checkpoint does "
            "not hold: give its parameters as means_init, precisions_init and "
            "weights_init, or set warm_start=False."
        )


def fit_before(mixture: Any, C: int, D: int) -> Theta | None:
    """Return the parameters a warm start goes on from, if it is one."""
    if not _is_warm(mixture):
        return None
    before, now = mixture._fitted_type.name, mixture.covariance_type
    if (before, *mixture.means_.shape) != (now, C, D):
        raise ValueError(
            "warm_start=True continues from the previous fit, which has "
            f"{len(mixture.means_)} clusters with {before!r} covariances of "
            f"{mixture.means_.shape[1]} features, not {C} with {now!r} covariances of "
            f"{D}: set warm_start=False to start over."
        )
    theta: Theta = mixture._mixture()[1]
    return theta


def of_fit(theta: Theta, units: Units) -> Given:
    """Return fitted parameters, in a user's units, as something to start from."""
    return Given(
        units.means_in(theta.means),
        units.covariance_in(theta.covariance),
        theta.proportions,
    )


def _is_warm(mixture: Any) -> bool:
    return bool(mixture.warm_start) and hasattr(mixture, "means_")
