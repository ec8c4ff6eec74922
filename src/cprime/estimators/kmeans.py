"""`KMeans`: scikit-learn's, with a dial from k-means to the Gaussian mixture."""

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from cprime.checking.searches import checked_search
from cprime.estimators.centers import RoundMixture
from cprime.estimators.exchange import KMeansExchange
from cprime.estimators.stepwise import Stepwise
from cprime.fitting.degenerate import variance_floor
from cprime.fitting.initialization import SEEDINGS, Starts
from cprime.fitting.restarts import Start
from cprime.fitting.results import Results
from cprime.fitting.stream import StreamedResults
from cprime.fitting.training import Training
from cprime.kernels import KERNEL_NAMES
from cprime.models import Isotropic

LARGEST = sys.float_info.max


class KMeans(KMeansExchange, Stepwise, RoundMixture):
    """k-means, and with one more parameter k-means-C' up to EM for a Gaussian mixture.

    A drop-in for `sklearn.cluster.KMeans`. Every row keeps its `c_prime` closest
    clusters: 1 is Lloyd's k-means, None (all) is EM for a mixture of equal, isotropic
    Gaussians, and everything between is k-means-C'. All of them raise one free energy
    F, a lower bound on the mixture's log-likelihood L, so every fit reports how much
    its truncation loses: `gap_` nats per row.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters C.
    init : str, callable or array-like, default="k-means++"
        Where to start. "k-means++" is the greedy form, as in scikit-learn, while that
        is cheap beside the fit, and "k-means||" for files and where N rows of D
        features have N C (D + 16) of 2^28 or more, and N is at least 8 C; `seeding_`
        tells which. "k-means||" chooses by the greedy form among candidates drawn in
        eight rounds, "greedy-k-means++" always among all rows; "plain-k-means++" makes
        one draw per seed, as published; "sampled-k-means++" is the greedy form on a
        sample (64 rows per cluster, at least 16,384); "afk-mc2" imitates draws of
        k-means++ in one pass over the data; "random" takes different rows.
        An array has shape (n_clusters, n_features). A callable gets `(X, n_clusters,
        random_state=...)` and returns one. An array of shape (n_samples,) is a first
        assignment, such as the labels of another method: the cluster of every row,
        which starts from the means of its rows, and which a `search` that does not look
        at all clusters, or is reluctant to leave one, goes on from.
    n_init : "auto" or int, default="auto"
        Number of restarts, of which the best is kept: lowest inertia at `c_prime=1`,
        highest free energy otherwise. "auto" is 10 for "random" or a callable, else 1.
    max_iter : int, default=300
        Largest number of iterations (an E-step and an M-step) of one restart.
    tol : float, default=1e-4
        With `c_prime=1` converged when the sum of squared moves of the centres is at
        most `tol` times the mean variance of the features, as in scikit-learn. With
        more, when the free energy rises by less than `tol` nats per row from one E-step
        to the next; below 1e-9, which rounding blurs, when neither the centres nor the
        logarithm of the variance move by more. 0 continues until nothing moves.
    verbose : int, default=0
        Print the progress of every iteration.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same result every time.
    copy_x : bool, default=True
        Accepted for compatibility: X is never modified.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Accepted for compatibility: both give the same result.
    c_prime : int or None, default=1
        Clusters every row keeps, C'. None keeps all: EM.
    search : {"exact", "lazy", "neighbours"}, default="exact"
        "lazy" moves a row only to a cluster closer by a factor of `1 + eps`
        (lazy-k-means; with more than one, the clusters a row keeps are swapped one by
        one). "neighbours" has rows look at clusters near the closest they had, and not
        at all: for thousands of clusters. F never falls, but it may be another optimum
        that is found. Both need `c_prime` below `n_clusters`.
    eps : float, default=0.1
        Reluctance of `search="lazy"`; 0 is k-means.
    n_neighbors : int, default=64
        With `search="neighbours"`, clusters on the list of each, itself included. At
        least `c_prime`; with all of them the fit is that of "exact".
    n_explore : int, default=1
        With "neighbours", other clusters that each row looks at, drawn at random: which
        ones follows from the number of the row and of the iteration.
    finish : {"exact", "partial"}, default="exact"
        With "neighbours": "exact" lets rows look at all clusters once an iteration
        gains less than 0.01 nats per row, to the end; "partial" never does.
    variance : float, optional
        Keep sigma^2 fixed at this value. With `c_prime=None` this is soft-k-means of
        stiffness `1 / (2 * variance)`.
    variance_init : float, optional
        sigma^2 to start from. By default that of the seeds.
    kernel : {"auto", "native", "reference", "gpu"}, default="auto"
        What computes the E-step: compiled code, numpy, or an NVIDIA GPU, which "auto"
        takes for a tensor that is there, and else never. Labels are the same.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,), int32
        Closest cluster of every row (with "lazy": of those it stayed in).
    inertia_ : float
        Weighted sum of squared distances of rows to the centre of their label.
    variance_ : float
        sigma^2 of the mixture. At `c_prime=1`, unless held by `variance`, it is
        `inertia_ / (n_features * weight)`.
    free_energy_ : float
        F of the training rows, mean per row, in nats. Like every log density it
        depends on the units of X.
    log_likelihood_ : float
        L of the training rows, mean per row, in nats.
    gap_ : float
        L - F, at least 0, in nats per row: the KL divergence from the posterior over
        the C' kept clusters to the posterior over all. It measures what the assignment
        leaves out, not whether equal, spherical clusters fit the data.
    gap_standard_error_ : float
        Standard error of `gap_` and of `log_likelihood_`. 0 for fewer than 131,072 rows
        or 2^24 distances between rows and centres: all rows are looked at. Of more, a
        sample of about 16,384 rows is; `gap(X)` looks at all.
    trace_ : dict of ndarray
        History of the best restart, one entry per iteration, the start first. Row t of
        `free_energy` and `variance` is after M-step t, before the E-step that follows;
        `evaluations`, `changed`, `relocated` and `seconds` are the work of that
        iteration.
    restarts_ : dict of ndarray
        `free_energy`, `inertia`, `n_iter` and `converged` of every restart.
    n_iter_ : int
        Iterations of the best restart.
    converged_ : bool
        Whether it met `tol` before `max_iter` or a callback stopped it.
    evaluations_ : int
        Distances computed by seeding, by the sweeps of all restarts, and for the gap.
    seeding_ : str
        How the first centres were found: `init`, or "k-means||" in place of
        "k-means++", which alone is the greedy form.
    n_relocations_ : int
        Empty clusters that were moved to badly fitting rows.
    n_missed_ : int
        After `search="neighbours"` with `finish="exact"`: rows that did not have their
        true `c_prime` closest clusters when they first looked at all.
    n_steps_, n_samples_seen_ : int
        Batches and rows so far, after `partial_fit`; a fit before it is one batch.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only when X has feature names that are all strings.

    Notes
    -----
    An interrupted fit keeps its best complete restart, or else its last complete
    iteration, with what is known of it at once: no `log_likelihood_` and `gap_`, with
    C' = C no `labels_`, and of an iteration no `inertia_`. A fit that fails leaves the
    estimator as it was.

    From the same `init`, labels, inertia and `n_iter_` are scikit-learn's, except where
    a row is exactly as near to two centres, where the lowest index wins here, and where
    a cluster becomes empty. `random_state` draws other seeds than scikit-learn's.

    With `c_prime` between 1 and `n_clusters`, every third E-step is tried farther along
    the way of the two M-steps before (SQUAREM, Varadhan & Roland 2008), and taken back
    if the free energy would be lower there. It takes about half the iterations.

    After `partial_fit`, `labels_`, `inertia_` and `free_energy_` are those of the last
    batch under the parameters before it.

    References
    ----------
    J. Luecke and D. Forster, "k-means as a variational EM approximation of Gaussian
    mixture models", Pattern Recognition Letters, 2019.

    Examples
    --------
    >>> from cprime import KMeans
    >>> import numpy as np
    >>> X = np.array([[1, 2], [1, 4], [1, 0],
    ...               [10, 2], [10, 4], [10, 0]])
    >>> kmeans = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> kmeans.labels_
    array([1, 1, 1, 0, 0, 0], dtype=int32)
    >>> kmeans.predict_proba([[5.4, 2]]).round(3)
    array([[0.337, 0.663]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(SEEDINGS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, LARGEST, closed="both")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
        "c_prime": [Interval(Integral, 1, None, closed="left"), None],
        "search": [StrOptions({"exact", "lazy", "neighbours"})],
        "eps": [Interval(Real, 0, LARGEST, closed="both")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_explore": [Interval(Integral, 0, None, closed="left")],
        "finish": [StrOptions({"exact", "partial"})],
        "variance": [Interval(Real, 0, LARGEST, closed="right"), None],
        "variance_init": [Interval(Real, 0, LARGEST, closed="right"), None],
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
        verbose=0,
        random_state=None,
        copy_x=True,
        algorithm="lloyd",
        c_prime=1,
        search="exact",
        eps=0.1,
        n_neighbors=64,
        n_explore=1,
        finish="exact",
        variance=None,
        variance_init=None,
        kernel="auto",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.c_prime = c_prime
        self.search = search
        self.eps = eps
        self.n_neighbors = n_neighbors
        self.n_explore = n_explore
        self.finish = finish
        self.variance = variance
        self.variance_init = variance_init
        self.kernel = kernel

    def _prepared(
        self, training: Training, starts: Starts, C_prime: int
    ) -> tuple[Results, Callable[[], Start]]:
        search = checked_search(self, int(self.n_clusters), C_prime)
        fixed, first = (
            None if given is None else training.units.variance_in(float(given), name)
            for name, given in (
                ("variance", self.variance),
                ("variance_init", self.variance_init),
            )
        )
        floor = variance_floor(training.overall)
        model = Isotropic(floor, variance_init=first, variance=fixed)
        problem = training.problem(model, search, C_prime, self._extrapolates(C_prime))
        return StreamedResults.of(problem, training), starts.next

    def _variance_is_given(self) -> bool:
        return self.variance is not None

    def _held_variance(self) -> float | None:
        return None if self.variance is None else float(self.variance)
