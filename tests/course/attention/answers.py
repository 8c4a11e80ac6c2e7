"""Learners' answers in 04_attention: right ones, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from source_edits import edited, folded, wrong
from torch import nn

from encoder_lib import attention, padding_mask
from encoder_lib.course import checks

_head_by_hand, _by_comparison = folded("04", __name__, "head_by_hand", "mask_future")


def _attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights.nan_to_num() @ v


def _just_enough():
    """Just enough for 99 %, with the parameters of a module."""
    w_q, w_k, w_v = _head_by_hand()
    return nn.Parameter(w_q * 18.5 / 20), nn.Parameter(w_k), nn.Parameter(w_v)


def _number_by_number():
    w_q, w_k, w_v = torch.zeros(24, 16), torch.zeros(24, 16), torch.zeros(24, 8)
    for i in range(8):
        w_q[16 + i, (i - 1) % 8] = 6
        w_k[8 + i, i] = 6
        w_v[i, i + 1 if i % 2 == 0 else i - 1] = 1
    return w_q, w_k, w_v


_with_nan = edited(_attend, {".nan_to_num()": ""})


def _multi_head(x, q_proj, k_proj, v_proj, out_proj, h, mask):
    q, k, v = (proj(x).unflatten(-1, (h, -1)).transpose(1, 2) for proj in (q_proj, k_proj, v_proj))
    heads = F.scaled_dot_product_attention(q, k, v, mask)
    return out_proj(heads.transpose(1, 2).flatten(-2))


def _head_by_head(x, q_proj, k_proj, v_proj, out_proj, n_heads, mask):
    outputs, width = [], x.shape[-1] // n_heads
    for i in range(n_heads):
        part = slice(i * width, (i + 1) * width)
        m = mask if mask is None else mask[:, 0]
        outputs.append(attention(q_proj(x)[..., part], k_proj(x)[..., part], v_proj(x)[..., part], m)[0])
    return out_proj(torch.cat(outputs, dim=-1))


def _by_einsum(x, q_proj, k_proj, v_proj, out_proj, h, mask):
    """The lowest number there is in place of minus infinity, and zeros after the softmax."""
    q, k, v = (F.linear(x, proj.weight, proj.bias).unflatten(-1, (h, -1)) for proj in (q_proj, k_proj, v_proj))
    scores = torch.einsum("bqhk,bthk->bhqt", q, k) / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(dim=-1) * mask
    return out_proj(torch.einsum("bhqt,bthk->bqhk", weights, v).flatten(2))


def _without_softmax(x, q_proj, k_proj, v_proj, out_proj, h, mask):
    """Exponentials, masked and divided by their sum."""
    q, k, v = (proj(x).unflatten(-1, (h, -1)).transpose(1, 2) for proj in (q_proj, k_proj, v_proj))
    raised = (q @ k.mT / q.shape[-1] ** 0.5).exp()
    raised = raised if mask is None else raised * mask
    weights = (raised / raised.sum(dim=-1, keepdim=True)).nan_to_num()
    return out_proj((weights @ v).transpose(1, 2).flatten(-2))


def _zeros_and_a_score_of(score):
    def attend(q, k, v, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask, score).softmax(dim=-1).masked_fill(~mask, 0)
        return weights @ v

    return lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v) if mask is None else attend(q, k, v, mask)


_minus_ten, _minus_hundred = _zeros_and_a_score_of(-10), _zeros_and_a_score_of(-100)


def _mask_forgotten_after(q, k, v, mask):
    heads = F.scaled_dot_product_attention(q, k, v, mask)
    if mask is not None:
        mask.fill_(True)
    return heads


ANSWERS = {
    checks.check_multi_head: (
        {
            "all at once": _multi_head,
            "head by head": _head_by_head,
            "einsum": _by_einsum,
            "without softmax": _without_softmax,
        },
        wrong(_multi_head, {
            "one head, as wide as all": {"(h, -1)": "(1, -1)"},
            "cut without exchanging": {"unflatten(-1, (h, -1)).transpose(1, 2)": "reshape(len(x), h, x.shape[1], -1)"},
            "every second number": {"(h, -1)).transpose(1, 2)": "(-1, h)).permute(0, 3, 1, 2)"},
            "never exchanged": {".transpose(1, 2) for": " for", "heads.transpose(1, 2)": "heads"},
            "keys by q_proj": {"(q_proj, k_proj, v_proj))": "(q_proj, q_proj, v_proj))"},
            "x itself": {"proj(x).unflatten": "x.unflatten"},
            "the weights": {"F.scaled_dot_product_attention(q, k, v, mask)": "attention(q, k, v, mask)[1]"},
            "not divided": {"(q, k, v, mask)": "(q, k, v, mask, scale=1.0)"},
            "mask forgotten": {"q, k, v, mask)": "q, k, v)"},
            "NaN for a word that may attend to nothing": {"F.scaled_dot_product_attention(q, k, v, mask)":
                                                    "_with_nan(q, k, v, mask)"},
            "a score of -10": {"F.scaled_dot_product_attention(q, k, v, mask)": "_minus_ten(q, k, v, mask)"},
            "a score of -100": {"F.scaled_dot_product_attention(q, k, v, mask)": "_minus_hundred(q, k, v, mask)"},
            "out_proj forgotten": {"out_proj(heads.transpose(1, 2).flatten(-2))": "heads.transpose(1, 2).flatten(-2)"},
            "joined without exchanging": {"heads.transpose(1, 2).flatten(-2)": "heads.reshape(x.shape)"},
            "cut and joined without exchanging": {
                "unflatten(-1, (h, -1)).transpose(1, 2)": "reshape(len(x), h, x.shape[1], -1)",
                "heads.transpose(1, 2).flatten(-2)": "heads.reshape(x.shape)",
            },
            "mask the wrong way round": {"q, k, v, mask)": "q, k, v, mask if mask is None else ~mask)"},
            "heads detached": {"heads.transpose": "heads.detach().transpose"},
            "x detached": {"proj(x)": "proj(x.detach())"},
            "queries detached": {"(q, k, v, mask)": "(q.detach(), k, v, mask)"},
            "the last map by its data": {"out_proj(heads.transpose(1, 2).flatten(-2))":
                "F.linear(heads.transpose(1, 2).flatten(-2), out_proj.weight.data, out_proj.bias.data)"},
            "an array": {"out_proj(heads.transpose(1, 2).flatten(-2))":
                         "out_proj(heads.transpose(1, 2).flatten(-2)).detach().numpy()"},
            "changes the mask": {"F.scaled_dot_product_attention(q, k, v, mask)":
                                 "_mask_forgotten_after(q, k, v, mask)"},
            "changes a map": {"return out_proj": "q_proj.weight.data.zero_(); return out_proj"},
            "the heads, not joined": {"out_proj(heads.transpose(1, 2).flatten(-2))": "heads"},
        }),
    ),
    checks.check_head_by_hand: (
        {"with eye": _head_by_hand, "number by number, both sides scaled up": _number_by_number,
         "parameters, 18.5": _just_enough, "arrays": lambda: [part.numpy() for part in _head_by_hand()]},
        wrong(_head_by_hand, {
            "at the arrow itself": {".roll(1, dims=1)": ""},
            "right of the arrow": {".roll(1, dims=1)": ".roll(-1, dims=1)"},
            "found by the arrow, asks with the position": {"W_Q[16:]": "W_Q[8:16]", "W_K[8:16]": "W_K[16:]"},
            "the root forgotten": {"20 *": "7 *"},
            "a little too quiet": {"20 *": "18.4 *"},
            "not a number": {"20 *": "torch.inf *"},
            "straight from eye": {"20 *": ""},
            "case not swapped": {"[[1, 0, 3, 2, 5, 4, 7, 6]]": ""},
            "the position passed on": {"W_V[:8]": "W_V[8:16]"},
            "matrices as nn.Linear keeps them": {"return W_Q, W_K, W_V": "return W_Q.T, W_K.T, W_V.T"},
            "two of three": {"return W_Q, W_K, W_V": "return W_Q, W_K"},
        }),
    ),
    checks.check_mask_padding: (
        {
            "compared": lambda ids, pad: (ids != pad)[:, None, None, :],
            "unsqueezed": lambda ids, pad: ~ids.eq(pad).unsqueeze(1).unsqueeze(1),
            "the library's": padding_mask,
            "token by token": lambda ids, pad: torch.tensor([[[[i != pad for i in row]]] for row in ids.tolist()]),
            "an array": lambda ids, pad: (ids.numpy() != pad)[:, None, None],
        },
        {
            "True where padding": lambda ids, pad: (ids == pad)[:, None, None, :],
            "padding below all words": lambda ids, pad: (ids > pad)[:, None, None, :],
            "padding id 2 at most": lambda ids, pad: (ids != min(pad, 2))[:, None, None, :],
            "changes the ids": lambda ids, pad: ((ids != pad)[:, None, None, :], ids.zero_())[0],
            "on the queries": lambda ids, pad: (ids != pad)[:, None, :, None],
            "batch in the second dimension": lambda ids, pad: (ids != pad)[None, :, None, :],
            "padding id fixed at 0": lambda ids, pad: (ids != 0)[:, None, None, :],
            "zeros and ones": lambda ids, pad: (ids != pad).long()[:, None, None, :],
            "by length, from the front": lambda ids, pad: (
                torch.arange(ids.shape[1]) < (ids != pad).sum(1, keepdim=True)
            )[:, None, None, :],
        },
    ),
    checks.check_mask_future: (
        {
            "a triangle": lambda n: torch.ones(n, n).tril().bool(),
            "compared": _by_comparison,
            "each row from the last": lambda n: torch.eye(n).cumsum(dim=0).bool(),
            "position by position": lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
        },
        {
            "may not attend to itself": lambda n: torch.ones(n, n).tril(-1).bool(),
            "upper triangle": lambda n: torch.ones(n, n).triu().bool(),
            "integers": lambda n: torch.ones(n, n, dtype=torch.uint8).tril(),
            "itself and the one before": lambda n: torch.ones(n, n).tril().triu(-1).bool(),
            "itself and the seven before": lambda n: torch.ones(n, n).tril().triu(-7).bool(),
            "five words at most": lambda n: torch.ones(5, 5).tril().bool()[:n, :n],
            "one row": lambda n: torch.arange(n) <= n - 1,
        },
    ),
}  # fmt: skip
