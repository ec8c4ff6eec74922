"""What a fitted `GaussianMixture` can tell about rows."""

import sys
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cprime.estimators import inputs
from cprime.estimators.covariances import COVARIANCES, Covariances
from cprime.estimators.fitted import FittedMixture
from cprime.models import NOTHING, Model
from cprime.theta import Theta
from cprime.typing import Array


class FittedGaussians(FittedMixture):
    """Labels, densities and samples, in the types scikit-learn gives them."""

    covariance_type: str
    weights_: Array
    means_: Array
    covariances_: Any

    def predict(self, X: Any) -> Array:
        """Return the index of the most likely cluster of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), int64
        """
        # As in scikit-learn, whose k-means has labels of int32 and mixtures of int64.
        return super().predict(X).astype(np.int64)

    def score_samples(self, X: Any) -> Array:
        """Return log p(y) of every row: low for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            In nats; float32 for float32 rows.
        """
        scene = self._scene(X)
        return self._log_densities(scene).astype(scene.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `score_samples`, in its precision.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        values = self.score_samples(X)
        if sample_weight is None:
            return values.mean()
        weights = inputs.checked_weights(sample_weight, len(values))
        return np.average(values, weights=weights)

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw new rows from the fitted mixture, cluster by cluster.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,), int64
            The cluster each row was drawn from.
        """
        theta = self._mixture()[1]
        C, D = theta.means.shape
        rng = self._sample_rng(n_samples, None)
        weights = self.weights_.astype(np.float64)
        labels = np.repeat(
            np.arange(C, dtype=np.int64),
            rng.multinomial(n_samples, weights / weights.sum()),
        )
        X = rng.standard_normal((n_samples, D))
        for c, root in enumerate(self._fitted_type.roots(self.covariances_, C, D)):
            X[labels == c] = theta.means[c] + X[labels == c] @ root.T
        return X.astype(self.means_.dtype), labels

    def _n_parameters(self) -> int:
        """Return how many numbers a fit is free to choose, by scikit-learn's name."""
        check_is_fitted(self, "means_")
        return self._n_free

    @property
    def _fitted_type(self) -> Covariances:
        """What the parameters are, whatever `covariance_type` was set to since."""
        # A person may have put parameters here without a fit.
        return COVARIANCES[getattr(self, "_covariance_type", self.covariance_type)]

    def _mixture(self) -> tuple[Model, Theta]:
        check_is_fitted(self, "means_")
        of = self._fitted_type
        weights = self.weights_.astype(np.float64)
        theta = Theta(
            self.means_.astype(np.float64), of.kept(self.covariances_), weights
        )
        # The parameters are there to be evaluated, not to be clipped or learned.
        return of.of(np.array(sys.float_info.min), False, NOTHING), theta
