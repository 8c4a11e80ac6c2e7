"""Errors of a wrong device are reported on any machine as a GPU reports them."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn

from encoder_lib.course.kit.checking.fake_device import device_mismatch


class Part(nn.Module):
    """Rows of a table, tensors that move and one that does not, and a forward that is handed in."""

    def __init__(self, forward):
        super().__init__()
        self.table, self.weight, self.how = nn.Embedding(4, 3), nn.Parameter(torch.ones(4, 3)), forward
        self.register_buffer("buffer", torch.arange(4))
        self.places = torch.arange(4)

    def forward(self, x):
        return self.how(self, x)


RUNS = {
    "its device": lambda part, x: part.table(torch.arange(4, device=x.device)) + x,
    "moved": lambda part, x: part.table(torch.arange(4).to(x.device)) + x,
    "moved like x": lambda part, x: x + torch.zeros(4, 3).to(x) + torch.zeros(3).type_as(x),
    "moved by name": lambda part, x: x + torch.ones(3).to(device=x.device, dtype=x.dtype),
    "an attribute, moved": lambda part, x: part.table(part.places.to(x.device)[:4]),
    "a buffer": lambda part, x: part.table(part.buffer),
    "indices": lambda part, x: part.weight[torch.arange(4)] + x,
    "a number": lambda part, x: (x / torch.tensor(4.0).sqrt()).masked_fill(x > 0, torch.tensor(-torch.inf)),
    "like x": lambda part, x: torch.cat([x, torch.zeros_like(x), x.new_ones(x.shape)], dim=1),
    "pieces, moved": lambda part, x: sum(piece.to(x.device).sum() for piece in torch.arange(6).chunk(3)) + x,
}
STOPS = {
    "look-up": lambda part, x: part.table(torch.arange(4)) + x,
    "sum": lambda part, x: x + torch.zeros(4, 3),
    "dtype alone": lambda part, x: x + torch.zeros(3).to(x.dtype),
    "an attribute": lambda part, x: part.table(part.places),
    "comparison": lambda part, x: x == torch.arange(3),
    "in place": lambda part, x: x.clone().add_(torch.ones(3)),
    "the other way round": lambda part, x: torch.zeros(4, 3).add_(x[0]),
    "cat": lambda part, x: torch.cat([x, torch.zeros(2, 1, 3)], dim=1),
    "product": lambda part, x: x @ torch.eye(3),
    "mask": lambda part, x: x.masked_fill(torch.ones(4, 3).triu() > 0, 0.0),
    "rows of its own": lambda part, x: torch.ones(4, 3)[part.buffer],
}


@pytest.mark.parametrize("name", RUNS)
def test_what_a_gpu_runs_goes_through(name, device):
    assert device_mismatch(Part(RUNS[name]), torch.ones(2, 4, 3)) == ""
    Part(RUNS[name]).to(device)(torch.ones(2, 4, 3, device=device))


@pytest.mark.parametrize("name", STOPS)
def test_what_a_gpu_refuses_stops_at_its_line(name, device):
    with pytest.raises(RuntimeError, match="made on the CPU meets x"):
        device_mismatch(Part(STOPS[name]), torch.ones(2, 4, 3))
    with nullcontext() if device.type == "cpu" else pytest.raises(RuntimeError):
        Part(STOPS[name]).to(device)(torch.ones(2, 4, 3, device=device))
