"""The plainest deep network: linear layers with a ReLU, with or without a norm behind each; can it still learn?"""

import torch
from torch import Tensor, nn

from encoder_lib.model.norm import LayerNorm, RMSNorm
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import fit

NORMS = {"no norm": nn.Identity, "layer norm": LayerNorm, "RMS norm": RMSNorm}
WIDTH, N_NUMBERS = 32, 4  # D, and how many numbers a model has to choose from
N_TEST = 4000  # fresh rows of numbers that a model is tried on


class PlainStack(nn.Module):
    """A stack of layers, each a linear map, a ReLU and a norm, between a linear map to D numbers and one back.

        x ← norm(relu(x W + b))        L times, W and b `factor` times as large as nn.Linear draws them

    Shapes: x (B, N) -> scores (B, N), N = 4.
    """

    def __init__(self, n_layers: int, *, norm: str = "no norm", factor: float = 1.0):
        super().__init__()
        self.read = nn.Linear(N_NUMBERS, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(n_layers))
        self.norms = nn.ModuleList(NORMS[norm](WIDTH) for _ in range(n_layers))
        self.answer = nn.Linear(WIDTH, N_NUMBERS)
        with torch.no_grad():
            for parameter in self.layers.parameters():
                parameter.mul_(factor)

    def forward(self, x: Tensor) -> Tensor:
        x = self.read(x)  # (B, D)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(torch.relu(layer(x)))  # (B, D)
        return self.answer(x)  # (B, N)


def plain_stack_accuracy(
    *,
    norm: str = "no norm",
    factor: float = 1.0,
    n_layers: int = 12,
    steps: int = 100,
    seed: int = 0,
) -> float:
    """How well a plain stack learns to say which of four random numbers is the largest, from 0 to 1, on fresh numbers.

    D = 32; Adam at 0.003 on batches of 64 rows, in float32. All that is drawn comes from the seed. A guess gets 0.25.
    """
    with seeded(seed):
        model = PlainStack(n_layers, norm=norm, factor=factor).float()
        fit(model, lambda: _draw(64), steps=steps)
        x, largest = _draw(N_TEST)
        with torch.no_grad():
            return (model(x).argmax(dim=-1) == largest).double().mean().item()


def _draw(rows: int) -> tuple[Tensor, Tensor]:
    """Rows of random numbers (rows, N), and the place of the largest in each (rows,)."""
    x = torch.randn(rows, N_NUMBERS, dtype=torch.float32)
    return x, x.argmax(dim=-1)
