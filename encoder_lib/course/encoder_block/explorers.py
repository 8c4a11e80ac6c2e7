"""The explorer of 06_encoder_block: one token's row on its way through an encoder layer."""

from functools import lru_cache

import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.plots import readable
from encoder_lib.course.kit.widget.boxes import Box, framed
from encoder_lib.course.kit.widget.controls import Range
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.pretrained import SentenceEncoder
from encoder_lib.trace import trace

SHOWN = 4  # as many dimensions from the first on, and the one in which the second sum is largest
SIZE = (104.0, 52.0)
Place = tuple[float, float, float, float]  # left, top, width, height
ROWS = {  # each row of numbers, in the order of computation: its key in the trace, its name and the role of its colour
    "x": ("input", "x", "embedding"),
    "attention": ("attention", "what attention adds", "attention"),
    "sum 1": ("norm1.input", "the first sum", "stream"),
    "norm 1": ("norm1", "the row after norm 1", "norm"),
    "feed-forward": ("feed_forward", "what feed-forward adds", "forward"),
    "sum 2": ("norm2.input", "the second sum", "stream"),
    "norm 2": ("output", "y, the row after norm 2", "norm"),
}
STEPS = tuple(ROWS)
FROM = {  # what each row is computed from
    "x": (), "attention": ("x",), "sum 1": ("x", "attention"), "norm 1": ("sum 1",), "feed-forward": ("norm 1",),
    "sum 2": ("norm 1", "feed-forward"), "norm 2": ("sum 2",),
}  # fmt: skip
HOW = {  # what a part does to a row, on two lines
    "x": ("as it comes in", ""),
    "attention": ("attention also reads", "all other rows"),
    "norm 1": ("minus its mean, divided by its", "standard deviation, × gain, + bias"),
    "feed-forward": ("feed-forward reads", "this row alone"),
    "norm 2": ("minus its mean, divided by its", "standard deviation, × gain, + bias"),
}
BLOCK: dict[str, Place] = {  # where the parts are in the drawing
    "x": (1, 11, 5, 5), "attention": (9.5, 1, 18, 6), "sum 1": (28.3, 11.3, 4.4, 4.4), "norm 1": (35, 11, 12.4, 5),
    "feed-forward": (52, 1, 24, 6), "sum 2": (76.8, 11.3, 4.4, 4.4), "norm 2": (82.7, 11, 12.4, 5),
}  # fmt: skip
OUT: Place = (98.3, 11, 5, 5)  # y, which the last norm makes
LINES: tuple[tuple[str, Place], ...] = (  # the residual stream, and a branch of three lines to and from each part
    ("stream", (3.5, 13.05, 92.5, 0.9)), ("right", (95.4, 11.9, 2.8, 3.2)),
    ("stream", (7.4, 3.9, 0.33, 9.5)), ("stream", (7.4, 3.9, 1.6, 0.33)), ("right", (8.4, 3.2, 1.1, 1.7)),
    ("stream", (27.5, 3.9, 3.1, 0.33)), ("stream", (30.37, 3.9, 0.33, 7)), ("down", (29.7, 9.9, 1.6, 1.3)),
    ("stream", (49.9, 3.9, 0.33, 9.5)), ("stream", (49.9, 3.9, 1.6, 0.33)), ("right", (50.9, 3.2, 1.1, 1.7)),
    ("stream", (76, 3.9, 3.1, 0.33)), ("stream", (78.87, 3.9, 0.33, 7)), ("down", (78.2, 9.9, 1.6, 1.3)),
)  # fmt: skip
NAMED, LEFT, CELL = 3.6, 26.5, 15.5  # left of the rows' names and of their cells, and how wide a cell is
HEADS, SLOTS = 20.0, (25.2, 33.8, 43.8)  # upper edges: of the dimensions, of two operands and of the result
HIGH = 6.2  # of a cell


def one_row(model: SentenceEncoder, sentence: str, *, word: int = 1, layer: int = 1, step: int = 2) -> Explorer:
    """One row's arithmetic in an encoder layer: a box of the drawing is clicked, and shows what it makes of the row.

    word: the position of the token in the sentence. layer: counted from 1. step: the part, counted from 0.
    Raises TypeError if `model` isn't a SentenceEncoder; ValueError if its norms come first, and whatever the controls
    raise for values that they don't accept.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    layers = [part for part in model.encoder.encoder.layers if isinstance(part, EncoderLayer)]
    if layers[0].norm_first:
        raise ValueError("model: expected layers in post-norm order, got pre-norm")
    tokens = [readable(token, 12) for token in model.tokens(sentence)]

    @lru_cache
    @torch.no_grad()
    def inside(layer: int) -> dict[str, Tensor]:
        x = model.encoder.embedding(model.ids(sentence))
        for below in layers[: layer - 1]:
            x = below(x)
        with trace(layers[layer - 1]) as t:
            layers[layer - 1](x)
        return {name: t[key][0].cpu().double() for name, (key, *_) in ROWS.items()}  # (T, D) each

    def show(word: int, layer: int, step: int) -> View:
        rows = {name: values[word] for name, values in inside(layer).items()}  # (D,) each
        dimensions = [*range(SHOWN), int(rows["sum 2"][SHOWN:].abs().argmax()) + SHOWN]
        numbers = {name: [_short(row[d].item()) for d in dimensions] for name, row in rows.items()}
        frames = [_boxes(name, numbers, dimensions) for name in STEPS]
        leading = [-1] * len(LINES) + [*range(len(STEPS)), len(STEPS) - 1]
        steps = leading + [-1] * (len(frames[0]) - len(leading))
        return View(
            framed(frames, f"The row of “{tokens[word]}” in layer {layer}", SIZE, steps=steps, large=True),
            frames="step",
            description=[_words(name, numbers, dimensions, rows) for name in STEPS],
        )

    return Explorer(
        show,
        Range("step", step, min=0, max=len(STEPS) - 1),
        Range("word", word, min=0, max=len(tokens) - 1, label="position of the word"),
        Range("layer", layer, min=1, max=len(layers)),
        title="One row’s way through an encoder layer: click a box",
        web=Web(heights=(661, 658), together=(("word", "layer"),)),
    )


def _boxes(step: str, numbers: dict[str, list[str]], dimensions: list[int]) -> list[Box]:
    """The drawing with a frame around one part, and the rows that this part computes with."""
    boxes: list[Box] = [(kind, "", (*line, 1.0)) for kind, line in LINES]
    for name, place in BLOCK.items():
        kind = "round" if name == "x" or "sum" in name else ROWS[name][2]
        boxes.append((kind, "+" if "sum" in name else name, (*place, 1.0)))
    boxes.append(("round", "y", (*OUT, 1.0)))
    left, top, width, height = BLOCK[step]
    boxes.append(("ghost", "", (left - 1, top - 1, width + 2, height + 2, 1.0)))
    how = enumerate(HOW.get(step, ("", "")))
    boxes += [("heading", line, (LEFT, SLOTS[1] - 0.9 + 4.2 * i, 5 * CELL, 4, 1.0)) for i, line in how]
    boxes.append(("rule", "", (NAMED, SLOTS[2] - 2, LEFT - NAMED + 5 * CELL, 0.25, float(step != "x"))))
    boxes.append(("heading", "dimension", (NAMED, HEADS, LEFT - NAMED, 4, 1.0)))
    boxes += [("note", str(d), (LEFT + CELL * i, HEADS, CELL, 4, 1.0)) for i, d in enumerate(dimensions)]
    used = dict(zip(FROM[step], SLOTS, strict=False)) | {step: SLOTS[2 if FROM[step] else 0]}
    for least, sign, slot in ((2, "+", SLOTS[1]), (1, "=", SLOTS[2])):
        boxes.append(("note", sign, (0.0, slot, NAMED, HIGH, float(len(FROM[step]) >= least))))
    for name, (*_, role) in ROWS.items():
        seen, slot = float(name in used), used.get(name, 0.0)
        boxes.append(("heading", name, (NAMED, slot, LEFT - NAMED, HIGH, seen)))
        for i, number in enumerate(numbers[name]):
            place = (LEFT + CELL * i + 0.3, slot, CELL - 0.6, HIGH) if seen else BLOCK[name]
            boxes.append((role, number, (*place, seen)))
    return boxes


def _words(step: str, numbers: dict[str, list[str]], dimensions: list[int], rows: dict[str, Tensor]) -> str:
    """What a part computes the row from, in words and in numbers."""
    where = f"in dimensions {', '.join(map(str, dimensions[:-1]))} and {dimensions[-1]}"
    parts = [f"{ROWS[name][1]} ({', '.join(numbers[name])})" for name in (*FROM[step], step)]
    made = {1: "{0}, {1}", 2: "{0} becomes {1}", 3: "{0} plus {1} is {2}"}[len(parts)]
    made = made.format(*parts) if step != "x" else f"{parts[0]}, as it comes in"
    alike = torch.nn.functional.cosine_similarity(rows[step], rows["x"], dim=0).item()
    how = f": {' '.join(HOW[step])}" if step in HOW and step != "x" else ""
    return f"Step {STEPS.index(step)}, {step}, {where}: {made}{how}. The cosine of the result with x is {alike:.2f}."


def _short(number: float) -> str:
    """A number with two decimals, one if it is large, with a real minus, and none before a zero."""
    digits = 1 if abs(number) >= 99.995 else 2
    return f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−")
