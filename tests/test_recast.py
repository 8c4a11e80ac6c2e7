"""A module recast as another class shares everything with it and computes something else."""

import torch
from torch import nn

from encoder_lib.recast import with_class


class Doubled(nn.Linear):
    """Twice what a linear map gives."""

    def forward(self, x):
        return 2 * super().forward(x)


def test_what_changes_one_changes_both():
    plain, x = nn.Linear(3, 2), torch.randn(4, 3)
    twin = with_class(plain, Doubled)
    assert type(twin) is Doubled and type(plain) is nn.Linear and twin.weight is plain.weight
    torch.testing.assert_close(twin(x), 2 * plain(x))
    plain.double().eval()
    twin.bias.data.zero_()
    assert twin.weight.dtype == torch.float64 and not twin.training and not plain.bias.any()
    calls = []
    plain.register_forward_hook(lambda *_: calls.append(1))
    twin(torch.zeros(1, 3, dtype=torch.float64))
    assert calls == [1]
