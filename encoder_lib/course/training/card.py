"""The boxes of a training card: a text whose gaps are filled, and how many of the held-out gaps are."""

import re
from collections.abc import Sequence

from torch import Tensor

from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.boxes import Box, Boxes, framed
from encoder_lib.course.training.letters import GAP, LETTERS, to_ids

ROW, LINE = 30, 1.9  # letters in a row, and how much lower the next row is
TILE, SPACE = 1.4, "␣"  # how high the tile of a letter is, and the sign for a space
CURVE = 5.4  # the height of the curve with its names
TALL = 2.9  # and of its highest bar


def card_boxes(text: str, probabilities: Tensor, accuracies: Sequence[float], steps: Sequence[int]) -> Boxes:
    """The text after each of N measurements, and a bar for the accuracy at each of them.

    Shapes: probabilities (N, T, 27), of each letter at each place.
    """
    chances, answers = probabilities.max(dim=-1)  # (N, T) each
    rows = 1 + _places(text)[-1][0]
    frames = [
        [*_letters(text, answers[n].tolist(), chances[n].tolist()), *_bars(n, accuracies, steps, LINE * rows)]
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
        boxes += [("gap", filled, place), ("rule", "", (place[0], LINE * row + TILE + 0.1, 0.92 * chances[i], 0.12, 1))]
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


def _bars(now: int, accuracies: Sequence[float], steps: Sequence[int], top: float) -> list[Box]:
    """A bar for each measurement, those still to come paler, and the number of the one that is shown."""
    base, wide = top + CURVE - 1, ROW / len(steps)
    highs = [TALL * accuracy / max(*accuracies, 1e-9) for accuracy in accuracies]
    boxes: list[Box] = [
        ("forward", "", (wide * n + 0.1 * wide, base - high, 0.8 * wide, high, 1 if n <= now else 0.25))
        for n, high in enumerate(highs)
    ]
    middle = wide * (now + 0.5)
    above, below = (min(max(middle - width / 2, 0), ROW - width) for width in (3.4, 6.0))
    return [
        ("heading", "held-out gaps filled correctly", (0, top + 0.1, ROW, 0.7, 1)),
        *boxes,
        ("rule", "", (0, base, ROW, 0.05, 1)),
        ("note", percent(accuracies[now]), (above, base - highs[now] - 0.75, 3.4, 0.7, 1)),
        ("note", f"{steps[now]} steps", (below, base + 0.15, 6.0, 0.7, 1)),
    ]
