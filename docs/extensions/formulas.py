"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def setup(app: Any) -> dict[str, bool]:
    """Register it as what draws formulas."""
    app.add_html_math_renderer("mathml", (in_line, None), (on_its_own, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def in_line(translator: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(drawn(node, False))
    raise nodes.SkipNode


def on_its_own(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="formula">{drawn(node, True)}</div>\n')
    raise nodes.SkipNode


def drawn(node: Any, as_block: bool) -> str:
    """Return a formula as MathML; one that cannot be read is a warning."""
    try:
        return str(tex2mathml(node.astext().strip(), as_block=as_block))
    except MathError as error:
        LOG.warning("formula %r: %s", node.astext(), error, location=node)
        return ""
