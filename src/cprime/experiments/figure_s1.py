"""Fig. S1: the truncated posterior of one point, C=8 and C'=3."""

import numpy as np
from matplotlib.patches import Circle

from cprime.experiments import drawing
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.kernels import reference
from cprime.models import Isotropic
from cprime.theta import Theta
from cprime.typing import Array

TITLE = "Fig. S1: what truncation keeps of one point's posterior"
TEXT = (
    "Eight clusters and one point (left). The full posterior has a share for all of "
    "them; the truncated one is the same on the C'=3 closest, scaled up to sum to one, "
    "and zero on the others (right). The arrangement is our own."
)
C_PRIME = 3
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
    for c, (x, y) in enumerate(CENTERS):
        colour = drawing.FOUND if c in kept else "0.6"
        left.add_patch(
            Circle(
                (x, y), VARIANCE**0.5, facecolor=colour, alpha=0.18, edgecolor="none"
            )
        )
        left.plot(x, y, "x", color=colour)
        left.annotate(str(c + 1), (x, y), xytext=(5, 4), textcoords="offset points")
    left.plot(*POINT.T, "o", color="black", markersize=6)
    left.annotate("y", POINT[0], xytext=(6, -2), textcoords="offset points")
    left.set(xlim=(-4, 4), ylim=(-3.6, 3.4), aspect="equal", xticks=[], yticks=[])
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
    ratios = truncated[kept] / full[kept]
    verdict = Verdict(
        "Fig. S1: the truncated posterior is the full one on the kept clusters, "
        "scaled, and zero elsewhere",
        "Eq. 8",
        f"ratios {', '.join(f'{r:.6f}' for r in ratios)}, sum {truncated.sum():.6f}",
        "",
        bool(
            np.ptp(ratios) < 1e-12
            and abs(truncated.sum() - 1.0) < 1e-12
            and np.count_nonzero(truncated) == C_PRIME
        ),
    )
    return Exhibit(TITLE, TEXT, {"figure-s1": figure}, verdicts=[verdict])


def _posteriors() -> tuple[Array, Array, Array]:
    """Return the full posterior, the kept clusters, and the truncated posterior."""
    coefficients = Isotropic().coefficients(Theta(CENTERS, VARIANCE))
    full, truncated = np.zeros(len(CENTERS)), np.zeros(len(CENTERS))
    for C_prime, q in ((len(CENTERS), full), (C_PRIME, truncated)):
        found = reference.posterior(POINT, coefficients, C_prime)
        q[found.K[0]] = found.normalise()[0][0]
    return full, np.flatnonzero(truncated), truncated
