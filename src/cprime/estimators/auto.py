"""`AutoMixture`: how many clusters, of which shape, and how soft?"""

from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from cprime.checking import inputs, sample_weights
from cprime.checking.units import Units
from cprime.checkpointing.checkpoint import Checkpoint
from cprime.checkpointing.keeper import keeping
from cprime.checkpointing.search_keeper import SearchKeeper, Unkept
from cprime.estimators import trials
from cprime.estimators.auto_finish import Finish
from cprime.estimators.reporting import NotebookMixin
from cprime.fitting.degenerate import covariance_floor
from cprime.fitting.missing_values import FeatureMoments
from cprime.fitting.results import fitted_or_unchanged
from cprime.kernels import KERNEL_NAMES, get_kernel
from cprime.kernels.threads import allowed_threads
from cprime.rows import Rows
from cprime.sampling import distinct_sample
from cprime.selection.choice import FEWEST_DIVIDED, MOST_ROWS, Search
from cprime.selection.criteria import CRITERIA
from cprime.selection.proposers import PROPOSERS
from cprime.selection.shapes import SHAPES
from cprime.typing import Array

# What a user may ask for: "isotropic" is k-means, with equal weights or without.
NAMES = tuple(name for name in SHAPES if name != "k-means")


def _best_has(name: str) -> Any:
    """Let a method exist where the chosen estimator has it."""

    def check(self: Any) -> bool:
        check_is_fitted(self, "best_estimator_")
        getattr(self.best_estimator_, name)
        return True

    return available_if(check)


def _at_most_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Let our compiled code use so many threads; -2 is all that there are but one."""
    if n_jobs is None:
        return nullcontext()
    wanted = n_jobs if n_jobs > 0 else max(1, allowed_threads() + 1 + n_jobs)
    limits: AbstractContextManager[Any] = threadpool_limits(wanted, user_api="cprime")
    return limits


class AutoMixture(NotebookMixin, DensityMixin, ClusterMixin, BaseEstimator):
    """Choose the number of clusters, their shape, and how many of them rows keep.

    Clusters are split, removed and exchanged one at a time, so that there is a fit for
    every number; the number and shape are chosen that explain the rows best once their
    parameters are paid for, among fits whose clusters are all groups of their own, with
    valleys between them. One cluster is a possible answer.

    Parameters
    ----------
    max_clusters : int, optional
        The largest number to try. By default the search ends when more clusters no
        longer help.
    shapes : "all" or sequence of str, default="all"
        Which of "isotropic", "spherical", "diag", "tied" and "full" clusters may be;
        ("isotropic",) is k-means.
    criterion : str, default="bic_free_energy"
        "bic_free_energy" and "icl" look for groups that rows can be assigned to, "bic"
        for parts of a density, "held_out" for the mixture that describes new rows best.
    c_prime : int or "auto", default="auto"
        Clusters every row keeps in the last fit. "auto" is the smallest number that
        loses less than `gap_tolerance`.
    gap_tolerance : float, default=0.01
        Nats per row.
    n_jobs : int, optional
        Threads that each fit uses; by default, and for -1, as many as
        `OMP_NUM_THREADS` or the processors allow. The answer does not depend on it.
    random_state : int, RandomState instance, optional
    kernel : str, default="auto"
        As for `KMeans`.
    keep_estimators : bool, default=False
        Whether to keep a fitted estimator for every line of `results_`, which takes a
        fit to all rows for each.
    proposer : {"gain", "x-means", "g-means"}, default="gain"
        Which cluster is split next, to have one more: that whose split gains most; with
        "x-means" only if BIC prefers two for its rows, with "g-means" only if its rows
        are not Gaussian along the line that divides them. If there is none, no more
        clusters are tried.

    Attributes
    ----------
    n_clusters_ : int
    shape_ : str
        The covariance type.
    c_prime_ : int
    best_estimator_ : KMeans or GaussianMixture
        Fitted to all rows: a `KMeans` if clusters are isotropic and equally likely.
        `predict`, `predict_proba`, `score_samples`, `sample`, `bic` and `report` are
        its own.
    labels_ : ndarray of shape (n_samples,)
    plausible_ : list of int
        Numbers of clusters that the evidence does not rule out: the criterion differs
        from that of the answer by less than 10 or two standard errors (Vuong 1989),
        another criterion prefers them, or they lie between the answer and that of BIC.
    agreement_ : dict
        The number that each criterion prefers; "modes" are the groups, with valleys
        between them, of the mixture that BIC prefers.
    merged_labels_ : ndarray of shape (n_samples,)
        The group of every row in that mixture.
    verdict_ : str
        The answer in words.
    results_ : dict of ndarray
        For `pandas.DataFrame`: a line for every number and shape, with `n_clusters`,
        `shape`, `equal_weights`, `free_energy` (at C' = 1), `log_likelihood`, `gap`,
        `entropy`, `n_parameters` and their `price`, `bic`, `icl`, `bic_free_energy`,
        `weight` (of the rows it was fitted to), `seconds`, and whether it was `chosen`.
    estimators_ : list of KMeans and GaussianMixture
        One for every line of `results_`, fitted to all rows. Only if asked for by
        `keep_estimators`.

    See Also
    --------
    GaussianMixture, KMeans

    Notes
    -----
    The search looks at up to 16,384 different rows. If there are more, it looks at a
    random sample; the best fits are then fitted to all rows and compared on them.
    Neither the order of rows nor their repetition matters to it, a weight of 2 is a row
    given twice.

    An interrupted search keeps the best so far, as it was found; `verdict_` says so.

    References
    ----------
    C. Biernacki, G. Celeux and G. Govaert, "Assessing a mixture model for clustering
    with the integrated completed likelihood", IEEE TPAMI, 2000.
    Q. H. Vuong, "Likelihood ratio tests for model selection and non-nested hypotheses",
    Econometrica, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from cprime import AutoMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 1, (200, 2)) for c in (0, 6, 12)])
    >>> AutoMixture(random_state=0).fit(X).n_clusters_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "shapes": [StrOptions({"all"}), "array-like"],
        "criterion": [StrOptions(set(CRITERIA))],
        "c_prime": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "gap_tolerance": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
        "kernel": [StrOptions(set(KERNEL_NAMES))],
        "keep_estimators": ["boolean"],
        "proposer": [StrOptions(set(PROPOSERS))],
    }

    def __init__(
        self,
        max_clusters=None,
        *,
        shapes="all",
        criterion="bic_free_energy",
        c_prime="auto",
        gap_tolerance=0.01,
        n_jobs=None,
        random_state=None,
        kernel="auto",
        keep_estimators=False,
        proposer="gain",
    ):
        self.max_clusters = max_clusters
        self.shapes = shapes
        self.criterion = criterion
        self.c_prime = c_prime
        self.gap_tolerance = gap_tolerance
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.kernel = kernel
        self.keep_estimators = keep_estimators
        self.proposer = proposer

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Checkpoint | None = None,
        progress: trials.Listener | None = None,
    ) -> "AutoMixture":
        """Choose number, shape and C', and fit them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Data
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same as giving the row twice, 0 as leaving it out.
        checkpoint : cprime.Checkpoint, optional
            Where the search is saved while it runs, so that it can be resumed, to the
            same answer.
        progress : callable, optional
            Is called with a `cprime.Trial` after every fit that is tried.

        Returns
        -------
        self : AutoMixture
        """
        if not (progress is None or callable(progress)):
            raise TypeError(f"progress must be a callable, not {progress!r:.60}.")
        with fitted_or_unchanged(self) as put, _at_most_threads(self.n_jobs):
            inputs.refuse_collection(self, X)
            X = inputs.checked_data(self, X, reset=True, sparse=False)
            weights = sample_weights.checked_weights(sample_weight, X.shape[0])
            shapes = self._checked_shapes()
            units = Units.of_rows(X, weights)
            rows = units.rows(X, weights)
            kept: AbstractContextManager[Unkept] = nullcontext(Unkept())
            if checkpoint is not None:
                kept = keeping(SearchKeeper, checkpoint, self, X, weights)
            of = X, sample_weight, rows, units
            interrupt = None
            with kept as keeper:
                search = self._search(rows, units, shapes, keeper)
                try:
                    trials.run(search, progress)
                    keeper.write()
                    last = None if checkpoint is None else checkpoint.inside("best")
                    put(Finish(self, search.choice(), *of).attributes(last))
                    keeper.write(finished=True)
                except KeyboardInterrupt as error:
                    keeper.write()
                    interrupt = error
            if interrupt is not None:
                if search.has_candidates:
                    choice = search.choice()
                    put(Finish(self, choice, *of, interrupted=True).attributes())
                raise interrupt
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit and return `labels_`. Parameters as for `fit`."""
        labels: Array = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    @_best_has("predict")
    def predict(self, X: Any) -> Array:
        """Return the most likely cluster of every row."""
        labels: Array = self.best_estimator_.predict(X)
        return labels

    @_best_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every cluster for every row."""
        return self.best_estimator_.predict_proba(X)

    @_best_has("score_samples")
    def score_samples(self, X: Any) -> Array:
        """Return log p(y) of every row: low for outliers."""
        found: Array = self.best_estimator_.score_samples(X)
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows, in nats."""
        return float(np.mean(self.score_samples(X)))

    @_best_has("sample")
    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw new rows from the chosen mixture, with their clusters."""
        rows: tuple[Array, Array] = self.best_estimator_.sample(n_samples)
        return rows

    @_best_has("bic")
    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the chosen mixture."""
        return float(self.best_estimator_.bic(X))

    @_best_has("report")
    def report(self, path: Any, X: Any = None) -> Any:
        """Write a page about the choice. Parameters as for `KMeans.report`."""
        # Pictures and pages are imported by those who want them.
        from cprime import report

        return report.write(path, self, X)

    def _checked_shapes(self) -> tuple[str, ...]:
        """Return the shapes to try, the simplest first."""
        if isinstance(self.shapes, str):
            return tuple(SHAPES)
        unknown = [shape for shape in self.shapes if shape not in NAMES]
        if unknown or not len(self.shapes):
            raise ValueError(
                f"shapes={self.shapes!r} should be 'all' or some of {', '.join(NAMES)}."
            )
        if set(self.shapes) == {"isotropic"}:
            return ("k-means",)
        wanted = {*self.shapes, *({"k-means"} if "isotropic" in self.shapes else set())}
        return tuple(shape for shape in SHAPES if shape in wanted)

    def _search(
        self, rows: Rows, units: Units, shapes: tuple[str, ...], keeper: Unkept
    ) -> Search:
        kernel = get_kernel(self.kernel)
        seed = int(keeper.random_state(self.random_state).randint(2**31 - 1))
        sample = distinct_sample(rows, MOST_ROWS, np.random.default_rng(seed))
        known = FeatureMoments.of(self, sample, kernel)
        if known.variances.any():
            # What float64 cannot hold is better known now than after the search.
            units.covariance_out(known.variances.max(), np.dtype(np.float64))
        if self.criterion == "held_out" and sample.n_rows < FEWEST_DIVIDED:
            raise ValueError(
                f"criterion='held_out' needs {FEWEST_DIVIDED} different rows at least, "
                f"to keep some of them from fits, and X has {sample.n_rows}: choose "
                "another criterion."
            )
        return Search(
            rows,
            sample,
            kernel,
            shapes,
            self.criterion,
            covariance_floor(known, units, None, 0.0),
            None if self.max_clusters is None else int(self.max_clusters),
            seed,
            keeper.journal(rows.n_features),
            self.proposer,
        )
