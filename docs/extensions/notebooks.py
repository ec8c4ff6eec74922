"""Notebooks as pages: `{notebook} name.ipynb` shows its cells and what they showed."""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("notebook", Notebook)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Notebook(SphinxDirective):
    """Shows a notebook that lies beside the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return its cells: text as the page's own, code, and what the code showed."""
        page = Path(self.env.doc2path(self.env.docname))
        path = page.parent / self.arguments[0]
        self.env.note_dependency(str(path))
        found: list[nodes.Node] = []
        for cell in json.loads(path.read_text())["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                holder = nodes.container()
                lines = StringList(source.splitlines(), str(path))
                self.state.nested_parse(lines, 0, holder)
                found += holder.children
            else:
                found.append(nodes.literal_block(source, source, language="python"))
                found += [_shown(output) for output in cell["outputs"]]
        return found


def _shown(output: dict[str, Any]) -> nodes.Node:
    if output["output_type"] == "stream":
        text = "".join(output["text"])
        return nodes.literal_block(text, text, language="none")
    data = output["data"]
    if "text/html" in data:
        return nodes.raw("", "".join(data["text/html"]), format="html")
    text = "".join(data["text/plain"])
    return nodes.literal_block(text, text, language="none")
