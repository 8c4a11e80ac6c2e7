"""The explorer in 06_encoder_block: every tensor of one encoder layer, in the order of computation."""

import math
from dataclasses import dataclass
from functools import cache, lru_cache

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.encoder_block.plots import plot_residual_stream
from encoder_lib.course.kit.plots import label_ticks, readable
from encoder_lib.course.kit.widget.controls import Range, Select, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.feed_forward import ACTIVATIONS
from encoder_lib.pretrained import SentenceEncoder
from encoder_lib.trace import trace

LONGEST = 60  # characters of a sentence
ORDERS = ("post-norm", "pre-norm")
STEPS = 15  # tensors in a layer, in either order
GAP = 3  # empty columns between neighbouring heads
WIDTH, HEIGHT, MAP = 9.0, 4.7, 2.6  # inches: the figure, and the drawing of the layer on its left


@dataclass(frozen=True)
class Step:
    """One tensor of a layer: its name, its name in the trace, the part that computes it, its formula and its shape."""

    name: str
    key: str
    part: str
    formula: str
    letters: str = "(T, D)"


def layer_tensors(norm_first: bool, activation: str = "relu") -> list[Step]:
    """The 15 tensors of an encoder layer in the order in which they are computed."""

    def attention(read: str) -> list[Step]:
        linear, inside = "{} · W_{} + b_{}, split into heads".format, {"part": "attention", "letters": "(H, T, K)"}
        return [
            *(Step(n, f"attention.{n}", formula=linear(read, n[0], n[0]), **inside) for n in ("query", "key", "value")),
            Step("scores", "attention.scores", "attention", "query · keyᵀ / √K", "(H, T, T)"),
            Step("weights", "attention.weights", "attention", "softmax(scores), over the keys", "(H, T, T)"),
            Step("heads", "attention.heads", formula="weights · value", **inside),
            Step("attention", "attention", "attention", "heads side by side · W_o + b_o"),
        ]

    def feed_forward(read: str) -> list[Step]:
        function = {"relu": "ReLU", "gelu": "GELU"}[activation]
        return [
            Step("pre-activation", "feed_forward.linear1", "feed_forward", f"{read} · W₁ + b₁", "(T, F)"),
            Step("activation", "feed_forward.hidden", "feed_forward", f"{function}(pre-activation)", "(T, F)"),
            Step("feed-forward", "feed_forward", "feed_forward", "activation · W₂ + b₂"),
        ]

    x = Step("x", "input", "x", "the input of the layer")
    if norm_first:
        return [
            x,
            Step("norm 1", "norm1", "norm1", "norm of x"),
            *attention("norm 1"),
            Step("first sum", "norm2.input", "sum1", "x + attention"),
            Step("norm 2", "norm2", "norm2", "norm of the first sum"),
            *feed_forward("norm 2"),
            Step("y", "output", "sum2", "first sum + feed-forward"),
        ]
    return [
        x,
        *attention("x"),
        Step("first sum", "norm1.input", "sum1", "x + attention"),
        Step("norm 1", "norm1", "norm1", "norm of the first sum"),
        *feed_forward("norm 1"),
        Step("second sum", "norm2.input", "sum2", "norm 1 + feed-forward"),
        Step("y", "output", "norm2", "norm of the second sum"),
    ]


def rewired(layer: EncoderLayer, *, norm_first: bool) -> EncoderLayer:
    """The same layer, sharing its parts, with its norms at the start of the branches or after the additions."""
    with torch.device("meta"):  # its parts are all replaced below, so none is initialised
        other = EncoderLayer(1, 1, 1, norm_first=norm_first)
    for name, part in layer.named_children():
        setattr(other, name, part)
    other.training = layer.training  # not train(), which would change the mode of the shared parts
    return other


def block_steps(
    model: SentenceEncoder, sentence: str, *, step: int = 1, layer: int = 1, order: str = ORDERS[0]
) -> Explorer:
    """Walk through a layer tensor by tensor: a drawing with the current part highlighted, and its numbers as colours.

    Layers and steps are counted from 1. A layer receives the output of the trained layers below it; `order` rewires
    only the chosen layer, which keeps its trained parameters.
    Raises TypeError if `model` isn't a SentenceEncoder, and whatever the controls raise for values they don't accept.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    layers = [layer for layer in model.encoder.encoder.layers if isinstance(layer, EncoderLayer)]
    controls = (
        Text("sentence", sentence, max_length=LONGEST, label="your sentence"),
        Range("step", step, min=1, max=STEPS, label="step, in order of computation"),
        Range("layer", layer, min=1, max=len(layers)),
        Select("order", order, options=ORDERS, label="order of the norms"),
    )
    trained = ORDERS[layers[0].norm_first]
    names = {o: layer_tensors(o == ORDERS[1], layers[0].feed_forward.activation) for o in ORDERS}
    picture = _Picture(model.encoder.n_heads)

    @lru_cache(maxsize=4)
    @torch.no_grad()
    def below(sentence: str) -> tuple[list[str], list[Tensor]]:
        inputs = [model.encoder.embedding(model.ids(sentence))]
        for each in layers[:-1]:
            inputs.append(each(inputs[-1]))
        return [readable(token, 12) for token in model.tokens(sentence)], inputs  # (1, T, D) each

    @lru_cache(maxsize=8)  # moving along the steps recomputes nothing
    @torch.no_grad()
    def inside(sentence: str, layer: int, order: str) -> dict[str, Tensor]:
        chosen = rewired(layers[layer - 1], norm_first=order == ORDERS[1])
        with trace(chosen) as t:
            chosen(below(sentence)[1][layer - 1])
        function = ACTIVATIONS[chosen.feed_forward.activation]
        tensors = dict(t) | {"feed_forward.hidden": function(t["feed_forward.linear1"])}
        return {s.key: tensors[s.key][0].cpu().double() for s in names[order]}

    def show(sentence: str, step: int, layer: int, order: str) -> str:
        tokens, tensors, this = below(sentence)[0], inside(sentence, layer, order), names[order][step - 1]
        values = tensors[this.key]
        title = f"{step} of {STEPS}: {this.name} = {this.formula}" if step > 1 else f"1 of {STEPS}: x, {this.formula}"
        picture.draw(this, values, tokens, order, f"{title}\n{_shape(this, values)}")
        words = [f"Layer {layer}, {order}, step {title}, shape {_shape(this, values)}."]
        words.append(_statistics(this, values, tokens))
        if values.shape == tensors["input"].shape and step > 1:
            alike = torch.nn.functional.cosine_similarity(values, tensors["input"], dim=-1).mean().item()
            words.append(f"The mean cosine of a token with its own x is {alike + 0.0:.2f}.")
        if order != trained:
            words.append(f"These parameters were trained in {trained} order.")
        return " ".join(words)

    web = Web(
        heights=(730, 870),
        stops={"sentence": (), "layer": (1, 6)},
        together=(("step", "layer"), ("step", "order")),
    )
    return Explorer(show, *controls, title="A layer, tensor by tensor", figure=picture.figure, web=web)


def _shape(step: Step, values: Tensor) -> str:
    return f"{step.letters} = {tuple(values.shape)}"


def _statistics(step: Step, values: Tensor, tokens: list[str]) -> str:
    """A tensor's mean, standard deviation and largest number, and the mean length of a token's vector, in words."""
    mean, deviation = (round(number.item(), 2) + 0.0 for number in (values.mean(), values.std(correction=0)))
    *head, row, column = (int(i) for i in np.unravel_index(int(values.abs().argmax()), values.shape))
    largest = f"the number furthest from 0 is {values[(*head, row, column)].item():.2f}"
    words = f"Mean {mean:.2f}, standard deviation {deviation:.2f};"
    if step.letters == "(H, T, T)":
        return f"{words} {largest}, in head {head[0] + 1}, where “{tokens[row]}” attends to “{tokens[column]}”."
    place = f"in head {head[0] + 1}" if head else f"in {_columns(step)} {column}"
    rows = values.transpose(0, 1).flatten(1) if head else values  # (T, D): a token's heads joined
    length = rows.norm(dim=-1).mean().item()
    return f"{words} a token’s vector is {length:.1f} long on average; {largest}, at “{tokens[row]}”, {place}."


def _columns(step: Step) -> str:
    return "hidden unit" if step.letters == "(T, F)" else "dimension"


@cache  # eight parts in two orders, each drawn once, since drawing their text is what takes longest
def _map(order: str, lit: str) -> np.ndarray:
    """The drawing of a layer as pixels, with one part highlighted."""
    figure = Figure(figsize=(MAP, HEIGHT), dpi=100)
    ax = figure.add_axes((0, 0.01, 1, 0.9))
    plot_residual_stream(norm_first=order == ORDERS[1], title=order, lit=lit, ax=ax)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())


class _Picture:
    """The drawing of the layer and one tensor as colours beside it: created once, then updated."""

    def __init__(self, n_heads: int):
        self.n_heads = n_heads
        self.ends: tuple[int, int] | None = None  # the numbers at the two ends of the colour scale
        self.figure = plt.figure(figsize=(WIDTH, HEIGHT), dpi=100)
        self.map = self.figure.figimage(_map(ORDERS[0], "x"), zorder=-1)
        self.ax = self.figure.add_axes((0.38, 0.13, 0.535, 0.72))
        self.image = self.ax.imshow([[0.0]], aspect="auto")
        self.bar = self.figure.colorbar(self.image, cax=self.figure.add_axes((0.925, 0.13, 0.015, 0.72)))
        self.bar.outline.set_visible(False)
        self.bar.ax.set_title("", y=1)  # here and below: a fixed position saves searching for one
        self.ax.spines[:].set_visible(False)
        self.ax.tick_params(left=False, bottom=False)
        for axis, place in ((self.ax.xaxis, (0.5, -0.09)), (self.ax.yaxis, (-0.2, 0.5)), (self.bar.ax.yaxis, (2, 0.5))):
            axis.set_label_coords(*place)

    def draw(self, step: Step, values: Tensor, tokens: list[str], order: str, title: str) -> None:
        self.map.set_data(_map(order, step.part))
        arrange = {"(H, T, T)": tiles, "(H, T, K)": side_by_side}.get(step.letters, Tensor.clone)
        matrix = arrange(values)
        rows, columns = matrix.shape
        self.image.set_data(matrix.numpy())
        self.image.set_extent((-0.5, columns - 0.5, rows - 0.5, -0.5))
        self.image.set_interpolation("nearest" if columns < 500 else "antialiased")
        self.ax.set_aspect("equal" if step.letters == "(H, T, T)" else "auto")
        self._colour({"weights": (0, 1), "scores": (-8, 8)}.get(step.name, (-2, 2)))
        if step.letters == "(H, T, T)":
            self._name_tiles(len(tokens) + 1, rows)
        else:
            self._name_rows(step, values, tokens, columns)
        self.ax.set_title(title, loc="left", y=1.01, parse_math=False)

    def _colour(self, ends: tuple[int, int]) -> None:
        """Use the same colour scale in all pictures: weights from 0 to 1, anything else between two fixed ends."""
        if ends == self.ends:
            return
        low, high = self.ends = ends
        cmap, names = ("viridis", ("0", "0.5", "1")) if low == 0 else ("coolwarm", (f"≤ −{high}", "0", f"≥ {high}"))
        self.image.set_cmap(mpl.colormaps[cmap].with_extremes(bad="white"))
        self.image.set_clim(low, high)
        self.bar.set_ticks([low, (low + high) / 2, high], labels=names)

    def _name_tiles(self, size: int, rows: int) -> None:
        across = _across(self.n_heads)
        firsts = range(1, self.n_heads + 1, across)
        names = [f"heads {n} to {min(n + across - 1, self.n_heads)}" for n in firsts]
        self.ax.set_yticks(range(size // 2 - 1, rows, size), names)
        self.ax.set_xticks([])
        self.ax.set_xlabel("in each square, rows are queries and columns are keys")

    def _name_rows(self, step: Step, values: Tensor, tokens: list[str], columns: int) -> None:
        places = range(0, len(tokens), math.ceil(len(tokens) / 24))
        label_ticks(self.ax.yaxis, places, [tokens[t] for t in places])
        if values.ndim == 2:
            places = range(0, columns, max(1, columns // 6))
            self.ax.set_xticks(places, [str(place) for place in places])
            self.ax.set_xlabel(_columns(step))
        else:
            width = values.shape[-1]
            middles = [h * (width + GAP) + width // 2 for h in range(self.n_heads)]
            self.ax.set_xticks(middles, [str(head) for head in range(1, self.n_heads + 1)])
            self.ax.set_xlabel(f"head, {width} numbers each")


def _across(n_heads: int) -> int:
    return math.ceil(math.sqrt(n_heads))


def side_by_side(values: Tensor) -> Tensor:
    """Heads (H, T, K) side by side, separated by gaps of NaN: (T, H · (K + 3) − 3)."""
    gapped = torch.nn.functional.pad(values, (0, GAP), value=torch.nan)  # (H, T, K + 3)
    return gapped.transpose(0, 1).flatten(1)[:, :-GAP]


def tiles(values: Tensor) -> Tensor:
    """Maps (H, T, T) as squares, ⌈√H⌉ to a row and separated by lines of NaN, in one matrix."""
    n_heads, length, _ = values.shape
    across = _across(n_heads)
    down = math.ceil(n_heads / across)
    gapped = torch.nn.functional.pad(values, (0, 1, 0, 1, 0, across * down - n_heads), value=torch.nan)
    grid = gapped.unflatten(0, (down, across)).transpose(1, 2)  # (down, T + 1, across, T + 1)
    return grid.reshape(down * (length + 1), across * (length + 1))[:-1, :-1]
