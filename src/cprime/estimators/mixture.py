"""`GaussianMixture`: scikit-learn's, with weights for rows and a truncated E-step."""

import sys
from contextlib import nullcontext
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from cprime import convergence
from cprime.blas import one_thread
from cprime.checking import inputs, mixture_given
from cprime.checking.assignments import refuse_on_workers
from cprime.checking.constraints import RememberedChecks
from cprime.checking.covariances import COVARIANCES, Covariances
from cprime.checking.searches import checked_search
from cprime.checking.units import Units
from cprime.checkpointing.checkpoint import Checkpoint
from cprime.estimators.exchange import MixtureExchange
from cprime.estimators.fit import fit
from cprime.estimators.mixture_fitted import FittedGaussians
from cprime.estimators.stepwise_mixture import StepwiseMixture
from cprime.fitting import mixture_initialization as initialization
from cprime.fitting.callbacks import CallbackSupportMixin, with_callbacks
from cprime.fitting.degenerate import covariance_floor, warn_if_wanting
from cprime.fitting.missing_values import (
    FeatureMoments,
    MarginalizingMixin,
    marginalised,
)
from cprime.fitting.mixture_results import MixtureResults
from cprime.fitting.progress import Listener
from cprime.fitting.restarts import Start
from cprime.fitting.run_restarts import Recipe, is_watched
from cprime.kernels import KERNEL_NAMES, kernel_for
from cprime.model_files.saving import Savable
from cprime.problem import Problem
from cprime.typing import Array

LARGEST = sys.float_info.max


class GaussianMixture(
    CallbackSupportMixin,
    MarginalizingMixin,
    MixtureExchange,
    Savable,
    StepwiseMixture,
    FittedGaussians,
    DensityMixin,
    RememberedChecks,
    BaseEstimator,
):
    """A mixture of Gaussians, fitted by EM or by its truncated form.

    A drop-in for `sklearn.mixture.GaussianMixture`, with weights for rows. With
    `c_prime` every row keeps only its most likely clusters, which raises a lower bound
    F of the log-likelihood; `gap_` is how far below it stays.

    Parameters
    ----------
    n_components : int, default=1
        Number of clusters C.
    covariance_type : str, default="full"
        "full", "tied", "diag" and "spherical" as in scikit-learn; "isotropic" is one
        variance for all clusters.
    tol : float, default=1e-3
        Converged when the free energy changes by less from one E-step to the next, in
        nats per row.
    reg_covar : float or None, default=None
        Smallest variance a cluster may have, in any direction. Smaller ones are
        clipped there, where scikit-learn adds it to all. None is a millionth of each
        feature's variance (of all features', for one that is constant); 0 leaves only
        what float64 needs.
    max_iter : int, default=100
        Largest number of iterations of one restart.
    n_init : int, default=1
        Restarts, of which the one of highest free energy is kept.
    init_params : str or array-like, default="kmeans"
        Where means start: "kmeans" is our own k-means until it gains less than 0.01
        nats per row in an iteration, "k-means++" its seeds, which are found as `KMeans`
        finds them: by the greedy form, or in few passes over many rows or a file.
        "greedy-kmeans" and "greedy-k-means++" insist on the one, "parallel-kmeans" and
        "k-means||" on the other; "sampled-kmeans" and "sampled-k-means++" draw seeds
        from a sample. "random_from_data" is random rows, "random" means of all rows
        with random shares (the only one for which a weight of 2 is not the row given
        twice).
        Rows closest to each mean then give its proportion and covariance. An array of
        shape (n_samples,) is a first assignment, such as the labels of another method:
        the cluster of every row, and each starts from its rows.
    weights_init : array-like of shape (n_components,), optional
        Proportions to start from in place of those.
    means_init : array-like of shape (n_components, n_features), optional
        Means to start from in place of `init_params`.
    precisions_init : float or array-like, optional
        Inverse covariances to start from, in the shape of `precisions_`.
    random_state : int, RandomState instance or None, default=None
    warm_start : bool, default=False
        Start from the parameters of the fit before.
    verbose : int, default=0
        Print the progress of the fit.
    verbose_interval : int, default=10
        Iterations from one printed line to the next.
    c_prime : int or None, default=None
        Clusters every row keeps. None keeps all: EM.
    search : {"exact", "lazy", "neighbours"}, default="exact"
        "lazy" moves a row only to a cluster that is nearer by a factor of `1 + eps`:
        nearer in the distance of Supplement C, counted from the best a row can have.
        "neighbours" has rows look at clusters near the likeliest they had, and not at
        all: for many clusters, "isotropic", "spherical" and "diag". Both need `c_prime`
        below `n_components`.
    eps : float, default=0.1
        Reluctance of `search="lazy"`.
    n_neighbors : int, default=64
        With `search="neighbours"`, clusters on the list of each, itself included. At
        least `c_prime`; with all of them the fit is that of "exact".
    n_explore : int, default=1
        With "neighbours", other clusters that each row looks at, drawn at random: which
        ones follows from the number of the row and of the iteration.
    finish : {"exact", "partial"}, default="exact"
        With "neighbours": "exact" lets rows look at all clusters once an iteration
        gains less than 0.01 nats per row, to the end; "partial" never does.
    equal_weights : bool, default=False
        Hold all `weights_` at 1 / n_components.
    kernel : {"auto", "native", "reference", "gpu"}, default="auto"
    missing : {"error", "marginalize"}, default="error"
        How NaN in X is handled: as an error, or as a missing value. "marginalize" fits
        and evaluates the exact density of what is observed of each row, with nothing
        filled in. For "diag", "spherical" and "isotropic"; values must be missing at
        random.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : float or ndarray
        One number for "isotropic", else of shape (C,) for "spherical", (C, D) for
        "diag", (D, D) for "tied", (C, D, D) for "full".
    precisions_, precisions_cholesky_ : as `covariances_`
    converged_ : bool
    restarts_ : dict of ndarray
        `free_energy`, `n_iter` and `converged` of every restart.
    n_iter_ : int
    lower_bound_, free_energy_ : float
        F of the training rows, mean per row, in nats.
    lower_bounds_ : list of float
        F after every iteration of the best restart; the last is `lower_bound_`.
    log_likelihood_ : float
    gap_ : float
        `log_likelihood_ - free_energy_`; 0 for EM.
    gap_standard_error_ : float
        0 unless `gap_` is that of a sample of many rows, as in `KMeans`.
    trace_ : dict of ndarray
        History of the best restart. `floored` counts clusters whose covariance was
        clipped.
    evaluations_ : int
    n_missed_ : int
        After `search="neighbours"` with `finish="exact"`: rows that did not have their
        true `c_prime` closest clusters when they first looked at all.
    n_relocations_ : int
        Empty clusters that were restarted at a badly fitting row.
    n_steps_, n_samples_seen_ : int
        Batches and rows `partial_fit` has learned from.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)

    Notes
    -----
    From the same three `*_init`, iterates are those of scikit-learn's EM, and as many
    (but for `reg_covar`, which it adds to all variances). With `c_prime`, and where
    covariances are no matrices, every third E-step is tried farther along the way of
    the two M-steps before, as in `KMeans`. A fit is never aborted
    because of a covariance: one that collapses is clipped at its floor, a cluster that
    dies is started again where that raises F, and one warning names them.

    Examples
    --------
    >>> from cprime import GaussianMixture
    >>> import numpy as np
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [2, 2],
    ...               [10, 2], [10, 4], [10, 0], [11, 2]])
    >>> mixture = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> mixture.means_.round(2)
    array([[10.25,  2.  ],
           [ 1.25,  2.  ]])
    >>> mixture.predict([[0, 0], [12, 3]])
    array([1, 0])
    """

    _count_name = "n_components"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCES))],
        "tol": [Interval(Real, 0, LARGEST, closed="both")],
        "reg_covar": [Interval(Real, 0, LARGEST, closed="both"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions(set(initialization.NAMES)), "array-like"],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": [
            "array-like",
            Interval(Real, None, None, closed="neither"),
            None,
        ],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
        "c_prime": [Interval(Integral, 1, None, closed="left"), None],
        "search": [StrOptions({"exact", "lazy", "neighbours"})],
        "eps": [Interval(Real, 0, LARGEST, closed="both")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_explore": [Interval(Integral, 0, None, closed="left")],
        "finish": [StrOptions({"exact", "partial"})],
        "equal_weights": ["boolean"],
        "kernel": [StrOptions(set(KERNEL_NAMES))],
        "missing": [StrOptions({"error", "marginalize"})],
    }

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=None,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
        c_prime=None,
        search="exact",
        eps=0.1,
        n_neighbors=64,
        n_explore=1,
        finish="exact",
        equal_weights=False,
        kernel="auto",
        missing="error",
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.c_prime = c_prime
        self.search = search
        self.eps = eps
        self.n_neighbors = n_neighbors
        self.n_explore = n_explore
        self.finish = finish
        self.equal_weights = equal_weights
        self.kernel = kernel
        self.missing = missing

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
    ) -> "GaussianMixture":
        """Estimate the parameters of the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Data, or Dask collection
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same as giving the row twice, 0 as leaving it out.
        checkpoint : cprime.Checkpoint, optional
            Where the fit is saved while it runs, so that it can be resumed.
        progress : callable, optional
            Is called with a `cprime.Progress` after every iteration.

        Returns
        -------
        self : GaussianMixture
        """
        mixture_given.refuse_checkpoint(self, checkpoint)
        # M-steps find it so; those who watch keep the threads of their own algebra.
        with nullcontext() if is_watched(self, progress) else one_thread():
            fit(self, X, sample_weight, checkpoint, progress)
        warn_if_wanting(self)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit and return the most likely cluster of every row. Parameters as `fit`."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    @property
    def _covariances(self) -> Covariances:
        return COVARIANCES[self.covariance_type]

    def _checked_rows(self, X: Any) -> Any:
        return inputs.checked_data(
            self,
            X,
            reset=True,
            sparse=False,
            missing=self._marginalizes,
            stays=not (self._covariances.are_matrices or self._marginalizes),
        )

    def _recipe(
        self, X: Any, weights: Array, C: int, C_prime: int, random_state: Any
    ) -> Recipe:
        units, kernel = Units.of_rows(X, weights), kernel_for(X, self.kernel)
        known = FeatureMoments.of(self, units.rows(X, weights), kernel)
        warm = mixture_given.fit_before(self, C, X.shape[1])
        if warm is None:
            given = mixture_given.wanted(self, C, X.shape[1], units)
        else:
            given = mixture_given.of_fit(warm, units)
        of = self._covariances
        floor = covariance_floor(known, units, self.reg_covar, of.resolution)
        model = of.of(floor, self.equal_weights, given)
        search = checked_search(self, C, C_prime)
        # EM itself takes the iterations of scikit-learn's, and as many.
        leaps = 1 < C_prime < C and not of.are_matrices
        filled = Problem(
            known.filled, model, search, kernel, C_prime, extrapolates=leaps
        )
        how, means, seeds = self.init_params, given.means, None
        if means is None and not isinstance(how, str):
            refuse_on_workers(X, "init_params")
            filled, seeds = initialization.assigned(how, C, filled)

        def next_start() -> Start:
            if seeds is not None:
                return lambda: seeds
            return initialization.start(how, C, means, filled, random_state)

        problem = marginalised(filled, known, floor, self.kernel)
        results = MixtureResults(problem, units, X.dtype, of)
        return Recipe(
            results,
            convergence.Gain(self.tol),
            C,
            int(self.n_init) if warm is None else 1,
            next_start,
            initialization.method(how, C, means, known.filled),
            in_order=seeds is not None,
            expected=results.expected_before(self, warm),
        )

    def _checked_sizes(self, n_rows: int) -> tuple[int, int]:
        C = int(self.n_components)
        if n_rows < C:
            raise ValueError(
                "Expected n_samples >= n_components but got n_components = "
                f"{C}, n_samples = {n_rows}"
            )
        if self.c_prime is None:
            return C, C
        return C, inputs.checked_c_prime(self.c_prime, C, self._count_name)
