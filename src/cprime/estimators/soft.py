"""`SoftKMeans`: every row is shared among clusters, by how near they are."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from cprime.checking.searches import checked_search
from cprime.estimators.centers import RoundMixture
from cprime.estimators.exchange import SoftExchange
from cprime.fitting.annealing import Annealing, stages
from cprime.fitting.degenerate import variance_floor
from cprime.fitting.initialization import SEEDINGS, Starts
from cprime.fitting.restarts import Start
from cprime.fitting.results import Attributes, ClustersResults, Results
from cprime.fitting.training import Training
from cprime.kernels import KERNEL_NAMES
from cprime.models import Isotropic
from cprime.theta import Theta

LARGEST = sys.float_info.max


class SoftKMeans(SoftExchange, RoundMixture):
    """Soft k-means: rows are shared among clusters, as strictly as `stiffness` says.

    The responsibility of a cluster for a row is proportional to
    `exp(-stiffness * distance**2)`, and a centre is the mean of all rows by their
    responsibilities (MacKay 2003). It is EM for a mixture of Gaussians whose variance
    `1 / (2 * stiffness)` is held: high stiffness is k-means, low stiffness lets
    clusters coincide. So there is a free energy that every iteration raises.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters C.
    init : str, callable or array-like, default="k-means++"
        Where to start, as in `KMeans`. With `annealing` it only says how stiff
        `stiffness=None` is.
    n_init : "auto" or int, default="auto"
        Number of restarts, of which that of the highest free energy is kept. "auto" is
        10 for `init="random"` or a callable, else 1.
    max_iter : int, default=300
        Largest number of iterations of one restart, and of every stage of annealing.
    tol : float, default=1e-4
        Converged when the free energy rises by less than `tol` nats per row from one
        E-step to the next; with `c_prime=1` as in `KMeans`.
    stiffness : float, optional
        How fast responsibility falls with squared distance, in the units of X. By
        default that of the first start: 1 / (2 sigma^2), with sigma^2 the mean squared
        distance, per feature, of rows to their nearest seed.
    annealing : float, optional
        Find the start by deterministic annealing (Rose 1998): from a stiffness so low
        that all clusters coincide, multiplied by this factor (above 1, such as 1.2)
        whenever the fit has converged, until `stiffness` is reached. Clusters split one
        after another on the way, so the result hardly depends on chance, nor on
        `n_init`. It is one path through the optima and slow: several plain restarts may
        find a better one.
    c_prime : int or None, default=None
        Responsibilities beyond a row's `c_prime` closest clusters are exactly 0. None
        shares every row among all clusters.
    search : {"exact", "neighbours"}, default="exact"
    n_neighbors, n_explore, finish
        As in `KMeans`. "neighbours" needs `c_prime` below `n_clusters`.
    verbose : int, default=0
        Print the progress of every iteration.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same result every time.
    kernel : {"auto", "native", "reference", "gpu"}, default="auto"
        What computes the E-step: compiled code, numpy, or an NVIDIA GPU, which "auto"
        takes for a tensor that is there, and else never.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,), int32
        Closest cluster of every row, which is the most responsible one.
    inertia_ : float
        Weighted sum of squared distances of rows to the centre of their label.
    stiffness_ : float
        What `stiffness` was, or was taken to be.
    stiffness_path_ : ndarray of shape (n_stages,)
        The stiffness of every stage of annealing; `stiffness_` last, or alone.
    variance_ : float
        `1 / (2 * stiffness_)`, the variance of the mixture.
    free_energy_ : float
        F of the training rows, mean per row, in nats.
    log_likelihood_ : float
        L of the training rows, mean per row, in nats.
    gap_ : float
        L - F, what `c_prime` leaves out; 0 for None.
    gap_standard_error_ : float
        0 unless `gap_` is that of a sample of many rows, as in `KMeans`.
    trace_ : dict of ndarray
        History of the best restart, one entry per iteration, the start first. As in
        `KMeans`.
    restarts_ : dict of ndarray
        `free_energy`, `inertia`, `n_iter` and `converged` of every restart.
    n_iter_ : int
        Iterations of the best restart, without those of annealing.
    converged_ : bool
    evaluations_ : int
        Distances computed by seeding, annealing, the sweeps of all restarts, and for
        the gap.
    n_relocations_ : int
        Empty clusters that were moved to badly fitting rows.
    n_missed_ : int
        After `search="neighbours"` with `finish="exact"`, as in `KMeans`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only when X has feature names that are all strings.

    References
    ----------
    D. MacKay, "Information Theory, Inference, and Learning Algorithms", 2003, ch. 22.

    K. Rose, "Deterministic annealing for clustering, compression, classification,
    regression, and related optimization problems", Proc. IEEE, 1998.

    Examples
    --------
    >>> from cprime import SoftKMeans
    >>> import numpy as np
    >>> X = np.array([[1, 2], [1, 4], [1, 0],
    ...               [10, 2], [10, 4], [10, 0]])
    >>> soft = SoftKMeans(n_clusters=2, stiffness=0.1, random_state=0).fit(X)
    >>> soft.predict_proba([[6, 2]]).round(3)
    array([[0.711, 0.289]])
    """

    _why_too_few = (
        "duplicate points in X, or to a stiffness so low that clusters coincide"
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(SEEDINGS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, LARGEST, closed="both")],
        "stiffness": [Interval(Real, 0, LARGEST, closed="right"), None],
        "annealing": [Interval(Real, 1, LARGEST, closed="right"), None],
        "c_prime": [Interval(Integral, 1, None, closed="left"), None],
        "search": [StrOptions({"exact", "neighbours"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_explore": [Interval(Integral, 0, None, closed="left")],
        "finish": [StrOptions({"exact", "partial"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "kernel": [StrOptions(set(KERNEL_NAMES))],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        stiffness=None,
        annealing=None,
        c_prime=None,
        search="exact",
        n_neighbors=64,
        n_explore=1,
        finish="exact",
        verbose=0,
        random_state=None,
        kernel="auto",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.stiffness = stiffness
        self.annealing = annealing
        self.c_prime = c_prime
        self.search = search
        self.n_neighbors = n_neighbors
        self.n_explore = n_explore
        self.finish = finish
        self.verbose = verbose
        self.random_state = random_state
        self.kernel = kernel

    def predict_proba(
        self, X: Any, c_prime: int | None = None, sparse: bool | None = None
    ) -> Any:
        """Return the responsibility of every cluster for every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        c_prime : int, optional
            Responsibilities beyond this many closest clusters are exactly 0. By default
            as many as in the fit.
        sparse : bool, optional
            Return a CSR array that stores nothing but the kept clusters. By default
            False; for sparse X, which may have very many rows, it must be given.

        Returns
        -------
        q : ndarray or csr_array of shape (n_samples, n_clusters)
            Rows sum to one.
        """
        return super().predict_proba(X, c_prime, sparse)

    def _n_sharing(self) -> int | None:
        check_is_fitted(self, "cluster_centers_")
        return self._C_prime

    def _prepared(
        self, training: Training, starts: Starts, C_prime: int
    ) -> tuple[Results, Callable[[], Start]]:
        search = checked_search(self, int(self.n_clusters), C_prime)
        floor = variance_floor(training.overall)
        if self.stiffness is None:
            variance = starts.variance(floor)
        else:
            variance = training.units.variance_in(
                1.0 / (2.0 * float(self.stiffness)),
                f"stiffness={self.stiffness!r}, or variance",
            )
        model = Isotropic(floor, variance=variance)
        problem = training.problem(model, search, C_prime, self._extrapolates(C_prime))
        variances, next_start = [variance], starts.next
        if self.annealing is not None:
            starts.method = "annealing"
            variances = stages(training, variance, float(self.annealing))
            next_start = Annealing(
                training,
                int(self.n_clusters),
                variances,
                self.max_iter,
                starts.random_state,
                starts.spent,
            ).next
        dtype = training.X.dtype
        return SoftResults(problem, training.units, dtype, variances), next_start

    def _variance_is_given(self) -> bool:
        return self.stiffness is not None

    def _held_variance(self) -> float | None:
        # It is always held, be it at the variance of the first start.
        if hasattr(self, "variance_"):
            return float(self.variance_)
        stiffness = getattr(self, "stiffness_", self.stiffness)
        return None if stiffness is None else 0.5 / float(stiffness)


@dataclass(frozen=True)
class SoftResults(ClustersResults):
    """The results of soft k-means, in terms of stiffness.

    Attributes
    ----------
    variances : list of float
        Of all stages, in computing units.
    """

    variances: list[float]

    def named(self, theta: Theta) -> Attributes:
        path = [self._stiffness(variance) for variance in self.variances]
        return {
            **super().named(theta),
            "stiffness_": path[-1],
            "stiffness_path_": np.array(path),
        }

    def _stiffness(self, variance: float) -> float:
        return 0.5 / self.units.variance_out(variance)
