"""Fig. S1: the truncated posterior of one point, C=8 and C'=3."""

from functools import lru_cache

import numpy as np
from matplotlib.patches import Circle

from cprime.experiments import birch, drawing
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.published import RANDOM
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.kernels import get_kernel, reference
from cprime.models import Isotropic
from cprime.theta import Theta
from cprime.typing import Array

TITLE = "Fig. S1: what truncation keeps of one point's posterior"
TEXT = (
    "Eight clusters, rows drawn from them, and one point, joined by lines to the three "
    "closest centres (left). The full posterior has a share for all of them; the "
    "truncated one is the same on the C'=3 closest, scaled up to sum to one, and zero "
    "on the others (right; Eqs. 4 and 5). The arrangement is our own; its clusters are "
    "wide, so that three shares are seen. What Supplement A says of the rows of the "
    "paper's is judged on the random BIRCH sets, which overlap too, at their true "
    "parameters; how many rows its words stand for is our choice."
)
C_PRIME = 3
N_DRAWN, N_SETS = 800, 10
# A truncated posterior is exact enough for a row if it keeps so much, and suffices for
# basically all, for most or for many rows by these shares of them.
KEPT = 0.95
SUFFICES = {3: 0.95, 2: 0.5, 1: 0.5}
WIDER = (1.5, 2.0, 3.0, 4.0)
WORDS = {3: "basically all", 2: "most", 1: "most, dominated by the closest"}
CENTERS = np.array(
    [
        [-2.6, 1.4],
        [-0.9, 2.1],
        [1.2, 1.9],
        [2.7, 0.6],
        [-2.2, -1.2],
        [-0.2, -0.5],
        [1.5, -1.0],
        [0.4, -2.4],
    ]
)
VARIANCE = 0.7
POINT = np.array([[0.55, 0.35]])


def settings(quick: bool) -> list[Setting]:
    """Return nothing: there is nothing to run."""
    return []


def show(records: Records, quick: bool) -> Exhibit:
    """Draw the point among its clusters, and both of its posteriors."""
    full, kept, truncated = _posteriors()
    figure, panels = drawing.new_figure(11, 4.6, columns=2)
    left, right = panels[0]
    left.plot(
        *_drawn().T,
        ".",
        color="0.72",
        markersize=2,
        zorder=0,
        label="rows",
    )
    for c in kept:
        left.plot(*np.stack([POINT[0], CENTERS[c]]).T, color="black", linewidth=1.0)
    for c, (x, y) in enumerate(CENTERS):
        colour = drawing.FOUND if c in kept else "0.6"
        left.add_patch(
            Circle(
                (x, y), VARIANCE**0.5, facecolor=colour, alpha=0.18, edgecolor="none"
            )
        )
        left.plot(x, y, "x", color=colour)
        aside = 9.0 * (CENTERS[c] - POINT[0]) / np.linalg.norm(CENTERS[c] - POINT[0])
        left.annotate(
            str(c + 1),
            (x, y),
            xytext=tuple(aside),
            textcoords="offset points",
            ha="center",
            va="center",
        )
    left.plot(*POINT.T, "o", color="black", markersize=6)
    left.annotate("y", POINT[0], xytext=(6, -2), textcoords="offset points")
    left.set(xlim=(-4.6, 4.6), ylim=(-4.4, 4.2), aspect="equal", xticks=[], yticks=[])
    left.spines[:].set_visible(False)
    drawing.title(left, "A", "one point and eight clusters, shaded to one deviation")
    places = np.arange(1, len(CENTERS) + 1)
    right.bar(places - 0.2, full, 0.38, color="0.6", label="full posterior p(c | y)")
    right.bar(
        places + 0.2, truncated, 0.38, color=drawing.FOUND, label="truncated, C'=3"
    )
    right.set(xlabel="cluster c", ylabel="share", xticks=places)
    right.legend(frameon=False)
    drawing.title(right, "B", "its posterior, full and truncated")
    verdicts = [_scaled(full, kept, truncated), *_suffices()]
    return Exhibit(TITLE, TEXT, {"figure-s1": figure}, verdicts=verdicts)


def _scaled(full: Array, kept: Array, truncated: Array) -> Verdict:
    """Return whether the truncated posterior is what Eqs. 4 and 5 say."""
    ratios = truncated[kept] / full[kept]
    others = {
        "not scaled": np.where(truncated > 0.0, full, 0.0),
        "two clusters": _posteriors(C_PRIME - 1)[2],
        "four clusters": _posteriors(C_PRIME + 1)[2],
        "the full posterior": full,
        "equal shares": np.where(truncated > 0.0, 1.0 / C_PRIME, 0.0),
        "another variance": _posteriors(C_PRIME, 0.8 * VARIANCE)[2],
    }
    return Verdict(
        "Fig. S1: the truncated posterior is the full one on the kept clusters, "
        "scaled, and zero elsewhere",
        "Eqs. 4, 5",
        f"ratios {', '.join(f'{r:.6f}' for r in ratios)}, sum {truncated.sum():.6f}",
        "",
        _is_scaled(full, truncated),
        "",
        {name: _is_scaled(full, of) for name, of in others.items()},
    )


def _is_scaled(full: Array, truncated: Array) -> bool:
    kept = np.argsort(full)[-C_PRIME:]
    return bool(
        np.ptp(truncated[kept] / full[kept]) < 1e-12
        and abs(truncated.sum() - 1.0) < 1e-12
        and np.count_nonzero(truncated) == C_PRIME
    )


def _suffices() -> list[Verdict]:
    """Return for how many rows a few clusters are enough, as Supplement A has it."""
    verdicts = []
    for c, wanted in SUFFICES.items():
        shares = [_share(c, 1.0, seed) for seed in range(N_SETS)]
        others = {f"C'={other}": (other, 1.0) for other in range(1, c)}
        others |= {
            f"clusters {f:g} times as wide": (c, f) for f in (1.5, 2.0, 3.0, 4.0)
        }
        verdicts.append(
            Verdict(
                f"Suppl. A, on the random sets: C'={c} is enough for {WORDS[c]} rows",
                f"{WORDS[c]} rows",
                f"{np.mean(shares):.1%} of rows keep {KEPT:.0%} of their posterior",
                f"± {np.std(shares, ddof=1):.1%} over {N_SETS} sets; judged by "
                f"{wanted:.0%} of rows",
                bool(np.mean(shares) >= wanted),
                "The arrangement that the paper says it of is not printed.",
                {
                    name: bool(
                        np.mean([_share(*of, seed) for seed in range(N_SETS)]) >= wanted
                    )
                    for name, of in others.items()
                },
            )
        )
    return verdicts


def _drawn() -> Array:
    rng = np.random.default_rng(0)
    centers = CENTERS[rng.integers(len(CENTERS), size=N_DRAWN)]
    rows: Array = centers + VARIANCE**0.5 * rng.standard_normal(centers.shape)
    return rows


@lru_cache
def _share(C_prime: int, factor: float, seed: int) -> float:
    """Return the share of rows whose closest clusters keep enough posterior."""
    sample = birch.draw(RANDOM, seed, deviation=factor)
    coefficients = Isotropic().coefficients(Theta(sample.centers, sample.variance))
    found = get_kernel("auto").posterior(sample.data, coefficients, birch.C)
    shares = np.sort(found.normalise()[0], axis=1)
    kept = shares[:, -C_prime:].sum(axis=1)
    return float(np.mean(kept >= KEPT))


def _posteriors(
    C_prime: int = C_PRIME, variance: float = VARIANCE
) -> tuple[Array, Array, Array]:
    """Return the full posterior, the kept clusters, and the truncated posterior."""
    coefficients = Isotropic().coefficients(Theta(CENTERS, variance))
    full, truncated = np.zeros(len(CENTERS)), np.zeros(len(CENTERS))
    for size, q in ((len(CENTERS), full), (C_prime, truncated)):
        found = reference.posterior(POINT, coefficients, size)
        q[found.K[0]] = found.normalise()[0][0]
    return full, np.flatnonzero(truncated), truncated
