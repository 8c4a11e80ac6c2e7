"""What learners answer in 01_embedding: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from edits import wrong
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.course import checks


def table_gradient(ids, arriving, vocab_size):
    return F.one_hot(ids, vocab_size).to(arriving.dtype).T @ arriving


def _place_by_place(ids, arriving, vocab_size):
    gradient = torch.zeros(vocab_size, arriving.shape[1])
    for t, i in enumerate(ids):
        gradient[i] += arriving[t]
    return gradient


def _by_backward(ids, arriving, vocab_size):
    weight = torch.zeros(vocab_size, arriving.shape[1], requires_grad=True)
    weight[ids].backward(arriving.to(weight.dtype))
    return weight.grad


def _each_row_once(ids, arriving, vocab_size):
    gradient = arriving.new_zeros(vocab_size, arriving.shape[1])
    gradient[ids] += arriving
    return gradient


def _descend(model, given, beside, steps, lr):
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(given), beside)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= lr * parameter.grad
                parameter.grad = None
        losses.append(loss.item())
    return losses


def _by_data(model, given, beside, steps, lr):
    losses = torch.zeros(steps)
    for step in range(steps):
        model.zero_grad()
        raised = model(given).exp()  # (B, V)
        right = raised * F.one_hot(beside, raised.shape[1])
        losses[step] = -(right.sum(dim=1) / raised.sum(dim=1)).log().mean()
        losses[step].backward()
        for parameter in model.parameters():
            parameter.data = parameter.data - lr * parameter.grad
        losses = losses.detach()
    return losses


class _Embedding(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        if padding_idx is not None:
            with torch.no_grad():
                self.weight[padding_idx] = 0

    def forward(self, ids):
        return F.embedding(ids, self.weight, self.padding_idx)


class _Masked(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx=None):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocab_size, d_model))
        self.keep = torch.ones(vocab_size, 1)
        if padding_idx is not None:
            self.keep[padding_idx] = 0

    def forward(self, ids):
        return (self.keep * self.table)[ids]


def _library(vocab_size, d_model, padding_idx=None):
    return TokenEmbedding(vocab_size, d_model, padding_idx=padding_idx)


def _spoils_its_input(ids, arriving, vocab_size):
    gradient = table_gradient(ids, arriving, vocab_size)
    arriving.zero_()
    return gradient


ANSWERS = {
    checks.check_table_gradient: (
        {"one-hot product": table_gradient, "place by place": _place_by_place, "backward": _by_backward},
        {
            "as it arrives": lambda ids, arriving, n: arriving,
            "each row once": _each_row_once,
            "whole numbers": lambda ids, arriving, n: F.one_hot(ids, n).T @ arriving,
            "not turned round": lambda ids, arriving, n: F.one_hot(ids, n).to(arriving.dtype) @ arriving,
            "rows up to the largest id": lambda ids, arriving, n: table_gradient(ids, arriving, ids.max() + 1),
            "a mean of the copies": lambda ids, arriving, n: (
                table_gradient(ids, arriving, n) / ids.bincount(minlength=n).clamp(min=1)[:, None]
            ),
            "changes what arrives": _spoils_its_input,
        },
    ),
    checks.check_descend: (
        {"in place": _descend, "loss by hand, new data": _by_data},
        wrong(_descend, {
            "uphill": {"-=": "+="},
            "a sum of losses": {"beside)": "beside, reduction='sum')"},
            "never cleared": {"parameter.grad = None": "pass"},
            "no learning rate": {"lr * ": ""},
            "another tensor": {"parameter -= lr": "parameter = parameter - lr"},
            "written down": {"torch.no_grad()": "torch.enable_grad()"},
            "one step": {"range(steps)": "range(1)"},
            "the last loss alone": {"return losses": "return losses[-1]"},
            "gives nothing back": {"return losses": "losses"},
            "no step": {"parameter -= lr * parameter.grad": "pass"},
        }),
    ),
    checks.check_padded_embedding: (
        {"F.embedding": _Embedding, "a mask": _Masked, "torch's own": nn.Embedding, "the library's": _library},
        wrong(_Embedding, {
            "no parameter": {"nn.Parameter(torch.randn(vocab_size, d_model))": "torch.randn(vocab_size, d_model)"},
            "from 0 to 1": {"randn": "rand"},
            "all zeros": {"randn": "zeros"},
            "0 taken for no": {"if padding_idx is not None": "if padding_idx"},
            "padding learns": {"self.weight, self.padding_idx": "self.weight"},
            "padding not zero": {"self.weight[padding_idx] = 0": "pass"},
            "no gradient at all": {"ids, self.weight,": "ids, self.weight.detach(),"},
            "row 0 is always padding": {"self.weight[padding_idx] = 0": "self.weight[0] = 0"},
            "gives nothing back": {"return F": "F"},
        }),
    ),
}  # fmt: skip
