"""Fig. 1 G and H: k-means-C' on the protein data of the KDD Cup 2004."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.datasets.protein import N_ROWS
from cprime.experiments import drawing, protein, published
from cprime.experiments.exhibits import Exhibit, Table, Verdict
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.typing import Array

TITLE = "Fig. 1 G, H: k-means-C' on the KDD Cup 2004 protein data"
TEXT = (
    "{rows} rows of 74 features, C={C}, {runs} runs from greedy k-means++ seeds. L "
    "solid and F dashed with their standard errors (G), quantization error (H). L and "
    "phi are computed in the first ten iterations and every twentieth of the others. "
    "F in the plot is of the posteriors before an iteration's M-step; F in the table, "
    "and the gap L - F, are of the posteriors after it."
)
PHI_UNIT = 1e11
# Shares of the gap of k-means that are significantly less, and hardly anything.
HALF, HARDLY = 0.5, 0.01


@dataclass(frozen=True)
class Size:
    """How much of it is run."""

    C: int
    c_primes: tuple[int, ...]
    n_runs: int
    n_iterations: int
    n_rows: int


FULL = Size(
    published.KDD_C,
    published.KDD_C_PRIMES,
    published.KDD_RUNS,
    published.KDD_ITERATIONS,
    0,
)
QUICK = Size(20, (1, 2, 10, 20), 2, 20, 3000)


def settings(quick: bool) -> list[Setting]:
    """Return runs for every C'."""
    size = QUICK if quick else FULL
    greedy = [_setting(size, c, i) for i in range(size.n_runs) for c in size.c_primes]
    return greedy + [_setting(size, 1, i, "plain") for i in range(size.n_runs)]


def show(records: Records, quick: bool) -> Exhibit:
    """Draw both panels, and compare gaps and ranges with the published ones."""
    size = QUICK if quick else FULL
    curves = {c: Curves.of(records, size, c) for c in size.c_primes}
    figure, panels = drawing.new_figure(11, 4.5, columns=2)
    draw_bounds(panels[0, 0], "G", curves, size.C)
    for c, of in curves.items():
        _band(panels[0, 1], of.looked_at, of.phi / PHI_UNIT, c, size.C, dashed=False)
    drawing.title(panels[0, 1], "H", "quantization error, mean and standard error")
    drawing.iterations(panels[0, 1], size.n_iterations)
    panels[0, 1].set_ylabel("φ / $10^{11}$")
    panels[0, 1].legend(fontsize=8, frameon=False)
    if not quick:
        panels[0, 0].set_ylim(published.KDD_L)
        low, high = np.array(published.KDD_PHI) / PHI_UNIT
        panels[0, 1].set_ylim(low - 0.1 * (high - low), high)
        drawing.line_across(panels[0, 1], low, "here the paper's axis begins")
    rows = size.n_rows or N_ROWS
    text = TEXT.format(rows=f"{rows:,}", C=size.C, runs=size.n_runs)
    return Exhibit(
        TITLE,
        text,
        {"figure-1-protein": figure},
        [_table(curves, size)],
        _verdicts(curves, _from_plain_seeds(records, size), quick),
    )


@dataclass(frozen=True)
class Curves:
    """All runs with one C', shape (runs, iterations), and their gaps at the end."""

    looked_at: Array
    F: Array
    L: Array
    phi: Array
    gaps: Array

    @classmethod
    def of(cls, records: Records, size: Size, C_prime: int) -> "Curves":
        """Return the curves; a run that has converged stays where it is."""
        results = [records[_setting(size, C_prime, i)] for i in range(size.n_runs)]
        longest = max((of["iterations"] for of in results), key=lambda of: of[-1])
        looked_at = np.array(longest)

        def read(name: str, at: str) -> Array:
            rows = []
            for of in results:
                where = np.arange(len(of["F"])) if at == "all" else of["iterations"]
                last = np.searchsorted(where, looked_at, side="right") - 1
                rows.append(np.array(of[name])[last])
            return np.array(rows)

        return cls(
            looked_at,
            read("F", "all"),
            read("L", "some"),
            read("phi", "some"),
            np.array([of["gap"] for of in results]),
        )


def draw_bounds(panel: Axes, letter: str, curves: dict[int, Curves], C: int) -> None:
    """Draw L and F for every C'."""
    for c, of in curves.items():
        _band(panel, of.looked_at, of.L, c, C, dashed=False)
        _band(panel, of.looked_at, of.F, c, C, dashed=True)
    last = max(int(of.looked_at[-1]) for of in curves.values())
    drawing.title(panel, letter, "L solid, F dashed, with standard errors")
    drawing.iterations(panel, last)
    panel.set_ylabel("nats per row")
    panel.legend(fontsize=8, frameon=False, loc="lower right")


def _band(panel: Axes, x: Array, runs: Array, c: int, C: int, *, dashed: bool) -> None:
    center, error = runs.mean(axis=0), _standard_error(runs)
    # One name for both lines of a C'.
    name = "" if dashed else drawing.label(c, C)
    drawing.curve(panel, x, center, c, name=name, dashed=dashed)
    panel.fill_between(
        x,
        center - error,
        center + error,
        color=drawing.colour(c),
        alpha=0.12,
        linewidth=0,
    )


def _standard_error(runs: Array) -> Array:
    error: Array = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return error


def _table(curves: dict[int, Curves], size: Size) -> Table:
    header = ("C'", "L", "F", "gap", "phi", "runs")
    rows = [
        (
            str(c),
            _mean(of.L[:, -1], ".3f"),
            _mean(of.L[:, -1] - of.gaps, ".3f"),
            _mean(of.gaps, ".4f"),
            _mean(of.phi[:, -1], ".4g"),
            str(size.n_runs),
        )
        for c, of in curves.items()
    ]
    title = f"After {size.n_iterations} iterations: mean ± standard error over runs"
    return Table("figure-1-protein", title, header, rows)


def _mean(runs: Array, form: str) -> str:
    error = float(_standard_error(runs))
    # Less than rounding is nothing.
    return f"{runs.mean():{form}} ± {error if error > 1e-12 else 0.0:.2g}"


def _from_plain_seeds(records: Records, size: Size) -> list[dict[str, Any]]:
    """Return runs of k-means with the other form of k-means++."""
    settings = [_setting(size, 1, i, "plain") for i in range(size.n_runs)]
    return [records[setting] for setting in settings]


def _verdicts(
    curves: dict[int, Curves], from_plain: list[dict[str, Any]], quick: bool
) -> list[Verdict]:
    gaps = {c: float(of.gaps.mean()) for c, of in curves.items()}
    shown = ", ".join(f"C'={c}: {gap:.4f}" for c, gap in gaps.items())
    spread = "standard errors " + ", ".join(
        f"{float(_standard_error(of.gaps)):.4f}" for of in curves.values()
    )
    plain = float(np.mean([of["gap"] for of in from_plain]))
    verdicts = [
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
        return verdicts + [
            Verdict(f"Fig. {panel} ends on the paper's axis", "", "", "", None, why)
            for panel in ("1G: L", "1H: phi")
        ]
    phi_from_plain = np.array([of["phi"][-1] for of in from_plain])
    greedy = list(curves.values())
    verdicts += [
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
            f"{_mean(phi_from_plain, '.4g')}.",
        ),
    ]
    return verdicts


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


def _setting(size: Size, C_prime: int, seed: int, seeding: str = "greedy") -> Setting:
    return protein.setting(
        C_prime,
        seed,
        seeding=seeding,
        C=size.C,
        n_iterations=size.n_iterations,
        n_rows=size.n_rows,
    )
