"""The true parameters of the paper's sets: are they like those drawn here?"""

from functools import lru_cache

import numpy as np

from cprime.experiments import alternatives, birch, published
from cprime.experiments.comparison import Found, compare, excess_of_truth
from cprime.experiments.ensemble import TOO_FEW_RUNS, Ensemble
from cprime.experiments.exhibits import Verdict
from cprime.experiments.published import GRID, K_MEANS, KINDS, MEASURES
from cprime.experiments.records import Records
from cprime.experiments.table_s1_cells import DIGITS, NAMES

# Sets of other kinds on which the true parameters are looked at.
N_OTHERS = 100
DEVIATIONS = {"clusters 5% wider": 1.05, "10% wider": 1.1, "5% narrower": 0.95}
SETS_DIFFER = (
    "The two printed values cannot be of the same 2,500 rows, so the paper's figures "
    "and its table show more than one set. All other numbers are judged one by one."
)


def verdicts(records: Records, kind: str, sets: Ensemble) -> list[Verdict]:
    """Return whether the paper's sets are like those drawn here."""
    found = [_verdict_on_truth(kind, measure, sets) for measure in MEASURES]
    found.append(_verdict_on_consistency(kind, sets))
    if kind == GRID:
        found += _verdicts_on_best(records, sets)
    return found


@lru_cache
def _wider(kind: str, deviation: float) -> list[dict[str, float]]:
    return [
        birch.truth(birch.draw(kind, seed, deviation=deviation))
        for seed in range(N_OTHERS)
    ]


def _truths(kind: str, sets: Ensemble) -> dict[str, list[dict[str, float]]]:
    """Return the truths of the right sets, and of others."""
    (other,) = (of for of in KINDS if of != kind)
    return {
        "right": birch.truths(kind, sets.n_candidates),
        **{way: _wider(kind, deviation) for way, deviation in DEVIATIONS.items()},
        f"the {other} set": birch.truths(other, sets.n_candidates),
    }


def _verdict_on_truth(kind: str, measure: str, sets: Ensemble) -> Verdict:
    return compare(
        f"Fig. 1, {kind}: {NAMES[measure]} of the truth",
        published.TRUTH[kind][measure],
        {
            way: Found([of[measure] for of in truths])
            for way, truths in _truths(kind, sets).items()
        },
        DIGITS[measure] + 1,
        why="The published set is not like those drawn here.",
    )


def _verdict_on_consistency(kind: str, sets: Ensemble) -> Verdict:
    value = excess_of_truth(published.TRUTH[kind])
    found = {
        way: Found([excess_of_truth(of) for of in truths])
        for way, truths in _truths(kind, sets).items()
    }
    return compare(
        f"Figs. 1 and S2, {kind}: L of the truth less F of its phi",
        value,
        found,
        4,
        signed=True,
        note="never below 0",
        why=SETS_DIFFER,
    )


def _verdicts_on_best(records: Records, sets: Ensemble) -> list[Verdict]:
    """Return whether the table's best run of k-means is of the figures' set."""
    best = published.TABLE_S1[GRID][K_MEANS]["L"][1]
    truth, end = published.TRUTH[GRID]["L"], published.FINAL_OF_FIGURE_1A[0][1]
    of_truth = "Tab. S1 and Fig. 1, grid: best L of k-means less L of the truth"
    of_figure = "Tab. S1 and Fig. 1A, grid: best L of k-means less L of a run that "
    of_figure += "missed 0"
    if not sets.has_all_runs:
        return [
            Verdict(claim, f"{best - other:+.4f}", "", "", None, TOO_FEW_RUNS)
            for claim, other in ((of_truth, truth), (of_figure, end))
        ]
    truths = birch.truths(GRID, sets.n_sets)
    above_truth, above_others = {}, {}
    for way, values in alternatives.ways(K_MEANS).items():
        runs = alternatives.results(records, sets, GRID, values)
        above_truth[way] = Found(
            [max(of["L"]) - true["L"] for of, true in zip(runs, truths)]
        )
        complete = [
            max(of["L"]) - float(np.mean(np.array(of["L"])[hits]))
            for of in runs
            if (hits := np.equal(of["missed"], 0)).any()
        ]
        if len(complete) > 1:
            above_others[way] = Found(complete)
    return [
        compare(
            claim,
            best - other,
            found,
            4,
            rounding=1e-3,
            signed=True,
            why=SETS_DIFFER,
        )
        for claim, other, found in (
            (of_truth, truth, above_truth),
            (of_figure, end, above_others),
        )
    ]
