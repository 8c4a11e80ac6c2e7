"""Names in Python's library and the sentences that describe them: pairs that train the smallest of models."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from encoder_lib.course.kit.texts import library_sentences

if TYPE_CHECKING:
    import pandas as pd

HELD_OUT = 200  # pairs that are not used in training
SHOWN = ".", "a", "the", "is", "text", "format"  # frequent tokens


def learn_names(pair_loss: Callable, tokenizer: Tokenizer) -> "pd.DataFrame":
    """Train a row of 64 numbers for each token on pairs of a name in Python's library and the sentence describing it.

    A text's vector is the mean of its tokens' rows, scaled to length 1. The table shows, before training and after,
    for how many of 200 held-out names their own sentence is the nearest, and how long some tokens' rows are.
    """
    import pandas as pd  # imported here, so that no first cell waits for it

    sentences = library_sentences()
    rows = [torch.tensor(text.ids) for text in tokenizer.encode_batch([*sentences.values(), *sentences])]
    used, ids = pad_sequence(rows, batch_first=True).unique(return_inverse=True)  # 0 is padding, and stays 0
    names, texts = ids.chunk(2)  # (N, T) each
    shown = torch.searchsorted(used, torch.tensor([tokenizer.token_to_id(token) for token in SHOWN]))
    bag = nn.EmbeddingBag(len(used), 64, padding_idx=0)
    held_out, others = torch.randperm(len(names)).split([HELD_OUT, len(names) - HELD_OUT])

    def vectors(pairs: Tensor) -> tuple[Tensor, ...]:
        return tuple(F.normalize(bag(side[pairs]), dim=-1) for side in (names, texts))  # (B, 64) each

    @torch.no_grad()
    def state() -> list[str]:
        anchors, positives = vectors(held_out)
        found = (anchors @ positives.T).argmax(dim=1) == torch.arange(HELD_OUT)
        return [f"{found.sum()}", *(f"{length:.2f}" for length in bag.weight[shown].norm(dim=1).tolist())]

    before, adam = state(), torch.optim.Adam(bag.parameters(), lr=0.05)
    for _ in range(100):
        loss = pair_loss(*vectors(others[torch.randint(len(others), (64,))]))
        adam.zero_grad()
        loss.backward()
        adam.step()
    measured = [
        f"names of {HELD_OUT} that find their sentence",
        *(f"length of the row of “{token}”" for token in SHOWN),
    ]
    return pd.DataFrame({"before": before, "after": state()}, index=measured)
