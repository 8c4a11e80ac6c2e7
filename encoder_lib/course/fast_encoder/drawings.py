"""The boxes of the moving drawings: one query's softmax in pieces, and the packing of a padded batch."""

from dataclasses import dataclass
from math import exp, inf

import numpy as np

from encoder_lib.course.kit.widget.boxes import Box, Boxes, framed

SCORES = (1, 3, 2, 5, 4, 0, 6, 2)  # of one query with eight keys; the first four are those of the notebook
VALUES = (10, 20, 30, 40, 20, 50, 10, 30)
GUTTER, TALL, BASE = 1.4, 3.3, 4.7  # left of the scores; height of the tallest bar; where bars stand
SIZE = (9.6, 5.6)
LETTERS = "abcdefghijklmnop"
WIDE, PACKED = 16, 6.2  # the room for a packed sequence, and how far down it is


@dataclass(frozen=True)
class Running:
    """What is kept after the pieces that are complete.

    done: the number of their keys. before: the largest score before the last piece, None for the first piece.
    old_total, old_summed: what was kept before the last piece, corrected.
    """

    done: int = 0
    largest: float = -inf
    before: float | None = None
    total: float = 0.0
    summed: float = 0.0
    old_total: float = 0.0
    old_summed: float = 0.0

    @property
    def factor_in_words(self) -> str:
        """The factor of the last correction, with its value."""
        assert self.before is not None
        return f"e^({self.before:.0f}−{self.largest:.0f}) = {exp(self.before - self.largest):.3f}"


def read(seen: int, piece: int) -> Running:
    """Return what is kept once `seen` keys have been read, in pieces of so many; the last piece may be shorter."""
    state = Running()
    while state.done < seen:
        end = min(state.done + piece, len(SCORES))
        if end > seen:
            break  # its scores are held until it is complete
        scores, values = SCORES[state.done : end], VALUES[state.done : end]
        largest = max(state.largest, *scores)
        factor = exp(state.largest - largest)
        exponentials = [exp(score - largest) for score in scores]
        old_total, old_summed = factor * state.total, factor * state.summed
        state = Running(
            end,
            largest,
            state.largest if state.done else None,
            old_total + sum(exponentials),
            old_summed + sum(e * v for e, v in zip(exponentials, values, strict=True)),
            old_total,
            old_summed,
        )
    return state


def running_boxes(states: list[Running], piece: int) -> tuple[Boxes, Boxes]:
    """The scores that are read, and the three numbers that are kept, after each number of keys."""
    scores = [_scores(seen, state, piece) for seen, state in enumerate(states)]
    kept = [_kept(state, seen == state.done) for seen, state in enumerate(states)]
    return framed(scores, "Scores; dashed: the current piece", SIZE), framed(
        kept, "What is kept; dashed: at the end", SIZE
    )


def _scores(seen: int, state: Running, piece: int) -> list[Box]:
    start = (max(0, seen - 1) // piece) * piece
    wide = min(piece, len(SCORES) - start)
    boxes: list[Box] = [("ghost", "", (GUTTER + start, 0.35, wide, BASE + 0.3, 1))]
    for j, (score, value) in enumerate(zip(SCORES, VALUES, strict=True)):
        left, high = GUTTER + j + 0.12, TALL * score / max(SCORES)
        held = start <= j < seen
        bar = high if j < seen else 0.0
        boxes += [
            ("key", "", (left, BASE - bar, 0.76, bar, 1 if held else 0.3)),
            ("note", str(score), (left, BASE - bar - 0.5, 0.76, 0.5, int(held))),
            ("note", str(value), (left, BASE + 0.05, 0.76, 0.5, 1)),
        ]
    some, line = int(state.done > 0), BASE - TALL * max(state.largest, 0) / max(SCORES)
    return [
        *boxes,
        ("rule", "", (GUTTER, line, len(SCORES), 0.05, some)),
        ("note", f"max {state.largest:.0f}" if some else "", (0, line - 0.25, GUTTER, 0.5, some)),
        ("rule", "", (GUTTER, BASE, len(SCORES), 0.03, 1)),
        ("note", "value", (0, BASE + 0.05, GUTTER, 0.5, 1)),
    ]


def _kept(state: Running, fresh: bool) -> list[Box]:
    """Three bars. In the step in which a piece is added, what was kept before it is paler."""
    end = read(len(SCORES), len(SCORES))
    mean, last = (s.summed / s.total if s.total else 0.0 for s in (state, end))
    bars = [
        ("total", "attention", (state.total, state.old_total, end.total), 2.0, ".2f"),
        ("weighted sum", "value", (state.summed, state.old_summed, end.summed), 55.0, ".1f"),
        ("sum / total", "shared", (mean, mean, last), 55.0, ".1f"),
    ]
    boxes: list[Box] = []
    for n, (name, role, numbers, most, form) in enumerate(bars):
        left = 0.8 + 3 * n
        now, old, goal = (TALL * number / most for number in numbers)
        old = old if fresh else now
        boxes += [
            (role, "", (left, BASE - old, 2, old, 0.5 if fresh and n < 2 else 1)),
            (role, "", (left, BASE - now, 2, now - old, 1)),
            ("ghost", "", (left - 0.15, BASE - goal, 2.3, goal, 1)),
            ("note", format(numbers[0], form) if state.done else "", (left, BASE - now - 0.5, 2, 0.5, 1)),
            ("note", name, (left - 0.5, BASE + 0.05, 3, 0.5, 1)),
        ]
    corrected = fresh and state.before is not None and state.before < state.largest
    note = f"old part: × {state.factor_in_words}" if corrected else ""
    return [*boxes, ("rule", "", (0.3, BASE, 9, 0.03, 1)), ("note", note, (0.8, 0, 5, 0.5, int(corrected)))]


def packing_boxes(lengths: tuple[int, ...]) -> Boxes:
    """The cells of a padded batch, and how its tokens glide into one row, text by text."""
    total, longest = sum(lengths), max(lengths)
    starts = np.cumsum([0, *lengths])
    cells = [(i, t) for i in range(len(lengths)) for t in range(longest)]
    frames = [[_cell(i, t, lengths, starts, step) for i, t in cells] for step in range(len(lengths) + 3)]
    for step, frame in enumerate(frames):
        left = [(i, t, 0.25 * (step >= i + 2)) for i, t in cells if t < lengths[i]]  # where a token was stays marked
        frame[:0] = [(f"text {i}", "", (t + 0.05, 1 + i + 0.05, 0.9, 0.9, pale)) for i, t, pale in left]
        moved = min(max(step - 1, 0), len(lengths))
        row = f"packed sequence: {starts[moved]} tokens" if moved else ""
        batch = f"padded batch: {len(cells)} cells, {len(cells) - total} of them padding"
        frame += [
            ("ghost", "", (0, 1, longest, len(lengths), int(step > 0))),
            ("heading", batch, (0.1, 0, WIDE, 0.8, 1)),
            ("heading", row, (0.1, PACKED - 0.9, WIDE, 0.8, int(moved > 0))),
            *(
                ("rule", "", (start - 0.06, PACKED - 0.15, 0.12, 1.3, int(step == len(lengths) + 2)))
                for start in starts[1:-1]
            ),
        ]
    return framed(frames, "Four texts, a colour each; grey: padding", (WIDE, PACKED + 1.35))


def _cell(i: int, t: int, lengths: tuple[int, ...], starts: np.ndarray, step: int) -> Box:
    """Token t of text i: in the batch until its text moves; padding until the first step."""
    letter = LETTERS[starts[i] + t] if t < lengths[i] else ""
    left, top = (starts[i] + t, PACKED) if letter and step >= i + 2 else (t, 1 + i)
    return (
        f"text {i}" if letter else "grey",
        letter,
        (left + 0.05, top + 0.05, 0.9, 0.9, int(bool(letter) or step < 1)),
    )
