"""Does a deep stack learn, with its norms here or there, at full steps from the first one on or with a warm-up?"""

from typing import NamedTuple

import torch
from torch import nn

from encoder_lib import expect
from encoder_lib.lab.measure import token_similarity
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import History, accuracy, fit
from encoder_lib.training.tasks import reversal

SYMBOLS, LENGTH, BATCH = 10, 8, 32
N_TRIED = 300  # fresh sequences that a model is tried on


class Learned(NamedTuple):
    """How a training went: each step's loss, the share of right answers, and the mean cosine of a sequence's tokens."""

    losses: History
    right: float
    similarity: float


def learn_to_reverse(
    n_layers: int, *, norm_first: bool, warm_up: int = 0, steps: int = 60, lr: float = 0.01, seed: int = 0
) -> Learned:
    """Train a stack to write eight random symbols backwards, and try it on fresh sequences.

        learning rate of step s = lr · min(1, s / warm_up),  s = 1, 2, …;  without a warm-up lr throughout

    D = 32, two heads, F = 64, learned positions, Adam on batches of 32 sequences, in float32. The cosines are those of
    what the last layer puts out, over all pairs of a sequence's tokens. All that is drawn comes from the seed.

    Raises: TypeError or ValueError for layers or steps that are no integers ≥ 1, a `warm_up` that is none ≥ 0, an lr
    that is not above 0, a seed that is none; TypeError for a `norm_first` that is not True or False.
    """
    expect.counts(warm_up=warm_up)
    expect.positive("lr", lr)
    with seeded(seed):
        encoder = TransformerEncoder(SYMBOLS, n_layers, 32, 2, 64, positional="learned", norm_first=norm_first)
        model = nn.Sequential(encoder, nn.Linear(32, SYMBOLS)).float()
        optimiser = torch.optim.Adam(model.parameters(), lr=lr)
        losses = History(steps)

        def set_rate() -> None:
            optimiser.param_groups[0]["lr"] = lr * min(1.0, (len(losses) + 1) / max(warm_up, 1))

        fit(model, lambda: reversal(BATCH, LENGTH, SYMBOLS), steps=steps, optimiser=optimiser, history=losses,
            callback=set_rate)  # fmt: skip
        ids, answers = reversal(N_TRIED, LENGTH, SYMBOLS)
        with torch.no_grad():
            similarity = token_similarity(encoder(ids)).mean().item()
        return Learned(losses, accuracy(model, ids, answers), similarity)
