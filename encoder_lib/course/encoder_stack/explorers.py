"""The explorers of 07_encoder_stack."""

from typing import NamedTuple

import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.encoder_stack.plots import plot_profiles
from encoder_lib.course.kit import ladder
from encoder_lib.course.kit.measure import INITS, ORDERS, Profile, depth_profiles
from encoder_lib.course.kit.plots import GREY, percent
from encoder_lib.course.kit.widget.boxes import Boxes
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import Web

DEEPEST, STEP = 32, 2
QUANTITIES = ("gradient", "size", "similarity")  # one Axes each


def depth(depth: int = 12, order: str = "post-norm", init: str = "default") -> Explorer:
    """Measure each layer of a random stack: its gradient, the size of its vectors, and the similarity of its tokens.

    The other order, with the same initialisation, is drawn in grey. Everything is measured when the explorer is made,
    in a second or two, so that the slider does not have to wait.
    """
    controls = (
        Range("depth", depth, min=STEP, max=DEEPEST, step=STEP, label="layers"),
        Select("order", order, options=tuple(ORDERS)),
        Select("init", init, options=tuple(INITS), label="initialisation"),
    )
    depths = range(STEP, DEEPEST + 1, STEP)
    profiles = {
        (o, i): depth_profiles(depths, norm_first=norm_first, init=i) for o, norm_first in ORDERS.items() for i in INITS
    }

    def chosen(depth: int, order: str, init: str) -> tuple[Profile, Profile]:
        return profiles[order, init][depth], profiles[_other(order), init][depth]

    figure = plot_profiles({name: profiles[name, "default"][DEEPEST] for name in ORDERS})
    for ax, quantity in zip(figure.axes, QUANTITIES, strict=True):
        ax.lines[1].set(color=GREY, zorder=1)
        ax.set_xlim(-1, DEEPEST + 1)
        if quantity != "similarity":
            every = [getattr(p, quantity) for cuts in profiles.values() for p in cuts.values()]
            low, high = min(v.min().item() for v in every), max(v.max().item() for v in every)
            ax.set_ylim(low / 1.3, high * 1.3)
    (legend,) = figure.legends
    legend.get_lines()[1].set_color(GREY)

    def show(depth: int, order: str, init: str) -> str:
        this, other = chosen(depth, order, init)
        for ax, quantity in zip(figure.axes, QUANTITIES, strict=True):
            for line, profile in zip(ax.lines, (this, other), strict=True):
                values = getattr(profile, quantity)
                line.set_data(range(depth + 1 - len(values), depth + 1), values)
        for text, name in zip(legend.get_texts(), (order, _other(order)), strict=True):
            text.set_text(name)
        return f"{depth} layers, {init} initialisation. {_words(order, this)} {_words(_other(order), other)}"

    web = Web(heights=(624, 1434), together=(("depth", "order", "init"),))
    return Explorer(show, *controls, title="A stack before training, layer by layer", figure=figure, web=web)


def _other(order: str) -> str:
    return next(name for name in ORDERS if name != order)


def _words(order: str, profile: Profile) -> str:
    ratio = (profile.gradient[-1] / profile.gradient[0]).item()
    size, similarity = profile.size[-1].item(), profile.similarity[-1].item()
    return (
        f"{order.capitalize()}: the last layer's gradient is {ratio:.2f} times the first one's. After the last layer "
        f"the root mean square of the vectors is {size:.2f}, and the mean cosine between two tokens {similarity:.2f}."
    )


HALF = 0.5  # of its attention weight: what a card gives to another one before what this one holds is drawn as arriving
GUTTER, COLUMN, CHIP = 4.0, 3.4, 3.1  # widths: of the names of the rows, of a column, of a chip
GAP, LINE = 1.5, 0.09  # between two rows, for the lines; thickness of a line


class Brought(NamedTuple):
    """What attention has brought to each card of a row, layer by layer, and what the model answers.

    sources: for each layer and card, the card that gets at least half of its weight, or -1, and this weight.
    holds: before the first layer and after each one, the cards that each card holds something of, itself first.
    """

    names: list[str]
    sources: list[list[tuple[int, float]]]
    holds: list[list[list[int]]]
    answers: list[str]


def hops(card_model: ladder.CardModel, cards: Tensor, *, card: int = 0) -> Explorer:
    """Follow what attention brings to each card of a row (T,), layer by layer, and where it comes from.

    Raises TypeError for a model that is not a CardModel with attention, ValueError for several rows of cards.
    """
    brought = _brought(card_model, cards)
    n_layers = len(brought.sources)

    def show(layer: int, card: int) -> View:
        words = [_held_in_words(brought, card, n) for n in range(n_layers + 1)]
        return View(_rows(brought, card), description=words, frames="layer")

    return Explorer(
        show,
        Range("layer", n_layers, min=0, max=n_layers, label="layers done"),
        Range("card", card, min=0, max=len(brought.names) - 1, label="card to follow"),
        title="What attention has brought to each card",
        web=Web(heights=(520, 570, 500)),
    )


def _brought(model: ladder.CardModel, cards: Tensor) -> Brought:
    expect.instance("card_model", model, ladder.CardModel, "a CardModel")
    if cards.ndim != 1:
        raise ValueError(f"cards: expected one row of shape (T,), got {tuple(cards.shape)}: take cards[0]")
    sources, holds = [], [[[i] for i in range(len(cards))]]
    for n in range(len(model.layers)):
        weights = ladder.weights(model, cards[None], layer=n)[0].mean(dim=0)  # (T, T): over the heads
        largest, at = (x.tolist() for x in weights.max(dim=-1))  # (T,) each
        sources.append([(j if most >= HALF else -1, most) for j, most in zip(at, largest, strict=True)])
        before = holds[-1]
        fetched = [before[j] if j >= 0 else [] for j, _ in sources[-1]]
        holds.append([own + [k for k in new if k not in own] for own, new in zip(before, fetched, strict=True)])
    with torch.no_grad():
        answers = ladder.spell(model(cards[None])[0].argmax(dim=-1))
    return Brought(ladder.name_cards(cards), sources, holds, answers)


def _rows(brought: Brought, card: int) -> Boxes:
    """A row for the cards and one for each layer above it, with a chip for everything that a card holds there.

    The chips and lines that lead to `card` are in colour. In each frame one layer more is done: what it brings glides
    to its place from where it was.
    """
    names, sources, holds, _ = brought
    layers, count = range(len(holds)), len(names)
    deep = [max(map(len, row)) for row in holds]  # chips on top of each other
    height = sum(deep) + GAP * len(sources) + 1.2  # with a line for the positions
    bottoms = [height - 1 - sum(deep[:r]) - GAP * r for r in layers]
    ways = _ways(sources, card)
    boxes: list[list[tuple[float, ...]]] = []  # for each box, one in each frame
    kinds, labels = [], []

    def add(kind: str, label: str, *frames: tuple[float, ...]) -> None:
        kinds.append(kind)
        labels.append(label)
        boxes.append([frames[min(f, len(frames) - 1)] for f in layers])

    def middle(column: int) -> float:
        return GUTTER + COLUMN * (column + 0.5)

    def chip(row: int, column: int, known: int) -> tuple[float, float]:
        slot = holds[row][column].index(known)
        return middle(column) - CHIP / 2, bottoms[row] - slot - 0.95

    for i in range(count):
        add("note", str(i), (middle(i) - 1, height - 1, 2, 1, 1))
    for r in layers:
        add("note", f"layer {r}" if r else "cards", (0, bottoms[r] - 1, GUTTER, 1, 1))
    for r in layers:
        for i in range(count):
            for known in holds[r][i]:
                own = r == 0 or known in holds[r - 1][i]
                origin = chip(max(0, r - 1), i if own else sources[r - 1][i][0], known)
                hidden, shown = (*origin, CHIP, 0.9, 0), (*chip(r, i, known), CHIP, 0.9, 1)
                kind = f"card {known}" if (r, i) in ways else "grey"
                add(kind, names[known], *[hidden] * r, shown)
    for r in layers[1:]:
        pairs = [(i, sources[r - 1][i][0]) for i in range(count) if (r, i) in ways]
        lines = [(i, j) for i, j in pairs if j not in (-1, i)]
        for lane, (i, j) in enumerate(lines):
            start, end = bottoms[r - 1] - len(holds[r - 1][j]), bottoms[r]
            turn = end + GAP * (lane + 1) / (len(lines) + 1)
            none = (middle(j), start, LINE, 0, 0)
            left, right = sorted((middle(i), middle(j)))
            add("rule", "", *[none] * r, (middle(j), turn, LINE, start - turn, 1))
            add("rule", "", *[none] * r, (left, turn, right - left + LINE, LINE, 1))
            add("rule", "", *[none] * r, (middle(i), end, LINE, turn - end, 1))
    high = [len(holds[r][card]) for r in layers]
    add(
        "ghost",
        "",
        *[(middle(card) - COLUMN / 2, bottoms[r] - high[r] - 0.1, COLUMN, high[r] + 0.2, 1) for r in layers],
    )
    size = (GUTTER + COLUMN * count, height)
    return Boxes(list(zip(*boxes, strict=True)), kinds, size=size, labels=labels, title="")


def _ways(sources: list[list[tuple[int, float]]], card: int) -> set[tuple[int, int]]:
    """The places (row, card) from which something has come to `card`, after the last layer."""
    ways = {(len(sources), card)}
    for r in range(len(sources), 0, -1):
        ways |= {(r - 1, i) for row, i in ways if row == r}
        ways |= {(r - 1, sources[r - 1][i][0]) for row, i in ways if row == r and sources[r - 1][i][0] >= 0}
    return ways


def _held_in_words(brought: Brought, card: int, layer: int) -> str:
    names, sources, holds, answers = brought
    held = _listed([names[k] for k in holds[layer][card]])
    if not layer:
        return f"Before the first layer, card {card} holds only what it shows: {held}."
    other, weight = sources[layer - 1][card]
    if other < 0:
        came = f"In layer {layer}, no card gets half of the attention weight of card {card}, so none is drawn as read."
    else:
        there = _listed([names[k] for k in holds[layer - 1][other]])
        came = f"In layer {layer}, card {card} gives {percent(weight)} of its attention weight to card {other}, "
        came += f"which holds {there}."
    answer = f" The model's answer at card {card} is {answers[card]}." if layer == len(sources) else ""
    return f"{came} Now card {card} holds {held}.{answer}"


def _listed(words: list[str]) -> str:
    """Words with commas, and an "and" before the last one."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
