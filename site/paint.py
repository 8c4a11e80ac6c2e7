"""Exercises without Python: a mask, which the reader paints on a grid.

In a lesson's exercises.toml, `paint` says what to do, `arguments` are those of the call that makes the mask, and
`words` name its rows and columns. `mistakes` says what the page answers to common wrong masks; each is a Python
expression that may call the notebook's answer. `texts` and `word`, where they are given, are two sentences and a word
whose vectors are compared under the mask.
"""

import html
import json
from functools import wraps

import nbformat
import torch
from order import asked_in
from torch import Tensor

from encoder_lib.course import checks
from encoder_lib.course.kit.checking.sandbox import restored_settings
from encoder_lib.course.kit.checking.verdict import Verdict
from encoder_lib.course.kit.widget.views import View, attention_map

TITLE = "Weights of equal scores: click one to mask it out"


class Painting:
    """An exercise whose mask is painted: its question, and what the page judges by."""

    def __init__(self, check: str, name: str, setup: str, code: str, table: dict) -> None:
        self.check, self.table, self.arguments = check, table, tuple(table["arguments"])
        self.variables: dict = {"__name__": "__main__"}
        with restored_settings():
            exec(f"{setup}\nimport torch\n{code}", self.variables)
        self.function = self.variables[name]
        self.answer: Tensor = self.function(*self.arguments)

    def judge(self, mask: Tensor) -> Verdict:
        """Return the check's verdict on a function that gives this mask, and for other arguments the right one."""

        @wraps(self.function)
        def attempt(*given: int) -> Tensor:
            return mask if given == self.arguments else self.function(*given)

        checks.CHECKS[self.check](self.function)  # after a right answer, the hints begin with the first again
        return checks.CHECKS[self.check](attempt)

    def solve(self) -> dict:
        """Return the right mask, the known mistakes, and what the check says about each cell that alone is wrong.

        The cells come in the order in which the check finds their problems.
        """
        right = self.judge(self.answer)
        if not right.correct:
            raise ValueError(f"{self.check}: expected its check to pass the notebook's answer, got {right.problem!r}")
        mistakes = []
        for expression, hint in self.table["mistakes"].items():
            mask = eval(expression, self.variables)
            mistakes.append([_code(mask), [self.judge(mask).problem, hint]])
        verdicts = {}
        for cell in range(self.answer.numel()):
            mask = self.answer.clone()
            mask.view(-1)[cell] ^= True
            verdicts[cell] = self.judge(mask)
        found = sorted(verdicts.items(), key=lambda item: (len(item[1].passed), item[1].problem))
        cells = [[cell, [verdict.problem, verdict.hint]] for cell, verdict in found]
        return {"head": right.lines()[0], "right": _code(self.answer), "mistakes": mistakes, "cells": cells}


def _code(mask: Tensor) -> str:
    return "".join(str(int(allowed)) for allowed in mask.flatten().tolist())


def paintings(notebook: nbformat.NotebookNode) -> dict[str, Painting]:
    """Return the exercises of a notebook whose mask can be painted, by the names of their checks."""
    return {found[0]: Painting(*found) for found in asked_in(notebook, "paint")}


def mask_to_paint(table: dict, address: str) -> str:
    """Return a grid for the page, whose answer is at this address; nothing is masked out at first."""
    words, count = table["words"], len(table["words"])
    names = [[f"{i}_{j}" for j in range(count)] for i in range(count)]
    weights = torch.full((count, count), 1 / count)
    heatmap = attention_map(weights, words, TITLE, missing="masked out", toggles=names)
    spec = View(heatmap, description="").to_spec()
    colours = {name: list(table) for name, table in spec["_colours"].items()}
    grid = {"panel": spec["_panels"][0], "colours": colours, "texts": [], "word": ""}
    grid |= {key: table[key] for key in ("texts", "word") if key in table}
    return (
        f'<section class="exercise paint" data-paint="{html.escape(address)}" '
        f'data-grid="{html.escape(json.dumps(grid, ensure_ascii=False))}" aria-label="A mask to paint">'
        f"<p>{html.escape(table['paint'])}</p></section>"
    )
