"""What fitted clusters, and a fitted mixture, can tell about rows."""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from cprime import bounds
from cprime.checking import inputs, parameters, sample_weights
from cprime.checking.log_densities import finite_mean, refuse_infinite
from cprime.checking.parameters import UnlessFitted
from cprime.checking.units import Units
from cprime.estimators.evaluation import Evaluation
from cprime.estimators.reporting import ReportMixin
from cprime.kernels import free_energies, kernel_for
from cprime.kernels.tensors import is_on_gpu
from cprime.models import Model
from cprime.theta import Theta
from cprime.truncation import Truncated, label_first
from cprime.typing import Array


class FittedClusters(ReportMixin):
    """Labels and memberships from the parameters of clusters.

    For estimators with the attributes below. Nothing here changes them.
    """

    kernel: str
    _C_prime: Any = UnlessFitted(parameters.kept)
    # By which parameter a user says how many clusters there are.
    _count_name = "n_clusters"

    @property
    def _marginalizes(self) -> bool:
        """Whether rows are welcome of which some values are missing."""
        return False

    @property
    def _stays_on_gpu(self) -> bool:
        """Whether rows that are on a GPU can be looked at there."""
        return True

    def _mixture(self) -> tuple[Model, Theta]:
        """Return the fitted model and its parameters, in a user's units.

        Raises NotFittedError if there are none.
        """
        raise NotImplementedError

    def _clusters(self) -> tuple[Model, Theta]:
        """Return what is needed for labels and distances: as `_mixture`, or less."""
        return self._mixture()

    def _shares(self, kept: Truncated, units: Units) -> Array:
        """Return how rows are divided among the clusters they keep, shape (B, C')."""
        return kept.responsibilities()

    def _n_sharing(self) -> int | None:
        """Return among how many clusters a row is divided, if nobody says otherwise.

        None is all.
        """
        return None

    def predict(self, X: Any) -> Array:
        """Return the index of the closest cluster of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        return self._labels_of(X, np.int32)

    def _labels_of(self, X: Any, dtype: Any) -> Any:
        """Return the index of the closest cluster of every row, in this dtype."""
        evaluation = self._evaluation(X, of=self._clusters())
        kernel, coefficients = evaluation.kernel, evaluation.coefficients

        def labels(values: Array, weights: Array) -> Array:
            return kernel.nearest(values, coefficients).astype(dtype, copy=False)

        return evaluation.beside_rows(evaluation.rows.map(labels))

    def _memberships(self, X: Any, c_prime: Any, sparse: bool | None) -> Any:
        """Return how every row is divided among its C' closest clusters.

        Parameters
        ----------
        X, c_prime, sparse
            As a user gave them.
        """
        if sp.issparse(X) and sparse is None:
            raise ValueError(
                "X is sparse: use sparse=False for a dense posterior of n_clusters per "
                "row, or sparse=True and a c_prime to store only that many."
            )
        if sparse and is_on_gpu(X):
            raise ValueError(
                "sparse=True gives a matrix in the memory of the host, and X is on a "
                "GPU: use sparse=False, or give a copy there, X.cpu().numpy()."
            )
        evaluation = self._evaluation(X)
        asked = self._n_sharing() if c_prime is None else c_prime
        C_prime = (
            evaluation.C
            if asked is None
            else inputs.checked_c_prime(asked, evaluation.C, self._count_name)
        )

        kernel, coefficients = evaluation.kernel, evaluation.coefficients
        C, units, dtype = evaluation.C, evaluation.units, evaluation.dtype
        # It goes where the rows are; labels of others stay here.
        of = copy(self)
        vars(of).pop("labels_", None)

        def of_rows(values: Array, weights: Array) -> tuple[Array, Array]:
            kept = kernel.posterior(values, coefficients, C_prime)
            shares = of._shares(kept, units).astype(dtype)
            return kept.K, label_first(kept.K, shares)

        def dense(values: Array, weights: Array) -> Array:
            K, q = of_rows(values, weights)
            shares = np.zeros((len(K), C), dtype=dtype)
            np.put_along_axis(shares, K, q, axis=1)
            return shares

        if not sparse:
            return evaluation.beside_rows(evaluation.rows.map(dense))
        K, q = evaluation.rows.map(of_rows)
        starts = np.arange(len(K) + 1) * C_prime
        matrix = sp.csr_array(
            (q.ravel(), K.ravel(), starts), shape=(len(K), evaluation.C)
        )
        matrix.sort_indices()
        return matrix

    def _evaluation(
        self,
        X: Any,
        sample_weight: Any = None,
        of: tuple[Model, Theta] | None = None,
    ) -> Evaluation:
        """Return rows, as a user gave them, and the mixture, or what `of` says."""
        model, theta = self._mixture() if of is None else of
        inputs.refuse_impossible(theta)
        missing = self._marginalizes
        X = inputs.checked_data(
            self, X, reset=False, missing=missing, stays=self._stays_on_gpu
        )
        if inputs.width(X) != theta.means.shape[1]:
            raise ValueError(
                f"X has {inputs.width(X)} features, but {type(self).__name__} is "
                f"expecting {theta.means.shape[1]} features as input."
            )
        weights = sample_weights.weights_of(sample_weight, X)
        spread = math.sqrt(float(np.max(np.abs(theta.covariance))))
        units = Units.of(
            max(float(np.abs(theta.means).max()), spread), float(weights.max())
        )
        scaled = replace(
            theta,
            means=units.means_in(theta.means),
            covariance=units.covariance_in(theta.covariance),
        )
        incomplete = missing and inputs.has_missing(X)
        return Evaluation(
            X,
            units.rows(X, weights),
            model.coefficients(scaled),
            kernel_for(X, self.kernel, missing=incomplete),
            units,
        )

    def _c_prime(self, c_prime: Any, evaluation: Evaluation) -> int:
        fitted = isinstance(c_prime, str) and c_prime == "fitted"
        asked = self._C_prime if fitted else c_prime
        if asked is None:
            return evaluation.C
        return inputs.checked_c_prime(asked, evaluation.C, self._count_name)


class FittedMixture(FittedClusters):
    """Posteriors and densities besides, from a mixture's parameters."""

    random_state: Any
    _n_free: Any = UnlessFitted(parameters.free)

    def predict_proba(
        self, X: Any, c_prime: int | None = None, sparse: bool | None = None
    ) -> Any:
        """Return the posterior probability of every cluster, for every row.

        It is that of the Gaussian mixture whose likelihood the fit bounds, so k-means
        has one too.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        c_prime : int, optional
            Keep only this many closest clusters per row, with exact zeros elsewhere
            (Eq. 5). By default all.
        sparse : bool, optional
            Return a CSR array that stores nothing but the kept clusters. By default
            False; for sparse X, which may have very many rows, it must be given.

        Returns
        -------
        q : ndarray or csr_array of shape (n_samples, n_clusters)
            Rows sum to one.
        """
        return self._memberships(X, c_prime, sparse)

    def score_samples(self, X: Any) -> Array:
        """Return log p(y) of every row under the mixture: low for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,), float64
            In nats.
        """
        return self._log_densities(X)

    def _log_densities(self, X: Any, of_X: bool = False) -> Any:
        """Return log p(y) of every row, as float64 or in the precision of X."""
        evaluation = self._evaluation(X)
        kernel, coefficients = evaluation.kernel, evaluation.coefficients
        C, units = evaluation.C, evaluation.units

        def log_density(values: Array, weights: Array) -> Array:
            return free_energies(kernel, values, coefficients, C)

        rows = evaluation.rows
        found = units.log_densities_out(rows.map(log_density), rows)
        found = rows.examined(found, refuse_infinite)
        if of_X:
            found = found.astype(evaluation.dtype)
        return evaluation.beside_rows(found)

    def log_likelihood(self, X: Any, sample_weight: Any = None) -> float:
        """Return L, the weighted mean of `score_samples` (Eq. 3).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional
        """
        return self.free_energy(X, sample_weight, c_prime=None)

    def free_energy(
        self, X: Any, sample_weight: Any = None, c_prime: Any = "fitted"
    ) -> float:
        """Return F, the bound on the log-likelihood, of these rows (Eq. 7).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional
        c_prime : int or None, optional
            Clusters every row keeps, its closest; None is all of them. By default as
            many as in the fit.
        """
        return self._free_energy(self._evaluation(X, sample_weight), c_prime)

    def gap(
        self,
        X: Any,
        sample_weight: Any = None,
        c_prime: Any = "fitted",
        per: str | None = None,
    ) -> Any:
        """Return L - F: the nats per row lost by keeping only C' clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional
        c_prime : int or None, optional
            Clusters every row keeps, its closest. By default as many as in the fit.
        per : {"row", "cluster"}, optional
            Return one value for every row, or the mean over the rows closest to each
            cluster. By default the mean over all rows.

        Returns
        -------
        gap : float, or ndarray of shape (n_samples,) or (n_clusters,)
            Never negative.
        """
        measures = {
            None: bounds.gap,
            "row": bounds.gap_per_row,
            "cluster": bounds.gap_per_cluster,
        }
        if not (per is None or per in ("row", "cluster")):
            raise ValueError(f"per must be 'row', 'cluster' or None, not {per!r}.")
        evaluation = self._evaluation(X, sample_weight)
        found = measures[per](
            evaluation.rows,
            evaluation.coefficients,
            C_prime=self._c_prime(c_prime, evaluation),
            kernel=evaluation.kernel,
        )
        return found if per is None else evaluation.beside_rows(found)

    def bic(
        self, X: Any, sample_weight: Any = None, bound: str = "likelihood"
    ) -> float:
        """Return the Bayesian information criterion of these rows: lower is better.

        -2 N L + p log N, with p free parameters and N the rows' total weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional
        bound : {"likelihood", "free_energy"}, default="likelihood"
            Use L, or the free energy of the fit's C' in its place.
        """
        return self._criterion(self._evaluation(X, sample_weight), bound, math.log)

    def aic(
        self, X: Any, sample_weight: Any = None, bound: str = "likelihood"
    ) -> float:
        """Return Akaike's information criterion of these rows: lower is better.

        -2 N L + 2 p. Parameters as for `bic`.
        """
        return self._criterion(
            self._evaluation(X, sample_weight), bound, lambda weight: 2.0
        )

    def _sample_rng(self, n_samples: Any, random_state: Any) -> Any:
        """Return where to draw from, or say what is wrong with either."""
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': n_samples={n_samples!r} should be a "
                "whole number >= 1."
            )
        seed = self.random_state if random_state is None else random_state
        try:
            return check_random_state(seed)
        except ValueError as error:
            raise ValueError(f"random_state={seed!r} is not valid: {error}") from error

    def _free_energy(self, evaluation: Evaluation, c_prime: Any) -> float:
        value = bounds.free_energy(
            evaluation.rows,
            evaluation.coefficients,
            C_prime=self._c_prime(c_prime, evaluation),
            kernel=evaluation.kernel,
        )
        return finite_mean(
            float(evaluation.units.log_density_out(value, evaluation.rows))
        )

    def _criterion(
        self, evaluation: Evaluation, bound: str, price: Callable[[float], float]
    ) -> float:
        """Return -2 W L + p price(W), for the rows' total weight W."""
        if bound not in ("likelihood", "free_energy"):
            raise ValueError(
                f"bound must be 'likelihood' or 'free_energy', not {bound!r}."
            )
        c_prime = None if bound == "likelihood" else "fitted"
        weight = evaluation.rows.weight / evaluation.units.weight_scale
        value = self._free_energy(evaluation, c_prime)
        criterion = -2.0 * weight * value + self._n_free * price(weight)
        if not math.isfinite(criterion):
            raise ValueError(
                f"With a total sample_weight of {weight:.3g} the criterion is too "
                "large for float64: divide the weights by a constant first."
            )
        return criterion
