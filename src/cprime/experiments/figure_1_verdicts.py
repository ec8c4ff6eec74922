"""Where the runs of Fig. 1 A and D begin and end."""

import numpy as np

from cprime.experiments import published
from cprime.experiments.alternatives import results, ways
from cprime.experiments.comparison import Found, compare, runs_of
from cprime.experiments.ensemble import Ensemble, ensemble
from cprime.experiments.exhibits import Verdict
from cprime.experiments.published import GRID, K_MEANS, KINDS
from cprime.experiments.records import Records
from cprime.typing import Array

DIGITS = 4
# What may have been meant by the printed start: of which seeds, L or F.
STARTS = {
    "greedy k-means++": (K_MEANS, "L_init"),
    "plain k-means++": ("plain k-means++", "L_init"),
    "random rows": ("random rows", "L_init"),
    "F of greedy k-means++": (K_MEANS, "F_init"),
    "F of plain k-means++": ("plain k-means++", "F_init"),
    "F of random rows": ("random rows", "F_init"),
}


def verdicts(records: Records, quick: bool) -> list[Verdict]:
    """Return whether runs end and begin where the paper's do."""
    sets = ensemble(quick)
    found = [
        _end(records, sets, missed, name, value)
        for missed, (F, L) in published.FINAL_OF_FIGURE_1A.items()
        for name, value in (("F", F), ("L", L))
    ]
    return found + [of for kind in KINDS for of in _starts(records, sets, kind)]


def _end(
    records: Records, sets: Ensemble, missed: int | None, name: str, value: float
) -> Verdict:
    """Return whether runs that missed so many clusters end where the paper's did."""
    who = "mean of all runs" if missed is None else f"a run that missed {missed}"
    claim = f"Fig. 1A, k-means on the grid, {who}: last {name}"
    found = _ends(records, sets, missed, name)
    n_sets = len(found[K_MEANS].values) if K_MEANS in found else 0
    if 2 * n_sets < sets.n_sets:
        why = f"Only {n_sets} sets have runs that missed as many."
        return Verdict(claim, f"{value:.4f}", "", "", None, why)
    return compare(claim, value, found, DIGITS)


def _ends(
    records: Records, sets: Ensemble, missed: int | None, name: str
) -> dict[str, Found]:
    """Return where runs end, by the way of running, on every set that has any such run.

    Where a run of k-means ends depends on what it missed, not on how it was seeded;
    the mean of all runs depends on both.
    """
    runs = {way: results(records, sets, GRID, of) for way, of in ways(K_MEANS).items()}
    if missed is None:
        return {way: Found.of_means(runs_of(of, name)) for way, of in runs.items()}
    seedings = ("plain k-means++", "random rows")
    pooled = zip(runs[K_MEANS], *(runs.pop(seeding) for seeding in seedings))
    runs[K_MEANS] = [
        {key: [v for of in on_set for v in of[key]] for key in (name, "missed")}
        for on_set in pooled
    ]
    missed_more = {f"runs that missed {missed + 1}": missed + 1}
    found = {}
    for way, (of, how_many) in {
        **{way: (of, missed) for way, of in runs.items()},
        **{way: (runs[K_MEANS], more) for way, more in missed_more.items()},
    }.items():
        ends = [
            np.array(on_set[name])[np.equal(on_set["missed"], how_many)]
            for on_set in of
        ]
        ends = [of_set for of_set in ends if len(of_set) > 0]
        if len(ends) > 1:
            found[way] = _of_single_runs(ends)
    return found


def _of_single_runs(ends: list[Array]) -> Found:
    """Return where one run on a set may end, as the paper draws one."""
    several = [of for of in ends if len(of) > 1]
    variances = [float(np.var(of, ddof=1)) for of in several] or [0.0]
    shares = [float(np.var(of, ddof=1)) / len(of) for of in several] or [0.0]
    return Found(
        [float(of.mean()) for of in ends],
        float(np.mean(shares)),
        float(np.mean(variances)),
    )


def _starts(records: Records, sets: Ensemble, kind: str) -> list[Verdict]:
    """Return whether runs begin where the paper's did, and what is meant by that."""
    value, of_ways = published.L_INIT[kind], ways(K_MEANS)
    runs = {way: results(records, sets, kind, of) for way, of in of_ways.items()}
    found = {
        start: Found.of_means(runs_of(runs[way], measure))
        for start, (way, measure) in STARTS.items()
    }
    wider = runs["clusters 5% wider"]
    read_as_F = {
        "F of greedy k-means++": found["F of greedy k-means++"],
        **found,
        "clusters 5% wider": Found.of_means(runs_of(wider, "F_init")),
    }
    places = {start: of.place(value) for start, of in found.items()}
    of_F, of_plain = places["F of greedy k-means++"], places["plain k-means++"]
    return [
        compare(
            f"Fig. 1, {kind}: mean L at the start",
            value,
            {
                **found,
                "clusters 5% wider": Found.of_means(runs_of(wider, "L_init")),
            },
            DIGITS,
            why="The paper says neither which form of k-means++ it uses nor which "
            "variance a start has; here it is that of the seeds' own labels (Prop. 3). "
            f"The printed value is near F of greedy seeds, {of_F.mean_text(DIGITS)} "
            f"(z {of_F.deviations:+.1f}); L of plain ones is "
            f"{of_plain.mean_text(DIGITS)} (z {of_plain.deviations:+.1f}).",
        ),
        compare(
            f"Fig. 1, {kind}: the same value, read as mean F at the start",
            value,
            read_as_F,
            DIGITS,
            explain="A reading of ours, not the paper's: the axis it is marked on has "
            "both L and F.",
        ),
    ]
