"""Measure the effects of depth on a stack: gradients, lengths and similarity of its vectors, and FLOPs."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.model.encoder import Encoder, TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.trace import trace

Model = TypeVar("Model", bound=nn.Module)
ORDERS = {"post-norm": False, "pre-norm": True}  # name -> norm_first
INITS: dict[str, Callable[[Tensor], Tensor] | None] = {
    "default": None,  # the default of nn.Linear: uniform between −1/√(fan in) and +1/√(fan in), also for biases
    "xavier": nn.init.xavier_uniform_,  # uniform, variance 2 / (fan in + fan out); Glorot and Bengio 2010
    "small": lambda weight: nn.init.normal_(weight, std=0.02),  # normal, much as in BERT and GPT-2
}
D_MODEL, D_FF, BATCH, TOKENS = 32, 128, 4, 16  # of the random stacks


def initialise(model: Model, init: str) -> Model:
    """Initialise the parameters of every `nn.Linear` of the model again, in place, and return the model.

    `init` is "default" (nn.Linear's own), "xavier" or "small" (a standard deviation of 0.02); the last two set the
    biases to zero.
    """
    draw = INITS[init]
    for module in model.modules():
        if isinstance(module, nn.Linear):
            if draw is None:
                module.reset_parameters()
                continue
            draw(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return model


def token_similarity(x: Tensor) -> Tensor:
    """The similarity of the tokens of a sequence: the mean cosine over all pairs of different tokens.

        similarity = mean over i ≠ j of  x_i · x_j / (|x_i| · |x_j|)

    Shapes: x (…, T, D) -> (…), NaN for T = 1.
    """
    length = x.shape[-2]
    unit = F.normalize(x, dim=-1)  # (…, T, D)
    cosine = unit @ unit.transpose(-2, -1)  # (…, T, T)
    others = cosine.sum((-2, -1)) - cosine.diagonal(dim1=-2, dim2=-1).sum(-1)  # (…)
    return others / (length * (length - 1))


@torch.no_grad()
def word_similarity(model: TransformerEncoder, sentences: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The similarity of two words in the input of the first layer and in the output of each of the L layers.

        within = mean cosine of two words of one sentence        across = mean cosine of two words of different
        sentences

    The means are taken over all pairs of positions, and then over all sentences or pairs of sentences. The first and
    last token of a sentence are left out, because they are the same in all sentences.

    Shapes: sentences of ids (1, T) each -> (L + 1,) and (L + 1,), on the CPU.
    """
    streams = [_words(model, ids) for ids in sentences]  # (L + 1, words, D) each
    within = torch.stack([token_similarity(x) for x in streams])  # (sentences, L + 1)
    units = [F.normalize(x, dim=-1) for x in streams]
    across = torch.stack([(a @ b.mT).mean((1, 2)) for a, b in combinations(units, 2)])  # (pairs, L + 1)
    return within.mean(0), across.mean(0)


def _words(model: TransformerEncoder, ids: Tensor) -> Tensor:
    """One sentence before and after each layer, without its first and last token: (1, T) -> (L + 1, T − 2, D)."""
    with trace(model) as t:
        model(ids)
    stream = [t["embedding"], *(t[f"encoder.layers.{i}"] for i in range(len(model.encoder.layers)))]
    return torch.cat(stream)[:, 1:-1].cpu().double()  # not every device has float64


class Profile(NamedTuple):
    """One stack, layer by layer, before any training.

    gradient: (L,), the length of the loss's gradient for the second matrix of each layer's feed-forward network.
    size: (L + 1,), the root mean square of the input of the first layer and of the output of each layer.
    similarity: (L + 1,), the token similarity of the same tensors.
    """

    gradient: Tensor
    size: Tensor
    similarity: Tensor


@torch.enable_grad()
def depth_profiles(depths: Sequence[int], *, norm_first: bool, init: str = "default") -> dict[int, Profile]:
    """Profiles of a random stack that is cut off after each of `depths` layers, its final norm after the last.

    The loss is the mean squared distance to random vectors. Torch's random state is left as it was. D = 32,
    H = 4, F = 128.

    Returns: depth -> Profile.
    """
    with seeded(0):
        encoder = initialise(Encoder(max(depths), D_MODEL, 4, D_FF, norm_first=norm_first), init)
        stream = [torch.randn(BATCH, TOKENS, D_MODEL)]  # L + 1 of (B, T, D)
        target = torch.randn(BATCH, TOKENS, D_MODEL)  # (B, T, D)
    for layer in encoder.layers:
        stream.append(layer(stream[-1]))
    weights = [encoder.get_parameter(f"layers.{i}.feed_forward.linear2.weight") for i in range(len(encoder.layers))]
    values = torch.stack(stream).detach()  # (L + 1, B, T, D)
    size, similarity = values.square().mean((1, 2, 3)).sqrt(), token_similarity(values).mean(1)
    profiles = {}
    for depth in depths:
        loss = (encoder.norm(stream[depth]) - target).square().mean()
        gradient = torch.autograd.grad(loss, weights[:depth], retain_graph=True)
        norms = torch.stack([g.norm() for g in gradient])  # (depth,)
        profiles[depth] = Profile(norms, size[: depth + 1], similarity[: depth + 1])
    return profiles


def layer_flops(tokens: int, d_model: int, d_ff: int) -> tuple[int, int]:
    """The cost of one layer's matrix products for one sequence: in its linear layers, and between tokens in attention.

        linear layers   2T · (4D² + 2DF)        attention   2T² · 2D

    A product of (m, k) and (k, n) counts as 2·m·k·n: one multiplication and one addition each. Softmax, norms,
    activation and sums are left out, as `torch.utils.flop_counter` leaves them out.
    """
    return 2 * tokens * (4 * d_model**2 + 2 * d_model * d_ff), 4 * tokens**2 * d_model
