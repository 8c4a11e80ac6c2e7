"""The activations of one token inside a published encoder, compared between sentences, and ablation of parts."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.interventions import Knockout, knockout_edits
from encoder_lib.patch import patch
from encoder_lib.pretrained import SentenceEncoder
from encoder_lib.trace import trace


@dataclass(frozen=True)
class Site:
    """A point in the encoder: its short and full name, its layer or 0, and the name of its output in a trace.

    joined: whether the vector there is the residual stream itself, and not what a branch adds to it.
    """

    short: str
    name: str
    layer: int
    key: str
    joined: bool = True


def sites(n_layers: int) -> list[Site]:
    """The sites of a post-norm encoder, in order: token and position embedding, four for each layer, the mean."""
    inside = []
    for n in range(1, n_layers + 1):
        for part, key, norm in (("attention", "attention", "norm1"), ("feed-forward", "feed_forward", "norm2")):
            inside += [
                Site(part, f"layer {n}: {part} adds", n, f"encoder.layers.{n - 1}.{key}", joined=False),
                Site("+ norm", f"layer {n}: + norm after {part}", n, f"encoder.layers.{n - 1}.{norm}"),
            ]
    before = Site("table", "table", 0, "embedding.token"), Site("position", "position", 0, "embedding")
    return [*before, *inside, Site("mean", "mean", 0, "output", joined=False)]


@dataclass(frozen=True)
class Run:
    """A sentence and its forward pass: its tokens, the index of the token to follow, and all outputs by name."""

    tokens: list[str]
    place: int
    outputs: dict[str, Tensor]
    sites: list[Site]

    def at(self, site: Site) -> Tensor:
        """The token's vector at a site; at the last one, the mean over all tokens. Shapes: -> (D,)."""
        x = self.outputs[site.key][0].double()  # (T, D)
        return x.mean(dim=0) if site.short == "mean" else x[self.place]

    def attention(self, layer: int) -> Tensor:
        """The token's attention weights over all tokens, in each head of a layer, counted from 1. Shapes: -> (H, T)."""
        return self.outputs[f"encoder.layers.{layer - 1}.attention.weights"][0, :, self.place]


@torch.no_grad()
def follow(
    model: SentenceEncoder,
    sentence: str,
    word: str,
    *,
    alone: bool = False,
    cut: str | None = None,
    mask: Tensor | None = None,
) -> Run:
    """Run the encoder on a sentence, and follow the first token `word`.

    mask: (T, T), True = may attend; with `alone` each token attends only to itself, with `cut` all attend to all, but
    `word` does not attend to the first token `cut`.
    Raises: ValueError for a word that is not a token of the sentence, or a mask of another shape; TypeError for a mask
    that is not boolean.
    """
    ids, tokens = model.ids(sentence), model.tokens(sentence)
    if mask is not None:
        expect.boolean_mask(mask, (len(tokens), len(tokens)))
    if alone:
        mask = torch.eye(len(tokens), dtype=torch.bool)
    if cut is not None:
        mask = torch.ones(len(tokens), len(tokens), dtype=torch.bool)
        mask[tokens.index(word), tokens.index(cut)] = False
    with trace(model.encoder) as t:
        model.encoder(ids, mask if mask is None else mask.to(ids.device))
    outputs = {name: x.cpu() for name, x in t.items()}
    return Run(tokens, tokens.index(word), outputs, sites(len(model.encoder.encoder.layers)))


def cosines(first: Run, second: Run) -> dict[str, float]:
    """The cosine of the two vectors at each site, by the site's name: "table", "layer 1: attention adds" …"""
    return {site.name: F.cosine_similarity(first.at(site), second.at(site), dim=0).item() for site in first.sites}


def ablate(model: SentenceEncoder, part: str) -> SentenceEncoder:
    """Return a copy of the model without one part, in all layers; the model itself is not changed.

    "nothing" takes nothing out. Without "position", every position adds the mean row of the table; without
    "feed-forward", that part adds 0; without "+", the residual connections, x + f(x) becomes f(x); without "norm", the
    norms in the layers return their input. Raises: ValueError for another part.
    """
    parts: dict[str, tuple[str, ...]] = {
        "nothing": (),
        "position": ("position",),
        "feed-forward": ("feed_forward",),
        "+": ("residual1", "residual2"),
        "norm": ("norm1", "norm2"),
    }
    expect.choice("part", part, parts)
    edits = knockout_edits(model, [Knockout(name, None) for name in parts[part]])
    return SentenceEncoder(model.tokenizer, patch(model.encoder, edits))
