"""The boxes of a training card: a text whose gaps are filled, and how many of the held-out gaps are."""

import math
import re
from collections.abc import Sequence

from torch import Tensor

from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.boxes import Box, Boxes, framed
from encoder_lib.course.training.letters import GAP, LETTERS, to_ids

ROW, LINE = 30, 1.9  # letters in a row, and how much lower the next row is
TILE, SPACE = 1.4, "␣"  # how high the tile of a letter is, and the sign for a space
CURVE = 8.0  # the height of the curve with its axes
TALL, LEFT = 4.6, 2.2  # how high the bars can be, and the room for the numbers beside them
LINE_WIDTH = 0.04

Rival = tuple[str, float]  # the name and the accuracy, from 0 to 1, of what the model is compared with


def card_boxes(
    text: str, probabilities: Tensor, accuracies: Sequence[float], steps: Sequence[int], rival: Rival | None = None
) -> Boxes:
    """The text after each of N measurements, and a bar for the accuracy at each of them.

    Shapes: probabilities (N, T, 27), of each letter at each place.
    """
    chances, answers = probabilities.max(dim=-1)  # (N, T) each
    rows = 1 + _places(text)[-1][0]
    frames = [
        [*_letters(text, answers[n].tolist(), chances[n].tolist()), *_curve(n, accuracies, steps, rival, LINE * rows)]
        for n in range(len(steps))
    ]
    return framed(frames, "The text, with its gaps filled", (ROW, LINE * rows + CURVE))


def _letters(text: str, answers: list[int], chances: list[float]) -> list[Box]:
    """Each letter on a tile; that of a gap in colour, over a line as long as the model is sure of it."""
    boxes: list[Box] = []
    ids = to_ids(text)
    for i, (letter, given, (row, column)) in enumerate(zip(text, ids.tolist(), _places(text), strict=True)):
        if letter == " " and not column:
            continue  # between two rows there is a space anyway
        place = (column + 0.04, LINE * row, 0.92, TILE, 1)
        if given != GAP:
            boxes.append(("note" if letter == " " else "grey", SPACE if letter == " " else letter, place))
            continue
        filled = LETTERS[answers[i]].replace(" ", SPACE).upper()
        below = place[0], LINE * row + TILE + 0.1
        boxes += [("gap", filled, place), ("rule", "", (*below, 0.92 * chances[i], 0.12, 1))]
        boxes.append(("rule", "", (*below, 0.92, 0.12, 0.15)))  # as long as it can be
    return boxes


def _places(text: str) -> list[tuple[int, int]]:
    """Row and column of each letter; a word that does not fit in a row begins the next one."""
    places, row, column = [], 0, 0
    for part in re.split("( )", text):
        if part == " " and not column:  # a row begins with its word
            places.append((row, 0))
            continue
        if column + len(part) > ROW:
            row, column = row + (column > 0), 0
        for i in range(len(part)):
            places.append((row + (column + i) // ROW, (column + i) % ROW))
        row, column = row + (column + len(part)) // ROW, (column + len(part)) % ROW
    return places


def _curve(now: int, accuracies: Sequence[float], steps: Sequence[int], rival: Rival | None, top: float) -> list[Box]:
    """A bar for each measurement, those still to come paler, over axes with their units."""
    base, wide = top + CURVE - 1.9, (ROW - LEFT) / len(steps)
    fifths = math.ceil(5 * max(*accuracies, rival[1] if rival else 0, 0.01))  # the vertical axis ends at a fifth

    def height(accuracy: float) -> float:
        return TALL * accuracy / (fifths / 5)

    boxes: list[Box] = [
        ("heading", "held-out gaps filled correctly", (0, top + 0.1, ROW, 0.7, 1)),
        ("note", "training step", (LEFT, base + 1, ROW - LEFT, 0.7, 1)),
    ]
    for n in range(fifths + 1):
        y = base - height(n / 5)
        boxes.append(("note", f"{20 * n} %", (0, y - 0.35, LEFT - 0.3, 0.7, 1)))
        boxes.append(("rule", "", (LEFT, y, ROW - LEFT, LINE_WIDTH, 0.15 if n else 1)))
    if rival:
        name, accuracy = rival
        y = base - height(accuracy)
        boxes.append(("rule", "", (LEFT, y, ROW - LEFT, LINE_WIDTH, 1)))
        boxes.append(("heading", f"{name}: {percent(accuracy)}", (LEFT + 0.2, y - 0.8, ROW - LEFT - 0.2, 0.7, 1)))
    middle = [LEFT + wide * (n + 0.5) for n in range(len(steps))]
    above = base - height(accuracies[now]) - 0.75
    boxes.append(("note", percent(accuracies[now]), (min(middle[now] - 1.2, ROW - 2.4), above, 2.4, 0.7, 1)))
    for n, accuracy in enumerate(accuracies):
        high, strength = height(accuracy), 1 if n <= now else 0.25
        boxes.append(("forward", "", (middle[n] - 0.4 * wide, base - high, 0.8 * wide, high, strength)))
    every = math.ceil((len(steps) - 1) / 5)  # six numbers at most
    return boxes + [
        ("note", str(steps[n]), (middle[n] - 1.5, base + 0.2, 3.0, 0.7, 1)) for n in range(0, len(steps), every)
    ]
