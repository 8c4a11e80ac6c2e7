"""Sphinx's settings for the web edition. `build.py` writes the pages that Sphinx reads."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from address import HOME, KNOWN, REPOSITORY  # noqa: E402
from reference import as_rst  # noqa: E402
from unbroken import unbroken  # noqa: E402

project = "The Transformer encoder"
TO_DO = re.compile(r"\bdata-(?:answer|order|paint|typed)=")  # a question or an exercise on the page of a notebook
UNUSED = ("doctools.js", "sphinx_highlight.js")
extensions = ["myst_nb", "sphinx.ext.autodoc", "formulas", "words"]
exclude_patterns = ["_static"]
templates_path = ["templates"]

# Pages show the stored outputs; no cell runs.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

add_module_names = False
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
default_role = "code"

html_math_renderer = "katex"

html_theme = "sphinx_book_theme"
html_context = {"default_mode": "light"} | ({"home": HOME, "repository": REPOSITORY} if KNOWN else {})
html_favicon = str(HERE / "icon.svg")
html_title = project
html_baseurl = HOME if KNOWN else ""

html_sidebars = {"index": []}  # the page itself lists the lessons
html_additional_pages = {"search": "search.html"}

html_css_files = ["course.css"]
html_js_files = [("player/player.js", {"type": "module"})]
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    **({"repository_url": REPOSITORY, "use_repository_button": True} if KNOWN else {}),
    "use_download_button": False,
    "use_fullscreen_button": False,
    "back_to_top_button": False,  # on a phone it would cover tables
    "navbar_persistent": [],
    "footer_content_items": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _docstring(app, what, name, thing, options, lines):
    """Docstrings are written for `help()`; this turns them into reStructuredText."""
    lines[:] = as_rst(lines)


def _headings(app, pagename, templatename, context, doctree):
    """Give headings the ids of their sections, since the search links to headings; code counts less; see `unbroken`."""
    named = r'<section id="([^"]+)">\s*(?:<span id="[^"]+"></span>)*<(h\d)>'
    body = re.sub(named, r'<section><\2 id="\1">', context.get("body", ""))
    context["body"] = unbroken(body).replace('<div class="cell ', '<div data-pagefind-weight="0.2" class="cell ')


def _scripts(app, pagename, templatename, context, doctree):
    """Leave out the scripts of Sphinx's own search, which would be two requests more."""
    context["script_files"] = [script for script in context["script_files"] if Path(script.filename).name not in UNUSED]


def _preloads(app, pagename, templatename, context, doctree):
    """Load the recording of the first explorer together with the scripts, which would ask for it only once they run."""
    found = re.search('data-recording="([^"]+)"', context.get("body", ""))
    context["recording"] = found and found[1]


def _totals(app):
    """Let every page know how much there is to do in each lesson, for the menu."""
    sources = sorted(Path(app.srcdir, "notebooks").glob("*.ipynb"))
    totals = {path.stem: len(TO_DO.findall(path.read_text(encoding="utf-8"))) for path in sources}
    app.config.html_context["totals"] = totals


def _no_search(app):
    """Leave the search index to Pagefind, which runs when the pages are finished."""
    app.builder.search = False


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", _headings)
    app.connect("html-page-context", _preloads)
    app.connect("html-page-context", _scripts)
    app.connect("builder-inited", _no_search)
    app.connect("builder-inited", _totals)
    app.connect("autodoc-process-docstring", _docstring)
