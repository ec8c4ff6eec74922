"""Verdicts on the cells of Table S1, each held against other ways of running."""

import numpy as np

from cprime.experiments import birch, dbscan, published
from cprime.experiments.alternatives import OTHER_RUNS, results, ways
from cprime.experiments.comparison import (
    Found,
    compare,
    excess_of_likelihood,
    excess_of_truth,
    free_energy_of_phi,
    runs_of,
)
from cprime.experiments.ensemble import TOO_FEW_RUNS, Ensemble, Place
from cprime.experiments.exhibits import Verdict
from cprime.experiments.published import (
    DBSCAN,
    K_MEANS,
    K_MEANS_C,
    LAZY,
    MEASURES,
    RANDOM,
)
from cprime.experiments.records import Records
from cprime.experiments.table_s1_cells import DIGITS, NAMES, Cell, cells

ALGORITHMS = (K_MEANS, K_MEANS_C, LAZY)


def verdicts_on_cells(records: Records, kind: str, sets: Ensemble) -> list[Verdict]:
    """Return verdicts on all cells, one by one and L and phi together."""
    verdicts = []
    for name in ALGORITHMS:
        verdicts += [_verdict(records, sets, of) for of in cells(kind, name)]
        verdicts.append(_verdict_on_means(records, kind, sets, name))
        verdicts.append(_verdict_on_bests(records, kind, sets, name))
    return verdicts + _verdicts_on_dbscan(records, kind, sets)


def _reference(of: Cell, sets: Ensemble) -> tuple[float, list[float]]:
    """Return what cells are compared less: of the printed set, and of those drawn."""
    if of.kind != RANDOM:
        return 0.0, [0.0] * sets.n_sets
    truths = birch.truths(of.kind, sets.n_sets)
    return published.TRUTH[of.kind][of.measure], [t[of.measure] for t in truths]


def _verdict(records: Records, sets: Ensemble, of: Cell) -> Verdict:
    printed, references = _reference(of, sets)
    claim = of.claim + (", less the truth's" if of.kind == RANDOM else "")
    if of.summary == "best" and not sets.has_all_runs:
        return Verdict(claim, of.text(of.value), "", "", None, TOO_FEW_RUNS)
    found = {}
    for way, values in ways(of.name).items():
        runs = results(records, sets, of.kind, values)
        if of.summary == "mean":
            found[way] = Found.of_means(runs_of(runs, of.measure), references)
        else:
            bests = np.subtract([of.of_runs(on_set) for on_set in runs], references)
            found[way] = Found(bests.tolist())
    return compare(
        claim,
        of.value - printed,
        found,
        DIGITS[of.measure],
        signed=of.kind == RANDOM,
        why=lambda _: _not_typical(of, found, printed),
    )


def _not_typical(of: Cell, found: dict[str, Found], printed: float) -> str:
    place = found["plain k-means++"].place(of.value - printed)
    return (
        "Not typical of the sets drawn here. With plain seeding they give "
        f"{place.mean_text(DIGITS[of.measure])}."
    )


def _verdict_on_means(
    records: Records, kind: str, sets: Ensemble, name: str
) -> Verdict:
    """Return whether mean L and mean phi belong together."""
    of_line = published.TABLE_S1[kind][name]
    found = {
        way: excess_of_likelihood(results(records, sets, kind, values))
        for way, values in ways(name).items()
    }
    note = ""
    if kind == RANDOM:
        # How much clusters overlap on a set is seen from its truth.
        known = [excess_of_truth(of) for of in birch.truths(kind, sets.n_sets)]
        printed = excess_of_truth(published.TRUTH[kind])
        found = {way: of.adjusted(known, printed) for way, of in found.items()}
        note = "given the same of the truth"
    return compare(
        f"Tab. S1, {kind}, {name}: mean L less F of mean phi (Cor. 2)",
        of_line["L"][0] - free_energy_of_phi(of_line["phi"][0]),
        found,
        4,
        rounding=1e-3,
        signed=True,
        note=note,
    )


def _verdict_on_bests(
    records: Records, kind: str, sets: Ensemble, name: str
) -> Verdict:
    """Return whether best L and best phi belong together."""
    of_line = published.TABLE_S1[kind][name]
    claim = f"Tab. S1, {kind}, {name}: best L less F of best phi (Cor. 2)"
    value = of_line["L"][1] - free_energy_of_phi(of_line["phi"][1])
    if not sets.has_all_runs:
        return Verdict(claim, f"{value:+.4f}", "", "", None, TOO_FEW_RUNS)
    found = {
        way: Found(
            [
                max(of["L"]) - free_energy_of_phi(min(of["phi"]))
                for of in results(records, sets, kind, values)
            ]
        )
        for way, values in ways(name).items()
    }
    return compare(claim, value, found, 4, rounding=1e-3, signed=True)


def verdicts_on_gains(records: Records, kind: str, sets: Ensemble) -> list[Verdict]:
    """Return whether algorithms are better or worse than k-means by as much."""
    return [
        _verdict_on_gain(records, kind, sets, name, measure)
        for name in (K_MEANS_C, LAZY)
        for measure in MEASURES
    ]


def _verdict_on_gain(
    records: Records, kind: str, sets: Ensemble, name: str, measure: str
) -> Verdict:
    table, digits = published.TABLE_S1[kind], DIGITS[measure]
    value = table[name][measure][0] - table[K_MEANS][measure][0]
    of_k_means = ways(K_MEANS)
    found = {}
    for way, values in ways(name).items():
        base = of_k_means[way if way in OTHER_RUNS else K_MEANS]
        one, other = (
            runs_of(results(records, sets, kind, of), measure) for of in (values, base)
        )
        found[way] = Found.of_gains(one, other)
    gains = found[name].values
    other_sign = int(np.sum(np.sign(gains) != np.sign(value)))

    def why(place: Place) -> str:
        return (
            f"Here it is {place.center:+.{digits + 1}f} ± {place.error:.{digits + 1}f} "
            f"(standard error), and on {other_sign} of {len(gains)} sets it has the "
            "other sign."
        )

    return compare(
        f"Tab. S1, {kind}, {name} less k-means: mean {NAMES[measure]}",
        value,
        found,
        digits,
        signed=True,
        note="starts of two algorithms drawn apart",
        why=why,
    )


def _verdicts_on_dbscan(records: Records, kind: str, sets: Ensemble) -> list[Verdict]:
    """Return verdicts on DBSCAN, held against parameters chosen by something else."""
    if not sets.runs_dbscan:
        why = "A quick run tries DBSCAN on one set."
        return [
            Verdict(of.claim, of.text(of.value), "", "", None, why)
            for of in cells(kind, DBSCAN)
        ]
    runs = [records[dbscan.setting(kind, seed)] for seed in range(sets.n_sets)]
    edge = sum(of["is_on_edge"] for of in runs)
    fewest = sum(of["has_fewest_neighbours"] for of in runs)
    note = (
        f"{edge} of {len(runs)} at the edge of the search, {fewest} with two "
        "neighbours, the fewest tried"
    )
    verdicts = []
    for of in cells(kind, DBSCAN):
        found = {"chosen by both": Found([of.of_runs(run) for run in runs])}
        for way in runs[0]["others"]:
            found[way] = Found([of.of_runs(run["others"][way]) for run in runs])
        verdicts.append(
            compare(of.claim, of.value, found, DIGITS[of.measure], note=note)
        )
    return verdicts
