"""What learners answer in 04_attention: right answers, and wrong ones by the mistake that each makes."""

import math

import torch
import torch.nn.functional as F

from encoder_lib import attention, causal_mask, checks, padding_mask


def _attend(q, k, v, mask, *, scale=None, dim=-1, fill=-torch.inf, dead=0.0):
    """Attention in one line after the other; the options are the mistakes."""
    scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, fill)
    weights = scores.softmax(dim=dim)
    return (weights if dead is None else weights.nan_to_num(dead)) @ v


def _two_fills(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is None:
        return scores.softmax(dim=-1) @ value
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0) @ value


def _by_exponentials(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    match = (scores - scores.amax(-1, keepdim=True)).exp()
    match = match if mask is None else match * mask
    total = match.sum(-1, keepdim=True)
    return match @ v / torch.where(total == 0, 1.0, total)


def _no_softmax(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return (scores if mask is None else scores * mask) @ v


def _hard(q, k, v, mask):
    scores = q @ k.mT
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return F.one_hot(scores.argmax(-1), k.shape[-2]).to(v.dtype) @ v


def _masked_too_late(q, k, v, mask):
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
    return (weights if mask is None else weights * mask) @ v


def _scores_times_mask(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return (scores if mask is None else scores * mask).softmax(-1) @ v


def _last_two_by_hand(q, k, v, mask):
    weights = torch.einsum("qk,sk->qs", q, k).div(math.sqrt(q.shape[-1]))
    weights = weights if mask is None else weights.masked_fill(~mask, -torch.inf)
    return torch.einsum("qs,sv->qv", weights.softmax(-1).nan_to_num(0), v)


def _by_comparison(length):
    place = torch.arange(length)
    return place <= place[:, None]


def _on(mask, change):
    """Apply `change` to a mask where there is one."""
    return None if mask is None else change(mask)


def _split(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def _join(x):
    return x.transpose(1, 2).flatten(-2)


def _heads(x, q_proj, k_proj, v_proj, out_proj, h, mask, *, split=_split, join=_join, attend=_attend):
    """Multi-head attention line by line; the options are the mistakes."""
    q, k, v = split(q_proj(x), h), split(k_proj(x), h), split(v_proj(x), h)
    return out_proj(join(attend(q, k, v, mask)))


def _head_by_head(x, q_proj, k_proj, v_proj, out_proj, n_heads, mask):
    outputs, width = [], x.shape[-1] // n_heads
    for i in range(n_heads):
        part = slice(i * width, (i + 1) * width)
        m = mask if mask is None or mask.ndim == 2 else mask[:, 0]
        outputs.append(attention(q_proj(x)[..., part], k_proj(x)[..., part], v_proj(x)[..., part], m)[0])
    return out_proj(torch.cat(outputs, dim=-1))


def _first_slice_for_all(x, q_proj, k_proj, v_proj, out_proj, n_heads, mask):
    q, k, v = (_split(p(x), n_heads)[:, :1].expand(-1, n_heads, -1, -1) for p in (q_proj, k_proj, v_proj))
    return out_proj(_join(_attend(q, k, v, mask)))


def _reshaped_straight(x, h):
    """The right shape, filled in the wrong order."""
    return x.reshape(x.shape[0], h, x.shape[1], -1)


def _every_second(x, h):
    """Head i takes the numbers i, i + H, i + 2H …: slices, but not those of the layer."""
    return x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)


def _multi_head(**mistake):
    return lambda *arguments: _heads(*arguments, **mistake)


ANSWERS = {
    checks.check_multi_head: (
        {
            "by the library's shapes": _heads,
            "head by head": _head_by_head,
            "torch's attention": _multi_head(attend=F.scaled_dot_product_attention),
            "the library's attention": _multi_head(attend=lambda q, k, v, m: attention(q, k, v, m)[0]),
        },
        {
            "one head, as wide as all": lambda x, q, k, v, o, h, m: _heads(x, q, k, v, o, 1, m),
            "cut without exchanging": _multi_head(split=_reshaped_straight),
            "joined without exchanging back": _multi_head(join=lambda x: x.reshape(x.shape[0], x.shape[2], -1)),
            "cut and joined without exchanging": _multi_head(
                split=_reshaped_straight, join=lambda x: x.reshape(x.shape[0], x.shape[2], -1)
            ),
            "heads in the place of words": _multi_head(
                split=lambda x, h: x.unflatten(-1, (h, -1)), join=lambda x: x.flatten(-2)
            ),
            "every second number": _multi_head(split=_every_second),
            "the first slice for all heads": _first_slice_for_all,
            "divided by the root of D": lambda x, q, k, v, o, h, m: _heads(
                x, q, k, v, o, h, m, attend=lambda *a: _attend(*a, scale=x.shape[-1] ** -0.5)
            ),
            "not divided": _multi_head(attend=lambda *a: _attend(*a, scale=1.0)),
            "no last map": lambda x, q, k, v, o, h, m: _heads(x, q, k, v, lambda y: y, h, m),
            "values not projected": lambda x, q, k, v, o, h, m: _heads(x, q, k, lambda y: y, o, h, m),
            "queries and keys exchanged": lambda x, q, k, v, o, h, m: _heads(x, k, q, v, o, h, m),
            "one projection for queries and keys": lambda x, q, k, v, o, h, m: _heads(x, q, q, v, o, h, m),
            "nothing projected": lambda x, q, k, v, o, h, m: _heads(x, *[lambda y: y] * 4, h, m),
            "softmax over the queries": _multi_head(attend=lambda *a: _attend(*a, dim=-2)),
            "softmax over the heads": _multi_head(attend=lambda *a: _attend(*a, dim=1)),
            "mask forgotten": lambda x, q, k, v, o, h, m: _heads(x, q, k, v, o, h, None),
            "mask inverted": lambda x, q, k, v, o, h, m: _heads(x, q, k, v, o, h, _on(m, torch.logical_not)),
            "NaN for a word that looks at nobody": _multi_head(attend=lambda *a: _attend(*a, dead=None)),
            "mean of the heads": lambda x, q, k, v, o, h, m: o(
                _attend(_split(q(x), h), _split(k(x), h), _split(v(x), h), m).mean(1).repeat(1, 1, h)
            ),
            "the heads, not joined": lambda x, q, k, v, o, h, m: _attend(
                _split(q(x), h), _split(k(x), h), _split(v(x), h), m
            ),
        },
    ),
    checks.check_scaled_attention: (
        {
            "by the formula": _attend,
            "with two fills": _two_fills,
            "with exponentials": _by_exponentials,
            "torch's own": lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
            "the library's": lambda q, k, v, m: attention(q, k, v, m)[0],
        },
        {
            "unscaled": lambda q, k, v, m: _attend(q, k, v, m, scale=1.0),
            "divided by K": lambda q, k, v, m: _attend(q, k, v, m, scale=1 / q.shape[-1]),
            "times the root of K": lambda q, k, v, m: _attend(q, k, v, m, scale=q.shape[-1] ** 0.5),
            "the root of T": lambda q, k, v, m: _attend(q, k, v, m, scale=q.shape[-2] ** -0.5),
            "the root of the number of keys": lambda q, k, v, m: _attend(q, k, v, m, scale=k.shape[-2] ** -0.5),
            "the root of the first size": lambda q, k, v, m: _attend(q, k, v, m, scale=q.shape[0] ** -0.5),
            "the root of the values' width": lambda q, k, v, m: _attend(q, k, v, m, scale=v.shape[-1] ** -0.5),
            "softmax over the queries": lambda q, k, v, m: _attend(q, k, v, m, dim=-2),
            "softmax over dimension 1": lambda q, k, v, m: _attend(q, k, v, m, dim=1),
            "no softmax": _no_softmax,
            "only the best match": _hard,
            "mask after the softmax": _masked_too_late,
            "scores times the mask": _scores_times_mask,
            "inverted mask": lambda q, k, v, m: _attend(q, k, v, _on(m, torch.logical_not)),
            "mask on the queries": lambda q, k, v, m: _attend(q, k, v, _on(m, lambda m: m.mT)),
            "no mask": lambda q, k, v, m: _attend(q, k, v, None),
            "NaN on a dead row": lambda q, k, v, m: _attend(q, k, v, m, dead=None),
            "even look on a dead row": lambda q, k, v, m: _attend(q, k, v, m, fill=-1e9),
            "a fill that a score can pass": lambda q, k, v, m: _attend(q, k, v, m, fill=-20.0),
            "a fill of −100": lambda q, k, v, m: _attend(q, k, v, m, fill=-100.0),
            "masked scores of 0": lambda q, k, v, m: _attend(q, k, v, m, fill=0.0),
            "keys and values exchanged": lambda q, k, v, m: _attend(q, v, k, m),
            "queries and keys exchanged": lambda q, k, v, m: _attend(k, q, v, m),
            "values not used": lambda q, k, v, m: _attend(q, k, k, m),
            "output transposed": lambda q, k, v, m: _attend(q, k, v, m).mT,
            "weights in place of the output": lambda q, k, v, m: attention(q, k, v, m)[1],
            "both": lambda q, k, v, m: attention(q, k, v, m),
            "one sequence only": _last_two_by_hand,
            "batches only": lambda q, k, v, m: torch.bmm(attention(q, k, v, m)[1], v),
        },
    ),
    checks.check_mask_padding: (
        {
            "compared": lambda ids, pad: (ids != pad)[:, None, None, :],
            "unsqueezed": lambda ids, pad: ~ids.eq(pad).unsqueeze(1).unsqueeze(1),
            "the library's": padding_mask,
        },
        {
            "True where padding": lambda ids, pad: (ids == pad)[:, None, None, :],
            "(B, T)": lambda ids, pad: ids != pad,
            "(B, 1, T)": lambda ids, pad: (ids != pad)[:, None],
            "on the queries": lambda ids, pad: (ids != pad)[:, None, :, None],
            "(B, 1, T, T)": lambda ids, pad: (ids != pad)[:, None, None, :].expand(-1, 1, ids.shape[1], -1),
            "batch in the second place": lambda ids, pad: (ids != pad)[None, :, None, :],
            "padding id fixed at 0": lambda ids, pad: (ids != 0)[:, None, None, :],
            "larger than the padding id": lambda ids, pad: (ids > pad)[:, None, None, :],
            "zeros and ones": lambda ids, pad: (ids != pad).long()[:, None, None, :],
            "floats to add": lambda ids, pad: torch.where(ids == pad, -torch.inf, 0.0)[:, None, None, :],
            "by length, from the front": lambda ids, pad: (
                torch.arange(ids.shape[1]) < (ids != pad).sum(1, keepdim=True)
            )[:, None, None, :],
            "the first sentence for all": lambda ids, pad: (ids[:1] != pad).expand_as(ids)[:, None, None, :],
        },
    ),
    checks.check_mask_future: (
        {
            "a triangle": lambda n: torch.ones(n, n).tril().bool(),
            "compared": _by_comparison,
            "the library's": causal_mask,
            "by loops": lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
        },
        {
            "cannot see itself": lambda n: torch.ones(n, n).tril(-1).bool(),
            "upper triangle": lambda n: torch.ones(n, n).triu().bool(),
            "True where hidden": lambda n: torch.ones(n, n).triu(1).bool(),
            "sees one ahead": lambda n: torch.ones(n, n).tril(1).bool(),
            "floats": lambda n: torch.ones(n, n).tril(),
            "integers": lambda n: torch.ones(n, n, dtype=torch.uint8).tril(),
            "floats to add": lambda n: torch.full((n, n), -torch.inf).triu(1),
            "everything": lambda n: torch.ones(n, n).bool(),
            "only itself": lambda n: torch.eye(n).bool(),
            "itself and the one before": lambda n: torch.ones(n, n).tril().triu(-1).bool(),
            "from right to left": lambda n: torch.ones(n, n).tril().flip(-1).bool(),
            "one row": lambda n: torch.arange(n) <= n - 1,
            "with a batch": lambda n: causal_mask(n)[None, None],
        },
    ),
}
