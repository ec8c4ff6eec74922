"""Runs the cells of a notebook, and writes down what they show.

As `shown.py` does for pages, and without a kernel: cells follow one another in one
namespace, and the last expression of a cell is what it shows.
"""

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

NOTEBOOKS = sorted((Path(__file__).parent / "guide").glob("*.ipynb"))
# What is another number every time.
COUNTER = re.compile(r"sk-(container|estimator)-id-\d+")
# Of a page of HTML, so much is compared: below, scikit-learn's own diagram begins.
COMPARED = 1000


def rewritten(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with what its cells show when they are run now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, n_run = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            n_run += 1
            outputs = _run("".join(cell["source"]), names, n_run)
            cell = {**cell, "execution_count": n_run, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def lasting(notebook: dict[str, Any]) -> list[str]:
    """Return all that is shown, cell by cell, without what changes every time."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text", [])})
            for kind in sorted(data):
                text = COUNTER.sub("an id", "".join(data[kind]))
                found.append(text[:COMPARED] if kind == "text/html" else text)
    return found


def _run(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    outputs: list[dict[str, Any]] = []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "a cell", "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "a cell", "eval"), names)
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "metadata": {},
                "data": data,
            }
        )
    return outputs


def main() -> None:
    """Write down what all notebooks show."""
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text())
        now = rewritten(notebook)
        if lasting(now) != lasting(notebook):
            path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n")
            print(f"{path}: written anew")


if __name__ == "__main__":
    main()
