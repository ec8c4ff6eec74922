"""What sections 4, 5 and E say was verified, verified again."""

from typing import Any

import numpy as np

from cprime.experiments import (
    alternatives,
    birch,
    coverage,
    followed,
    formulas,
    overfitting,
    overlap_claims,
    stiffness_claims,
)
from cprime.experiments.alternatives import results, ways
from cprime.experiments.ensemble import ensemble
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.followed import C_PRIMES
from cprime.experiments.published import GRID, K_MEANS, KINDS
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

TITLE = "The claims of sections 4, 5 and E"
TEXT = (
    "Each line is a statement of the paper that a run can refute. Free energies are "
    "compared as numbers; the others on the sets drawn here. Below is what the text "
    "claims, and where it is judged, or why it is not."
)
# Free energies by different formulas are the same number, up to rounding.
EQUAL = 1e-9
# At convergence the variance still moves by about its tolerance.
CONVERGED = 1e-6
SIZES = (100, 1000, 10_000)
# Sets, and runs on each, of the runs that show how overfitting shrinks, by whether a
# reproduction is quick.
OVERFITTING_SIZE = {False: (4, 15), True: (3, 5)}


def settings(quick: bool) -> list[Setting]:
    """Return what the claims need."""
    sets = ensemble(quick)
    wanted = followed.settings(quick)
    for kind in KINDS:
        shown = sets.shown(kind)
        wanted += alternatives.settings(sets, kind)
        wanted += [formulas.setting(kind, c, shown) for c in C_PRIMES]
    wanted += [of for n in _sizes(quick) for of in _overfitting_settings(n, quick)]
    return wanted + stiffness_claims.settings(quick)


def _sizes(quick: bool) -> tuple[int, ...]:
    return SIZES[:2] if quick else SIZES


def _overfitting_settings(n_per_cluster: int, quick: bool) -> list[Setting]:
    n_sets, n_runs = OVERFITTING_SIZE[quick]
    return [overfitting.setting(n_per_cluster, n_runs, seed) for seed in range(n_sets)]


def show(records: Records, quick: bool) -> Exhibit:
    """Judge all claims."""
    verdicts = [
        *_formulas_agree(records, quick),
        *overlap_claims.verdicts(records, quick),
        _best_is_above_truth(records, quick),
        _overfitting_shrinks(records, quick),
        *stiffness_claims.verdicts(records, quick),
    ]
    return Exhibit(TITLE, TEXT, tables=[coverage.table()], verdicts=verdicts)


def _formulas_agree(records: Records, quick: bool) -> list[Verdict]:
    sets = ensemble(quick)

    def run(kind: str, c: int) -> dict[str, Any]:
        return records[formulas.setting(kind, c, sets.shown(kind))]

    hard = [run(kind, 1) for kind in KINDS]
    soft = [run(kind, c) for kind in KINDS for c in C_PRIMES if c > 1]
    worst = max(of["every"] for of in hard)
    apart = max(of["converged"] for of in (*hard, *soft))
    return [
        Verdict(
            "Section E: Eq. 7, Prop. 3 and Cor. 2 give the same F for k-means, in "
            "every iteration",
            "numerically equal",
            f"at most {worst:.1e} nats apart",
            f"over {sum(of['iterations'] for of in hard)} iterations",
            worst < EQUAL,
            "",
            _unnoticed(hard, EQUAL),
        ),
        Verdict(
            "Section E: Eq. 7 and Prop. 4 give the same F for k-means-C' where it has "
            "converged",
            "equal at convergence",
            f"at most {apart:.1e} nats apart",
            "over C' = " + ", ".join(str(c) for c in C_PRIMES),
            apart < CONVERGED,
            "",
            _unnoticed(soft, CONVERGED),
        ),
    ]


def _unnoticed(results: list[dict[str, Any]], tolerance: float) -> dict[str, bool]:
    """Return whether mistaken formulas would agree as well, by the mistake."""
    return {
        name: max(of["wrong"][name] for of in results) < tolerance
        for name in results[0]["wrong"]
    }


def _best_is_above_truth(records: Records, quick: bool) -> Verdict:
    sets = ensemble(quick)
    truths = birch.truths(GRID, sets.n_sets)

    def excess(runs: list[dict[str, Any]], which: Any = np.argmax) -> list[float]:
        """Return by how much L is above, on sets whose best run found all clusters."""
        chosen = [int(which(of["F"])) for of in runs]
        return [
            of["L"][i] - true["L"]
            for of, true, i in zip(runs, truths, chosen)
            if of["missed"][i] == 0
        ]

    by_way = {
        way: excess(results(records, sets, GRID, values))
        for way, values in ways(K_MEANS).items()
    }
    right, *wrong = by_way
    worst = excess(results(records, sets, GRID, ways(K_MEANS)[K_MEANS]), np.argmin)
    by_way["the run with the lowest F"] = worst
    wrong.append("the run with the lowest F")
    above = {way: int(np.sum(np.array(of) > 0)) for way, of in by_way.items()}
    return Verdict(
        "Section 5: on the grid the run of k-means with the highest F finds all "
        "clusters, and its L is above that of the truth",
        "-6.0293 > -6.0379",
        f"on {above[right]} of {sets.n_sets} sets",
        f"by {np.mean(by_way[right]):.4f} ± {np.std(by_way[right], ddof=1):.4f}",
        above[right] == sets.n_sets,
        "",
        {way: above[way] == sets.n_sets for way in wrong},
    )


def _overfitting_shrinks(records: Records, quick: bool) -> Verdict:
    found = {
        n: [records[of] for of in _overfitting_settings(n, quick)]
        for n in _sizes(quick)
    }

    def excess(name: str) -> list[float]:
        return [
            float(np.mean([of[name] - of["truth"] for of in runs]))
            for runs in found.values()
        ]

    best = excess("best")
    shown = ", ".join(f"{25 * n:,} rows: {e:+.5f}" for n, e in zip(found, best))
    return Verdict(
        "Section 5: this overfitting shrinks as N grows",
        "decreases with N",
        shown,
        f"means over {OVERFITTING_SIZE[quick][0]} sets; 51 parameters at their maximum "
        "would gain 25.5 / N",
        bool(np.all(np.diff(best) < 0)),
        "",
        {
            "the run with the lowest F": bool(np.all(np.diff(excess("worst")) < 0)),
            "sizes the other way round": bool(np.all(np.diff(best[::-1]) < 0)),
        },
    )
