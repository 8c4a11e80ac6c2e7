"""One token's attention in one head, step by step, from the residual stream to its query, and back into the stream."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Patch, PathPatch, Rectangle
from matplotlib.path import Path
from torch import Tensor

from encoder_lib.course.kit.interventions import Detail, Sentence
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.plots.style import NOTE_SIZE, TEXT_SIZE, TITLE_SIZE, close_on_error, drawable, plain_text

# CSS pixels, as are all lengths here: of a row and what is drawn in it; of a line of a title and below it, of the names
# of the columns, from the line below these to the rows, of a line of words, and of all that is below the rows; between
# bands, and drawings
ROW, STRIP, BAR = 24, 17, 12
TITLE, AIR, HEADS, RULE, WORDS, FOOT = 20, 4, 62, 14, 16, 78
APART, GAP = 20, 30
STREAM, BRANCH, PLUS = 5, 1.4, 8  # how wide the residual stream is, and what leaves it; the radius of the ⊕
CENTRE = 4  # from the middle of a line of words to where its letters stand
INCH, POINT = 96, 0.75  # pixels of an inch, points of a pixel
BOX = 20  # a layer beside the title, where there is one band
SHADES = 10  # of the numbers of a vector
NAME = 10  # characters of a token
SMALL = 0.005  # a weight from here on has a number of its own
MINUS = str.maketrans("-", "−")

Span = tuple[int, int]  # from left to right
Point = tuple[float, float]


class Layout(NamedTuple):
    """Where the columns are; numbers end where their column ends. In two bands, the weights begin the second."""

    width: int
    letters: int  # of a line of the title
    bands: int
    names: int  # where they end
    query: Span
    keys: Span
    scores: Span
    weights: Span
    values: Span
    mean: Span
    heads: tuple[str, str]  # of the mean
    plus: int  # where the result is added to the stream


WEIGHTED = ("weighted mean", "Σ weight · value")
WIDE = Layout(
    749, 80, 1, 64, (74, 160), (198, 284), (300, 402), (418, 520), (536, 622), (659, 749), WEIGHTED, 704
)  # fmt: skip
NARROW = Layout(
    355, 44, 2, 62, (70, 142), (172, 244), (258, 355), (70, 166), (176, 244), (268, 328), ("mean", "weighted"), 346
)  # fmt: skip


def share(weight: float) -> str:
    """A weight in per cent, also where whole per cents would make it none or all: "0.08 %", "> 99.9 %"."""
    if 0 < weight < SMALL:
        return f"{100 * weight:.1g} %" if weight >= 1e-6 else "< 0.0001 %"
    if 0.995 <= weight < 1:
        return f"{100 * weight:.1f} %" if weight < 0.9995 else "> 99.9 %"
    return percent(weight)


def weights_of(sentence: Sentence, detail: Detail) -> list[float]:
    """The weights of the followed token, or of the first one, in the open head."""
    return sentence.weights[detail.layer][detail.head, max(0, sentence.place)].tolist()


def attends(sentence: Sentence, detail: Detail) -> str:
    """What the followed token attends to most in the open head, and how much."""
    weights, place = weights_of(sentence, detail), max(0, sentence.place)
    names = [f"“{drawable(token, 14)}”" for token in sentence.tokens]
    most = weights.index(max(weights))
    whom, given = "itself" if most == place else names[most], share(weights[most]).replace("> ", "more than ")
    gives = f"gives {whom} {given} of its attention" if weights[most] > 0 else "attends to nothing"
    return f"{names[place]} {gives}"


def finding(sentence: Sentence, detail: Detail) -> str:
    """The same, with the layer and the head."""
    return f"In layer {detail.layer + 1}, head {detail.head + 1}, {attends(sentence, detail)}"


def in_words(sentence: Sentence, detail: Detail) -> str:
    """The finding, with the score behind it and the highest of the others."""
    weights, scores = weights_of(sentence, detail), detail.scores[max(0, sentence.place)].tolist()
    most = weights.index(max(weights))
    others = [score for i, score in enumerate(scores) if i != most and math.isfinite(score)]
    if not (weights[most] and others):
        return finding(sentence, detail)
    own, other = (f"{score:.1f}".translate(MINUS) for score in (scores[most], max(others)))
    return f"{finding(sentence, detail)}: the score of its key is {own}, and the highest of the others is {other}"


@close_on_error
def draw_chains(opened: Sequence[tuple[Sentence, Detail, str]], *, wide: bool = True) -> Figure:
    """Draw the attention of each sentence's followed token in the open head: a row for each token, a column for a step.

    The steps are the query, the keys, the scores, the weights, the values and their weighted mean. The token's vector,
    in the residual stream, runs past them, and the result is added to it. On a phone (not `wide`), the first three
    steps stand above the others. Two sentences share a title and, where there is one band, the names of the columns.
    opened: each sentence, its open head, and the role of the followed token as the palette names it.
    """
    layout, pair = WIDE if wide else NARROW, len(opened) > 1
    sentence, detail, _ = opened[0]
    title = (
        f"Layer {detail.layer + 1}, head {detail.head + 1}, in both sentences" if pair else finding(sentence, detail)
    )
    figure = plt.figure()
    ax = figure.add_axes((0, 0, 1, 1))
    ax.axis("off")
    if layout.bands == 1:
        _draw_layers(ax, layout.width, len(sentence.weights), detail.layer)
    height = _draw_title(ax, 0, title, TITLE_SIZE, layout)
    for number, (sentence, detail, role) in enumerate(opened):
        chain = _Chain(ax, layout, sentence, detail, role)
        height = chain.draw(height + GAP * (number > 0), named=number == 0, titled=pair)
    ax.set(xlim=(0, layout.width), ylim=(height, 0))
    figure.set_size_inches(layout.width / INCH, height / INCH)
    return figure


def _draw_title(ax: Axes, top: int, title: str, size: float, layout: Layout) -> int:
    """Write a title on as many lines as it needs; returns where it ends."""
    lines = textwrap.wrap(title, int(layout.letters * TITLE_SIZE / size))
    ax.text(0, top, "\n".join(lines), **plain_text(fontsize=size, weight="bold", va="top", linespacing=1.3))
    return top + TITLE * len(lines) + AIR


def _draw_layers(ax: Axes, right: int, count: int, opened: int) -> None:
    """The encoder's layers, a box for each, at the right of the title; the open one is framed."""
    left, y = right - BOX * count, TITLE / 2
    look = plain_text(fontsize=NOTE_SIZE, va="baseline")
    ax.text(left - 6, y + CENTRE - 1, "layers", color=LIGHT["quiet"], ha="right", **look)
    for n in range(count):
        role, edge, weight = ("ink", 1.2, "bold") if n == opened else ("quiet", 0, "normal")
        box = Rectangle((left + BOX * n, y - BOX / 2 - 1), BOX - 3, BOX - 3, linewidth=edge)
        box.set(facecolor=LIGHT["band-lit"], edgecolor=LIGHT[role])
        ax.add_patch(box).set_clip_on(False)
        ax.text(
            left + BOX * (n + 0.5) - 1.5,
            y + CENTRE - 2,
            str(n + 1),
            color=LIGHT[role],
            ha="center",
            weight=weight,
            **look,
        )


class _Chain:
    """The attention of one token, which has the role of its sentence."""

    def __init__(self, ax: Axes, layout: Layout, sentence: Sentence, detail: Detail, role: str) -> None:
        self.ax, self.layout, self.sentence, self.detail, self.role = ax, layout, sentence, detail, role
        self.place, self.count, self.last = max(0, sentence.place), len(sentence.tokens), layout.bands - 1
        self.weights, self.heads = weights_of(sentence, detail), len(sentence.weights[detail.layer])
        self.most, self.tokens = self.weights.index(max(self.weights)), sentence.tokens
        self.name = f"“{drawable(sentence.tokens[self.place], NAME)}”"
        self.tops: list[int] = []  # of the rows in each band

    def draw(self, top: int, *, named: bool, titled: bool) -> int:
        """Draw all of it from `top` on; in one band the columns need not be `named`. Returns where it ends."""
        if named and self.layout.bands == 1:
            self._heads(0, top)
            top += HEADS
        if titled:
            top = _draw_title(self.ax, top, attends(self.sentence, self.detail), TEXT_SIZE, self.layout)
        for band in range(self.layout.bands):
            if self.layout.bands > 1:
                self._heads(band, top)
                top += HEADS
            self.tops.append(top)
            top += ROW * self.count + FOOT + APART * (band < self.last)
        self._rows()
        self._query(explained=named)
        self._scores()
        self._weights()
        self._mean()
        self._stream()
        return top

    def _y(self, row: float, band: int = 0) -> float:
        """The middle of a row."""
        return self.tops[band] + ROW * (row + 0.5)

    def _rows(self) -> None:
        """The names of the tokens in each band; the row with the largest weight is lit."""
        for band in range(self.layout.bands):
            corner = (0, self._y(self.most - 0.5, band))
            self._add(Rectangle(corner, self.layout.width, ROW, color=LIGHT["band-lit"], linewidth=0))
            for i, token in enumerate(self.tokens):
                colour = self.role if i == self.place else "ink" if i == self.most else "quiet"
                bold = i in (self.place, self.most)
                self._write(self.layout.names, self._y(i, band), drawable(token, NAME), colour, bold, ha="right")

    def _heads(self, band: int, top: int) -> None:
        """The names of a band's columns, with an arrow from each to the next one."""
        layout, K, y = self.layout, self.detail.query.shape[-1], top + HEADS - RULE
        columns = [
            (0, layout.query, "query", f"of {self.name}", "query"),
            (0, layout.keys, "keys", "of all tokens", "key"),
            (0, layout.scores, "scores", f"q · k ÷ √{K}", "ink"),
            (self.last, layout.weights, "weights", "softmax", "attention"),
            (self.last, layout.values, "values", "of all tokens", "value"),
            (self.last, layout.mean, *layout.heads, "value"),
        ]
        shown = [column for column in columns if column[0] == band]
        for (_, (left, right), name, what, role), following in zip(shown, [*shown[1:], None], strict=True):
            self._write(left, y - 29, name, role, bold=True, fontsize=TEXT_SIZE)
            self._write(left, y - 12, what, "quiet")
            if following is None:
                self._line([(left, y), (right, y)])
            else:
                self._arrow([(left, y), (following[1][0] - 6, y)])

    def _query(self, *, explained: bool) -> None:
        """The query of the followed token, with a line to the key of each; strips can be `explained` below them."""
        query, keys, (_, start), (end, _) = self.detail.query, self.detail.key, self.layout.query, self.layout.keys
        self._strips("query", self.layout.query, {self.place: query[self.place]}, query[self.place])
        self._strips("key", self.layout.keys, dict(enumerate(keys)), keys)
        for i in range(self.count):
            self._curve((start + 2, self._y(self.place)), (end - 2, self._y(i)), "query", 0.9)
        words = (f"Each strip: {query.shape[-1]} numbers,", "grey where negative")
        for line, text in enumerate(words if explained else ()):
            self._write(self.layout.keys[0], self._y(self.count) + WORDS * line, text, "quiet")

    def _scores(self) -> None:
        (left, right), scores = self.layout.scores, self.detail.scores[self.place].tolist()
        known = [score for score in scores if math.isfinite(score)]
        low, high = min(0.0, *known, 0.0), max(1e-9, *known, 0.0)
        unit = (right - 36 - left) / (high - low)
        zero = left - low * unit
        self._line([(zero, self._y(-0.5)), (zero, self._y(self.count - 0.5))])
        for i, score in enumerate(scores):
            lit, cut = i == self.most, not math.isfinite(score)
            if not cut:
                self._bar(zero, self._y(i), score * unit, "ink" if lit else "quiet")
            number = "cut" if cut else f"{score:.1f}".translate(MINUS)
            self._write(right, self._y(i), number, "ink" if lit else "quiet", lit, ha="right")

    def _weights(self) -> None:
        """The weights; the smallest are counted and added up below."""
        (left, right), band = self.layout.weights, self.last
        self._line([(left, self._y(-0.5, band)), (left, self._y(self.count - 0.5, band))])
        for i, weight in enumerate(self.weights):
            lit, long = i == self.most, weight * (right - 52 - left)
            self._bar(left, self._y(i, band), long, "attention")
            if weight >= SMALL:
                self._write(left + long + 5, self._y(i, band), share(weight), "ink" if lit else "quiet", lit)
        small = [weight for weight in self.weights if weight < SMALL]
        if small:
            others = "the other" + f" {len(small)}" * (len(small) > 1)
            self._write(left, self._y(self.count, band), f"{others}: {share(sum(small))}", "quiet")

    def _mean(self) -> None:
        """The values, and a ribbon from each, as wide as its weight, to their weighted mean."""
        values, mean, band = self.detail.value, self.detail.mixed[self.place], self.last
        (_, start), (end, _) = self.layout.values, self.layout.mean
        self._strips("value", self.layout.values, dict(enumerate(values)), values, band)
        self._strips("value", self.layout.mean, {self.place: mean}, values, band)
        y = self._y(self.place, band)
        for i, weight in enumerate(self.weights):
            if weight > 0:
                self._curve((start + 2, self._y(i, band)), (end, y), "attention", max(0.6, weight * STRIP))

    def _stream(self) -> None:
        """The token's vector, from which the query is made, runs past all steps to a ⊕, where their result is added."""
        layout, y, foot = self.layout, self._y(self.count) + 40, self._y(self.count, self.last)
        branch, mean, plus = sum(layout.query) / 2, sum(layout.mean) / 2, layout.plus
        if layout.bands == 1:
            words, added, right, along = foot, y, layout.width, [(layout.width, y)]
            back = [(mean, added - PLUS)]
        else:  # along the right edge of the second band
            words, added, right, along = foot + WORDS, foot + 1.5 * WORDS, plus - 14, [(plus, y), (plus, foot + 62)]
            back = [(mean, added), (plus - PLUS, added)]
        self._arrow([(layout.query[0], y), *along], "stream", STREAM)
        self._arrow([(branch, y), (branch, self._y(self.place) + STRIP / 2 + 2)], "stream", BRANCH)
        self._arrow([(mean, self._y(self.place, self.last) + STRIP / 2 + 2), *back], "stream", BRANCH)
        self._add(
            Circle((plus, added), PLUS, facecolor=LIGHT["ground"], edgecolor=LIGHT["ink"], linewidth=BRANCH * POINT)
        )
        for across in (0, 1):
            ends = [(plus - 4 * sign * across, added - 4 * sign * (1 - across)) for sign in (-1, 1)]
            self._line(ends, "ink", BRANCH)
        self._write(layout.names, y, drawable(self.tokens[self.place], NAME), self.role, bold=True, ha="right")
        self._write(layout.query[0], y + 19, f"residual stream: the vector of {self.name}", "quiet")
        for line, text in enumerate(("output projection,", f"with the other {self.heads - 1} heads")):
            self._write(mean - 9, words + WORDS * line, text, "quiet", ha="right")
        self._write(right, foot + 59, "the sum goes on to the norm", "quiet", ha="right")

    def _strips(self, role: str, span: Span, vectors: Mapping[int, Tensor], scale: Tensor, band: int = 0) -> None:
        """Vectors as strips: a number's cell is the deeper, the larger it is beside those of `scale`."""
        left, right = span
        cells: dict[tuple[bool, int], list[Point]] = {}
        wide, most = (right - left) / scale.shape[-1], max(1e-9, scale.abs().max().item())
        for row, vector in vectors.items():
            low, high = self._y(row, band) - STRIP / 2, self._y(row, band) + STRIP / 2
            for k, number in enumerate(vector.tolist()):
                x = left + wide * (k + 0.5)
                cells.setdefault((number > 0, round(SHADES * abs(number) / most)), []).extend([(x, low), (x, high)])
            frame = Rectangle((left, low), right - left, STRIP, fill=False, edgecolor=LIGHT["line"], linewidth=0.6)
            self._add(frame)
        for (positive, shade), points in cells.items():
            if shade:
                path = Path(points, [Path.MOVETO, Path.LINETO] * (len(points) // 2))
                path.should_simplify = False
                look = {"edgecolor": LIGHT[role if positive else "line-strong"], "alpha": shade / SHADES}
                self._add(PathPatch(path, fill=False, linewidth=wide * POINT, capstyle="butt", **look))

    def _bar(self, x: float, y: float, width: float, role: str) -> None:
        self._add(Rectangle((x, y - BAR / 2), width, BAR, color=LIGHT[role], linewidth=0))

    def _curve(self, start: Point, end: Point, role: str, width: float) -> None:
        middle = (start[0] + end[0]) / 2
        path = Path([start, (middle, start[1]), (middle, end[1]), end], [Path.MOVETO, *[Path.CURVE4] * 3])
        look = {"edgecolor": LIGHT[role], "alpha": 0.55, "capstyle": "butt"}
        self._add(PathPatch(path, fill=False, linewidth=width * POINT, **look))

    def _line(self, points: Sequence[Point], role: str = "line-strong", width: float = 1.2) -> None:
        self._add(PathPatch(Path(points), fill=False, edgecolor=LIGHT[role], linewidth=width * POINT))

    def _arrow(self, points: Sequence[Point], role: str = "line-strong", width: float = 1.2) -> None:
        head = f"-|>,head_length={3 + 0.6 * width},head_width={1.2 + 0.6 * width}"
        arrow = FancyArrowPatch(path=Path(points), arrowstyle=head)
        arrow.set(color=LIGHT[role], linewidth=width * POINT, capstyle="butt")
        self._add(arrow)

    def _write(self, x: float, y: float, text: str, role: str, bold: bool = False, **look: object) -> None:
        look = {"color": LIGHT[role], "weight": "bold" if bold else "normal", "fontsize": NOTE_SIZE} | look
        self.ax.text(x, y + CENTRE, text, **plain_text(va="baseline", **look))

    def _add(self, patch: Patch) -> None:
        self.ax.add_patch(patch).set_clip_on(False)
