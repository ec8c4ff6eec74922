"""`FuzzyKMeans`: every row is a member of several clusters, to a degree."""

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from cprime.checking.parameters import missing
from cprime.checking.units import Units
from cprime.estimators.centers import ClusterCenters
from cprime.estimators.exchange import FuzzyExchange
from cprime.fitting.degenerate import variance_floor
from cprime.fitting.fuzzy_results import EntropicResults, FuzzyResults
from cprime.fitting.initialization import SEEDINGS, Starts
from cprime.fitting.restarts import Start
from cprime.fitting.results import Results
from cprime.fitting.training import Training
from cprime.kernels import KERNEL_NAMES
from cprime.kernels.fuzzy import FuzzyKernel
from cprime.kernels.memberships import Bezdek, Quadratic, Rule
from cprime.models import Distortion, Isotropic, Model
from cprime.search import Exact
from cprime.theta import Theta
from cprime.truncation import Truncated
from cprime.typing import Array

LARGEST = sys.float_info.max
# Memberships to the power m are weights of rows, and have to stay within the window
# in which weights times squares stay inside float64.
SMALLEST_SHARE_EXPONENT = 100


class FuzzyKMeans(FuzzyExchange, ClusterCenters):
    """Fuzzy k-means (fuzzy c-means): rows are members of clusters, to a degree.

    Memberships u of a row sum to one. They and the centres minimise an objective J, in
    which d is the distance of a row to a centre and sums go over rows, by their
    weights, and clusters:

    - `regularization=None`: J = sum u^m d^2, fuzzy c-means (Bezdek 1981);
    - "entropy": J = sum u d^2 + lam sum u log u, which is `SoftKMeans` of stiffness
      1 / lam: the only one of the three that has a mixture behind it, and so a free
      energy, a likelihood and a gap;
    - "quadratic": J = sum u d^2 + lam sum u^2, whose memberships are exactly zero for
      clusters far enough away (Miyamoto & Umayahara 1998).

    No iteration raises J. With `c_prime` a row is a member of its closest clusters
    only, which are the best ones for J; `c_prime=1` is k-means, whatever the rest.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters C.
    m : float, default=2.0
        Fuzziness of `regularization=None`, above 1, which is k-means. Ignored by the
        others.
    regularization : {"entropy", "quadratic"} or None, default=None
        What keeps memberships fuzzy; see above.
    lam : float, optional
        How much the regularisation weighs: a squared distance, in the units of X.
        Towards 0 it is k-means. By default twice the variance of the first start, the
        mean squared distance, per feature, of rows to their nearest seed. Ignored by
        `regularization=None`.
    c_prime : int or None, default=None
        Clusters a row may be a member of, its closest. None is all.
    init : str, callable or array-like, default="k-means++"
        Where to start, as in `KMeans`.
    n_init : "auto" or int, default="auto"
        Number of restarts, of which that of the lowest J is kept. "auto" is 10 for
        `init="random"` or a callable, else 1.
    max_iter : int, default=300
        Largest number of iterations of one restart.
    tol : float, default=1e-4
        Converged when the sum of squared moves of the centres is at most `tol` times
        the mean variance of the features; with `regularization="entropy"` as in
        `SoftKMeans`.
    verbose : int, default=0
        Print the progress of every iteration.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same result every time.
    kernel : {"auto", "native", "reference", "gpu"}, default="auto"
        What finds the closest clusters: compiled code, numpy, or an NVIDIA GPU, which
        "auto" never takes.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,), int32
        The cluster each row is most a member of, which is its closest.
    objective_ : float
        J of the training rows.
    inertia_ : float
        Weighted sum of squared distances of rows to the centre of their label.
    lam_ : float
        What `lam` was, or was taken to be. Not for `regularization=None`.
    variance_, free_energy_, log_likelihood_, gap_, gap_standard_error_ : float
        Of the mixture behind "entropy", as in `SoftKMeans`; `variance_` is half of
        `lam_`. Only for "entropy".
    trace_ : dict of ndarray
        History of the best restart, one entry per iteration, the start first. Row t of
        `objective` is after the centres were moved; `evaluations`, `changed`,
        `relocated` and `seconds` are the work of that iteration. With "entropy" also
        `free_energy` and `variance`.
    restarts_ : dict of ndarray
        `objective`, `inertia`, `n_iter` and `converged` of every restart.
    n_iter_ : int
        Iterations of the best restart.
    converged_ : bool
    evaluations_ : int
        Distances computed by seeding and the sweeps of all restarts, and for the gap.
    n_relocations_ : int
        Empty clusters that were moved to badly fitting rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only when X has feature names that are all strings.

    References
    ----------
    J. Bezdek, "Pattern Recognition with Fuzzy Objective Function Algorithms", 1981.

    S. Miyamoto, H. Ichihashi and K. Honda, "Algorithms for Fuzzy Clustering", 2008.

    Examples
    --------
    >>> from cprime import FuzzyKMeans
    >>> import numpy as np
    >>> X = np.array([[1, 2], [1, 4], [1, 0],
    ...               [10, 2], [10, 4], [10, 0]])
    >>> fuzzy = FuzzyKMeans(n_clusters=2, random_state=0).fit(X)
    >>> fuzzy.predict_proba([[7, 2]]).round(2)
    array([[0.8, 0.2]])
    """

    _why_too_few = (
        "duplicate points in X, or to memberships so fuzzy that clusters coincide"
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "m": [Interval(Real, 1, LARGEST, closed="right")],
        "regularization": [StrOptions({"entropy", "quadratic"}), None],
        "lam": [Interval(Real, 0, LARGEST, closed="right"), None],
        "c_prime": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions(set(SEEDINGS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, LARGEST, closed="both")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "kernel": [StrOptions(set(KERNEL_NAMES))],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        m=2.0,
        regularization=None,
        lam=None,
        c_prime=None,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        verbose=0,
        random_state=None,
        kernel="auto",
    ):
        self.n_clusters = n_clusters
        self.m = m
        self.regularization = regularization
        self.lam = lam
        self.c_prime = c_prime
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.kernel = kernel

    def predict_proba(
        self, X: Any, c_prime: int | None = None, sparse: bool | None = None
    ) -> Any:
        """Return the membership of every row in every cluster.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        c_prime : int, optional
            Clusters a row may be a member of, its closest. By default as many as in the
            fit.
        sparse : bool, optional
            Return a CSR array that stores nothing but memberships above zero. By
            default False; required for sparse X, which may have very many rows.

        Returns
        -------
        u : ndarray or csr_array of shape (n_samples, n_clusters)
            Rows sum to one.
        """
        found = self._memberships(X, c_prime, sparse)
        if sparse:
            found.eliminate_zeros()
        return found

    @property
    def _stays_on_gpu(self) -> bool:
        return False

    def _shares(self, kept: Truncated, units: Units) -> Array:
        if self.regularization == "entropy":
            return kept.responsibilities()
        lam = 0.0
        if self.regularization == "quadratic":
            lam = self._known_lam() * units.scale * units.scale
        return self._rule(lam).memberships(kept.distances)

    def _n_sharing(self) -> int | None:
        check_is_fitted(self, "cluster_centers_")
        return self._C_prime

    def _rule(self, lam: float) -> Rule:
        if self.regularization == "quadratic":
            return Quadratic(lam)
        return Bezdek(float(self.m))

    def _prepared(
        self, training: Training, starts: Starts, C_prime: int
    ) -> tuple[Results, Callable[[], Start]]:
        units, dtype = training.units, training.X.dtype
        floor = variance_floor(training.overall)
        weight = training.rows.weight
        lam = 0.0
        if self.regularization is None:
            self._check_m(C_prime)
        else:
            lam = self._checked_lam(training, starts, floor, weight)
        if self.regularization == "entropy":
            model = Isotropic(floor, variance=0.5 * lam)
            problem = training.problem(
                model, Exact(), C_prime, self._extrapolates(C_prime)
            )
            C, D = int(self.n_clusters), training.rows.n_features
            at_a_centre = model.coefficients(Theta(np.zeros((C, D)), 0.5 * lam))
            bias = float(at_a_centre.bias[0])
            results = EntropicResults(problem, units, dtype, weight, lam, bias)
            return results, starts.next
        fuzzy = replace(training, kernel=FuzzyKernel(training.kernel, self._rule(lam)))
        spread = max(training.overall.covariance, floor)
        problem = fuzzy.problem(Distortion(spread), Exact(), C_prime)
        return FuzzyResults(problem, units, dtype, weight, lam), starts.next

    def _check_m(self, C_prime: int) -> None:
        """Raise if memberships to the power m may leave float64."""
        exponents = math.log2(C_prime)
        if self.m * exponents > SMALLEST_SHARE_EXPONENT:
            raise ValueError(
                f"m={self.m!r} is too fuzzy for rows with {C_prime} clusters each: "
                "float64 cannot hold their memberships to the power m beside squared "
                f"distances. Give m <= {SMALLEST_SHARE_EXPONENT / exponents:.3g}, or a "
                "smaller c_prime."
            )

    def _checked_lam(
        self, training: Training, starts: Starts, floor: float, weight: float
    ) -> float:
        """Return lam in computing units, or say why it will not do."""
        if self.lam is None:
            return 2.0 * starts.variance(floor)
        said = f"lam={self.lam!r}, or variance"
        lam = 2.0 * training.units.variance_in(0.5 * float(self.lam), said)
        if lam * max(weight, 1.0) > LARGEST / 8.0:
            raise ValueError(
                f"lam={self.lam!r} is out of proportion: summed over all rows it is "
                "more than float64 can hold. Give a lam nearer to squared distances."
            )
        return lam

    def _mixture(self) -> tuple[Model, Theta]:
        centers = self._centers()
        if self.regularization != "entropy":
            return Distortion(), Theta(centers, getattr(self, "_spread", 1.0))
        if hasattr(self, "variance_"):
            return Isotropic(), Theta(centers, self.variance_)
        return Isotropic(), Theta(centers, 0.5 * self._known_lam())

    def _known_lam(self) -> float:
        lam = getattr(self, "lam_", self.lam)
        if lam is None:
            raise missing(self, "lam_", "memberships", "it, or the parameter lam")
        return float(lam)

    def _variance_is_given(self) -> bool:
        return self.lam is not None
