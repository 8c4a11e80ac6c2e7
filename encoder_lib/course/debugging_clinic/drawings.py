"""The boxes of the moving drawings: numbers that are cut into heads, and tests that notice faults or don't."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from encoder_lib.course.kit.widget.boxes import Box, Boxes, framed

NAMES = 2.3  # the room for the names of rows
NARROW, GAP = 0.3, 0.5  # the strip that says which token a row belongs to; between two heads
TESTS, CELL = 5.4, 2.0  # the room for the names of tests; the width of a cell of the grid


def cut_boxes(heads: Tensor, shape: tuple[int, int]) -> Boxes:
    """How the numbers of x (T, D), a colour for each token, get to their places in `heads` (H, T, K), row by row.

    heads: the places in x, counted from 0, that the numbers have come from.
    """
    length, width = shape
    n_heads, _, size = heads.shape
    left = [NAMES + width + 0.9 + NAMES + NARROW + h * (size + NARROW + GAP) for h in range(n_heads)]
    token = [f"token {t + 1}" for t in range(length)]
    still: list[Box] = [("heading", "x", (NAMES, 0, width, 0.9, 1))]
    for t, name in enumerate(token):
        still += [
            ("note", name, (0, 1 + t, NAMES, 1, 1)),
            ("note", f"row {t + 1}", (left[0] - NAMES - NARROW, 1 + t, NAMES, 1, 1)),
        ]
        still += [(name, "", (NAMES + d + 0.05, 1.05 + t, 0.9, 0.9, 0.35)) for d in range(width)]
    for h in range(n_heads):
        still += [("heading", f"head {h + 1}", (left[h], 0, size, 0.9, 1))]
        still += [(name, "", (left[h] - NARROW, 1.05 + t, NARROW - 0.08, 0.9, 1)) for t, name in enumerate(token)]
        still += [
            ("grey", "", (left[h] + k + 0.05, 1.05 + t, 0.9, 0.9, 0.6)) for t in range(length) for k in range(size)
        ]
    frames = []
    for filled in range(n_heads * length + 1):
        moving: list[Box] = []
        for place, origin in enumerate(heads.flatten().tolist()):
            row, k = divmod(place, size)
            h, t = divmod(row, length)
            now = (left[h] + k, 1 + t) if row < filled else (NAMES + origin % width, 1 + origin // width)
            moving.append((token[origin // width], str(origin + 1), (now[0] + 0.05, now[1] + 0.05, 0.9, 0.9, 1)))
        frames.append([*still, *moving])
    return framed(frames, "A colour for each token", (left[-1] + size + 0.1, length + 1.2))


def grid_boxes(noticed: np.ndarray, tests: Sequence[str], left_out: Sequence[bool]) -> Boxes:
    """A row for each test and a column for each patient, filled test by test, and below them how many have noticed.

    noticed: truth values (patients, tests). left_out: for each test, whether it is not run.
    """
    patients, count = noticed.shape
    high = count + 2.4
    frames = []
    for runs in range(noticed.size + 1):
        boxes: list[Box] = [("heading", "patient", (0, 0, TESTS, 1, 1))]
        boxes += [("note", str(p + 1), (TESTS + CELL * p, 0, CELL, 1, 1)) for p in range(patients)]
        found = np.zeros(patients, int)
        for i, name in enumerate(tests):
            boxes += [("heading", name, (0, 1 + i, TESTS, 1, 1))]
            for p in range(patients):
                place, run = (
                    (TESTS + CELL * p + 0.06, 1.05 + i, CELL - 0.12, 0.9),
                    i * patients + p < runs and not left_out[i],
                )
                hit = bool(run and noticed[p, i])
                found[p] += hit
                boxes += [
                    ("grey", "no" if run and not hit else "", (*place, 1 if run else 0.4 * (not left_out[i]))),
                    ("noticed", "yes" if hit else "", (*place, int(hit))),
                ]
        ended = runs == noticed.size
        for p in range(patients):
            place = (TESTS + CELL * p + 0.06, high - 1, CELL - 0.12, 0.9)
            nobody = ended and not found[p]
            boxes += [
                ("note", "" if nobody else str(found[p]), (*place, 1)),
                ("missed", "none" if nobody else "", (*place, int(nobody))),
            ]
        frames.append([*boxes, ("heading", "tests that notice", (0, high - 1, TESTS, 0.9, 1))])
    return framed(frames, "Who notices which fault", (TESTS + CELL * patients, high))
