"""The explorers of 02_positional_encoding."""

import math
from functools import partial

import torch

from encoder_lib.course.kit.widget.controls import Range
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import Heatmap, View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.positional import sinusoidal_table

FURTHEST = 64  # the largest shift of the table
POSITIONS, LONGEST = 32, 100  # positions of the clocks, and their largest shift
HANDS = {"dog": 20, "man": 50}  # degrees at position 0
TURN = 57  # degrees for each position, as clock 0
LATEST, MOVES = 6, 20  # the last position of a word before both are moved, and by how much they can be moved


def positional(length: int = 64, d_model: int = 128, base: float = 10_000, shift: int = 0) -> Explorer:
    """The sinusoidal table, and the dot products of its rows with later rows; `shift` scrolls through the positions."""

    def show(length: int, d_model: int, base: float, shift: int) -> View:
        table = sinusoidal_table(FURTHEST + 2 * length, d_model, base=base, dtype=torch.float64)  # (64 + 2T, D)
        position = torch.arange(FURTHEST + length)[:, None]  # (64 + T, 1)
        distance = torch.arange(length)  # (T,)
        products = (table @ table.T / (d_model / 2))[position, position + distance]  # (64 + T, T)
        change = (products - products[0]).abs().amax(dim=1).unfold(0, length, 1).amax(dim=1).tolist()  # 65 numbers
        signed = partial(
            Heatmap,
            y_label="position",
            y_ticks=[str(t) for t in position.flatten().tolist()],
            window=length,
            cmap="diverging",
            limits=(-1, 1),
        )
        return View(
            signed(table[: FURTHEST + length], title="Sinusoidal table", x_label="dimension"),
            signed(products, title="Dot product with the row d steps later, / (D/2)", x_label="distance d"),
            frames="shift",
            description=_words(length, d_model, base, change),
        )

    return Explorer(
        show,
        Range("length", length, min=8, max=128, step=8, label="length T"),
        Range("d_model", d_model, min=8, max=256, step=8, label="width D"),
        Range("base", base, min=10, max=100_000, step=None, log=True, label="base"),
        Range("shift", shift, min=0, max=FURTHEST, label="shift s"),
        title="The sinusoidal table",
        web=Web(heights=(670, 1049), computed="positional"),
    )


def _words(length: int, d_model: int, base: float, changes: list[float]) -> list[str]:
    longest = 2 * math.pi * base ** (1 - 2 / d_model)
    whole = sum(2 * math.pi * base ** (2 * k / d_model) <= length for k in range(d_model // 2))
    clocks = (
        f"on {d_model // 2} clocks. A turn takes them from 6.3 to {longest:,.1f} positions; {whole} of them come "
        f"full circle within {length} positions. From position to position the dot products change by"
    )
    return [
        f"Positions {shift} to {shift + length - 1} {clocks} {change:.4f} at most."
        for shift, change in enumerate(changes)
    ]


def clocks(position: int = 3, shift: int = 5) -> Explorer:
    """Four clocks at one position and at a later one: the angle between the hands depends on the shift alone."""
    table = sinusoidal_table(POSITIONS + LONGEST, 8, base=100.0, dtype=torch.float64)  # (132, 8)
    hands = table.unflatten(1, (4, 2)).flip(-1)  # (132, 4, 2): cosine to the right, sine up
    speeds = 100 ** (-torch.arange(4, dtype=torch.float64) / 4)  # (4,): radians a step

    def show(position: int, shift: int) -> View:
        both = torch.stack([hands[:POSITIONS], hands[shift:][:POSITIONS]], dim=2)  # (32, 4, 2, 2)
        angles = ", ".join(f"{angle:.0f}°" for angle in (shift * speeds).rad2deg().round().remainder(360).tolist())
        names = ["t", "t + s"]
        clock = partial(Plane, names=names, kinds=names, x_limits=(-1.3, 1.3), y_limits=(-1.3, 1.3), circle=1.0)
        return View(
            *[clock(both[:, k], title=f"Clock {k}", arrows=True, turns=True) for k in range(4)],
            frames="position",
            description=[
                f"From position {t} to position {t + shift} the four clocks turn by {angles}." for t in range(POSITIONS)
            ],
        )

    return Explorer(
        show,
        Range("position", position, min=0, max=POSITIONS - 1, label="position t"),
        Range("shift", shift, min=0, max=LONGEST, label="shift s"),
        title="Four clocks at position t, and s steps later",
        web=Web(heights=(450, 720), stops={"shift": tuple(range(LONGEST + 1))}),
    )


def two_hands(dog: int = 0, man: int = 1, moved: int = 0) -> Explorer:
    """Two words of two numbers each as hands, rotated by their positions; `moved` moves both words along the text."""

    def show(dog: int, man: int, moved: int) -> View:
        positions = torch.arange(MOVES + 1)[:, None] + torch.tensor([dog, man])  # (21, 2)
        degrees = torch.tensor(list(HANDS.values())) + TURN * positions  # (21, 2)
        hands = degrees.double().deg2rad()
        angle = (degrees[0, 1] - degrees[0, 0]).item()
        angle -= 360 * round(angle / 360)
        return View(
            Plane(
                torch.stack([hands.cos(), hands.sin()], dim=-1),  # (21, 2, 2)
                list(HANDS),
                kinds=list(HANDS),
                x_limits=(-1.3, 1.3),
                y_limits=(-1.15, 1.15),
                title="The two hands, and the angle between them",
                wide=1.6,
                arrows=True,
                turns=True,
                circle=1.0,
                angle=(0, 1),
            ),
            frames="moved",
            description=[
                f"At position {p} the hand of dog points to {a}°, at position {q} the hand of man to {b}°. From dog "
                f"to man the angle is {angle}°, and the dot product of the two hands is "
                f"{math.cos(math.radians(angle)):.2f}."
                for (p, q), (a, b) in zip(positions.tolist(), (degrees % 360).tolist(), strict=True)
            ],
        )

    return Explorer(
        show,
        Range("dog", dog, min=0, max=LATEST, label="position of dog"),
        Range("man", man, min=0, max=LATEST, label="position of man"),
        Range("moved", moved, min=0, max=MOVES, label="both moved by"),
        title="Two words, rotated by their positions",
        web=Web(heights=(640, 750), together=(("dog", "man"),)),
    )
