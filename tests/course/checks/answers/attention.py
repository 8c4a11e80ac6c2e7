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


def _two_fills(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is None:
        return scores.softmax(dim=-1) @ value
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0) @ value


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
    checks.check_scaled_attention: (
        {
            "by the formula": _attend,
            "with two fills": _two_fills,
            "torch's own": lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
        },
        wrong(_attend, {
            "unscaled": {" / q.shape[-1] ** 0.5": ""},
            "the root of the number of keys": {"q.shape[-1]": "k.shape[-2]"},
            "the root of the values' width": {"q.shape[-1]": "v.shape[-1]"},
            "softmax over dimension 1": {"softmax(dim=-1)": "softmax(dim=1)"},
            "the mask inverted": {"~mask": "mask"},
            "NaN on a dead row": {".nan_to_num()": ""},
            "a fill that a score can pass": {"-torch.inf": "-20.0"},
            "output transposed": {"weights.nan_to_num() @ v": "(weights.nan_to_num() @ v).mT"},
            "batches only": {"weights.nan_to_num() @ v": "torch.bmm(weights.nan_to_num(), v)"},
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
