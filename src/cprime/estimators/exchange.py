"""From and to the estimators of scikit-learn, and from one of ours to another.

What comes out is a plain scikit-learn object, so whatever reads those (ONNX, skops)
reads our fits.
"""

import warnings
from typing import Any

import numpy as np
import sklearn.cluster
import sklearn.mixture
from sklearn.utils.validation import check_is_fitted

from cprime.estimators.covariances import COVARIANCES
from cprime.models import NOTHING, Isotropic

OF_THE_INPUT = ("n_features_in_", "feature_names_in_")
OF_THE_MIXTURE = (
    "weights_",
    "means_",
    "covariances_",
    "precisions_",
    "precisions_cholesky_",
    "converged_",
    "n_iter_",
    "lower_bound_",
    "lower_bounds_",
)
# What scikit-learn adds to covariances by default.
THEIR_RIDGE = 1e-6


class KMeansExchange:
    """`to_sklearn` and `from_sklearn` of k-means."""

    def to_sklearn(self: Any) -> sklearn.cluster.KMeans:
        """Return a fitted `sklearn.cluster.KMeans` with the same predictions.

        It knows the centres; `c_prime` and the variance have no place in it.

        Returns
        -------
        kmeans : sklearn.cluster.KMeans
        """
        check_is_fitted(self, "cluster_centers_")
        theirs = _fitted_on_centers(self.cluster_centers_)
        params = _shared_params(self, theirs)
        if isinstance(params["init"], str) and params["init"] != "random":
            params["init"] = "k-means++"
        theirs.set_params(**params)
        _copy(self, theirs, ("labels_", "inertia_", "n_iter_", *OF_THE_INPUT))
        return theirs

    @classmethod
    def from_sklearn(cls, kmeans: Any) -> Any:
        """Return the same fit, with densities, posteriors and scores.

        Parameters
        ----------
        kmeans : fitted sklearn.cluster.KMeans or MiniBatchKMeans
            If rows had weights when it was fitted, `variance_` is not known from it
            and is taken for equal weights.

        Returns
        -------
        self : KMeans
        """
        check_is_fitted(kmeans, "cluster_centers_")
        ours: Any = cls()
        ours.set_params(**_shared_params(kmeans, ours))
        _copy(
            kmeans,
            ours,
            ("cluster_centers_", "labels_", "inertia_", "n_iter_", *OF_THE_INPUT),
        )
        C, D = ours.cluster_centers_.shape
        spread = float(ours.inertia_) / (D * len(ours.labels_))
        ours.variance_ = max(spread, float(np.finfo(np.float64).tiny) * 8.0)
        ours._n_features_out, ours._C_prime = C, 1
        ours._n_free = Isotropic().n_parameters(C, D)
        return ours


class MixtureExchange:
    """`to_sklearn`, `from_sklearn` and `from_kmeans` of a `GaussianMixture`."""

    @classmethod
    def from_kmeans(cls: Any, kmeans: Any, **params: Any) -> Any:
        """Return a mixture whose fit goes on where k-means ended.

        Parameters
        ----------
        kmeans : fitted KMeans
            Ours or scikit-learn's.
        **params
            Of the mixture, for instance `covariance_type`.

        Returns
        -------
        mixture : GaussianMixture
            Not fitted yet: `fit` takes proportions and covariances from the rows
            closest to each centre, and EM goes on from there.

        Examples
        --------
        >>> from cprime import GaussianMixture, KMeans
        >>> import numpy as np
        >>> X = np.array([[1, 2], [1, 4], [1, 0], [9, 2], [9, 4], [9, 0], [8, 1]])
        >>> kmeans = KMeans(n_clusters=2, random_state=0).fit(X)
        >>> mixture = GaussianMixture.from_kmeans(kmeans, covariance_type="spherical")
        >>> mixture.fit(X).weights_.round(2)
        array([0.57, 0.43])
        """
        check_is_fitted(kmeans, "cluster_centers_")
        centers = kmeans.cluster_centers_
        return cls(len(centers), **{"means_init": centers, **params})

    def to_sklearn(self: Any) -> sklearn.mixture.GaussianMixture:
        """Return a fitted `sklearn.mixture.GaussianMixture` with the same predictions.

        "isotropic" becomes "spherical" with variances that are all the same.

        Returns
        -------
        mixture : sklearn.mixture.GaussianMixture
        """
        check_is_fitted(self, "means_")
        theirs = sklearn.mixture.GaussianMixture()
        theirs.set_params(**_shared_params(self, theirs))
        if theirs.reg_covar is None:
            theirs.reg_covar = THEIR_RIDGE
        _copy(self, theirs, (*OF_THE_MIXTURE, *OF_THE_INPUT))
        if theirs.covariance_type == "isotropic":
            theirs.covariance_type = "spherical"
            for name in ("covariances_", "precisions_", "precisions_cholesky_"):
                setattr(theirs, name, np.full(len(theirs.means_), getattr(self, name)))
        return theirs

    @classmethod
    def from_sklearn(cls, mixture: Any) -> Any:
        """Return the same fit, with weights for rows, truncation and `gap`.

        Parameters
        ----------
        mixture : fitted sklearn.mixture.GaussianMixture

        Returns
        -------
        self : GaussianMixture
            `reg_covar`, should it be fitted again, is a clip here and not added.
        """
        check_is_fitted(mixture, "means_")
        ours: Any = cls()
        ours.set_params(**_shared_params(mixture, ours))
        _copy(mixture, ours, (*OF_THE_MIXTURE, *OF_THE_INPUT))
        C, D = ours.means_.shape
        model = COVARIANCES[ours.covariance_type].of(np.array(1.0), False, NOTHING)
        ours._n_features_out = ours._C_prime = C
        ours._n_free = model.n_parameters(C, D)
        return ours


def _fitted_on_centers(centers: Any) -> sklearn.cluster.KMeans:
    """Return a scikit-learn object with whatever it needs to predict."""
    theirs = sklearn.cluster.KMeans(len(centers), init=centers, n_init=1, max_iter=1)
    with warnings.catch_warnings():
        # Centres may coincide.
        warnings.simplefilter("ignore")
        theirs.fit(centers)
    theirs.cluster_centers_ = centers.copy()
    return theirs


def _shared_params(of: Any, to: Any) -> dict[str, Any]:
    """Return the parameters of one estimator that the other has too."""
    names = to.get_params(deep=False)
    return {n: v for n, v in of.get_params(deep=False).items() if n in names}


def _copy(of: Any, to: Any, names: tuple[str, ...]) -> None:
    for name in names:
        if hasattr(of, name):
            setattr(to, name, getattr(of, name))
