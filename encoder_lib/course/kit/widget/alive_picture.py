"""The picture of `alive.py` for readers without a kernel, and what it shows in words."""

import math
import textwrap

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from encoder_lib.course.kit.interventions import Answer, Cut, Knockout, Question, Sentence
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import figure_size, percent, readable
from encoder_lib.course.kit.plots.style import TICK_SIZE, drawable, label_axes, plain_text

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
BESIDE = 0.7  # how far from the middle the attended words are written, at least, in units of the distance
WIDE = 0.15  # a distance that leaves room for its number between the strands


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
        words.append(f"Layer {question.detail[0] + 1} is open, at head {question.detail[1] + 1}.")
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


def draw(answer: Answer) -> Axes:
    """The followed word on its way up: how far apart its two vectors are, and what it gives its largest weights."""
    return _draw_one(answer) if len(answer.sentences) == 1 else _draw_two(answer)


def _draw_one(answer: Answer) -> Axes:
    """The largest attention weight of each layer as a bar."""
    _, ax = plt.subplots(figsize=figure_size(1, 2.4), layout="constrained")
    (sentence,), layers = answer.sentences, range(answer.layers)
    for n in layers if answer.word else ():
        token, _, weight = _largest_or_none(sentence, n)
        ax.barh(n, weight, 0.6, color=LIGHT["attention"])
        _write(ax, weight + 0.01, n, f"{drawable(token, 14)} {percent(weight)}", va="center", color=LIGHT["ink"])
    ax.set_xlim(0, 1.3)
    _name_heights(ax, {n: f"layer {n + 1}" for n in layers})
    text = drawable(" ".join(sentence.tokens[1:-1]), 80)
    return label_axes(ax, f"The largest attention weights of “{drawable(answer.word, 20)}” on another word", text)


def _draw_two(answer: Answer) -> Axes:
    """Two strands, as far apart as the word's two vectors, and beside them what the word attends to."""
    _, ax = plt.subplots(figsize=figure_size(1, 3.9), layout="constrained")
    apart = [] if answer.word_cosines is None else [distance(cosine) for cosine in answer.word_cosines.tolist()]
    beside = max(BESIDE, max(apart, default=0) / 2 + 0.4)
    heights = {0: "token", 1: "position"} | {2 * n + 3: f"layer {n + 1}" for n in range(answer.layers)}
    for height in heights:
        ax.axhline(height, color=LIGHT["line"], linewidth=0.8, zorder=0)
        if apart and apart[height] > WIDE:
            _write(ax, 0, height + 0.1, f"{apart[height]:.2f}", ha="center", va="bottom", color=LIGHT["quiet"])
    for sentence, side, sign in zip(answer.sentences, SIDES, (-1, 1), strict=True):
        ax.plot([sign * gap / 2 for gap in apart], range(len(apart)), color=LIGHT[side], linewidth=3)
        text = textwrap.fill(drawable(" ".join(sentence.tokens[1:-1]), 80), 30)
        _write(ax, sign * beside, -0.6, text, ha="center", va="top", color=LIGHT["ink"])
        for n in range(answer.layers) if apart else ():
            token, _, weight = _largest_or_none(sentence, n)
            note = f"{drawable(token, 14)} {percent(weight)}"
            _write(ax, sign * beside, 2 * n + 1.9, note, ha="center", va="center", color=LIGHT["ink"])
    ax.set_xlim(-1.4 * beside, 1.4 * beside)
    ax.set_ylim(-2.4, 2 * answer.layers + 1.8)
    _name_heights(ax, heights)
    title = f"The distance of the two vectors of “{drawable(answer.word, 20)}”, and its largest attention weights"
    return label_axes(ax, title if apart else "No word in common")


def _largest_or_none(sentence: Sentence, layer: int) -> tuple[str, int, float]:
    return largest(sentence, layer) or ("nothing", 0, 0.0)


def _name_heights(ax: Axes, names: dict[int, str]) -> None:
    """Names at the left, and nothing else around the picture."""
    ax.set_yticks(list(names), list(names.values()))
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(left=False)


def _write(ax: Axes, x: float, y: float, text: str, **look: str) -> None:
    ax.text(x, y, text, fontsize=TICK_SIZE, **plain_text(**look))
