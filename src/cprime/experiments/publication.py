"""Exhibits on disk: pictures, tables, and one page that holds all of them."""

import base64
import csv
import io
import os
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from cprime.experiments.ensemble import RULE
from cprime.experiments.exhibits import (
    MEANINGS,
    Exhibit,
    Kind,
    Table,
    Verdict,
    alternatives_table,
    power_table,
    score,
)
from cprime.experiments.page_template import PAGE
from cprime.version import __version__

HEADER = (
    "verdict",
    "claim",
    "published",
    "measured",
    "spread",
    "rules out",
    "remark",
)
# Longer lists of verdicts are folded away under their exhibit.
MOST_UNFOLDED = 16
QUICK = (
    "<strong>This is a quick run</strong>, of fewer and smaller fits than the paper's: "
    "judged is only what they are enough for, and counted is only what is judged."
)


def publish(
    exhibits: Mapping[str, Exhibit],
    folder: Path,
    *,
    quick: bool,
    date: str,
    seconds: float,
) -> Path:
    """Write everything into a folder; return the page.

    Every file appears complete or not at all, the page last.

    Parameters
    ----------
    exhibits : dict of Exhibit
    folder : Path
    quick : bool
        Whether fewer and smaller runs were made than the paper's.
    date : str
        When the last of the runs was made.
    seconds : float
        How long they took, one after another.
    """
    files: dict[str, bytes] = {}
    for exhibit in exhibits.values():
        for name, figure in exhibit.figures.items():
            files[f"{name}.png"] = _picture(figure, "png")
            files[f"{name}.svg"] = _picture(figure, "svg")
        for table in exhibit.tables:
            files |= _table_files(table)
    judged = verdicts(exhibits)
    for table in (power_table(judged), alternatives_table(judged)):
        files |= _table_files(table)
    files |= _table_files(_all_verdicts(exhibits, date))
    files["index.html"] = _page(exhibits, files, quick, date, seconds).encode()
    for name, content in files.items():
        _write(folder / name, content)
    return folder / "index.html"


def verdicts(exhibits: Mapping[str, Exhibit]) -> list[Verdict]:
    """Return the verdicts of all exhibits."""
    return [verdict for exhibit in exhibits.values() for verdict in exhibit.verdicts]


def _all_verdicts(exhibits: Mapping[str, Exhibit], date: str) -> Table:
    rows = [_cells(verdict) for verdict in verdicts(exhibits)]
    title = f"Every published number and claim, cprime {__version__}, {date}"
    return Table("verdicts", title, HEADER, rows)


def _cells(verdict: Verdict) -> tuple[str, ...]:
    return (
        verdict.kind.value,
        verdict.claim,
        verdict.published,
        verdict.measured,
        verdict.spread,
        verdict.power,
        verdict.why,
    )


def _table_files(table: Table) -> dict[str, bytes]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.header)
    writer.writerows(table.rows)
    return {
        f"{table.name}.csv": text.getvalue().encode(),
        f"{table.name}.md": markdown(table).encode(),
    }


def markdown(table: Table) -> str:
    """Return a table as Markdown, under its title."""
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    body = "\n".join(f"| {' | '.join(_escaped(line))} |" for line in lines)
    return f"**{table.title}**\n\n{body}\n"


def _escaped(line: tuple[str, ...]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in line]


def _picture(figure: Any, form: str) -> bytes:
    stream = io.BytesIO()
    # Without dates, the same results give the same files.
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    figure.savefig(stream, format=form, dpi=130, metadata=metadata)
    return stream.getvalue()


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(f"{path} could not be written: {error.strerror}.") from error


# ---- the page ------------------------------------------------------------------


def _page(
    exhibits: Mapping[str, Exhibit],
    files: Mapping[str, bytes],
    quick: bool,
    date: str,
    seconds: float,
) -> str:
    judged = verdicts(exhibits)
    return PAGE.substitute(
        version=escape(__version__),
        date=escape(date),
        rule=escape(RULE),
        size=QUICK if quick else "",
        minutes=f"{seconds / 60.0:.1f}",
        score=escape(score(judged)),
        meanings=escape(MEANINGS),
        others="".join(_failure(v) for v in judged if v.holds is False),
        alternatives=_html(alternatives_table(judged)),
        power=_html(power_table(judged)),
        links="".join(
            f'<a href="#{name}">{escape(exhibit.title.split(":")[0])}</a>'
            for name, exhibit in exhibits.items()
        ),
        exhibits="".join(_section(name, of, files) for name, of in exhibits.items()),
        verdicts=_html(_all_verdicts(exhibits, date)),
    )


def _section(name: str, exhibit: Exhibit, files: Mapping[str, bytes]) -> str:
    pictures = "".join(
        f'<img alt="{escape(exhibit.title)}" src="data:image/png;base64,'
        f'{base64.b64encode(files[f"{figure}.png"]).decode()}">'
        for figure in exhibit.figures
    )
    tables = "".join(_html(table) for table in exhibit.tables)
    return (
        f'<section id="{name}"><h2>{escape(exhibit.title)}</h2>'
        f"<p>{escape(exhibit.text)}</p>{pictures}{tables}"
        f"{_judged(exhibit.verdicts)}</section>"
    )


def _judged(verdicts: list[Verdict]) -> str:
    """Return verdicts as a table, folded away if there are many."""
    rows = [_cells(verdict) for verdict in verdicts]
    table = _html(Table("", "Paper and measurement", HEADER, rows))
    if len(rows) <= MOST_UNFOLDED:
        return table
    return f"<details><summary>{escape(score(verdicts))}</summary>{table}</details>"


def _failure(verdict: Verdict) -> str:
    """Return what does not hold, and why, for the head of the page."""
    return (
        f'<li><span class="no">{verdict.kind.value}</span> {escape(verdict.claim)}: '
        f"published {escape(verdict.published)}, measured {escape(verdict.measured)} "
        f"({escape(verdict.spread)}). {escape(verdict.why)}</li>"
    )


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body = "".join(_row(row) for row in table.rows)
    return (
        f"<figure><figcaption>{escape(table.title)}</figcaption><div class=wide><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></figure>"
    )


def _row(row: tuple[str, ...]) -> str:
    kind = ' class="published"' if "published" in row else ""
    return f"<tr{kind}>{''.join(_cell(cell) for cell in row)}</tr>"


def _cell(text: str) -> str:
    kind = CLASSES.get(text, "")
    # A number stays on the line of its spread.
    return f"<td{kind}>{escape(text).replace(' ± ', '&nbsp;±&nbsp;')}</td>"


CLASSES = {
    Kind.PINS_DOWN.value: ' class="pins"',
    Kind.CONSISTENT.value: ' class="yes"',
    Kind.CONTRADICTS.value: ' class="no"',
}
