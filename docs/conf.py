"""How the documentation site is made: `make docs`, into build/docs.

Nothing is fetched while it is built or read: formulas are drawn, fonts and icons come
with the theme, and there are no inventories of other projects.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib

import cprime

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
matplotlib.use("Agg")

project = "cprime"
author = "the cprime developers"
release = version = cprime.__version__
# No date of today: the same sources make the same pages.
project_copyright = ""

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "formulas",
    "members",
    "example_report",
    "notebooks",
]
templates_path = ["templates"]
# Parts of pages, and what is run to make them.
exclude_patterns = ["reproduction/[acjptv]*.md", "choosing", "templates", "extensions"]
nitpicky = True
# In docstrings `name` is a link where there is such a thing, and code elsewhere.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r"(?s).*")]
smartquotes = False
highlight_language = "none"
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
# What stands alone between marks is a formula; a price is not.
myst_dmath_allow_digits = False

autodoc_typehints = "none"
autodoc_preserve_defaults = True
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py",
    "doc_module": ("cprime",),
    "backreferences_dir": "gallery/backreferences",
    "abort_on_example_error": True,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "plot_gallery": True,
    "copyfile_regex": "",
}

html_theme = "pydata_sphinx_theme"
html_title = "cprime"
html_static_path = ["static"]
html_css_files = ["cprime.css"]
html_favicon = "static/favicon.svg"
# Pages that are alone in their section.
html_sidebars: dict[str, list[str]] = {"reproduction/index": []}
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
html_theme_options: dict[str, Any] = {
    "logo": {
        "text": "cprime",
        "image_light": "static/favicon.svg",
        "image_dark": "static/favicon.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["footer"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
