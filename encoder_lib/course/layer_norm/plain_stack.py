"""The plainest deep network: linear layers with ReLU, with or without a norm after each one. Can it still learn?"""

import re
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.kit.texts import wonderland
from encoder_lib.model.norm import LayerNorm, RMSNorm
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import fit

NORMS = {"no norm": nn.Identity, "layer norm": LayerNorm, "RMS norm": RMSNorm}
WIDTH = 32  # D
N_LETTERS = 27  # the space, and a to z
N_READ = 2  # how many letters a model is given
TRAINED_ON = 0.8  # the share of the text, from its beginning, that is for training; the rest is for testing


class PlainStack(nn.Module):
    """Given two letters of a text, score each letter as the next one.

        x ← norm(relu(x W + b))        L times, W and b initialised by nn.Linear, then multiplied by `factor`

    A linear layer before these L turns the two letters, as one-hot vectors, into D numbers; one after them gives the
    scores.

    Shapes: letters (B, 2) -> scores (B, 27).
    """

    def __init__(self, n_layers: int, *, norm: str = "no norm", factor: float = 1.0):
        super().__init__()
        self.read = nn.Linear(N_READ * N_LETTERS, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(n_layers))
        self.norms = nn.ModuleList(NORMS[norm](WIDTH) for _ in range(n_layers))
        self.answer = nn.Linear(WIDTH, N_LETTERS)
        with torch.no_grad():
            for parameter in self.layers.parameters():
                parameter.mul_(factor)

    def forward(self, letters: Tensor) -> Tensor:
        x = self.read(F.one_hot(letters, N_LETTERS).flatten(1).to(self.read.weight))  # (B, D)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(torch.relu(layer(x)))  # (B, D)
        return self.answer(x)  # (B, 27)


def plain_stack_accuracy(
    *,
    norm: str = "no norm",
    factor: float = 1.0,
    n_layers: int = 12,
    steps: int = 100,
    seed: int = 0,
) -> float:
    """The accuracy, from 0 to 1, of a plain stack that has learned to name the next letter of "Alice in Wonderland".

    D = 32; Adam with a learning rate of 0.003 on batches of 128 places in the first four fifths of the text, in
    float32. Tested on the last fifth, where naming the space every time has an accuracy of 0.20. Everything random
    depends on the seed alone.
    """
    letters, following = read_text()
    n_trained_on = int(TRAINED_ON * len(following))

    def draw() -> tuple[Tensor, Tensor]:
        places = torch.randint(n_trained_on, (128,))
        return letters[places], following[places]

    with seeded(seed):
        model = PlainStack(n_layers, norm=norm, factor=factor).float()
        fit(model, draw, steps=steps)
        with torch.no_grad():
            right = model(letters[n_trained_on:]).argmax(dim=-1) == following[n_trained_on:]
            return right.double().mean().item()


@cache
def read_text() -> tuple[Tensor, Tensor]:
    """Every two letters in a row (N, 2) of the text, and the letter that follows them (N,).

    Letters are numbered: 0 is the space, 1 to 26 are a to z. Uppercase has become lowercase, and whatever is between
    two words one space.
    """
    text = re.sub("[^a-z]+", " ", wonderland().lower())
    ids = torch.tensor([" abcdefghijklmnopqrstuvwxyz".index(letter) for letter in text])
    return torch.stack([ids[:-2], ids[1:-1]], dim=1), ids[2:]
