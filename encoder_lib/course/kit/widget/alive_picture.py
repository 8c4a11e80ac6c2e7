"""The picture of `alive.py` for readers without a kernel, and what it shows in words."""

import math
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from encoder_lib.course.kit.interventions import Answer, Cut, Knockout, Question, Sentence
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import figure_size, percent, readable
from encoder_lib.course.kit.plots.style import TICK_SIZE, TITLE_SIZE, drawable, plain_text
from encoder_lib.course.kit.widget.alive_chain import draw_chains, in_words

NAMES = {
    "position": "the position",
    "attention": "attention",
    "residual1": "the residual connection around attention",
    "norm1": "the norm after attention",
    "feed_forward": "feed-forward",
    "residual2": "the residual connection around feed-forward",
    "norm2": "the norm after feed-forward",
}
SIDES = ("sentence-1", "sentence-2")  # as the palette names the two sentences
MIDDLE, STRANDS = 4.6, 1.9  # in lanes: the space between two towers, and how far apart a distance of 1 is drawn
TURNED = 8  # with so many tokens, or more, their names are rotated
LOOP: dict[str, Any] = {
    "marker": "o",
    "markersize": 6,
    "markerfacecolor": "none",
    "markeredgewidth": 1.8,
    "color": LIGHT["forward"],
}
THICKEST, SCALE = 14.0, 1.7  # points: of a ribbon, and of a length of 1 that arrives


def distance(cosine: float) -> float:
    """The distance of two vectors of length 1 with this cosine."""
    return math.sqrt(max(0.0, 2 - 2 * cosine))


def largest(sentence: Sentence, layer: int) -> tuple[str, int, float] | None:
    """The token that the followed word attends to most in a layer, counted from 0, the head, and the weight.

    The word itself and tokens without a letter or digit, such as [CLS], don't count; None if nothing is left.
    """
    weights = sentence.weights[layer][:, sentence.place].clone()  # (H, T)
    for position, token in enumerate(sentence.tokens):
        if position == sentence.place or not token.removeprefix("##").isalnum():
            weights[:, position] = 0
    head, position = divmod(int(weights.argmax()), len(sentence.tokens))
    weight = weights[head, position].item()
    return (sentence.tokens[position], head, weight) if weight > 0 else None


def describe(question: Question, answer: Answer) -> str:
    """What the picture shows, in words."""
    word, numbers = readable(answer.word, 40), range(1, answer.layers + 1)
    texts = " and ".join(f"“{readable(text, 200)}”" for text in question.texts)
    words = [f"{texts} on the way through {answer.layers} encoder layers."]
    if question.detail is not None:
        words.append(f"Layer {question.detail[0] + 1} is open.")
    words += [f"{in_words(sentence, sentence.detail)}." for sentence in answer.sentences if sentence.detail is not None]
    words += [_cut(cut, answer) for cut in question.cuts]
    if question.knockouts:
        words.append(f"Taken out: {', '.join(map(_knockout, question.knockouts))}.")
    if answer.word_cosines is not None:
        table, embedding, *after = (f"{distance(cosine):.2f}" for cosine in answer.word_cosines.tolist())
        layers = ", ".join(f"{n}: {after[2 * n - 1]}" for n in numbers)
        words.append(
            f"Distance of the two vectors of “{word}”, scaled to length 1: {table} in the embedding table, {embedding} "
            f"with the position, and after layer {layers}. Their cosine at the end is {answer.word_cosines[-1]:.3f}."
        )
    elif answer.sentence_cosine is not None:
        words.append("The sentences have no word in common.")
    if answer.sentence_cosine is not None:
        words.append(f"The cosine of the two sentences is {answer.sentence_cosine:.3f}.")
    if word:
        attended = (f"in layer {n} {' and '.join(_attended(s, n - 1) for s in answer.sentences)}" for n in numbers)
        words.append(f"What “{word}” gives its largest attention weight, besides itself: {'; '.join(attended)}.")
    return readable(" ".join(words), 2000)


def _cut(cut: Cut, answer: Answer) -> str:
    query, key = (readable(answer.sentences[cut.side].tokens[place], 20) for place in (cut.query, cut.key))
    heads = "" if cut.head is None else f"head {cut.head + 1} of "
    return f"Cut: the attention from “{query}” to “{key}” in {heads}{_layer(cut.layer)}."


def _knockout(knockout: Knockout) -> str:
    name = NAMES[knockout.part]
    return name if knockout.part == "position" else f"{name} in {_layer(knockout.layer)}"


def _layer(layer: int | None) -> str:
    return "all layers" if layer is None else f"layer {layer + 1}"


def _attended(sentence: Sentence, layer: int) -> str:
    found = largest(sentence, layer)
    return "nothing" if found is None else f"“{readable(found[0], 20)}” ({percent(found[2])}, head {found[1] + 1})"


def draw(answer: Answer, *, wide: bool = True) -> Figure:
    """The towers of the live picture, with what reaches the followed word; of an open layer, the steps of its head."""
    both = zip(answer.sentences, SIDES, strict=False)
    opened = [(sentence, sentence.detail, role) for sentence, role in both if sentence.detail is not None]
    if opened:
        return draw_chains(opened, wide=wide)
    figure, ax = plt.subplots(figsize=figure_size(2, 4.9), layout="constrained")
    _draw_towers(ax, answer)
    return figure


def _draw_towers(ax: Axes, answer: Answer) -> None:
    left = 0.0
    for side, sentence in zip(SIDES, answer.sentences, strict=False):
        _draw_tower(ax, sentence, side, left)
        left += len(sentence.tokens) + MIDDLE - 1
    names = {0: "token", 1: "position"} | {2 * n + 2.35: f"layer {n + 1}" for n in range(answer.layers)}
    _bare(ax)
    ax.set_yticks([*names], [*names.values()], color=LIGHT["quiet"])
    if len(answer.sentences) == 2:
        _draw_strands(ax, answer, len(answer.sentences[0].tokens) - 1 + MIDDLE / 2)
    ax.set_xlim(-0.8, left - MIDDLE + 0.8)
    ax.set_ylim(-2.6, 2 * answer.layers + (3.4 if len(answer.sentences) == 2 else 1.8))
    word = f"“{drawable(answer.word, 20)}”" if answer.word else "the word"
    brought = Line2D(
        [], [], color=LIGHT["attention"], linewidth=6, alpha=0.55, label=f"what attention brings to {word}"
    )
    added = Line2D([], [], linestyle="", marker="$+$", color=LIGHT["ink"], markersize=8, label="residual connection")
    forward = Line2D([], [], linestyle="", **LOOP, label="feed-forward")
    legend = ax.figure.legend(
        handles=[brought, added, forward], loc="outside lower center", ncols=3, frameon=False,
        fontsize=TICK_SIZE, labelcolor=LIGHT["quiet"],
    )  # fmt: skip
    legend.get_texts()[0].set(**plain_text())


def _bare(ax: Axes) -> None:
    """No frame and no marks of the axes."""
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(left=False)


def _draw_tower(ax: Axes, sentence: Sentence, role: str, left: float) -> None:
    """A lane for each token, and in each layer a ribbon for what reaches the followed word from each of the others."""
    layers, place, count = len(sentence.arriving), sentence.place, len(sentence.tokens)
    top = 2 * layers + 1.6
    for position, token in enumerate(sentence.tokens):
        followed = position == place
        colour, width = (LIGHT[role], 3) if followed else (LIGHT["stream"], 1)
        lane = [left + position] * 2, [0, top]
        ax.plot(*lane, color=colour, linewidth=width, zorder=2 if followed else 1, solid_capstyle="round")
        turned = {"rotation": 50, "ha": "right", "va": "top", "rotation_mode": "anchor"}
        upright = {"ha": "center", "va": "top"}
        weight = "bold" if followed else "normal"
        colour = LIGHT[role] if followed else LIGHT["ink"]
        _write(ax, left + position, -0.4, drawable(token, 14), color=colour, weight=weight,
               **(turned if count >= TURNED else upright))  # fmt: skip
    for n in range(layers) if place >= 0 else ():
        low = 2 * n + 1.5
        ax.axhspan(low, low + 1.7, 0.005, 0.995, color=LIGHT["band"], zorder=0)
        for position, amount in enumerate(sentence.arriving[n][place].tolist()):
            width = min(THICKEST, SCALE * amount)
            if width >= 0.5:
                _draw_ribbon(ax, left + position, left + place, low, width)
        ax.plot(left + place, low + 1.05, "o", color="white", markeredgecolor=LIGHT["ink"], markersize=7, zorder=4)
        ax.plot(left + place, low + 1.05, "+", color=LIGHT["ink"], markersize=6, zorder=5)
        ax.plot(left + place + 0.34, low + 1.4, linestyle="", zorder=4, **LOOP)


def _draw_ribbon(ax: Axes, start: float, end: float, low: float, width: float) -> None:
    points = [(start, low), (start, low + 0.75), (end, low + 0.25), (end, low + 1.0)]
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    ax.add_patch(PathPatch(path, fill=False, edgecolor=LIGHT["attention"], linewidth=width, alpha=0.55, zorder=3))


def _draw_strands(ax: Axes, answer: Answer, middle: float) -> None:
    """The word's two vectors as strands, as far apart as they are at length 1, with their cosine after each layer."""
    height = 2 * answer.layers + 1.6
    if answer.sentence_cosine is not None:
        _write(ax, middle, height + 0.9, f"{answer.sentence_cosine:.3f}", ha="center", color=LIGHT["ink"],
               weight="bold", fontsize=TITLE_SIZE)  # fmt: skip
        _write(ax, middle, height + 0.4, "cosine of the sentences", ha="center", color=LIGHT["quiet"])
    if answer.word_cosines is None:
        _write(ax, middle, height / 2, "no word\nin common", ha="center", va="center", color=LIGHT["quiet"])
        return
    cosines = answer.word_cosines.tolist()
    heights = [0, 1.2, *(y for n in range(answer.layers) for y in (2 * n + 2.5, 2 * n + 3.2))]
    gaps = [STRANDS * distance(cosine) / 2 for cosine in cosines]
    for sign, role in zip((-1, 1), SIDES, strict=True):
        strand = [middle + sign * gap for gap in (*gaps, gaps[-1])]
        ax.plot(strand, [*heights, height], color=LIGHT[role], linewidth=3, solid_capstyle="round")
    for i in range(3, len(cosines), 2):
        _write(ax, middle + gaps[i] + 0.25, heights[i], f"{cosines[i]:.3f}", va="center", color=LIGHT["ink"])
    both = f"both “{drawable(answer.word, 14)}”"
    _write(ax, middle, -0.4, both, ha="center", va="top", color=LIGHT["ink"], weight="bold")
    _write(ax, middle, -1.05, "gap: distance\nnumbers: cosine", ha="center", va="top", color=LIGHT["quiet"])


def _write(ax: Axes, x: float, y: float, text: str, **look: object) -> None:
    ax.text(x, y, text, **({"fontsize": TICK_SIZE} | plain_text(**look)))
