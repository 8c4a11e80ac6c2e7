"""The explorers of 01_embedding."""

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.plots.inputs import as_words
from encoder_lib.course.kit.widget.controls import Checkbox, Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import Heatmap, View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.embedding import TokenEmbedding

VOCABULARY, WIDTH = 6, 5
NAMES = ("first", "second", "third")
START, STEPS = -2.4, 24  # where the ball begins, and how often it moves
SEEN, FAR = 3.0, 5.0  # how far the valley is drawn; a ball further out than FAR is drawn there, where nobody sees it


def look_up(first: int = 2, second: int = 0, third: int = 2) -> Explorer:
    """Three ids, the table in which they are looked up, and the resulting vectors."""
    embed = TokenEmbedding(VOCABULARY, WIDTH)
    table = embed.weight.detach()  # (V, D)

    def show(first: int, second: int, third: int) -> View:
        ids = torch.tensor([first, second, third])
        one_hot = torch.nn.functional.one_hot(ids, VOCABULARY).to(table.dtype)  # (T, V)
        read = one_hot.any(dim=0)  # (V,)
        lit = table.masked_fill(~read[:, None], torch.nan)  # (V, D)
        out = embed(ids).detach()  # (T, D)
        names = [f"id {i}" for i in ids.tolist()]
        rows, limit = [f"row {i}" for i in range(VOCABULARY)], math.ceil(2 * table.abs().max().item()) / 2
        signed = partial(Heatmap, cmap="diverging", limits=(-limit, limit), x_label="dimension")
        return View(
            Heatmap(one_hot, title="The ids, one-hot", y_ticks=names, x_label="row of the table"),
            signed(lit, title="The rows that are read", missing="not read", y_ticks=rows),
            signed(out, title="The resulting vectors", y_ticks=names),
            description=_words(ids.tolist()),
        )

    controls = (Range(n, v, min=0, max=VOCABULARY - 1) for n, v in zip(NAMES, (first, second, third), strict=True))
    web = Web(heights=(500, 1245), together=(("first", "second", "third"),))
    return Explorer(show, *controls, title="Look up three ids in a table", web=web)


def _words(ids: list[int]) -> str:
    read = sorted(set(ids))
    rows = f"row {read[0]} is" if len(read) == 1 else f"rows {', '.join(map(str, read[:-1]))} and {read[-1]} are"
    equal = [f"{NAMES[i]} and {NAMES[j]}" for i in range(3) for j in range(i + 1, 3) if ids[i] == ids[j]]
    repeats = f"Equal ids give equal vectors: {', '.join(equal)}." if equal else "Three ids, three different vectors."
    return f"Ids {ids}: {rows} read. {repeats}"


def similarity(tables: Tensor, words: Sequence[str], kinds: Sequence[str]) -> Explorer:
    """The cosine of every two words during training; `tables` (N, V, D) holds one table for each step.

    Raises TypeError for anything that is not tables; ValueError for fewer than two steps, or words that do not match.
    """
    expect.vectors(tables, name="tables")
    if tables.ndim != 3 or len(tables) < 2:
        raise ValueError(f"tables: expected shape (steps, V, D) with two steps or more, got {tuple(tables.shape)}")
    unit = torch.nn.functional.normalize(tables.detach().double(), dim=-1)  # (N, V, D)
    cosines = unit @ unit.transpose(1, 2)  # (N, V, V)
    alike = torch.tensor([[a == b for b in kinds] for a in kinds])  # (V, V)
    same = cosines[:, alike & ~torch.eye(len(kinds), dtype=torch.bool)].mean(dim=1).tolist()  # N numbers
    different = cosines[:, ~alike].mean(dim=1).tolist()

    def show(step: int) -> View:
        return View(
            Heatmap(
                cosines,
                title="Cosine between every two words",
                x_ticks=words,
                y_ticks=words,
                cmap="diverging",
                limits=(-1, 1),
            ),
            frames="step",
            description=[
                f"After {n} steps, mean cosine {a:.2f} within kinds, {b:.2f} between words of different kinds."
                for n, (a, b) in enumerate(zip(same, different, strict=True))
            ],
        )

    step = Range("step", 0, min=0, max=len(tables) - 1)
    return Explorer(show, step, title="Cosines of the word vectors during training", web=Web(heights=(630, 620)))


def word_arrows(runs: Sequence[Tensor], words: Sequence[str], kinds: Sequence[str]) -> Explorer:
    """Words whose vectors have two numbers, as arrows, at every step of some trainings; words of a kind share a colour.

    runs: for each training, its tables (N, V, 2), one for each step.
    Raises TypeError for anything that is not tables; ValueError for fewer than two steps, other shapes, or words that
    do not match.
    """
    expect.instance("runs", runs, list | tuple, "a list with the tables of each training")
    for run in runs:
        expect.vectors(run, name="runs")
    shapes = {tuple(run.shape) for run in runs}
    if len(shapes) != 1 or any(len(shape) != 3 or shape[0] < 2 or shape[2] != 2 for shape in shapes):
        raise ValueError(
            f"runs: expected tables of one shape (steps, V, 2) with two steps or more, got {sorted(shapes)}"
        )
    kinds = as_words(kinds, runs[0].shape[1], "kinds")
    tables = torch.stack([run.detach().double() for run in runs])  # (R, N, V, 2)
    unit = torch.nn.functional.normalize(tables, dim=-1)
    angles = (unit @ unit.transpose(-1, -2)).clamp(-1, 1).acos().rad2deg()  # (R, N, V, V)
    alike = torch.tensor([[a == b for b in kinds] for a in kinds])  # (V, V)
    same = angles[..., alike & ~torch.eye(len(kinds), dtype=torch.bool)].mean(dim=-1)  # (R, N)
    different, lengths = angles[..., ~alike].mean(dim=-1), tables.norm(dim=-1).mean(dim=-1)  # (R, N) each
    limits = 1.08 * tables.abs().amax(dim=(1, 2, 3))  # (R,)
    last = tables.shape[1] - 1

    def show(training: int, step: int) -> View:
        limit = limits[training - 1].item()
        measured = zip(same[training - 1], different[training - 1], lengths[training - 1], strict=True)
        return View(
            Plane(
                tables[training - 1],
                words,
                kinds=kinds,
                x_limits=(-limit, limit),
                y_limits=(-limit, limit),
                title="The two numbers of each word",
                x_label="first number",
                y_label="second number",
                wide=2.0,
                arrows=True,
            ),
            frames="step",
            description=[
                f"Training {training} after {n} steps: two words of the same kind are {a:.0f}° apart on average, two "
                f"of different kinds {b:.0f}°. The mean length of an arrow is {length:.1f}."
                for n, (a, b, length) in enumerate(measured)
            ],
        )

    return Explorer(
        show,
        Select("training", 1, options=tuple(range(1, len(tables) + 1))),
        Range("step", last, min=0, max=last),
        title="The arrows of the words during training",
        web=Web(heights=(665, 705)),
    )


def valley(rate: float = 1.8, step: int = STEPS, zero_grad: bool = True) -> Explorer:
    """A ball in the valley w²/2: one parameter that SGD moves. `zero_grad` says whether gradients are cleared."""

    def show(rate: float, step: int, zero_grad: bool) -> View:
        places, used = descend(rate, zero_grad)  # (N + 1,), N
        drawn = torch.tensor(places).clamp(-FAR, FAR)  # (N + 1,)
        trail = torch.stack([drawn.where(torch.arange(STEPS + 1) <= n, drawn[n]) for n in range(STEPS + 1)])
        curve = torch.linspace(-SEEN, SEEN, 49).expand(STEPS + 1, -1)
        w = torch.cat([drawn[:, None], curve, trail], dim=1)  # (N + 1, P)
        return View(
            Plane(
                torch.stack([w, w.square() / 2], dim=-1),
                ["w", *[""] * (w.shape[1] - 1)],
                x_limits=(-1.3 * SEEN, 1.3 * SEEN),  # beside the curve there is room for the name of the axis
                y_limits=(-0.4, SEEN**2 / 2),
                curve=range(1, 50),
                cut=range(50, w.shape[1]),
                title="The loss, a valley over one parameter",
                x_label="parameter w",
                y_label="loss",
                wide=2.0,
            ),
            frames="step",
            description=[_valley_words(n, w, grad) for n, (w, grad) in enumerate(zip(places, used, strict=True))],
        )

    return Explorer(
        show,
        Range("rate", rate, min=0.1, max=2.2, step=0.1, label="learning rate"),
        Checkbox("zero_grad", zero_grad, label="zero_grad after each step"),
        Range("step", step, min=0, max=STEPS),
        title="A ball in a valley: gradient descent with one parameter",
        web=Web(
            heights=(661, 747), stops={"rate": tuple(n / 10 for n in range(1, 23))}, together=(("rate", "zero_grad"),)
        ),
    )


def descend(rate: float, zero_grad: bool) -> tuple[list[float], list[float]]:
    """The parameter before each of `STEPS` steps of SGD and after the last, and what `.grad` holds there."""
    w = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([w], lr=rate)
    places, used = [], []
    for _ in range(STEPS + 1):
        (w**2 / 2).backward()
        places.append(w.item())
        used.append(0.0 if w.grad is None else w.grad.item())  # never None here, but its type says it could be
        optimiser.step()
        if zero_grad:
            optimiser.zero_grad()
    return places, used


def _valley_words(step: int, w: float, grad: float) -> str:
    """Where the ball is after some steps, and what it is moved by next."""
    gone = " The ball has left the picture." if abs(w) > SEEN else ""
    at, here, held = (f"{round(number, 2) + 0.0:.2f}" for number in (w, w**2 / 2, grad))
    return (
        f"After {step} step{'s'[: step != 1]}, w is {at} and the loss {here}.{gone} "
        f"The gradient here is {at}, and .grad, which the next step uses, is {held}."
    )
