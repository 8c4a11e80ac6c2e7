"""What learners answer in 04_attention: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from edits import edited, wrong

from encoder_lib import attention, padding_mask
from encoder_lib.course import checks


def _attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights.nan_to_num() @ v


def _head_by_hand():
    w_q, w_k, w_v = torch.zeros(3, 24, 8)
    w_q[16:] = 20 * torch.eye(8)
    w_k[8:16] = torch.eye(8).roll(1, dims=1)
    w_v[:8] = torch.eye(8)[[1, 0, 3, 2, 5, 4, 7, 6]]
    return w_q, w_k, w_v


def _number_by_number():
    w_q, w_k, w_v = torch.zeros(24, 16), torch.zeros(24, 16), torch.zeros(24, 8)
    for i in range(8):
        w_q[16 + i, (i - 1) % 8] = 6
        w_k[8 + i, i] = 6
        w_v[i, i + 1 if i % 2 == 0 else i - 1] = 1
    return w_q, w_k, w_v


def _by_comparison(length):
    place = torch.arange(length)
    return place <= place[:, None]


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


ANSWERS = {
    checks.check_multi_head: (
        {
            "all at once": _multi_head,
            "head by head": _head_by_head,
        },
        wrong(_multi_head, {
            "one head, as wide as all": {"(h, -1)": "(1, -1)"},
            "cut without exchanging": {"unflatten(-1, (h, -1)).transpose(1, 2)": "reshape(len(x), h, x.shape[1], -1)"},
            "every second number": {"(h, -1)).transpose(1, 2)": "(-1, h)).permute(0, 3, 1, 2)"},
            "not divided": {"(q, k, v, mask)": "(q, k, v, mask, scale=1.0)"},
            "mask forgotten": {"q, k, v, mask)": "q, k, v)"},
            "NaN for a word that looks at nobody": {"F.scaled_dot_product_attention(q, k, v, mask)":
                                                    "_with_nan(q, k, v, mask)"},
            "the heads, not joined": {"out_proj(heads.transpose(1, 2).flatten(-2))": "heads"},
        }),
    ),
    checks.check_head_by_hand: (
        {"with eye": _head_by_hand, "number by number, both sides louder": _number_by_number},
        wrong(_head_by_hand, {
            "at the arrow itself": {".roll(1, dims=1)": ""},
            "right of the arrow": {".roll(1, dims=1)": ".roll(-1, dims=1)"},
            "found by the arrow, asks with the place": {"w_q[16:]": "w_q[8:16]", "w_k[8:16]": "w_k[16:]"},
            "the root forgotten": {"20 *": "7 *"},
            "fresh from eye": {"20 *": ""},
            "case not swapped": {"[[1, 0, 3, 2, 5, 4, 7, 6]]": ""},
            "the place handed out": {"w_v[:8]": "w_v[8:16]"},
            "matrices as nn.Linear keeps them": {"return w_q, w_k, w_v": "return w_q.T, w_k.T, w_v.T"},
            "two of three": {"return w_q, w_k, w_v": "return w_q, w_k"},
        }),
    ),
    checks.check_mask_padding: (
        {
            "compared": lambda ids, pad: (ids != pad)[:, None, None, :],
            "unsqueezed": lambda ids, pad: ~ids.eq(pad).unsqueeze(1).unsqueeze(1),
            "the library's": padding_mask,
        },
        {
            "True where padding": lambda ids, pad: (ids == pad)[:, None, None, :],
            "on the queries": lambda ids, pad: (ids != pad)[:, None, :, None],
            "batch in the second place": lambda ids, pad: (ids != pad)[None, :, None, :],
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
        },
        {
            "cannot see itself": lambda n: torch.ones(n, n).tril(-1).bool(),
            "upper triangle": lambda n: torch.ones(n, n).triu().bool(),
            "integers": lambda n: torch.ones(n, n, dtype=torch.uint8).tril(),
            "itself and the one before": lambda n: torch.ones(n, n).tril().triu(-1).bool(),
            "one row": lambda n: torch.arange(n) <= n - 1,
        },
    ),
}  # fmt: skip
