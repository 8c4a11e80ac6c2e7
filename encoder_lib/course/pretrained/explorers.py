"""The live picture of real attention: any sentence, any layer and head of a pretrained encoder."""

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

RECORDED = (  # sentences that stand for typing on the web
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
LONGEST = 100  # characters of a sentence; as many tokens fit on the picture


def heads(
    model: SentenceEncoder, sentence: str, *, layer: int = 1, head: int = 1, word: str = "", atlas: bool = False
) -> Explorer:
    """Who looks at whom in a sentence that the reader types; `atlas` shows all layers and heads, small, beside it.

    Layers and heads count from 1. The token `word` is lit at first, or else the second one. The front end steps through
    the heads by itself.
    Raises TypeError for what is no SentenceEncoder, and what the controls raise for values that they do not take.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    n_layers, n_heads = len(model.encoder.encoder.layers), model.encoder.n_heads

    @lru_cache(maxsize=8)  # moving along the layers computes nothing anew
    def look(sentence: str) -> tuple[list[str], Tensor]:
        return model.tokens(sentence), model.attention(sentence).cpu().double()  # (layers, H, T, T)

    def show(sentence: str, layer: int, head: int) -> View:
        tokens, weights = look(sentence)
        large = attention_map(weights[layer - 1], tokens, f"Layer {layer}, head {{frame}}: who looks at whom")
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
            heights=(850, 990) if atlas else (940, 1030),
            stops={"sentence": RECORDED[:4] if atlas else RECORDED},
            together=(("sentence", "layer"),),
            live="heads",
        ),
    )


def habit(weights: Tensor, tokens: list[str]) -> str:
    """What a head (T, T) mostly does, in words: where the weight of its tokens goes, and its strongest single look."""
    received = weights.mean(dim=0)  # (T,): what each token gets, averaged over those that look
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
    share = percent(inner.max().item())
    return (
        f"{words} Its strongest look from one word to another: “{tokens[query + 1]}” at “{tokens[key + 1]}”, {share}."
    )


def _tiled(weights: Tensor) -> Heatmap:
    """All maps (layers, H, T, T) in one, layers downwards and heads to the right, with a gap between."""
    n_layers, n_heads, length, _ = weights.shape
    gap = 1 + length // 6  # wide enough to tell it from a bright column
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
    )
