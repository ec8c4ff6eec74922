"""What is on the page, and how does it become one safe file?"""

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from cprime.advice import Finding, recommended_c_prime, wording
from cprime.advice.wording import brief, count, decimals, nats, number, plain, share
from cprime.report import findings, summary_card
from cprime.report.cluster_table import ClusterTable, profile_of, shares_of
from cprime.report.clusters import Fitted
from cprime.report.heat_map import HeatMap, heat_map
from cprime.report.inputs import Scaling
from cprime.report.outliers import OutlierLine
from cprime.report.pictures import Picture, Pictures
from cprime.report.summary import Summary
from cprime.version import __version__

HERE = Path(__file__).parent
# A command line longer than this is cut in the middle.
LONGEST_COMMAND = 2000
# Of very many restarts, the best are shown.
MOST_RESTARTS = 10


@dataclass(frozen=True)
class GapLine:
    """What one C' loses, as text; the bar is in percent."""

    c_prime: str
    gap: str
    kept: str
    bar: float
    recommended: bool


@dataclass(frozen=True)
class RestartLine:
    """How one restart ended, as text."""

    number: str
    free_energy: str
    below: str
    iterations: str
    settled: str
    is_best: bool


@dataclass(frozen=True)
class Page:
    """Everything the template shows. All text is escaped there, and nowhere else."""

    title: str
    lead: str
    verdicts: list[Finding]
    numbers: list[tuple[str, str]]
    choice: Picture | None
    gaps: list[GapLine]
    warnings: list[Finding]
    card: summary_card.SummaryCard | None
    converged: str
    convergence: Picture | None
    restarts: list[RestartLine]
    table: ClusterTable
    linked: frozenset[str]
    cluster_map: Picture
    map: Picture | None
    sizes: Picture
    profile: HeatMap
    distances: Picture | None
    outliers: list[OutlierLine]
    command: str
    call: str
    reproduction: list[tuple[str, str]]
    parameters: list[tuple[str, str]]
    version: str


def page_of(
    fitted: Fitted,
    summary: Summary | None,
    data: Any,
    names: Sequence[str],
    scaling: Scaling,
    about: Mapping[str, Any],
    table: ClusterTable,
    outliers: list[OutlierLine],
) -> Page:
    """Return what is on the page of a fit.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary, optional
    data : Data, optional
    names : sequence of str
    scaling : Scaling
    about : mapping
        What whoever made the fit wants to be known.
    table : ClusterTable
    outliers : list of OutlierLine
    """
    pictures, card = Pictures(fitted, summary, names, scaling), None
    if summary is not None:
        card = summary_card.card_of(summary, data, names, scaling)
    return Page(
        title=_title(fitted, data, about),
        lead=_lead(fitted, summary),
        verdicts=findings.verdicts_on(fitted, summary),
        numbers=_numbers(fitted, summary),
        choice=pictures.choice(),
        gaps=_gaps(fitted, summary),
        warnings=findings.warnings_about(fitted, summary, names, scaling),
        card=card,
        converged=_converged(fitted.estimator),
        convergence=pictures.convergence(),
        restarts=_restarts(fitted.estimator),
        table=table,
        linked=frozenset(str(line.number) for line in table.lines),
        cluster_map=pictures.cluster_map(),
        map=pictures.map(),
        sizes=pictures.sizes(),
        profile=heat_map(
            profile_of(fitted, summary, scaling), names, shares_of(fitted, summary)
        ),
        distances=pictures.distances(),
        outliers=outliers,
        command=plain(about.get("command", ""), LONGEST_COMMAND)
        if about.get("command")
        else "",
        call=summary_card.call_of(fitted, scaling),
        reproduction=summary_card.reproduction_of(fitted, data, about),
        parameters=summary_card.parameters_of(fitted),
        version=__version__,
    )


def render(page: Page) -> str:
    """Return the page as HTML: no scripts, nothing from elsewhere, text escaped."""
    style = (HERE / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html").render(
        page=page,
        # Ours, word for word, and the only style the page lets in.
        style=Markup(style),
        policy=(
            f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
    )


def _title(fitted: Fitted, data: Any, about: Mapping[str, Any]) -> str:
    clusters = count(fitted.shape[0], "cluster")
    origin = getattr(data, "origin", "") or about.get("origin")
    if origin:
        return f"{clusters} in {plain(origin, 60)}"
    rows = "" if data is None else f" in {count(data.n_rows, 'row')}"
    return f"{clusters}{rows}"


def _lead(fitted: Fitted, summary: Summary | None) -> str:
    C, D = fitted.shape
    kept = {1: "its closest cluster only", C: "all clusters"}.get(
        fitted.C_prime, f"its {fitted.C_prime} closest clusters"
    )
    lead = f"{type(fitted.estimator).__name__}, {count(D, 'column')}"
    if summary is not None:
        lead = f"{lead}, {count(summary.n_rows, 'row')}"
    return f"{lead}. In the fit, every row kept {kept} (C' = {fitted.C_prime})."


def _numbers(fitted: Fitted, summary: Summary | None) -> list[tuple[str, str]]:
    """Return the numbers of the fit, those it knows."""
    estimator = fitted.estimator
    found = [("Clusters C", count(fitted.shape[0])), ("Kept C'", count(fitted.C_prime))]
    for name, attribute in (
        ("Free energy F", "free_energy_"),
        ("Log-likelihood L", "log_likelihood_"),
    ):
        value = getattr(estimator, attribute, None)
        if value is not None:
            found.append((name, decimals(value, 4)))
    if hasattr(estimator, "gap_"):
        text = brief(nats(float(estimator.gap_)))
        error = float(getattr(estimator, "gap_standard_error_", 0.0))
        if error >= wording.SHOWN_ERROR:
            text += f" {wording.PLUS_MINUS} {error:.1g}"
        found.append((f"Gap L {wording.MINUS} F", text))
    if fitted.are_alike:
        found.append((wording.SIGMA, number(float(fitted.sigmas()[0]))))
    if hasattr(estimator, "n_iter_"):
        found.append(("Iterations", count(estimator.n_iter_)))
    if summary is not None:
        ambiguous = share(int(summary.n_ambiguous.sum()), summary.n_rows)
        found.append(("Ambiguous rows", brief(ambiguous)))
    return found


def _gaps(fitted: Fitted, summary: Summary | None) -> list[GapLine]:
    C = fitted.shape[0]
    if summary is None or C == 1:
        return []
    best = recommended_c_prime(summary.gaps) or C
    lines = []
    for c_prime, gap in (*summary.gaps.items(), (C, 0.0)):
        # All is kept only where nothing is lost, however little that is.
        kept = min(math.exp(-gap), 1.0 - 1e-9) if gap > 0.0 else 1.0
        name = f"{c_prime}, all" if c_prime == C else str(c_prime)
        bar = round(100.0 * kept, 1)
        texts = brief(nats(gap)), brief(share(kept))
        lines.append(GapLine(name, *texts, bar, c_prime == best))
    return lines


def _converged(estimator: Any) -> str:
    iterations = count(getattr(estimator, "n_iter_", 0), "iteration")
    if not getattr(estimator, "converged_", True):
        return f"Stopped after {iterations}, before the fit had converged."
    restarts = getattr(estimator, "restarts_", None)
    n = 1 if restarts is None else len(restarts["n_iter"])
    if n > 1:
        return f"The best of {n} restarts converged after {iterations}."
    return f"The fit converged after {iterations}."


def _restarts(estimator: Any) -> list[RestartLine]:
    """Return how restarts ended, the best first."""
    restarts = getattr(estimator, "restarts_", None)
    if restarts is None or len(restarts["free_energy"]) < 2:
        return []
    energies = [float(F) for F in restarts["free_energy"]]
    order = sorted(range(len(energies)), key=lambda i: -energies[i])
    return [
        RestartLine(
            number=count(i + 1),
            free_energy=decimals(energies[i], 4),
            below=brief(nats(energies[order[0]] - energies[i])),
            iterations=count(restarts["n_iter"][i]),
            settled="yes" if restarts["converged"][i] else "no",
            is_best=i == order[0],
        )
        for i in order[:MOST_RESTARTS]
    ]
