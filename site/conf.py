"""Sphinx's settings for the web edition. `build.py` writes the pages that it reads."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from address import HOME, REPOSITORY  # noqa: E402
from reference import as_rst  # noqa: E402

project = "The Transformer encoder"
author = "its contributors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "formulas", "sphinxext.opengraph"]
exclude_patterns = ["_static"]
templates_path = ["templates"]

# What is stored is what is shown: nothing runs.
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

add_module_names = False
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
default_role = "code"

html_math_renderer = "katex"

html_theme = "sphinx_book_theme"
html_context = {"default_mode": "auto", "home": HOME}
html_favicon = str(HERE / "icon.svg")
html_title = project
html_baseurl = HOME

html_css_files = ["explorer.css", "icons.css", "site.css"]
html_js_files = [("player/player.js", {"type": "module"})]
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    "repository_url": REPOSITORY,
    "repository_branch": "main",
    "use_repository_button": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

ogp_site_url = HOME
ogp_site_name = project
ogp_image = HOME + "_static/share.png"
ogp_image_alt = "The positional explorer: sliders over a heatmap of the sinusoidal table"
ogp_enable_meta_description = True
ogp_social_cards = {"enable": False}


def _docstring(app, what, name, thing, options, lines):
    """Docstrings are written for `help()`; here they become what Sphinx reads."""
    lines[:] = as_rst(lines)


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _docstring)
