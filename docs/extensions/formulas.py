"""Formulas as pictures in the page, drawn while it is made: no script, no network.

Matplotlib reads TeX and has the fonts. The paths take the colour of the text around
them, in light and dark.
"""

from html import escape
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path
from sphinx.util import logging

LOG = logging.getLogger(__name__)
FONT = FontProperties(math_fontfamily="cm")
# Numbers in a path, of which so many are the size of the text.
SIZE = 1000
LETTER = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


def setup(app: Any) -> dict[str, bool]:
    """Register it as what draws formulas."""
    app.add_html_math_renderer("drawn", (in_line, None), (on_its_own, None))
    app.config.html_math_renderer = "drawn"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def in_line(translator: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(drawn(node, node.astext()))
    raise nodes.SkipNode


def on_its_own(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with fractions in full size."""
    tex = node.astext().replace(r"\frac", r"\dfrac")
    translator.body.append(f'<div class="formula">{drawn(node, tex)}</div>\n')
    raise nodes.SkipNode


def drawn(node: Any, tex: str) -> str:
    """Return a formula as SVG; one that cannot be read is a warning."""
    text = f"${' '.join(tex.split())}$"
    try:
        path = TextPath((0.0, 0.0), text, size=SIZE, prop=FONT)
        width, height, depth = (
            SIZE * number / FONT.get_size()
            for number in text_to_path.get_text_width_height_descent(text, FONT, True)
        )
    except ValueError as error:
        LOG.warning("formula %r: %s", tex, error, location=node)
        return ""
    style = (
        f"width:{width / SIZE:.3f}em;height:{height / SIZE:.3f}em;"
        f"vertical-align:{-depth / SIZE:.3f}em"
    )
    box = f"0 {depth - height:.0f} {width:.0f} {height:.0f}"
    return (
        f'<svg class="formula-drawn" role="img" aria-label="{escape(node.astext())}" '
        f'style="{style}" viewBox="{box}"><path d="{_outline(path)}"/></svg>'
    )


def _outline(path: Path) -> str:
    """Return a path in the words of SVG, whose second axis points down."""
    words = []
    for points, code in path.iter_segments(simplify=False):
        if code == Path.CLOSEPOLY:
            words.append("Z")
        elif code != Path.STOP:
            pairs = points.reshape(-1, 2) * (1.0, -1.0)
            words.append(LETTER[code] + " ".join(f"{x:.0f} {y:.0f}" for x, y in pairs))
    return "".join(words)
