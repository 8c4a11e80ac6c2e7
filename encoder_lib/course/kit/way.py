"""The way of a word through a published encoder, station by station, and how alike it is in two sentences there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.pretrained import SentenceEncoder
from encoder_lib.trace import trace


@dataclass(frozen=True)
class Station:
    """A place on the way: its name, short and in full, its layer or 0, and the name in the trace of what comes out.

    joined: the vector is passed on from here; what a branch adds goes into a sum first.
    """

    short: str
    name: str
    layer: int
    key: str
    joined: bool = True


def stations(n_layers: int) -> list[Station]:
    """The way through an encoder of post-norm layers: the table, the position, four stations a layer, the mean."""
    inside = []
    for n in range(1, n_layers + 1):
        for part, key, norm in (("attention", "attention", "norm1"), ("feed-forward", "feed_forward", "norm2")):
            inside += [
                Station(part, f"layer {n}: {part} adds", n, f"encoder.layers.{n - 1}.{key}", joined=False),
                Station("+ norm", f"layer {n}: + norm after {part}", n, f"encoder.layers.{n - 1}.{norm}"),
            ]
    before = Station("table", "table", 0, "embedding.token"), Station("position", "position", 0, "embedding")
    return [*before, *inside, Station("mean", "mean", 0, "output", joined=False)]


@dataclass(frozen=True)
class Visit:
    """A sentence that went through: its tokens, the place of the word, and all that the modules put out, by name."""

    tokens: list[str]
    place: int
    outputs: dict[str, Tensor]
    stations: list[Station]

    def at(self, station: Station) -> Tensor:
        """What comes out at a station for the word, in the end for the whole sentence. Shapes: -> (D,)."""
        x = self.outputs[station.key][0].double()  # (T, D)
        return x.mean(dim=0) if station.short == "mean" else x[self.place]

    def looks(self, layer: int) -> Tensor:
        """How much of each token the word takes, in each head of a layer from 1 on. Shapes: -> (H, T)."""
        return self.outputs[f"encoder.layers.{layer - 1}.attention.weights"][0, :, self.place]


@torch.no_grad()
def visit(
    model: SentenceEncoder, sentence: str, word: str, *, alone: bool = False, may_look: Tensor | None = None
) -> Visit:
    """Send a sentence through the encoder, and follow the first token `word`.

    may_look: the mask (T, T), True = may look; `alone` forbids all looks at others.
    Raises: ValueError for a word that is no token of the sentence, or a mask of another shape; TypeError for no mask.
    """
    ids, tokens = model.ids(sentence), model.tokens(sentence)
    if may_look is not None:
        expect.boolean_mask(may_look, (len(tokens), len(tokens)))
    mask = torch.eye(len(tokens), dtype=torch.bool) if alone else may_look
    with trace(model.encoder) as t:
        model.encoder(ids, mask if mask is None else mask.to(ids.device))
    outputs = {name: x.cpu() for name, x in t.items()}
    return Visit(tokens, tokens.index(word), outputs, stations(len(model.encoder.encoder.layers)))


@contextmanager
def without(model: SentenceEncoder, part: str) -> Iterator[None]:
    """Take a part out of the encoder, of all layers, for as long as a `with` block lasts.

    "nothing" leaves all as it is; of "position" the mean row is added everywhere; "feed-forward" adds 0; without "+" a
    sum x + f(x) is f(x); "norm" gives on what it is given, in the layers. Raises ValueError for another part.
    """
    inside = dict(model.encoder.named_modules())
    same_row = model.encoder.get_parameter("embedding.position.weight").detach().mean(dim=0)  # (D,)

    def ending(*names: str) -> list[nn.Module]:
        return [module for name, module in inside.items() if name.startswith("encoder.layers") and name.endswith(names)]

    parts: dict[str, tuple[list[nn.Module], Callable[[Tensor, Tensor], Tensor]]] = {
        "nothing": ([], lambda x, out: out),
        "position": ([inside["embedding.position"]], lambda x, out: x + same_row),
        "feed-forward": (ending("feed_forward"), lambda x, out: 0 * out),
        "+": (ending("attention", "feed_forward"), lambda x, out: out - x),
        "norm": (ending("norm1", "norm2"), lambda x, out: x),
    }
    expect.choice("part", part, parts)
    modules, instead = parts[part]
    hooks = [module.register_forward_hook(lambda _, given, out: instead(given[0], out)) for module in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def along(first: Visit, second: Visit) -> dict[str, float]:
    """The cosine of the two vectors at each station, by its name: "table", "layer 1: attention adds" …"""
    return {s.name: F.cosine_similarity(first.at(s), second.at(s), dim=0).item() for s in first.stations}
