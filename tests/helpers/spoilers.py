"""Which questions a cell asks, and what in a text gives their answers away."""

import ast
import re

from encoder_lib.course.kit.questions import QUESTIONS

# Numbers of a finding that may be read before: a baseline that the finding repeats, or another quantity.
HARMLESS = {"misread": {"0.70", "0.81"}, "negation": {"0.70"}, "bare_minilm": {"0.99"}}
DECIMAL = r"(?<![\d.])\d+\.\d+"


def asked(cell):
    """The questions that a cell asks, by name, and whether each has something to show."""
    if cell.cell_type != "code" or "predict(" not in cell.source:
        return
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "predict":
            yield ast.literal_eval(node.args[0]), len(node.args) + len(node.keywords) > 1


def answers_in(text, name):
    """What in a normal text gives an answer away.

    That is a sentence or a decimal number of the finding, or the right answer where no other choice is beside it;
    single words, and sentences of less than five, say too little.
    """
    question = QUESTIONS[name]
    choices, finding = [normal(choice) for choice in question.choices], normal(question.finding)
    yield from (part for part in re.split(r"[.:;] |\.$", finding) if len(part.split()) >= 5 and part in text)
    known = {*re.findall(DECIMAL, normal(question.prompt) + " ".join(choices)), *HARMLESS.get(name, ())}
    yield from sorted(({*re.findall(DECIMAL, finding)} - known) & {*re.findall(DECIMAL, text)})
    answer = choices.pop(question.answer)
    alone = " " in answer and not any(other in text for other in choices)
    if alone and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text):
        yield answer


def normal(text):
    """A text in lower case, with single spaces."""
    return " ".join(text.split()).casefold()
