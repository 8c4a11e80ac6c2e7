"""Exercises without Python: a number or a shape, which the reader types.

In a lesson's exercises.toml, `ask` is the question, and `call` is the Python expression that gives the answer, with the
notebook's own answer to the exercise. `mistakes` names a list of known mistakes in the lesson's checks. `first_hint` is
the first of the exercise's hints that fits the question, counted from 0.
"""

import html
from importlib import import_module
from typing import Any

import nbformat
import torch
from order import asked_in

from encoder_lib.course import checks
from encoder_lib.course.kit.checking.sandbox import restored_settings
from encoder_lib.course.kit.checking.verdict import HINTS


def typed_answers(notebook: nbformat.NotebookNode) -> dict[str, tuple[str, dict]]:
    """Return the questions of a notebook by the names of their checks, each with what its page judges by."""
    return {
        check: (table["ask"], _computed(name, check, setup, code, table))
        for check, name, setup, code, table in asked_in(notebook, "ask")
    }


def _computed(name: str, check: str, setup: str, code: str, table: dict) -> dict:
    variables: dict = {"__name__": "__main__"}
    with restored_settings():
        exec(f"{setup}\nimport torch\n{code}", variables)
        verdict = checks.CHECKS[check](variables[name])
        if not verdict.correct:
            raise ValueError(f"{check}: expected its check to pass the notebook's answer, got {verdict.problem!r}")
        answer, texts, known = _numbers(eval(table["call"], variables)), HINTS[verdict.exercise], []
        if "mistakes" in table:
            known = getattr(import_module(checks.CHECKS[check].__module__), table["mistakes"])
        mistakes = [(_numbers(eval(table["call"], variables | {name: mistake})), label) for label, mistake in known]
    return {
        "head": verdict.lines()[0],
        "answer": answer,
        "mistakes": [(numbers, texts["mistakes"][label]) for numbers, label in mistakes if numbers != answer],
        "hints": texts["hints"][table.get("first_hint", 0) :],
    }


def _numbers(value: Any) -> list[float]:
    """The numbers of a tensor, a shape or a number."""
    return torch.as_tensor(value).flatten().tolist()


def number_to_type(question: str, address: str) -> str:
    """Return a question for the page, whose answer is at this address."""
    return (
        f'<section class="exercise typed" data-typed="{html.escape(address)}" aria-label="A number to find">'
        f"<p>{html.escape(question)}</p></section>"
    )
