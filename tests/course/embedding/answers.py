"""What learners answer in 01_embedding: right answers, and wrong ones by the mistake that each makes."""

import numpy as np
import torch
import torch.nn.functional as F
from source_edits import folded, wrong
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.course import checks

table_gradient, _Masked = folded("01", __name__, "table_gradient", "PaddedEmbedding")


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


def _with_an_array(model, given, beside, steps, lr):
    losses = np.empty(steps)
    for step in range(steps):
        scores = model(given)  # (B, V)
        loss = (scores.logsumexp(dim=1) - scores.gather(1, beside[:, None]).squeeze(1)).mean()
        parameters = list(model.parameters())
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.data.sub_(lr * gradient)
        losses[step] = loss.item()
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


class _Zeroed(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx=None):
        super().__init__()
        self.rows = nn.Parameter(torch.empty(vocab_size, d_model).normal_())
        self.padding_idx = padding_idx

    def forward(self, ids):
        vectors = self.rows[ids]
        return vectors if self.padding_idx is None else vectors * (ids != self.padding_idx)[..., None]


def _library(vocab_size, d_model, padding_idx=None):
    return TokenEmbedding(vocab_size, d_model, padding_idx=padding_idx)


def _by_array(ids, arriving, vocab_size):
    gradient = np.zeros((vocab_size, arriving.shape[1]))
    np.add.at(gradient, ids.numpy(), arriving.numpy())
    return gradient


def _spoils_its_input(ids, arriving, vocab_size):
    gradient = table_gradient(ids, arriving, vocab_size)
    arriving.zero_()
    return gradient


ANSWERS = {
    checks.check_table_gradient: (
        {"one-hot product": table_gradient, "place by place": _place_by_place, "backward": _by_backward,
         "an array": _by_array},
        {
            "as it arrives": lambda ids, arriving, n: arriving,
            "each row once": _each_row_once,
            "whole numbers": lambda ids, arriving, n: F.one_hot(ids, n).T @ arriving,
            "not turned round": lambda ids, arriving, n: F.one_hot(ids, n).to(arriving.dtype) @ arriving,
            "rows up to the largest id": lambda ids, arriving, n: table_gradient(ids, arriving, ids.max() + 1),
            "a mean of the copies": lambda ids, arriving, n: (
                table_gradient(ids, arriving, n) / ids.bincount(minlength=n).clamp(min=1)[:, None]
            ),
            "three numbers to a row": lambda ids, arriving, n: table_gradient(ids, arriving, n)[:, :3],
            "changes what arrives": _spoils_its_input,
        },
    ),
    checks.check_descend: (
        {"in place": _descend, "loss by hand, new data": _by_data, "an array of losses": _with_an_array},
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
            "one loss too many": {"return losses": "return [*losses, 0.0]"},
            "back after the first step": {"        losses.append(loss.item())\n    return losses":
                                          "        losses.append(loss.item())\n        return losses"},
            "a loss of each pair": {"loss.item()": "loss.item() * torch.ones(len(given))"},
            "one-hot rows no wider than needed": {"F.cross_entropy(model(given), beside)":
                "-(F.one_hot(beside) * model(given).log_softmax(dim=1)).sum(dim=1).mean()"},
            "gradients clipped": {"loss.backward()":
                                  "loss.backward(); nn.utils.clip_grad_norm_(model.parameters(), 1.0)"},
            "the first two layers": {"model.parameters()": "[*model[0].parameters(), *model[1].parameters()]"},
            "chances not below 0.01": {"F.cross_entropy(model(given), beside)":
                "F.nll_loss(model(given).softmax(dim=1).clamp(min=0.01).log(), beside)"},
            "changes the ids": {"return losses": "given.zero_(); return losses"},
            "no step": {"parameter -= lr * parameter.grad": "pass"},
        }),
    ),
    checks.check_padded_embedding: (
        {"F.embedding": _Embedding, "a mask": _Masked, "set to zero": _Zeroed,
         "torch's own": nn.Embedding, "the library's": _library},
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
            "a seed": {"torch.randn(": "torch.manual_seed(0) and torch.randn("},
            "the same row again and again": {"torch.randn(vocab_size, d_model)":
                                             "torch.randn(1, d_model).repeat(vocab_size, 1)"},
            "evenly spread": {"torch.randn(vocab_size, d_model)": "torch.rand(vocab_size, d_model) * 12**0.5 - 3**0.5"},
            "one parameter too many": {"self.padding_idx = padding_idx":
                                       "self.padding_idx, self.scale = padding_idx, nn.Parameter(torch.ones(1))"},
            "data alone": {"ids, self.weight,": "ids, self.weight.data,"},
            "one-hot rows no wider than needed": {"F.embedding(ids, self.weight, self.padding_idx)":
                "(F.one_hot(ids).to(self.weight.dtype) @ self.weight) * "
                "(ids != (-1 if self.padding_idx is None else self.padding_idx))[..., None]"},
            "changes the ids": {"return F": "ids.clamp_(max=3); return F"},
        }),
    ),
}  # fmt: skip
