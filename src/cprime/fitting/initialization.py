"""What `init` and `n_init` mean."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cprime import seeding
from cprime.blocks import Elsewhere
from cprime.checking import inputs
from cprime.checking.assignments import is_assignment, refuse_on_workers
from cprime.checking.random_numbers import next_generator
from cprime.checking.warn import warn
from cprime.fitting.assignment import GIVEN_ASSIGNMENT, seeds_of_assignment
from cprime.fitting.restarts import Start
from cprime.fitting.training import Training
from cprime.models import Isotropic
from cprime.parallel_seeding import kmeans_parallel, pays
from cprime.rows import Rows
from cprime.search import Exact
from cprime.seeding import Seeds
from cprime.seeding_line import PlusPlus

SEEDINGS = {
    "k-means++": seeding.greedy_kmeans_plus_plus,
    "greedy-k-means++": seeding.greedy_kmeans_plus_plus,
    "k-means||": kmeans_parallel,
    "plain-k-means++": seeding.kmeans_plus_plus,
    "sampled-k-means++": seeding.sampled_kmeans_plus_plus,
    "afk-mc2": seeding.afk_mc2,
    "random": seeding.random_rows,
}
# What takes a pass over the rows for every cluster, and what takes ten in its place.
PARALLEL = {"k-means++": "k-means||", "kmeans": "parallel-kmeans"}
# What takes a few passes, whatever C is, and little memory.
OF_A_SAMPLE = ("sampled-k-means++", "sampled-kmeans")
OF_FILES = (*PARALLEL.values(), *OF_A_SAMPLE)


def seeding_for(rows: Rows, C: int, name: str, parameter: str = "init") -> str:
    """Return the name of the seeding that these rows get if `name` is asked for.

    k-means++ is the greedy form while that is cheap beside the fit, and k-means|| above
    and for rows of a file. What does not suit those is refused.
    """
    if rows.block is None:
        if name in OF_FILES:
            return name
        if name not in PARALLEL:
            raise ValueError(
                f"{parameter}={name!r} needs all rows in memory, and those of "
                f"{rows.origin} do not fit: use {parameter}='k-means||', or give "
                "centres."
            )
        return PARALLEL[name]
    if isinstance(rows.block.X, Elsewhere) and name in OF_A_SAMPLE:
        raise ValueError(
            f"{parameter}={name!r} samples rows in the memory of the host, and X is on "
            f"a GPU: use {parameter}='k-means||', or give a copy, X.cpu().numpy()."
        )
    if pays(rows.n_rows, rows.n_features, C):
        return PARALLEL.get(name, name)
    return name


def n_restarts(estimator: Any) -> int:
    """Return how many restarts the estimator's `init` and `n_init` ask for."""
    init, n_init = estimator.init, estimator.n_init
    if not (isinstance(init, str) or callable(init)):
        if n_init not in ("auto", 1):
            what = "assignment" if is_assignment(init) else "center position"
            warn(
                f"Explicit initial {what} passed: performing only one init in "
                f"{type(estimator).__name__} instead of n_init={n_init}.",
                RuntimeWarning,
            )
        return 1
    if n_init != "auto":
        return int(n_init)
    return 10 if callable(init) or init == "random" else 1


class Starts:
    """Finds where one restart after another begins.

    Parameters
    ----------
    init : str, callable or array-like
    C : int
    training : Training
    random_state : RandomState
    """

    def __init__(self, init: Any, C: int, training: Training, random_state: Any):
        self._init = init
        self._C = C
        self._training = training
        self.random_state = random_state
        self._found: Seeds | None = None
        self._plus_plus: PlusPlus | None = None
        # How seeds are found, as a user is told.
        self.method = "given centers"
        if isinstance(init, str):
            self.method = seeding_for(training.rows, C, init)
            self._plus_plus = self._along_one_line()
        elif callable(init):
            self.method = "callable"
            if training.rows.block is None:
                raise ValueError(
                    "A callable init needs all rows in memory, and those of "
                    f"{training.rows.origin} do not fit: give centres, or "
                    "init='k-means||'."
                )
        elif is_assignment(init):
            refuse_on_workers(training.X, "init")
            self.method = GIVEN_ASSIGNMENT

    def next(self) -> Start:
        """Return what finds the first means of the next restart, in computing units.

        Random numbers are taken now, rows are looked at when it is called: restarts may
        then start in any order.
        """
        if self._found is not None:
            found, self._found = self._found, None
            return lambda: found
        init, C, training = self._init, self._C, self._training
        if isinstance(init, str):
            rng = next_generator(self.random_state)
            if self._plus_plus is not None:
                return self._plus_plus.next(rng)
            seeding_of = SEEDINGS[self.method]
            return lambda: seeding_of(training.rows, C, training.kernel, rng)
        if is_assignment(init):
            rows, kernel = training.rows, training.kernel
            return lambda: seeds_of_assignment(init, C, rows, kernel, "init")
        if callable(init):
            init = self._called(init)
        means = inputs.checked_means(init, C, training.X)
        training.units.refuse_far(means, "init")
        return lambda: Seeds(training.units.means_in(means), 0)

    def _called(self, init: Callable[..., Any]) -> Any:
        """Return the centres a user's own function gives; its errors stay its own."""
        X = self._training.X
        given = X.given if isinstance(X, Elsewhere) else X
        try:
            return init(given, self._C, random_state=self.random_state)
        except Exception as error:
            name = getattr(init, "__qualname__", type(init).__qualname__)
            error.add_note(
                f"This error was raised by your init={name}, called as "
                f"init(X, {self._C}, random_state=...)."
            )
            raise

    def _along_one_line(self) -> PlusPlus | None:
        """Return what draws the seeds of all restarts, if `init` is a k-means++."""
        n_trials = {
            "k-means++": seeding.greedy_trials(self._C),
            "greedy-k-means++": seeding.greedy_trials(self._C),
            "plain-k-means++": 1,
        }.get(self.method)
        if n_trials is None:
            return None
        training = self._training
        return PlusPlus(training.rows, self._C, training.kernel, n_trials)

    @property
    def spent(self) -> int:
        """How many distances were computed for seeds that nobody has asked for yet."""
        return 0 if self._found is None else self._found.evaluations

    def variance(self, floor: float) -> float:
        """Return the variance of the rows about the seeds of the next restart.

        Those seeds are not looked for again: they are what `next` will return.
        """
        seeds, model = self.next()(), Isotropic(floor)
        hard = self._training.problem(model, Exact(), C_prime=1)
        _, stats = hard.sweep_about_seeds(seeds.means)
        evaluations = seeds.evaluations + stats.evaluations
        self._found = replace(seeds, evaluations=evaluations)
        return float(model.start(seeds.means, stats).covariance)
