"""`cprime info`: what is in a model file?"""

from typing import Any

from rich.markup import escape

from cprime.advice import wording
from cprime.cli import models
from cprime.cli.console import Voice, literal
from cprime.cli.data_options import ModelFile
from cprime.cli.errors import printable
from cprime.cli.options import Json
from cprime.cli.summary import (
    describe_end,
    describe_model,
    fit_values,
    quality_lines,
    show,
    verdict,
)

# Of the columns so many are named, and of a name so much is shown.
MOST_NAMED, LONGEST_NAME = 12, 40

EPILOG = """[bold]Examples[/]

  cprime info flows.cprime
  cprime info flows.cprime --json | jq .gap"""


def info(model: ModelFile, json: Json = False) -> None:
    """Show what a model file holds: the model, how good it is, how it was made."""
    from cprime.estimators import describe
    from cprime.sources.display import short

    voice = Voice(json)
    with voice.show_warnings():
        loaded, described = models.load(model), describe(model)
    about, values = loaded.about, fit_values(loaded.estimator)
    complete = about.get("complete") is not False
    found = verdict(values)
    voice.result(
        {
            **values,
            "verdict": None if found is None else found.headline,
            "complete": complete,
            "columns": loaded.names,
            "standardized": loaded.scaler is not None,
            "parameters": described["parameters"],
            "about": about,
            "version": described["cprime"],
            "format": described["format"],
            "bytes": described["bytes"],
        }
    )
    lines = [
        ("model", describe_model(values)),
        ("columns", _columns(loaded)),
        ("end", describe_end(values, complete) + _seconds(about)),
        *quality_lines(values),
        *_origin(about),
    ]
    version = short(str(described["cprime"]), LONGEST_NAME)
    size = wording.size(described["bytes"])
    show(voice, f"{model}: a model by cprime {version}, {size}", lines)


def _columns(loaded: models.Loaded) -> str:
    from cprime.sources.display import short

    count = wording.count(loaded.n_features, "column")
    scaled = ", standardized" if loaded.scaler is not None else ""
    if loaded.names is None:
        return f"{count} without names{scaled}"
    names = (short(name, LONGEST_NAME) for name in loaded.names[:MOST_NAMED])
    named = ", ".join(printable(name) for name in names)
    more = ", ..." if len(loaded.names) > MOST_NAMED else ""
    return escape(f"{count}{scaled}: {named}{more}")


def _seconds(about: dict[str, Any]) -> str:
    seconds = about.get("seconds")
    if not isinstance(seconds, (int, float)):
        return ""
    return f", {wording.seconds(seconds)}"


def _origin(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return where the model comes from, as far as the file tells."""
    from cprime.sources.display import short

    lines = []
    if isinstance(about.get("origin"), str):
        n_rows = about.get("rows")
        rows = f", {wording.count(n_rows, 'row')}" if isinstance(n_rows, int) else ""
        lines.append(("fitted to", literal(short(about["origin"])) + rows))
    for name, key in (
        ("data hash", "fingerprint"),
        ("made by", "command"),
        ("on", "date"),
    ):
        if isinstance(about.get(key), str):
            lines.append((name, literal(short(about[key]))))
    return lines
