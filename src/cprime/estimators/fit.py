"""How is an estimator fitted? Checks, a recipe, restarts; all of it, or nothing."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from cprime.blocks import Elsewhere
from cprime.checking import sample_weights
from cprime.checkpointing.checkpoint import Checkpoint
from cprime.checkpointing.keeper import keeping
from cprime.checkpointing.restarts_keeper import RestartsKeeper
from cprime.fitting.progress import Listener
from cprime.fitting.restarts import Restarts
from cprime.fitting.results import fitted_or_unchanged
from cprime.fitting.run_restarts import Keeper, run_restarts
from cprime.fitting.tensors import beside, refuse_checkpoint


def fit(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    checkpoint: Checkpoint | None,
    progress: Listener | None,
) -> Restarts:
    """Fit an estimator; if that fails, it is as it was before.

    Parameters
    ----------
    estimator : estimator
        Has `_checked_rows`, `_checked_sizes` and `_recipe`.
    X, sample_weight
        As a user gave them.
    checkpoint : Checkpoint, optional
    progress : callable, optional
    """
    with fitted_or_unchanged(estimator) as put:
        X = estimator._checked_rows(X)
        if isinstance(X, Elsewhere):
            refuse_checkpoint(checkpoint)
            put = beside(X, put)
        weights = sample_weights.weights_of(sample_weight, X)
        C, C_prime = estimator._checked_sizes(X.shape[0])
        kept: AbstractContextManager[Keeper] = nullcontext(Keeper())
        if checkpoint is not None:
            kept = keeping(RestartsKeeper, checkpoint, estimator, X, weights)
        with kept as keeper:
            random_state = keeper.random_state(estimator.random_state)
            recipe = estimator._recipe(X, weights, C, C_prime, random_state)
            given = X.given if isinstance(X, Elsewhere) else X
            data = {"X": given, "metadata": {"sample_weight": sample_weight}}
            return run_restarts(estimator, recipe, data, put, keeper, progress)
