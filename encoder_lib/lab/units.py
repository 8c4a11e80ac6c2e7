"""What the hidden units of a feed-forward network answer to."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.model.feed_forward import FeedForward
from encoder_lib.pretrained import SentenceEncoder
from encoder_lib.trace import trace

PROPERTIES: dict[str, Callable[[str, str], bool]] = {  # name -> whether a word that follows another has it
    "ends in -ed": lambda word, before: word.endswith("ed") and len(word) > 3,
    "ends in -ing": lambda word, before: word.endswith("ing") and len(word) > 4,
    "ends in -s": lambda word, before: word.endswith("s") and len(word) > 3,
    "follows “to”": lambda word, before: before == "to",
    "follows “the”": lambda word, before: before == "the",
    "opens the text": lambda word, before: before == "[CLS]",
    "continues a word": lambda word, before: word.startswith("##"),
}


@dataclass(frozen=True)
class UnitActivations:
    """All words of some texts, and what the hidden units of one feed-forward network make of them.

    words, previous: each word piece, and the one before it. ids (N,): their numbers in the vocabulary.
    inputs (N, D): what the network reads. preactivations (N, F): what each unit adds up, before its bend.
    train (N,): True for every second word piece of the vocabulary, to look for a pattern in; the others are there to
    test it. So no word that a pattern is tested on was seen when it was looked for.
    """

    words: list[str]
    previous: list[str]
    ids: Tensor
    inputs: Tensor
    preactivations: Tensor
    train: Tensor

    def has_property(self, name: str) -> Tensor:
        """Which words have a property of `PROPERTIES`. Shapes: -> (N,), boolean. Raises ValueError for another name."""
        expect.choice("property", name, PROPERTIES)
        return torch.tensor([PROPERTIES[name](*pair) for pair in zip(self.words, self.previous, strict=True)])

    @torch.no_grad()
    def with_permuted_weights(self, network: FeedForward, *, seed: int = 0) -> Tensor:
        """The preactivations (N, F) of a network whose units have the same weights, each unit's in a random order.

        Raises: TypeError for another network, or a seed that is no integer; ValueError for one of another width.
        """
        expect.kind("network", network, FeedForward, "a FeedForward")
        seed, width = expect.seed(seed), self.inputs.shape[-1]
        if network.linear1.in_features != width:
            got = f"FeedForward({network.linear1.in_features}, …)"
            raise ValueError(f"network: expected one that reads vectors of width {width}, got {got}")
        weight = network.linear1.weight.detach().cpu()  # (F, D)
        order = torch.rand(weight.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float32).argsort(1)
        bias = network.linear1.bias
        return torch.nn.functional.linear(self.inputs, weight.gather(1, order), None if bias is None else bias.cpu())


@torch.no_grad()
def collect_activations(model: SentenceEncoder, texts: Iterable[str], *, layer: int = 1) -> UnitActivations:
    """Let a model read texts, and keep what the feed-forward network of a layer, counted from 1, reads and adds up.

    Layers above are not computed. Words are word pieces; the two special tokens of each text are left out.

    Raises: TypeError for another model; TypeError or ValueError for a layer that is not there; TypeError for a single
    text, or what is no text; ValueError for none.
    """
    expect.kind("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    texts = expect.texts("texts", texts)
    stack = model.encoder.encoder.layers
    expect.sizes(layer=layer)
    if layer > len(stack):
        raise ValueError(f"layer: expected 1 to {len(stack)}, got {expect.shown(layer)}")
    words: list[str] = []
    previous: list[str] = []
    tensors: list[list[Tensor]] = []  # for each text: ids (T,), inputs (T, D), preactivations (T, F)
    for text in texts:
        ids = model.ids(text)  # (1, T)
        x = model.encoder.embedding(ids)  # (1, T, D)
        for below in stack[: layer - 1]:
            x = below(x)
        with trace(stack[layer - 1].get_submodule("feed_forward")) as t:
            stack[layer - 1](x)
        pieces = model.tokens(text)
        words += pieces[1:-1]
        previous += pieces[:-2]
        tensors.append([tensor[0, 1:-1].cpu() for tensor in (ids, t["input"], t["linear1"])])
    if not tensors:
        raise ValueError("texts: expected at least one, got none; try ['The cat sat on the mat.']")
    ids, inputs, preactivations = map(torch.cat, zip(*tensors, strict=True))
    return UnitActivations(words, previous, ids, inputs, preactivations, train=ids % 2 == 0)


def _at_most(name: str, number: int, most: int, what: str) -> None:
    expect.integer(name, number, least=1)
    if number > most:
        raise ValueError(f"{name}: expected at most {most}, as there are {what}, got {number}")


def most_selective_units(
    preactivations: Tensor, labels: Tensor, train: Tensor, *, n: int = 20
) -> tuple[Tensor, Tensor]:
    """The n units that tell words with a property from words without it best, and how well, on words not used so far.

        score = ROC AUC: how often the unit adds up more for a word with the property than for one without it

    0.5 is guessing and 1 never wrong. The units are chosen where `train` is True, by the distance of the two means in
    standard deviations, the best first; they are scored where it is False.

    Shapes: preactivations (N, F), labels (N,), train (N,), both boolean -> units (n,), scores (n,).
    Raises: TypeError for other tensors; ValueError for other shapes, an n that is not from 1 to F, or when one half has
    no word with the property, or none without it.
    """
    expect.matrix("preactivations", preactivations)
    expect.booleans("labels", labels, len(preactivations))
    expect.booleans("train", train, len(preactivations))
    _at_most("n", n, preactivations.shape[1], "units")
    if train.all() or not train.any():
        raise ValueError(f"train: expected words in both halves, got {train.sum().item()} of {len(train)} in one")
    for part in (train, ~train):
        if labels[part].all() or not labels[part].any():
            share = f"{labels[part].sum().item()} of {len(labels[part])} words with it in one"
            raise ValueError(
                f"labels: expected words with the property and without it in both halves, got {share}; try more texts"
            )
    with_it, without = preactivations[train & labels], preactivations[train & ~labels]  # (…, F) each
    units = ((with_it.mean(dim=0) - without.mean(dim=0)) / preactivations[train].std(dim=0)).topk(n).indices  # (n,)
    with_it, without = (
        preactivations[~train & labels][:, units],
        preactivations[~train & ~labels][:, units],
    )  # (…, n) each
    scores = [(with_it[:, i, None] > without[:, i]).double().mean() for i in range(n)]
    return units, torch.stack(scores)
