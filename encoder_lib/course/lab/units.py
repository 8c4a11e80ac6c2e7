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
    inputs (N, D): what the network reads. sums (N, F): what each unit adds up, before its bend.
    searched (N,): True for every second word piece of the vocabulary, to look for a pattern in; the others are there to
    test it. So no word that a pattern is tested on was seen when it was looked for.
    """

    words: list[str]
    previous: list[str]
    ids: Tensor
    inputs: Tensor
    sums: Tensor
    searched: Tensor

    def has_property(self, name: str) -> Tensor:
        """Which words have a property of `PROPERTIES`. Shapes: -> (N,), boolean."""
        return torch.tensor([PROPERTIES[name](*pair) for pair in zip(self.words, self.previous, strict=True)])

    @torch.no_grad()
    def with_permuted_weights(self, network: FeedForward) -> Tensor:
        """The sums (N, F) of a network whose units have the same weights, each unit's in a random order."""
        weight = network.linear1.weight.detach().cpu()  # (F, D)
        order = torch.rand(weight.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float32).argsort(1)
        bias = network.linear1.bias
        return torch.nn.functional.linear(self.inputs, weight.gather(1, order), None if bias is None else bias.cpu())


@torch.no_grad()
def collect_activations(model: SentenceEncoder, texts: Iterable[str], *, layer: int = 1) -> UnitActivations:
    """Let a model read texts, and keep what the feed-forward network of a layer, counted from 1, reads and adds up.

    Layers above are not computed. Words are word pieces; the two special tokens of each text are left out.

    Raises: TypeError for a single text; ValueError for layer 0, which Python would take for the last one.
    """
    texts, layer = expect.texts("texts", texts), expect.integer("layer", layer, least=1)
    stack = model.encoder.encoder.layers
    words: list[str] = []
    previous: list[str] = []
    tensors: list[list[Tensor]] = []  # for each text: ids (T,), inputs (T, D), sums (T, F)
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
    ids, inputs, sums = map(torch.cat, zip(*tensors, strict=True))
    return UnitActivations(words, previous, ids, inputs, sums, searched=ids % 2 == 0)


def best_unit(sums: Tensor, labels: Tensor, searched: Tensor) -> tuple[int, float]:
    """The unit that tells words with a property from words without it best, and how well, on words not used so far.

        score = ROC AUC: how often the unit's sum is larger for a word with the property than for one without it

    0.5 is guessing and 1 never wrong. The unit is chosen where `searched` is True, by the distance of the two means in
    standard deviations; it is scored where it is False.

    Shapes: sums (N, F), labels (N,), searched (N,), both boolean. The score is NaN where one half has no word with the
    property, or none without it.
    """
    with_it, without = sums[searched & labels], sums[searched & ~labels]  # (…, F) each
    apart = (with_it.mean(dim=0) - without.mean(dim=0)) / sums[searched].std(dim=0)  # (F,)
    unit = int(apart.argmax())
    with_it, without = sums[~searched & labels, unit], sums[~searched & ~labels, unit]  # (…,) each
    return unit, (with_it[:, None] > without).double().mean().item()
