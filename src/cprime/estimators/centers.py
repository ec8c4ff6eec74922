"""What estimators of cluster centres have in common: how they are fitted and asked."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from cprime import convergence
from cprime.checking import inputs
from cprime.checking.assignments import is_assignment
from cprime.checking.constraints import RememberedChecks
from cprime.checking.parameters import floats, missing, squared_size
from cprime.checkpointing.checkpoint import Checkpoint
from cprime.estimators.fit import fit
from cprime.estimators.fitted import FittedClusters, FittedMixture
from cprime.extrapolation import LEAST_GAIN
from cprime.fitting.callbacks import CallbackSupportMixin, with_callbacks
from cprime.fitting.degenerate import warn_if_degenerate
from cprime.fitting.initialization import Starts, n_restarts
from cprime.fitting.progress import Listener
from cprime.fitting.restarts import Start
from cprime.fitting.results import DensityResults, Results
from cprime.fitting.run_restarts import Recipe
from cprime.fitting.training import Training
from cprime.kernels import kernel_for
from cprime.model_files.saving import Savable
from cprime.models import Distortion, Isotropic, Model
from cprime.search import Exact
from cprime.theta import Theta
from cprime.typing import Array


class ClusterCenters(
    ClassNamePrefixFeaturesOutMixin,
    CallbackSupportMixin,
    TransformerMixin,
    ClusterMixin,
    Savable,
    FittedClusters,
    RememberedChecks,
    BaseEstimator,
):
    """Fits cluster centres, and knows labels and distances."""

    # Why some clusters may be nobody's closest, said in a warning.
    _why_too_few = "duplicate points in X"

    def _prepared(
        self, training: Training, starts: Starts, C_prime: int
    ) -> tuple[Results, Callable[[], Start]]:
        """Return what is to be fitted, and what draws the next start of it."""
        raise NotImplementedError

    def _centers(self) -> Array:
        check_is_fitted(self, "cluster_centers_")
        return floats(self.cluster_centers_).astype(np.float64)

    def _clusters(self) -> tuple[Model, Theta]:
        centers = self._centers()
        try:
            return self._mixture()
        except NotFittedError:
            # Centres alone, set by hand: labels and distances need no more.
            return Distortion(), Theta(centers, squared_size(centers))

    def _variance_is_given(self) -> bool:
        """Return whether the variance of the clusters is what a user wants it to be.

        Otherwise one too small for float64 needs a word.
        """
        raise NotImplementedError

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Checkpoint | None = None,
        progress: Listener | None = None,
    ) -> Any:
        """Find the cluster centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Data
            float32 stays float32; sparse rows are made dense a block at a time. The
            path of a file, or what else `cprime.open_data` takes, is read block by
            block if it does not fit in memory. A Dask array or DataFrame is fitted by
            the workers that have it; `labels_` is then a Dask array. A tensor of torch
            on a GPU is fitted there, and what is found is tensors beside it.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same as giving the row twice, 0 as leaving it out.
        checkpoint : cprime.Checkpoint, optional
            Where the fit is saved while it runs, so that it can be resumed.
        progress : callable, optional
            Is called with a `cprime.Progress` after every iteration.

        Returns
        -------
        self : the fitted estimator
        """
        restarts = fit(self, X, sample_weight, checkpoint, progress)
        floored = False
        if not self._variance_is_given():
            best = restarts.state.best
            assert best is not None and best.fit is not None
            floored = bool(restarts.problem.model.floored(best.fit.theta))
        warn_if_degenerate(self, floored, self._why_too_few)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit and return `labels_`. Parameters as for `fit`."""
        labels: Array = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit and return `transform(X)`. Parameters as for `fit`."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> Array:
        """Return the distance of every row to every cluster centre.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_clusters)
        """
        evaluation = self._evaluation(X, of=self._clusters())

        kernel, means = evaluation.kernel, evaluation.coefficients.means
        scale, dtype = evaluation.units.scale, evaluation.dtype

        def distances(values: Array, weights: Array) -> Array:
            return (np.sqrt(kernel.distances(values, means)) / scale).astype(dtype)

        return evaluation.beside_rows(evaluation.rows.map(distances))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the k-means objective of these rows, as scikit-learn does.

        It favours `c_prime=1` and whatever else makes labels hard: to search over such
        parameters, score a mixture by `log_likelihood`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        evaluation = self._evaluation(X, sample_weight, self._clusters())
        _, stats = evaluation.rows.sweep(
            evaluation.kernel, None, evaluation.coefficients, Exact().plan(), 1
        )
        return -evaluation.units.objective_out(stats.quantization_error)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked_rows(self, X: Any) -> Any:
        return inputs.checked_data(self, X, reset=True, stays=self._stays_on_gpu)

    def _recipe(
        self, X: Any, weights: Array, C: int, C_prime: int, random_state: Any
    ) -> Recipe:
        training = Training.of(X, weights, kernel_for(X, self.kernel))
        starts = Starts(self.init, C, training, random_state)
        results, next_start = self._prepared(training, starts, C_prime)
        stop: convergence.Stop = convergence.Tolerance(
            self.tol * training.overall.covariance, self.tol
        )
        is_seen_in_F = self.tol >= LEAST_GAIN
        if C_prime > 1 and is_seen_in_F and isinstance(results, DensityResults):
            stop = convergence.Rise(self.tol)
        return Recipe(
            results,
            stop,
            C,
            n_restarts(self),
            next_start,
            starts.method,
            # An `init` of a user's own may count how often it was called; a K to go on
            # from is for the loop.
            in_order=callable(self.init) or is_assignment(self.init),
        )

    def _extrapolates(self, C_prime: int) -> bool:
        """Return whether a fit may leap: C' = 1 is Lloyd's algorithm, C' = C is EM."""
        return 1 < C_prime < int(self.n_clusters)

    def _checked_sizes(self, n_rows: int) -> tuple[int, int]:
        """Return C and C', or say why there cannot be as many."""
        C = int(self.n_clusters)
        if n_rows < C:
            raise ValueError(f"n_samples={n_rows} should be >= n_clusters={C}.")
        if self.c_prime is None:
            return C, C
        return C, inputs.checked_c_prime(self.c_prime, C)


class RoundMixture(FittedMixture, ClusterCenters):
    """Cluster centres that are the means of a mixture with one variance for all."""

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Draw new rows from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance, optional
            By default the estimator's own.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        labels : ndarray of shape (n_samples,)
            The cluster each row was drawn from.
        """
        variance = float(self._mixture()[1].covariance)
        rng = self._sample_rng(n_samples, random_state)
        centers = floats(self.cluster_centers_)
        labels = rng.randint(len(centers), size=n_samples).astype(np.int32)
        noise = rng.standard_normal((n_samples, centers.shape[1]))
        X = centers[labels] + math.sqrt(variance) * noise
        return X.astype(centers.dtype), labels

    def _held_variance(self) -> float | None:
        """Return the variance a fit would hold by the parameters, if it is known."""
        raise NotImplementedError

    def _mixture(self) -> tuple[Isotropic, Theta]:
        centers = self._centers()
        held = self._held_variance()
        variance = getattr(self, "variance_", held)
        if variance is None:
            raise missing(
                self,
                "variance_",
                "posteriors and densities",
                "it to the variance of the clusters",
            )
        return Isotropic(variance=held), Theta(centers, float(variance))
