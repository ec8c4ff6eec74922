"""How is the state of restarts written, and read to the same bits?"""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from cprime import em
from cprime.extrapolation import START, Path
from cprime.fitting.restarts import Run, State
from cprime.rows import Rows
from cprime.search import Exact, Neighbours, Search
from cprime.seeding import Seeds
from cprime.stats import Stats
from cprime.storage import tree
from cprime.storage.container import Blocks, Stored
from cprime.theta import Theta

Arrays = dict[str, Any]
EXACT = "exact"
# What of a step is written as it is.
OF_STEP = (
    *("iteration", "free_energy", "expected", "evaluations", "changed"),
    *("relocated", "seconds", "converged"),
)


def packed(state: State, arrays: Arrays) -> Any:
    """Return what a header says of a state, and put its arrays with the others."""
    current, seeds = state.current, state.seeds
    if current is not None and current.last.iteration == 0:
        # It takes no more than the seeds to get there again.
        current = None
    kept = {
        "complete": _columns(state.complete),
        "evaluations": state.evaluations,
        "best": _of_run(state.best),
        "seeds": None if seeds is None or current is not None else _of_seeds(seeds),
        "current": _of_run(current),
    }
    return tree.packed(kept, "state", arrays)


def unpacked(told: Any, arrays: dict[str, Stored], rows: Rows, C: int) -> State:
    """Return the state a header tells of, or say why it cannot be one of these rows."""
    shape = (C, rows.n_features)
    try:
        kept = told["dict"]
        best, seeds, current = kept["best"], kept["seeds"], kept["current"]
        return State(
            tuple(_lines(kept["complete"], arrays)),
            int(tree.unpacked(kept["evaluations"], arrays)),
            None if best is None else _run(best["dict"], arrays, rows, shape),
            None if seeds is None else _seeds(seeds["dict"], arrays, rows, shape),
            None if current is None else _run(current["dict"], arrays, rows, shape),
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(
            f"it does not hold the state of restarts ({error!r:.60})"
        ) from error


def _of_seeds(seeds: Seeds) -> Any:
    known = {"means": seeds.means, "evaluations": seeds.evaluations}
    K = seeds.K
    return known if K is None else {**known, "K": Blocks(K.shape, "<i4", K.parts())}


def _of_run(run: Run | None) -> Any:
    if run is None:
        return None
    last, fit = run.last, run.fit
    # That of the last step is that of the fit, if there is one.
    K = last.K if fit is None else fit.K
    return {
        "trace": _columns(run.trace),
        "evaluations": run.evaluations,
        "step": {name: getattr(last, name) for name in OF_STEP},
        "theta": last.theta.parameters(),
        "path": {
            name: theta and theta.parameters()
            for name, theta in vars(last.path).items()
        },
        "missed": last.missed,
        "search": _of_search(last.search),
        "K": Blocks(K.shape, "<i4", K.parts()),
        "fit": fit
        and {
            "theta": fit.theta.parameters(),
            "stats": vars(fit.stats),
            "free_energy": fit.free_energy,
        },
    }


def _run(told: Any, arrays: dict[str, Stored], rows: Rows, shape: Any) -> Run:
    def read(name: str) -> Any:
        return tree.unpacked(told[name], arrays)

    K = rows.restored(tree.stored(told["K"], arrays), shape[0])
    step, fit = read("step"), read("fit")
    # A fit that was kept before there were leaps has none ahead of it.
    kept = read("path") if "path" in told else vars(START)
    path = {
        name: theta and _theta(theta, shape)
        for name, theta in _only(kept, vars(START)).items()
    }
    # One that was kept before there were partial searches has none.
    search = read("search") if "search" in told else None
    last = em.Step(
        theta=_theta(read("theta"), shape),
        K=K,
        path=Path(**path),
        search=_search(search, shape[0]),
        missed=read("missed") if "missed" in told else None,
        **_only(step, OF_STEP),
    )
    return Run(
        _lines(told["trace"], arrays),
        last,
        read("evaluations"),
        fit
        and em.Fit(
            _theta(fit["theta"], shape),
            K,
            Stats(**_only(fit["stats"], [field.name for field in fields(Stats)])),
            fit["free_energy"],
        ),
    )


def _of_search(search: Search | None) -> Any:
    """Return what changes in the course of a fit; of other searches nothing does."""
    if isinstance(search, Neighbours):
        return vars(search)
    return EXACT if search == Exact() else None


def _search(values: Any, C: int) -> Search | None:
    if values is None:
        return None
    if values == EXACT:
        return Exact()
    search = Neighbours(**_only(values, vars(Neighbours(1))))
    lists = search.lists
    if lists is not None and not (
        isinstance(lists, np.ndarray)
        and (lists.dtype, lists.shape) == (np.int32, (C, search.n_neighbors))
        and lists.min() >= 0
        and lists.max() < C
    ):
        raise ValueError("its lists of clusters are not those of these clusters")
    return search


def _only(values: Any, names: Any) -> dict[str, Any]:
    if not (isinstance(values, dict) and values.keys() == set(names)):
        raise ValueError("it does not hold the state of restarts")
    return values


def _theta(values: Any, shape: tuple[int, int]) -> Theta:
    theta = Theta(**_only(values, ("means", "covariance", "proportions")))
    _refuse_other_means(theta.means, shape)
    return theta


def _seeds(told: Any, arrays: dict[str, Stored], rows: Rows, shape: Any) -> Seeds:
    known = {name: tree.unpacked(told[name], arrays) for name in told if name != "K"}
    seeds = Seeds(**_only(known, ("means", "evaluations")))
    if "K" in told:
        K = rows.restored(tree.stored(told["K"], arrays), shape[0])
        seeds = replace(seeds, K=K)
    _refuse_other_means(seeds.means, shape)
    return seeds


def _refuse_other_means(means: Any, shape: tuple[int, int]) -> None:
    if not (
        isinstance(means, np.ndarray)
        and (means.dtype, means.shape) == (np.float64, shape)
        and np.isfinite(means).all()
    ):
        raise ValueError("its means are not those of these clusters and features")


def _columns(lines: Any) -> dict[str, Any]:
    """Return lines that all have the same names as columns."""
    columns = {}
    for name in lines[0] if lines else ():
        values = [line[name] for line in lines]
        several = isinstance(values[0], tuple)
        columns[name] = list(map(list, values)) if several else np.array(values)
    return columns


def _lines(told: Any, arrays: dict[str, Stored]) -> list[dict[str, Any]]:
    columns = {
        name: list(map(tuple, values)) if isinstance(values, list) else values.tolist()
        for name, values in tree.unpacked(told, arrays).items()
    }
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("the columns of its history differ in length")
    return [dict(zip(columns, line)) for line in zip(*columns.values())]
