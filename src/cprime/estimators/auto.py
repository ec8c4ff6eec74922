"""`AutoMixture`: how many clusters, of which shape, and how soft?"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cprime.checking import inputs
from cprime.checking.units import Units
from cprime.estimators.auto_results import estimator_of, results_table, verdict
from cprime.fitting.degenerate import covariance_floor
from cprime.fitting.missing_values import FeatureMoments
from cprime.fitting.results import fitted_or_unchanged
from cprime.kernels import KERNEL_NAMES, get_kernel
from cprime.rows import Rows
from cprime.sampling import distinct_sample
from cprime.selection.candidates import Candidate
from cprime.selection.choice import MOST_ROWS, Choice, Search, smallest_c_prime
from cprime.selection.criteria import CRITERIA
from cprime.selection.proposers import PROPOSERS
from cprime.selection.shapes import SHAPES
from cprime.typing import Array

# What a user may ask for: "isotropic" is k-means, with equal weights or without.
NAMES = tuple(name for name in SHAPES if name != "k-means")


@dataclass(frozen=True)
class Trial:
    """What is told of every fit that is tried: `fit(X, progress=callable)`.

    Attributes
    ----------
    shape : str
    n_clusters : int
    value : float
        What the criterion makes of it; lower is better.
    best_shape : str
    best_n_clusters : int
        Of the best fit so far.
    n_tried : int
    seconds : float
        That the fit took.
    """

    shape: str
    n_clusters: int
    value: float
    best_shape: str
    best_n_clusters: int
    n_tried: int
    seconds: float


def _best_has(name: str) -> Any:
    """Let a method exist where the chosen estimator has it."""

    def check(self: Any) -> bool:
        check_is_fitted(self, "best_estimator_")
        getattr(self.best_estimator_, name)
        return True

    return available_if(check)


class AutoMixture(DensityMixin, ClusterMixin, BaseEstimator):
    """Finds how many clusters there are, of which shape, and how soft they are.

    Clusters are split, removed and exchanged one at a time, so that there is a fit for
    every number; the number and shape are chosen that explain the rows best once their
    parameters are paid for, among fits whose clusters are all groups of their own, with
    valleys between them. One cluster is a possible answer.

    Parameters
    ----------
    max_clusters : int, optional
        The largest number to try. By default the search ends when more clusters have
        not helped for a while.
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
    random_state : int, RandomState instance, optional
    kernel : str, default="auto"
        As for `KMeans`.
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
        from that of the answer by less than 10 or two standard errors (Vuong 1989), or
        another criterion prefers them.
    agreement_ : dict
        The number that each criterion prefers; "modes" are the groups, with valleys
        between them, of the mixture that BIC prefers.
    merged_labels_ : ndarray of shape (n_samples,)
        The group of every row in that mixture.
    verdict_ : str
        All this in sentences.
    results_ : dict of ndarray
        For `pandas.DataFrame`: a line for every number and shape, with `n_clusters`,
        `shape`, `equal_weights`, `free_energy` (at C' = 1), `log_likelihood`, `gap`,
        `entropy`, `n_parameters`, `bic`, `icl`, `bic_free_energy`, `weight` (of the
        rows it was fitted to) and `seconds`.

    See Also
    --------
    GaussianMixture, KMeans

    Notes
    -----
    The search looks at up to 16,384 different rows. If there are more, it looks at a
    random sample; the best fits are then fitted to all rows and judged by them. Neither
    the order of rows nor their repetition matters to it, a weight of 2 is a row given
    twice.

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
        "random_state": ["random_state"],
        "kernel": [StrOptions(set(KERNEL_NAMES))],
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
        random_state=None,
        kernel="auto",
        proposer="gain",
    ):
        self.max_clusters = max_clusters
        self.shapes = shapes
        self.criterion = criterion
        self.c_prime = c_prime
        self.gap_tolerance = gap_tolerance
        self.random_state = random_state
        self.kernel = kernel
        self.proposer = proposer

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        progress: Callable[[Trial], Any] | None = None,
    ) -> "AutoMixture":
        """Choose number, shape and C', and fit them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Data
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same as giving the row twice, 0 as leaving it out.
        progress : callable, optional
            Is called with a `Trial` after every fit that is tried.

        Returns
        -------
        self : AutoMixture
        """
        with fitted_or_unchanged(self) as put:
            X = inputs.checked_data(self, X, reset=True, sparse=False)
            weights = inputs.checked_weights(sample_weight, X.shape[0])
            shapes = self._checked_shapes()
            units = Units.of_rows(X, weights)
            rows = units.rows(X, weights)
            search = self._search(rows, units, shapes)
            interrupt = None
            try:
                self._run(search, progress)
            except KeyboardInterrupt as error:
                if not search.has_candidates:
                    raise
                interrupt = error
            choice = search.choice()
            put(self._attributes(choice, X, sample_weight, rows, units))
            if interrupt is not None:
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
        """Write a page about the chosen mixture. Parameters as for `KMeans.report`."""
        return self.best_estimator_.report(path, X)

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

    def _search(self, rows: Rows, units: Units, shapes: tuple[str, ...]) -> Search:
        kernel = get_kernel(self.kernel)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        sample = distinct_sample(rows, MOST_ROWS, np.random.default_rng(seed))
        known = FeatureMoments.of(self, sample, kernel)
        return Search(
            rows,
            sample,
            kernel,
            shapes,
            self.criterion,
            covariance_floor(known, units, None, 0.0),
            None if self.max_clusters is None else int(self.max_clusters),
            seed,
            self.proposer,
        )

    def _run(self, search: Search, progress: Callable[[Trial], Any] | None) -> None:
        criterion = CRITERIA[self.criterion]
        best: Candidate | None = None
        for n_tried, found in enumerate(search.run(), 1):
            value = criterion(found.scores)
            if best is None or value < criterion(best.scores):
                best = found
            if progress is not None:
                progress(
                    Trial(
                        SHAPES[found.shape].covariance_type,
                        found.C,
                        value,
                        SHAPES[best.shape].covariance_type,
                        best.C,
                        n_tried,
                        found.seconds,
                    )
                )

    def _attributes(
        self, choice: Choice, X: Any, sample_weight: Any, rows: Rows, units: Units
    ) -> dict[str, Any]:
        best = choice.best
        kernel = get_kernel(self.kernel)
        C_prime = self._c_prime(best, rows, kernel)
        estimator = estimator_of(
            best,
            units,
            c_prime=C_prime,
            random_state=self.random_state,
            kernel=self.kernel,
        )
        estimator.fit(X, sample_weight=sample_weight)
        labels = (
            estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X)
        )
        return {
            "n_clusters_": best.C,
            "shape_": SHAPES[best.shape].covariance_type,
            "c_prime_": C_prime,
            "best_estimator_": estimator,
            "labels_": labels,
            "plausible_": choice.plausible,
            "agreement_": choice.agreement,
            "merged_labels_": choice.groups[self._labels_of(choice.by_bic, rows)],
            "verdict_": verdict(choice, self.max_clusters, rows.n_rows),
            "results_": results_table(choice.candidates, rows.n_features, units),
        }

    def _labels_of(self, candidate: Candidate, rows: Rows) -> Array:
        shape, kernel = SHAPES[candidate.shape], get_kernel(self.kernel)
        coefficients = shape.model(np.zeros(rows.n_features)).coefficients(
            candidate.theta
        )
        labels: Array = rows.map(
            lambda values, weights: kernel.nearest(values, coefficients)
        )
        return labels

    def _c_prime(self, best: Candidate, rows: Rows, kernel: Any) -> int:
        if self.c_prime != "auto":
            return min(int(self.c_prime), best.C)
        model = SHAPES[best.shape].model(np.zeros(rows.n_features))
        coefficients = model.coefficients(best.theta)
        return smallest_c_prime(rows, coefficients, kernel, float(self.gap_tolerance))
