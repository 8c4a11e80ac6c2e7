"""Predictions without a kernel: the question for its page, and the answer in a separate file."""

import base64
import html
import json
import re
from typing import Any

import pandas as pd
from bs4 import BeautifulSoup, Tag

from encoder_lib.course.kit import plots
from encoder_lib.course.kit.plots.picture import SVG
from encoder_lib.course.kit.questions import QUESTIONS
from encoder_lib.course.kit.widget.prediction import Prediction

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<link rel="icon" href="../icon.svg">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }}
body {{ max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }}
h1 {{ font: 1.5rem/1.3 "Iowan Old Style", Charter, Georgia, serif; }}
:is(th, td) {{ padding: 0.2rem 0.7rem; text-align: left; }}
img {{ max-width: 100%; border-radius: 6px; }}
</style>
<p><a href="../../notebooks/{lesson}.html">Back to the lesson</a></p>
<h1>{title}</h1>
{stored}
<script type="application/json" id="outcome">{outcome}</script>
</html>
"""


def svg_in(source: str) -> str:
    """Return the SVG in the address of a stored picture, without the paper that it brings for pages of any colour."""
    return re.sub(r"background:var\(--paper\);", "", base64.b64decode(source.removeprefix(SVG)).decode())


def ask(name: str, stored: str, lesson: str, phone: str = "") -> tuple[dict, str]:
    """Return what the page shows of a question before the answer, and the page of its answer, from the stored output.

    phone: the address of the answer's picture as a phone shows it.

    For the front end, the page of the answer contains what is revealed.
    """
    if name not in QUESTIONS:
        raise KeyError(f"expected a question of a lesson's questions.toml, got {name!r}")
    question = QUESTIONS[name]
    details = BeautifulSoup(stored, "html.parser").details
    if details is None:
        raise ValueError(f"{name}: expected a folded answer in the stored output: run `make notebooks`")
    result = _result(details)
    show = None if result is None else lambda: result
    shown = Prediction(question, show)
    shown.revealed = True
    outcome = shown._outcome
    if phone:
        outcome["result"]["phone"] = phone
    asked = {key: getattr(shown, key) for key in ("_prompt", "_choices")}
    details["open"] = ""
    text = json.dumps(outcome, ensure_ascii=False).replace("</", "<\\/")
    return asked, PAGE.format(title=html.escape(question.prompt), stored=details, outcome=text, lesson=lesson)


def _result(details: Tag) -> Any:
    """Return what a stored answer shows in addition to its words: a picture, a table, a text or None."""
    if image := details.img:
        return plots.Picture(svg_in(image["src"]), image["alt"])
    if table := details.table:
        head, *rows = ([cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr"))
        index = pd.Index([row[0] for row in rows], name=head[0] or None)
        return pd.DataFrame([row[1:] for row in rows], columns=head[1:], index=index, dtype=str)
    return details.pre.get_text() if details.pre else None
