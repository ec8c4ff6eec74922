"""What a fitted `GaussianMixture` can tell about rows."""

import sys
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cprime.checking import sample_weights
from cprime.checking.covariances import COVARIANCES, Covariances
from cprime.checking.parameters import UnlessFitted, floats, missing
from cprime.estimators.fitted import FittedMixture
from cprime.kernels.tensors import from_gpu
from cprime.models import Model
from cprime.sources import is_dask
from cprime.theta import NOTHING, Theta
from cprime.typing import Array


class FittedGaussians(FittedMixture):
    """Labels, densities and samples, in the types scikit-learn gives them."""

    covariance_type: str
    equal_weights: bool
    weights_: Any
    means_: Any
    covariances_: Any
    precisions_: Any
    precisions_cholesky_: Any
    _n_free: Any = UnlessFitted(lambda mixture: mixture._n_to_choose())

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
        return self._labels_of(X, np.int64)

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
        return self._log_densities(X, of_X=True)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `score_samples`, in its precision.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        if is_dask(X):
            return self.log_likelihood(X, sample_weight)
        values = from_gpu(self.score_samples(X))
        if sample_weight is None:
            return values.mean()
        weights = sample_weights.checked_weights(sample_weight, len(values))
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
        weights = np.asarray(theta.proportions)
        labels = np.repeat(
            np.arange(C, dtype=np.int64),
            rng.multinomial(n_samples, weights / weights.sum()),
        )
        X = rng.standard_normal((n_samples, D))
        roots = self._fitted_type.roots(self._known_covariances(), C, D)
        for c, root in enumerate(roots):
            X[labels == c] = theta.means[c] + X[labels == c] @ root.T
        return X.astype(floats(self.means_).dtype), labels

    @property
    def _stays_on_gpu(self) -> bool:
        return not (self._fitted_type.are_matrices or self._marginalizes)

    def _n_parameters(self) -> int:
        """Return how many numbers a fit is free to choose, by scikit-learn's name."""
        check_is_fitted(self, "means_")
        return self._n_free

    def _n_to_choose(self) -> int:
        model = self._fitted_type.of(np.array(1.0), self.equal_weights, NOTHING)
        return model.n_parameters(*self._mixture()[1].means.shape)

    @property
    def _fitted_type(self) -> Covariances:
        """What the parameters are, whatever `covariance_type` was set to since."""
        # A user may have put parameters here without a fit.
        return COVARIANCES[getattr(self, "_covariance_type", self.covariance_type)]

    def _mixture(self) -> tuple[Model, Theta]:
        check_is_fitted(self, "means_")
        of = self._fitted_type
        if not hasattr(self, "weights_"):
            raise missing(
                self, "weights_", "posteriors and densities", "it to proportions"
            )
        weights, means = (
            np.asarray(from_gpu(values), dtype=np.float64)
            for values in (self.weights_, self.means_)
        )
        covariances = self._known_covariances()
        for name, values, shape in (
            ("weights_", weights, means.shape[:1]),
            ("covariances_", covariances, of.shape(*means.shape)),
        ):
            if np.shape(values) != shape:
                raise ValueError(
                    f"{name} has shape {np.shape(values)}, but means_ of shape "
                    f"{means.shape} and {of.name!r} covariances need {shape}."
                )
        theta = Theta(means, of.kept(covariances), weights)
        # The parameters are there to be evaluated, not to be clipped or learned.
        return of.of(np.array(sys.float_info.min), False, NOTHING), theta

    def _known_covariances(self) -> Any:
        """Return covariances as a fit has left them, or as they follow from others."""
        of = self._fitted_type
        if hasattr(self, "covariances_"):
            return from_gpu(self.covariances_)
        # scikit-learn needs no more than these to evaluate a mixture.
        if hasattr(self, "precisions_cholesky_"):
            return of.of_cholesky(from_gpu(self.precisions_cholesky_))
        if hasattr(self, "precisions_"):
            return of.inverted(floats(self.precisions_).astype(np.float64))
        shape = of.shape(*np.shape(self.means_))
        raise missing(
            self,
            "covariances_",
            "posteriors and densities",
            f"it, in the shape {shape} of covariance_type={of.name!r}",
        )
