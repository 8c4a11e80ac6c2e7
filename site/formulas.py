"""Formulas are set when the site is built, so that pages need KaTeX's styles and fonts, but no script."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from unbroken import END

SCRIPT = Path(__file__).with_name("formulas.mjs")
ROOT = re.compile(r"<msqrt><(m[in])>(\w+)</m[in]></msqrt>")  # of a letter or a number
SEARCHED = r'<msqrt data-word="√\2" data-pagefind-index-attrs="data-word"><\1 data-pagefind-ignore>\2</\1></msqrt>'
SHORT = 24  # letters of a formula that stays on one line, with what ends its sentence


@cache
def _node(_: int) -> subprocess.Popen:
    """Return the process that sets all formulas of the process with this number. It ends when that one ends and closes
    its input."""
    command = ["node", str(SCRIPT), os.environ["NODE_MODULES"]]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


@cache
def set_formula(latex: str, *, display: bool) -> str:
    """Return a formula as HTML, with MathML for screen readers. Raises ValueError if KaTeX can't set it.

    The root of a letter or a number is also a word for the search, which knows no signs that are drawn.
    """
    process = _node(os.getpid())  # since Sphinx writes pages in several processes
    process.stdin.write(json.dumps({"latex": latex, "displayMode": display}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    if "problem" in answer:
        raise ValueError(f"expected a formula that KaTeX can set, got {latex!r}: {answer['problem']}")
    return ROOT.sub(SEARCHED, answer["html"])


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    formula = set_formula(node.astext(), display=False)
    short = len(node.astext()) <= SHORT
    self.body.append(f'<span class="unbroken">{formula}{END}' if short else formula)
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula" tabindex="0">{set_formula(node.astext(), display=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Called by Sphinx."""
    app.add_html_math_renderer("katex", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.add_css_file("katex/katex.min.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
