"""Train deep stacks with post-norm or pre-norm, and with or without a warm-up of the learning rate."""

from functools import partial
from itertools import count
from typing import NamedTuple

import torch
from torch import nn

from encoder_lib.course.kit.measure import token_similarity
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.loading import load_optimisers
from encoder_lib.training.tasks import reversal

SYMBOLS, LENGTH, BATCH = 10, 8, 32
N_TEST = 300  # new sequences, on which the accuracy is measured


class Learned(NamedTuple):
    """The result of a training.

    losses: the loss of each step. accuracy: from 0 to 1. similarity: the mean cosine between the tokens of a sequence
    after the last layer. arrives: the fraction of a gradient's length at the top that arrives at the bottom, as the
    median over the sequences, because in a few of them it can grow.
    """

    losses: list[float]
    accuracy: float
    similarity: float
    arrives: float


def learn_to_reverse(
    n_layers: int, *, norm_first: bool, warm_up: int = 0, steps: int = 60, lr: float = 0.01, seed: int = 0
) -> Learned:
    """Train a stack (D = 32, two heads, F = 64) to reverse eight random symbols, and measure its accuracy on new ones.

        learning rate of step s = lr · min(1, s / warm_up),  s = 1, 2, …;  without a warm-up always lr

    Learned positions, Adam on batches of 32 sequences, in float32. The gradient at the top is random, one number for
    each output of the stack; the bottom is the input of the first layer. All random numbers come from the seed.
    """
    with seeded(seed):
        encoder = TransformerEncoder(SYMBOLS, n_layers, 32, 2, 64, positional="learned", norm_first=norm_first)
        model = nn.Sequential(encoder, nn.Linear(32, SYMBOLS)).float()
        load_optimisers()
        optimiser = torch.optim.Adam(model.parameters(), lr=lr)
        coming = count(1)  # fit calls back before the first step and after each one

        def set_rate() -> None:
            optimiser.param_groups[0]["lr"] = lr * min(1.0, next(coming) / max(warm_up, 1))

        draw = partial(reversal, BATCH, LENGTH, SYMBOLS)
        losses = fit(model, draw, steps=steps, optimiser=optimiser, callback=set_rate)
        ids, answers = reversal(N_TEST, LENGTH, SYMBOLS)
        bottom = encoder.embedding(ids).detach().requires_grad_()  # (B, T, D)
        top = encoder.encoder(bottom)  # (B, T, D)
        at_the_top = torch.randn_like(top)
        (at_the_bottom,) = torch.autograd.grad(top, bottom, at_the_top)
        arrives = (at_the_bottom.norm(dim=(1, 2)) / at_the_top.norm(dim=(1, 2))).median().item()
        return Learned(losses, accuracy(model, ids, answers), token_similarity(top).mean().item(), arrives)
