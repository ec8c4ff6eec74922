"""Exhibits on disk: pictures, tables, and one page that holds all of them."""

import base64
import csv
import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import cprime
from cprime.experiments.exhibits import Exhibit, Table, Verdict

HEADER = ("", "claim", "published", "measured", "spread", "remark")
TICK, CROSS = "✓", "✗"


def publish(exhibits: Mapping[str, Exhibit], folder: Path, seconds: float) -> Path:
    """Write everything into a folder; return the page.

    Every file appears complete or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for exhibit in exhibits.values():
        for name, figure in exhibit.figures.items():
            _write(folder / f"{name}.png", _picture(figure, "png"))
            _write(folder / f"{name}.svg", _picture(figure, "svg"))
        for table in exhibit.tables:
            _write_table(folder, table)
    _write_table(folder, verdicts_table(exhibits))
    page = folder / "index.html"
    _write(page, _page(exhibits, seconds).encode())
    return page


def verdicts_table(exhibits: Mapping[str, Exhibit]) -> Table:
    """Return every published number or claim with its verdict."""
    rows = [_cells(v) for exhibit in exhibits.values() for v in exhibit.verdicts]
    return Table("verdicts", "Every published number and claim", HEADER, rows)


def _cells(verdict: Verdict) -> tuple[str, ...]:
    return (
        TICK if verdict.holds else CROSS,
        verdict.claim,
        verdict.published,
        verdict.measured,
        verdict.spread,
        verdict.why,
    )


def _write_table(folder: Path, table: Table) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.header)
    writer.writerows(table.rows)
    _write(folder / f"{table.name}.csv", text.getvalue().encode())
    _write(folder / f"{table.name}.md", markdown(table).encode())


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
    part.write_bytes(content)
    os.replace(part, path)


# ---- the page ------------------------------------------------------------------


def _page(exhibits: Mapping[str, Exhibit], seconds: float) -> str:
    verdicts = [v for exhibit in exhibits.values() for v in exhibit.verdicts]
    return PAGE.substitute(
        version=escape(cprime.__version__),
        date=datetime.now(UTC).date().isoformat(),
        minutes=f"{seconds / 60.0:.1f}",
        held=sum(v.holds for v in verdicts),
        total=len(verdicts),
        links="".join(
            f'<a href="#{name}">{escape(exhibit.title.split(":")[0])}</a>'
            for name, exhibit in exhibits.items()
        ),
        exhibits="".join(_section(name, of) for name, of in exhibits.items()),
        verdicts=_html(verdicts_table(exhibits)),
    )


def _section(name: str, exhibit: Exhibit) -> str:
    pictures = "".join(
        f'<img alt="{escape(exhibit.title)}" src="data:image/png;base64,'
        f'{base64.b64encode(_picture(figure, "png")).decode()}">'
        for figure in exhibit.figures.values()
    )
    rows = [_cells(v) for v in exhibit.verdicts]
    judged = Table("", "Paper and measurement", HEADER, rows)
    tables = "".join(_html(table) for table in exhibit.tables)
    return (
        f'<section id="{name}"><h2>{escape(exhibit.title)}</h2>'
        f"<p>{escape(exhibit.text)}</p>{pictures}{tables}"
        f"{_html(judged) if rows else ''}</section>"
    )


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body = "".join(
        "<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f"<figure><figcaption>{escape(table.title)}</figcaption><div class=wide><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></figure>"
    )


def _cell(text: str) -> str:
    kind = {TICK: ' class="yes"', CROSS: ' class="no"'}.get(text, "")
    return f"<td{kind}>{escape(text)}</td>"


PAGE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper, measured</title>
<style>
  :root { color-scheme: light; }
  body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 0 auto;
         max-width: 1100px; padding: 2rem 1.5rem 5rem; }
  h1 { font-size: 1.7rem; margin: 0 0 .3rem; }
  h2 { font-size: 1.2rem; margin: 3rem 0 .5rem; }
  .lead { color: #555; margin-top: 0; }
  .score { font-size: 1.1rem; }
  nav a { margin-right: 1rem; white-space: nowrap; }
  a { color: #1864ab; }
  img { width: 100%; height: auto; margin: 1rem 0; }
  figure { margin: 1rem 0; }
  figcaption { font-weight: 600; margin-bottom: .3rem; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; font-size: 13px; width: 100%; }
  th { text-align: left; border-bottom: 1px solid #999; padding: .25rem .6rem; }
  td { border-bottom: 1px solid #e5e5e5; padding: .25rem .6rem; vertical-align: top;
       font-variant-numeric: tabular-nums; }
  .yes { color: #2b8a3e; font-weight: 700; }
  .no { color: #c92a2a; font-weight: 700; }
</style>
<h1>The paper, measured</h1>
<p class="lead">Lücke &amp; Forster, <em>k-means as a variational EM approximation of
Gaussian mixture models</em>, Pattern Recognition Letters 125 (2019), beside what
cprime $version measured on $date in $minutes minutes.</p>
<p class="score"><strong>$held of $total</strong> published numbers and claims hold.</p>
<nav>$links <a href="#verdicts">All verdicts</a></nav>
$exhibits
<section id="verdicts"><h2>All verdicts</h2>$verdicts</section>
</html>
""")
