"""From and to the estimators of scikit-learn, and from one of ours to another.

What comes out is a plain scikit-learn object, so whatever reads those (ONNX, skops)
reads our fits.
"""

import copy
import warnings
from collections.abc import Collection
from importlib import import_module
from typing import Any

import numpy as np
import sklearn.cluster
import sklearn.mixture
from sklearn.utils.validation import check_is_fitted

from cprime.checking.assignments import is_assignment
from cprime.checking.covariances import COVARIANCES
from cprime.checking.parameters import floats
from cprime.kernels.tensors import from_gpu
from cprime.models import Isotropic
from cprime.theta import NOTHING

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
OF_CENTERS = ("cluster_centers_", "labels_", "inertia_", "n_iter_", *OF_THE_INPUT)
# Where scikit-learn defines them.
HOMES = {"KMeans": "_kmeans", "GaussianMixture": "_gaussian_mixture"}
# What scikit-learn adds to covariances by default.
THEIR_RIDGE = 1e-6
# What its mixture can start from.
THEIR_STARTS = ("kmeans", "k-means++", "random", "random_from_data")


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
        theirs = _fitted_on_centers(floats(self.cluster_centers_))
        params = _shared_params(self, theirs)
        init = params["init"]
        is_ours = isinstance(init, str) and init != "random"
        if is_ours or is_assignment(init):
            params["init"] = "k-means++"
        theirs.set_params(**params)
        # Labels of rows that were not kept are nobody's.
        del theirs.labels_
        _copy(self, theirs, ("labels_", "inertia_", "n_iter_", *OF_THE_INPUT))
        return theirs

    @classmethod
    def from_sklearn(cls, kmeans: Any) -> Any:
        """Return the same centres, with densities, posteriors and scores of rows.

        What only a fit can know is missing (`free_energy_`, `gap_`, `trace_`).

        Parameters
        ----------
        kmeans : fitted sklearn.cluster.KMeans or MiniBatchKMeans
            If rows had weights when it was fitted, `variance_` is not known from it
            and is taken for equal weights.

        Returns
        -------
        self : KMeans
        """
        _check_fitted(kmeans, "KMeans")
        ours: Any = cls()
        ours.set_params(**_shared_params(kmeans, ours))
        _copy(
            kmeans,
            ours,
            OF_CENTERS,
        )
        C, D = ours.cluster_centers_.shape
        spread = float(ours.inertia_) / (D * len(ours.labels_))
        ours.variance_ = max(spread, float(np.finfo(np.float64).tiny) * 8.0)
        ours._n_features_out, ours._C_prime = C, 1
        ours._n_free = Isotropic().n_parameters(C, D)
        return ours


class SoftExchange:
    """`to_sklearn` and `from_sklearn` of soft k-means."""

    def to_sklearn(self: Any) -> sklearn.mixture.GaussianMixture:
        """Return a fitted `sklearn.mixture.GaussianMixture` with the same predictions.

        Responsibilities of soft k-means are posteriors of round clusters that all have
        one variance and are equally likely; with `c_prime`, those of all clusters.

        Returns
        -------
        mixture : sklearn.mixture.GaussianMixture
        """
        theta = self._mixture()[1]
        C, variance = len(theta.means), float(theta.covariance)
        theirs = _plain_mixture()(C, covariance_type="spherical")
        theirs.set_params(**_shared_params(self, theirs, but={"n_init"}))
        theirs.means_ = floats(self.cluster_centers_).copy()
        theirs.weights_ = np.full(C, 1.0 / C)
        theirs.covariances_ = np.full(C, variance)
        theirs.precisions_ = np.full(C, 1.0 / variance)
        theirs.precisions_cholesky_ = np.full(C, 1.0 / np.sqrt(variance))
        if hasattr(self, "free_energy_"):
            theirs.lower_bound_ = self.free_energy_
        _copy(self, theirs, ("converged_", "n_iter_", *OF_THE_INPUT))
        return theirs

    @classmethod
    def from_sklearn(cls: Any, mixture: Any) -> Any:
        """Return the same fit as soft k-means.

        Parameters
        ----------
        mixture : fitted sklearn.mixture.GaussianMixture
            Spherical, with variances that are all the same and equal weights, or it is
            no soft k-means.

        Returns
        -------
        self : SoftKMeans
        """
        _check_fitted(mixture, "GaussianMixture")
        variances = np.atleast_1d(mixture.covariances_)
        weights = mixture.weights_
        if (
            mixture.covariance_type != "spherical"
            or np.any(variances != variances[0])
            or np.any(weights != weights[0])
        ):
            raise ValueError(
                "Soft k-means has spherical clusters with one variance and equal "
                f"weights, which those of {mixture!r} are not: use "
                "GaussianMixture.from_sklearn."
            )
        variance = float(variances[0])
        C, D = mixture.means_.shape
        ours = cls(C, stiffness=0.5 / variance)
        ours.set_params(**_shared_params(mixture, ours, but={"n_init"}))
        ours.cluster_centers_, ours.variance_ = mixture.means_.copy(), variance
        ours.stiffness_ = ours.stiffness
        _copy(mixture, ours, ("converged_", "n_iter_", *OF_THE_INPUT))
        ours._n_features_out = ours._C_prime = C
        ours._n_free = Isotropic(variance=variance).n_parameters(C, D)
        return ours


class FuzzyExchange(KMeansExchange):
    """`to_sklearn` and `from_sklearn` of fuzzy k-means.

    Labels are those of k-means; memberships have no place in scikit-learn.
    """

    @classmethod
    def from_sklearn(cls, kmeans: Any) -> Any:
        """Return its centres with memberships by fuzzy c-means (`m=2`).

        Parameters
        ----------
        kmeans : fitted sklearn.cluster.KMeans or MiniBatchKMeans

        Returns
        -------
        self : FuzzyKMeans
        """
        _check_fitted(kmeans, "KMeans")
        ours: Any = cls()
        ours.set_params(**_shared_params(kmeans, ours))
        _copy(kmeans, ours, OF_CENTERS)
        ours._n_features_out = ours._C_prime = len(ours.cluster_centers_)
        ours._spread = 1.0
        return ours


class MixtureExchange:
    """`to_sklearn`, `from_sklearn` and `from_kmeans` of a `GaussianMixture`."""

    @classmethod
    def from_kmeans(cls: Any, kmeans: Any, **params: Any) -> Any:
        """Return a mixture whose fit continues where k-means ended.

        Parameters
        ----------
        kmeans : fitted KMeans
            cprime's or scikit-learn's.
        **params
            Of the mixture, for instance `covariance_type`.

        Returns
        -------
        mixture : GaussianMixture
            Not fitted yet: `fit` takes proportions and covariances from the rows
            closest to each centre, and EM continues from there.

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
        _check_fitted(kmeans, "KMeans")
        centers = kmeans.cluster_centers_
        return cls(len(centers), **{"means_init": centers, **params})

    def to_sklearn(self: Any) -> sklearn.mixture.GaussianMixture:
        """Return a fitted `sklearn.mixture.GaussianMixture` with the same predictions.

        "isotropic" becomes "spherical" with variances that are all the same.

        Returns
        -------
        mixture : sklearn.mixture.GaussianMixture
        """
        theta = self._mixture()[1]
        theirs = _plain_mixture()()
        theirs.set_params(**_shared_params(self, theirs))
        start = self.init_params
        if not isinstance(start, str) or start not in THEIR_STARTS:
            theirs.init_params = "kmeans"
        if theirs.reg_covar is None:
            theirs.reg_covar = THEIR_RIDGE
        _copy(self, theirs, (*OF_THE_MIXTURE, *OF_THE_INPUT))
        theirs.means_, theirs.weights_ = floats(self.means_), floats(self.weights_)
        if not hasattr(self, "precisions_cholesky_"):
            # Parameters set by hand: this is the one that scikit-learn evaluates.
            known = np.asarray(self._known_covariances(), dtype=np.float64)
            theirs.precisions_cholesky_ = self._fitted_type.cholesky(known)
        if theirs.covariance_type == "isotropic":
            theirs.covariance_type = "spherical"
            for name in ("covariances_", "precisions_", "precisions_cholesky_"):
                if hasattr(theirs, name):
                    value = np.full(len(theta.means), getattr(theirs, name))
                    setattr(theirs, name, value)
        return theirs

    @classmethod
    def from_sklearn(cls, mixture: Any) -> Any:
        """Return the same parameters, with weights for rows, truncation and `gap(X)`.

        What only a fit can know is missing (`free_energy_`, `gap_`, `trace_`).

        Parameters
        ----------
        mixture : fitted sklearn.mixture.GaussianMixture

        Returns
        -------
        self : GaussianMixture
            `reg_covar`, should it be fitted again, is a clip here and not added.
        """
        _check_fitted(mixture, "GaussianMixture")
        ours: Any = cls()
        ours.set_params(**_shared_params(mixture, ours))
        _copy(mixture, ours, (*OF_THE_MIXTURE, *OF_THE_INPUT))
        C, D = ours.means_.shape
        model = COVARIANCES[ours.covariance_type].of(np.array(1.0), False, NOTHING)
        ours._covariance_type = ours.covariance_type
        ours._n_features_out = ours._C_prime = C
        ours._n_free = model.n_parameters(C, D)
        return ours


def _check_fitted(estimator: Any, wanted: str) -> None:
    """Raise unless this is a fitted estimator of the kind that is wanted."""
    kinds = {
        "KMeans": lambda: (
            hasattr(estimator, "cluster_centers_") and hasattr(estimator, "inertia_")
        ),
        "GaussianMixture": lambda: isinstance(
            estimator, (_plain_mixture(), MixtureExchange)
        ),
    }
    check_is_fitted(estimator)
    if not kinds[wanted]():
        raise TypeError(
            f"A fitted {wanted} is needed here, not {type(estimator).__name__}."
        )


def _fitted_on_centers(centers: Any) -> sklearn.cluster.KMeans:
    """Return a scikit-learn object with whatever it needs to predict."""
    plain = _plain("cluster", "KMeans")
    theirs = plain(len(centers), init=centers, n_init=1, max_iter=1)
    with warnings.catch_warnings():
        # Centres may coincide.
        warnings.simplefilter("ignore")
        theirs.fit(centers)
    theirs.cluster_centers_ = centers.copy()
    return theirs


def _plain(package: str, name: str) -> Any:
    """Return a class of scikit-learn, where a patch may have put one of its own.

    scikit-learn-intelex puts subclasses in place, which predict from what their own fit
    has kept, not from attributes. Where the class is defined, it is known to all that
    were derived from it.
    """
    module = import_module(f"sklearn.{package}.{HOMES[name]}")
    found = (getattr(sklearn, package), module)
    for place in (getattr(where, name) for where in found):
        for of in getattr(place, "__mro__", ()):
            if (of.__module__, of.__name__) == (module.__name__, name):
                return of
    raise TypeError(
        f"scikit-learn's own {name} cannot be found: undo the patch of it first."
    )


def _plain_mixture() -> Any:
    return _plain("mixture", "GaussianMixture")


def _shared_params(of: Any, to: Any, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the parameters of one estimator that the other has too."""
    names = to.get_params(deep=False).keys() - set(but)
    return {n: v for n, v in of.get_params(deep=False).items() if n in names}


def _copy(of: Any, to: Any, names: tuple[str, ...]) -> None:
    for name in names:
        if hasattr(of, name):
            setattr(to, name, copy.deepcopy(from_gpu(getattr(of, name))))
