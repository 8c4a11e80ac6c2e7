"""What LoRA puts in the place of a linear layer."""

from torch import nn


class LowRank(nn.Module):
    """The frozen layer plus a trained update of low rank. It has no `weight` of its own."""

    def __init__(self, base, rank=1):
        super().__init__()
        dtype = base.weight.dtype
        self.base, self.down = base, nn.Linear(base.in_features, rank, bias=False, dtype=dtype)
        self.up = nn.Linear(rank, base.out_features, bias=False, dtype=dtype)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))
