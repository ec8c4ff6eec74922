"""Gaps on the protein data, and where its runs end."""

from typing import Any

import numpy as np

from cprime.experiments import published
from cprime.experiments.exhibits import Verdict
from cprime.experiments.protein_runs import Curves, mean_text, standard_error

# Shares of the gap of k-means that are significantly less, and hardly anything.
HALF, HARDLY = 0.5, 0.01


def verdicts(
    curves: dict[int, Curves], from_plain: list[dict[str, Any]], quick: bool
) -> list[Verdict]:
    """Return whether gaps shrink as the paper says, and where runs end."""
    gaps = {c: float(of.gaps.mean()) for c, of in curves.items()}
    shown = ", ".join(f"C'={c}: {gap:.4f}" for c, gap in gaps.items())
    spread = "standard errors " + ", ".join(
        f"{float(standard_error(of.gaps)):.4f}" for of in curves.values()
    )
    plain = float(np.mean([of["gap"] for of in from_plain]))
    found = [
        Verdict(
            "Fig. 1G: already for C'=2 the gap is smaller than for k-means",
            "decreases significantly",
            shown,
            spread,
            gaps[2] < HALF * gaps[1],
            "",
            {
                "k-means in its place": gaps[1] < HALF * gaps[1],
                "k-means from plain seeds in its place": plain < HALF * gaps[1],
                "C'=2 in place of k-means": gaps[2] < HALF * gaps[2],
                "the two exchanged": gaps[1] < HALF * gaps[2],
                "C'=10 in its place": gaps[10] < HALF * gaps[1],
            },
        ),
        Verdict(
            "Fig. 1G: for C'=10 there is hardly a gap",
            "vanishes nearly completely",
            shown,
            spread,
            gaps[10] < HARDLY * gaps[1],
            "",
            {
                "k-means in its place": gaps[1] < HARDLY * gaps[1],
                "k-means from plain seeds in its place": plain < HARDLY * gaps[1],
                "C'=2 in its place": gaps[2] < HARDLY * gaps[1],
                "C'=10 in place of k-means": gaps[10] < HARDLY * gaps[10],
                "C'=2 in place of k-means": gaps[10] < HARDLY * gaps[2],
            },
        ),
    ]
    if quick:
        why = "A quick run has fewer rows and clusters."
        return found + [
            Verdict(f"Fig. {panel} ends on the paper's axis", "", "", "", None, why)
            for panel in ("1G: L", "1H: phi")
        ]
    phi_from_plain = np.array([of["phi"][-1] for of in from_plain])
    greedy = list(curves.values())
    found += [
        _inside(
            "Fig. 1G: L ends on the paper's axis",
            published.KDD_L,
            {
                "L": [float(of.L[:, -1].mean()) for of in greedy],
                **_early("L", greedy),
                "F": [float(of.F[:, -1].mean()) for of in greedy],
                "plain seeds": [float(np.mean([of["L"][-1] for of in from_plain]))],
            },
            ".2f",
        ),
        _inside(
            "Fig. 1H: phi ends on the paper's axis",
            published.KDD_PHI,
            {
                "phi": [float(of.phi[:, -1].mean()) for of in greedy],
                **_early("phi", greedy),
                "plain seeds": [float(phi_from_plain.mean())],
                "phi of EM alone": [float(greedy[-1].phi[:, -1].mean())],
            },
            ".4g",
            "The paper's axis begins higher than these runs end, which start from "
            "greedy k-means++. From plain k-means++ k-means ends at "
            f"{mean_text(phi_from_plain, '.4g')}.",
        ),
    ]
    return found


def _early(name: str, greedy: list[Curves]) -> dict[str, list[float]]:
    """Return where the same runs are at their start and after one iteration."""
    return {
        f"{name} after {i} iterations": [
            float(getattr(of, name)[:, i].mean()) for of in greedy
        ]
        for i in (0, 1)
    }


def _inside(
    claim: str,
    axis: tuple[float, float],
    found: dict[str, list[float]],
    form: str,
    why_not: str = "",
) -> Verdict:
    def inside(values: list[float]) -> bool:
        return axis[0] <= min(values) and max(values) <= axis[1]

    right, *wrong = found
    values = found[right]
    return Verdict(
        claim,
        f"{axis[0]:{form}} to {axis[1]:{form}}",
        f"{min(values):{form}} to {max(values):{form}}",
        "over C'",
        inside(values),
        "" if inside(values) else why_not,
        {way: inside(found[way]) for way in wrong},
    )
