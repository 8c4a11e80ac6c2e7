"""The live picture of real attention: any sentence, and any layer and head of a pretrained encoder."""

from functools import lru_cache

import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import Heatmap, View, attention_map
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.pretrained import SentenceEncoder

RECORDED = (  # sentences that can be chosen on the web, where one cannot type
    "The cat sat on the mat because it was tired.",
    "The trophy does not fit into the suitcase because it is too big.",
    "The trophy does not fit into the suitcase because it is too small.",
    "She deposited the money at the bank.",
    "They walked along the bank of the river.",
    "How do I bake a cake?",
    "The dog bites the man.",
    "The man bites the dog.",
    "你好世界",
)
LONGEST = 100  # characters in a sentence, so that its tokens fit into the picture


def heads(
    model: SentenceEncoder, sentence: str, *, layer: int = 1, head: int = 1, word: str = "", atlas: bool = False
) -> Explorer:
    """The attention weights of a sentence that the reader types; `atlas` adds small maps of all heads, which open them.

    Layers and heads are counted from 1. At first the token `word` is selected, or the second one if there is no such
    token. The front end steps through the heads by itself.
    Raises TypeError for a model that is not a SentenceEncoder, and whatever the controls raise for invalid values.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    n_layers, n_heads = len(model.encoder.encoder.layers), model.encoder.n_heads

    @lru_cache(maxsize=8)  # another layer of the same sentence needs no new computation
    def look(sentence: str) -> tuple[list[str], Tensor]:
        return model.tokens(sentence), model.attention(sentence).cpu().double()  # (layers, H, T, T)

    def show(sentence: str, layer: int, head: int) -> View:
        tokens, weights = look(sentence)
        large = attention_map(weights[layer - 1], tokens, f"Layer {layer}, head {{frame}}: attention weights")
        words = [f"Layer {layer}, head {h + 1}: {habit(weights[layer - 1, h], tokens)}" for h in range(n_heads)]
        panels = [_tiled(weights), large] if atlas else [large]
        chosen = tokens.index(word) if word in tokens else 1
        return View(*panels, description=words, frames="head", tokens=large, chosen=chosen)

    return Explorer(
        show,
        Text("sentence", sentence, max_length=LONGEST, label="your sentence"),
        Range("layer", layer, min=1, max=n_layers),
        Range("head", head, min=1, max=n_heads),
        title="Attention in your sentence",
        web=Web(
            heights=(1387, 1402) if atlas else (940, 1030),
            stops={"sentence": RECORDED[:4] if atlas else RECORDED},
            together=(("sentence", "layer"),),
            live="heads",
        ),
    )


def habit(weights: Tensor, tokens: list[str]) -> str:
    """In words, where most of the weight of a head (T, T) goes, and its largest weight from one word to another."""
    received = weights.mean(dim=0)  # (T,): what each token gets, averaged over the query positions
    places = {
        "the token itself": weights.diagonal().mean(),
        "the token before": weights.diagonal(-1).sum() / len(weights),
        "the token after": weights.diagonal(1).sum() / len(weights),
        f"“{tokens[received.argmax()]}”": received.max(),
    }
    most = max(places, key=places.__getitem__)
    words = f"on average over all tokens, {percent(places[most].item())} of its weight, the most, goes to {most}."
    inner = weights[1:-1, 1:-1].clone().fill_diagonal_(-1)  # (T − 2, T − 2), without the two special tokens
    if len(inner) < 2:
        return words
    query, key = divmod(int(inner.argmax()), len(inner))
    pair, share = f"from “{tokens[query + 1]}” to “{tokens[key + 1]}”", percent(inner.max().item())
    return f"{words} Its largest weight from one word to another: {pair}, {share}."


def _tiled(weights: Tensor) -> Heatmap:
    """All maps (layers, H, T, T) in one: layers from top to bottom, heads from left to right, with gaps between."""
    n_layers, n_heads, length, _ = weights.shape
    gap = 1 + length // 6  # wide enough not to look like a coloured column
    step = max(1, -(-(length + gap) * n_heads // 480))  # a long sentence is thinned out until it fits
    gap = 1 + -(-length // step) // 6
    small = torch.nn.functional.pad(weights[:, :, ::step, ::step], (0, gap, 0, gap), value=torch.nan)
    size = small.shape[-1]
    return Heatmap(
        small.transpose(1, 2).reshape(n_layers * size, n_heads * size)[:-gap, :-gap],
        title=f"All {n_layers * n_heads} heads",
        x_label="head",
        y_label="layer",
        x_ticks=[str(i // size + 1) for i in range(n_heads * size - gap)],
        y_ticks=[str(i // size + 1) for i in range(n_layers * size - gap)],
        missing="between two heads",
        tile=size,
        picks=("layer", "head"),
    )
