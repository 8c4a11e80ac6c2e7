"""What learners write in 12_build_your_own: right parts, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import checks


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.table(ids)


class EmbeddingByOneHot(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return F.one_hot(ids, len(self.rows)).to(self.rows.dtype) @ self.rows


class Positions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class PositionsByLookUp(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.places = nn.Embedding(max_len, d_model)

    def forward(self, x):
        return self.places(torch.arange(x.shape[1], device=x.device)) + x


class Norm(nn.Module):
    def __init__(self, d_model, eps):
        super().__init__()
        self.gain, self.bias, self.eps = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)), eps

    def forward(self, x):
        x = x - x.mean(dim=-1, keepdim=True)
        return self.gain * x / (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() + self.bias


class NormOfTorch(nn.Module):
    """The shift stands first, so that names and order say nothing."""

    def __init__(self, d_model, eps):
        super().__init__()
        self.a, self.b, self.eps = nn.Parameter(torch.zeros(d_model)), nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        return F.layer_norm(x, self.a.shape, self.b, self.a, self.eps)


class Attention(nn.Module):
    """With room for one mistake in each step."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def root(self, q):
        return q.shape[-1] ** 0.5

    def masked(self, scores, mask):
        return scores if mask is None else scores.masked_fill(~mask, -torch.inf)

    def share(self, scores):
        return scores.softmax(dim=-1)

    def join(self, x):
        return x.transpose(1, 2).flatten(-2)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        return self.out(self.join(self.share(self.masked(q @ k.transpose(-2, -1) / self.root(q), mask)) @ v))


class FusedAttention(nn.Module):
    """One map for queries, keys and values, and torch's own attention; the last map comes first."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.mix, self.qkv, self.n_heads = nn.Linear(d_model, d_model), nn.Linear(d_model, 3 * d_model), n_heads

    def forward(self, x, mask=None):
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        return self.mix(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def bend(self, x):
        return F.gelu(x)

    def forward(self, x):
        return self.down(self.bend(self.up(x)))


class FeedForwardInARow(nn.Sequential):
    def __init__(self, d_model, d_ff):
        super().__init__(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))


class Block(nn.Module):
    def __init__(self, attention, feed_forward, norm1, norm2):
        super().__init__()
        self.attention, self.feed_forward, self.norm1, self.norm2 = attention, feed_forward, norm1, norm2

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed_forward(x))


class BlockByName(Block):
    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask=mask))
        return self.norm2(x + self.feed_forward(x))


class BlockByLoop(nn.Module):
    def __init__(self, attention, feed_forward, norm1, norm2):
        super().__init__()
        self.halves = nn.ModuleList([nn.ModuleList([attention, norm1]), nn.ModuleList([feed_forward, norm2])])

    def forward(self, x, mask=None):
        for branch, norm in self.halves:
            made = branch(x, mask) if branch is self.halves[0][0] else branch(x)
            x = norm(made + x)
        return x


class Encoder(nn.Module):
    def __init__(self, embedding, positions, norm, blocks):
        super().__init__()
        self.embedding, self.positions, self.norm = embedding, positions, norm
        self.blocks = nn.ModuleList(blocks)

    def enter(self, ids):
        return self.norm(self.positions(self.embedding(ids)))

    def forward(self, ids, mask=None):
        x = self.enter(ids)
        for block in self.blocks:
            x = block(x, mask)
        return x


class EncoderInARow(nn.Module):
    def __init__(self, embedding, positions, norm, blocks):
        super().__init__()
        self.entrance, self.stack = nn.Sequential(embedding, positions, norm), nn.Sequential(*blocks)

    def forward(self, ids, mask=None):
        x = self.entrance(ids)
        for block in self.stack:
            x = block(x, mask)
        return x


def _with(part, **changes):
    """A part with some of its methods, or what else it has, replaced."""
    return type(f"Wrong{part.__name__}", (part,), changes)


def _in_forward(part, answer):
    return _with(part, forward=answer)


def _made(part, change):
    """A part to which something is done when it has been made."""

    def make(self, *sizes):
        part.__init__(self, *sizes)
        change(self)

    return _with(part, __init__=make)


def _adds_in_place(self, x):
    x += self.table[: x.shape[1]]
    return x


def _centred(x):
    return x - x.mean(dim=-1, keepdim=True)


def _root(self, x):
    return (_centred(x).square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


def _over_tokens(self, x):
    x = x - x.mean(dim=1, keepdim=True)
    return self.gain * x / (x.square().mean(dim=1, keepdim=True) + self.eps).sqrt() + self.bias


def _hide_blocks(self):
    blocks = list(self.blocks)
    del self.blocks
    self.blocks = blocks


def _forget(*names):
    def forget(self):
        for name in names:
            part = getattr(self, name)
            delattr(self, name)
            object.__setattr__(self, name, part)

    return forget


def _running(self, x):
    """A mean that remembers: what batch norm does."""
    self.mean = (
        0.9 * getattr(self, "mean", 0.0) + 0.1 * x.mean().item() if self.training else getattr(self, "mean", 0.0)
    )
    return Norm.forward(self, x) + (self.mean if self.training else 0.0)


def _encoded(order):
    def forward(self, ids, mask=None):
        x = self.enter(ids)
        for block in order(list(self.blocks)):
            x = block(x, mask)
        return x

    return forward


def _twice(self, x):
    return x + self.positions(x)


def _unmasked(self, ids, mask=None):
    x = self.enter(ids)
    for block in self.blocks:
        x = block(x)
    return x


def _one_masked(self, ids, mask=None):
    x = self.enter(ids)
    for i, block in enumerate(self.blocks):
        x = block(x, mask if i == 0 else None)
    return x


def _all_from_the_entrance(self, ids, mask=None):
    entrance = x = self.enter(ids)
    for block in self.blocks:
        x = block(entrance, mask)
    return x


def _norm_at_the_end(self, ids, mask=None):
    x = self.positions(self.embedding(ids))
    for block in self.blocks:
        x = block(x, mask)
    return self.norm(x)


def _wired(forward):
    return _in_forward(Block, forward)


def _unmapped_values(self, x, mask=None):
    q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(x)
    return self.out(self.join(self.share(self.masked(q @ k.transpose(-2, -1) / self.root(q), mask)) @ v))


def _unturned_keys(self, x, mask=None):
    q, k, v = (self.heads(make(x)) for make in (self.query, self.key, self.value))
    return self.out(self.join(self.share(self.masked(q @ k / self.root(q), mask)) @ v))


def _own_numbers(self):
    self.query = nn.Identity()
    self.weight, self.bias = nn.Parameter(self.key.weight.data), nn.Parameter(self.key.bias.data)


def _one_place(self, ids):
    return self.norm(self.positions(self.embedding(ids)[:, :1]).expand(-1, ids.shape[1], -1))


WRONG_EMBEDDINGS = {
    "ids as they are": _in_forward(Embedding, lambda self, ids: ids),
    "one row too few": lambda vocab_size, d_model: Embedding(vocab_size - 1, d_model),
    "sizes exchanged": lambda vocab_size, d_model: Embedding(d_model, vocab_size),
    "scaled": _in_forward(Embedding, lambda self, ids: self.table(ids) * self.table.embedding_dim**0.5),
    "the next row": _in_forward(Embedding, lambda self, ids: self.table((ids + 1) % self.table.num_embeddings)),
    "the first token alone": _in_forward(Embedding, lambda self, ids: self.table(ids[:, :1]).expand(*ids.shape, -1)),
    "the mean of the tokens": _in_forward(Embedding, lambda self, ids: self.table(ids).mean(dim=1)),
    "one sequence alone": _in_forward(Embedding, lambda self, ids: self.table(ids[0])),
    "sorted ids": _in_forward(Embedding, lambda self, ids: self.table(ids.sort(dim=-1).values)),
    "cut off from training": _in_forward(Embedding, lambda self, ids: self.table(ids).detach()),
    "gives nothing back": _in_forward(Embedding, lambda self, ids: self.table(ids) and None if ids is None else None),
    "padding is id 0": _in_forward(Embedding, lambda self, ids: self.table(ids) * (ids != 0)[..., None]),
    "dropout": _in_forward(Embedding, lambda self, ids: F.dropout(self.table(ids), 0.5, self.training)),
    "a table in a list": _made(Embedding, _forget("table")),
    "no super": _with(Embedding, __init__=lambda self, v, d: setattr(self, "table", nn.Embedding(v, d))),
}
WRONG_POSITIONS = {
    "the table alone": _in_forward(Positions, lambda self, x: self.table[: x.shape[1]].expand_as(x)),
    "the whole table": _in_forward(Positions, lambda self, x: x + self.table),
    "the last rows": _in_forward(Positions, lambda self, x: x + self.table[-x.shape[1] :]),
    "the first row everywhere": _in_forward(Positions, lambda self, x: x + self.table[0]),
    "a row for each sequence": _in_forward(Positions, lambda self, x: x + self.table[: x.shape[0], None]),
    "multiplied": _in_forward(Positions, lambda self, x: x * self.table[: x.shape[1]]),
    "subtracted": _in_forward(Positions, lambda self, x: x - self.table[: x.shape[1]]),
    "counted from 1": _in_forward(Positions, lambda self, x: x + self.table.roll(-1, 0)[: x.shape[1]]),
    "in place": _in_forward(Positions, _adds_in_place),
    "not learned": _in_forward(Positions, lambda self, x: x + self.table[: x.shape[1]].detach()),
    "nothing added": _in_forward(Positions, lambda self, x: x),
    "sizes exchanged": lambda max_len, d_model: Positions(d_model, max_len),
    "joined": _in_forward(Positions, lambda self, x: torch.cat([x, self.table[: x.shape[1]].expand_as(x)], dim=-1)),
    "a plain tensor": _made(Positions, _forget("table")),
}
WRONG_NORMS = {
    "std with D − 1": _in_forward(
        Norm, lambda self, x: self.gain * _centred(x) / (x.var(dim=-1, keepdim=True) + self.eps).sqrt() + self.bias
    ),
    "eps outside the root": _in_forward(
        Norm,
        lambda self, x: self.gain * _centred(x) / (x.std(-1, keepdim=True, correction=0) + self.eps) + self.bias,
    ),
    "eps of its own": _made(Norm, lambda self: setattr(self, "eps", 1e-5)),
    "no eps": _made(Norm, lambda self: setattr(self, "eps", 0.0)),
    "no mean": _in_forward(Norm, lambda self, x: self.gain * x / _root(self, x) + self.bias),
    "RMS norm": _in_forward(
        Norm, lambda self, x: self.gain * x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() + self.bias
    ),
    "variance without root": _in_forward(
        Norm, lambda self, x: self.gain * _centred(x) / _root(self, x) ** 2 + self.bias
    ),
    "over the tokens": _in_forward(Norm, _over_tokens),
    "no bias": _in_forward(Norm, lambda self, x: self.gain * _centred(x) / _root(self, x)),
    "no gain": _in_forward(Norm, lambda self, x: _centred(x) / _root(self, x) + self.bias),
    "bias before gain": _in_forward(Norm, lambda self, x: self.gain * (_centred(x) / _root(self, x) + self.bias)),
    "one mean for all tokens": _in_forward(
        Norm, lambda self, x: self.gain * (x - x.mean()) / (x.var(correction=0) + self.eps).sqrt() + self.bias
    ),
    "no parameters": lambda d_model, eps: nn.LayerNorm(d_model, eps, elementwise_affine=False),
    "a gain of 0": _made(Norm, lambda self: self.gain.data.zero_()),
    "a bias of 1": _made(Norm, lambda self: self.bias.data.fill_(1.0)),
    "statistics cut off": _in_forward(Norm, lambda self, x: Norm.forward(self, x).detach()),
    "a mean that remembers": _in_forward(Norm, _running),
}
WRONG_ATTENTIONS = {
    "no root": _with(Attention, root=lambda self, q: 1.0),
    "the root of D": _with(Attention, root=lambda self, q: (q.shape[-1] * self.n_heads) ** 0.5),
    "K without root": _with(Attention, root=lambda self, q: q.shape[-1]),
    "softmax over the queries": _with(Attention, share=lambda self, s: s.softmax(dim=-2)),
    "no softmax": _with(Attention, share=lambda self, s: s),
    "no mask": _with(Attention, masked=lambda self, s, mask: s),
    "the mask upside down": _with(
        Attention, masked=lambda self, s, mask: s if mask is None else s.masked_fill(mask, -torch.inf)
    ),
    "masked scores are 0": _with(
        Attention, masked=lambda self, s, mask: s if mask is None else s.masked_fill(~mask, 0.0)
    ),
    "the mask added": _with(Attention, masked=lambda self, s, mask: s if mask is None else s + mask),
    "one head for all": _with(Attention, heads=lambda self, x: x[:, None]),
    "heads by view alone": _with(Attention, heads=lambda self, x: x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)),
    "every H-th number a head": _with(
        Attention, heads=lambda self, x: x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)
    ),
    "joined without going back": _with(Attention, join=lambda self, x: x.flatten(1).view(x.shape[0], x.shape[2], -1)),
    "values are not mapped": _in_forward(Attention, _unmapped_values),
    "no last map": _made(Attention, lambda self: setattr(self, "out", nn.Identity())),
    "no biases": _made(
        Attention, lambda self: [setattr(self, n, nn.Linear(*getattr(self, n).weight.shape, bias=False)) for n in
                                 ("query", "key", "value", "out")]
    ),
    "x added": _in_forward(Attention, lambda self, x, mask=None: x + Attention.forward(self, x, mask)),
    "cut off from training": _with(Attention, share=lambda self, s: s.detach().softmax(dim=-1)),
    "dropout": _with(Attention, share=lambda self, s: F.dropout(s.softmax(dim=-1), 0.5, self.training)),
    "keys are not turned": _in_forward(Attention, _unturned_keys),
    "no linear maps": _made(Attention, _own_numbers),
    "keys serve as queries": _made(Attention, lambda self: setattr(self, "query", self.key)),
}  # fmt: skip
WRONG_FEED_FORWARDS = {
    "ReLU": _with(FeedForward, bend=lambda self, x: x.relu()),
    "approximate GELU": _with(FeedForward, bend=lambda self, x: F.gelu(x, approximate="tanh")),
    "SiLU": _with(FeedForward, bend=lambda self, x: F.silu(x)),
    "no bend": _with(FeedForward, bend=lambda self, x: x),
    "tanh": _with(FeedForward, bend=lambda self, x: x.tanh()),
    "a bend at the end too": _in_forward(FeedForward, lambda self, x: F.gelu(FeedForward.forward(self, x))),
    "a bend before": _in_forward(FeedForward, lambda self, x: self.down(self.up(F.gelu(x)))),
    "x added": _in_forward(FeedForward, lambda self, x: x + FeedForward.forward(self, x)),
    "sizes exchanged": lambda d_model, d_ff: FeedForward(d_ff, d_model),
    "a single map": lambda d_model, d_ff: nn.Linear(d_model, d_model),
    "no biases": lambda d_model, d_ff: nn.Sequential(
        nn.Linear(d_model, d_ff, bias=False), nn.GELU(), nn.Linear(d_ff, d_model, bias=False)
    ),
    "normalised": _in_forward(FeedForward, lambda self, x: F.layer_norm(FeedForward.forward(self, x), x.shape[-1:])),
    "dropout": _in_forward(FeedForward, lambda self, x: F.dropout(FeedForward.forward(self, x), 0.5, self.training)),
    "cut off from training": _with(FeedForward, bend=lambda self, x: F.gelu(x.detach())),
    "three maps": lambda d_model, d_ff: nn.Sequential(
        nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)
    ),
}


def _half(self, x, mask):
    return self.norm1(x + self.attention(x, mask))


WRONG_BLOCKS = {
    "no sums": _wired(lambda self, x, mask=None: self.norm2(self.feed_forward(self.norm1(self.attention(x, mask))))),
    "no first sum": _wired(
        lambda self, x, mask=None: (lambda y: self.norm2(y + self.feed_forward(y)))(self.norm1(self.attention(x, mask)))
    ),
    "no second sum": _wired(lambda self, x, mask=None: self.norm2(self.feed_forward(_half(self, x, mask)))),
    "pre-norm": _wired(
        lambda self, x, mask=None: (lambda y: y + self.feed_forward(self.norm2(y)))(
            x + self.attention(self.norm1(x), mask)
        )
    ),
    "norms exchanged": _wired(
        lambda self, x, mask=None: (lambda y: self.norm1(y + self.feed_forward(y)))(
            self.norm2(x + self.attention(x, mask))
        )
    ),
    "the first norm twice": _wired(
        lambda self, x, mask=None: (lambda y: self.norm1(y + self.feed_forward(y)))(_half(self, x, mask))
    ),
    "no mask": _wired(
        lambda self, x, mask=None: (lambda y: self.norm2(y + self.feed_forward(y)))(_half(self, x, None))
    ),
    "the mask for everybody": _wired(
        lambda self, x, mask=None: (lambda y: self.norm2(y + self.feed_forward(y, mask)))(_half(self, x, mask))
    ),
    "the input in the second half": _wired(
        lambda self, x, mask=None: (lambda y: self.norm2(x + self.feed_forward(y)))(_half(self, x, mask))
    ),
    "feed-forward first": _wired(
        lambda self, x, mask=None: (lambda y: self.norm2(y + self.attention(y, mask)))(
            self.norm1(x + self.feed_forward(x))
        )
    ),
    "only attention": _wired(lambda self, x, mask=None: _half(self, x, mask)),
    "no norms": _wired(lambda self, x, mask=None: (lambda y: y + self.feed_forward(y))(x + self.attention(x, mask))),
    "parts in no module": _made(Block, _forget("attention", "feed_forward", "norm1", "norm2")),
    "cut off from training": _wired(lambda self, x, mask=None: Block.forward(self, x, mask).detach()),
}
WRONG_ENCODERS = {
    "no positions": _with(Encoder, enter=lambda self, ids: self.norm(self.embedding(ids))),
    "no norm": _with(Encoder, enter=lambda self, ids: self.positions(self.embedding(ids))),
    "norm before positions": _with(Encoder, enter=lambda self, ids: self.positions(self.norm(self.embedding(ids)))),
    "norm at the end": _in_forward(Encoder, _norm_at_the_end),
    "norm at both ends": _in_forward(Encoder, lambda self, ids, mask=None: self.norm(Encoder.forward(self, ids, mask))),
    "the first block alone": _in_forward(Encoder, _encoded(lambda blocks: blocks[:1])),
    "no blocks": _in_forward(Encoder, _encoded(lambda blocks: [])),
    "backwards": _in_forward(Encoder, _encoded(lambda blocks: blocks[::-1])),
    "the first block each time": _in_forward(Encoder, _encoded(lambda blocks: blocks[:1] * len(blocks))),
    "every block from the entrance": _in_forward(Encoder, _all_from_the_entrance),
    "no mask": _in_forward(Encoder, _unmasked),
    "a mask for the first block": _in_forward(Encoder, _one_masked),
    "blocks in a plain list": _made(Encoder, _hide_blocks),
    "positions added twice": _with(Encoder, enter=lambda self, ids: self.norm(_twice(self, self.embedding(ids)))),
    "the mean at once": _in_forward(
        Encoder, lambda self, ids, mask=None: Encoder.forward(self, ids, mask).mean(dim=1)
    ),
    "positions of the first token": _with(Encoder, enter=_one_place),
}  # fmt: skip


ANSWERS = {
    checks.check_own_embedding: ({"nn.Embedding": Embedding, "one-hot": EmbeddingByOneHot}, WRONG_EMBEDDINGS),
    checks.check_own_positions: ({"parameter": Positions, "look-up": PositionsByLookUp}, WRONG_POSITIONS),
    checks.check_own_norm: ({"formula": Norm, "torch": NormOfTorch}, WRONG_NORMS),
    checks.check_own_attention: ({"four maps": Attention, "fused": FusedAttention}, WRONG_ATTENTIONS),
    checks.check_own_feed_forward: ({"two maps": FeedForward, "in a row": FeedForwardInARow}, WRONG_FEED_FORWARDS),
    checks.check_own_block: ({"two lines": Block, "by name": BlockByName, "loop": BlockByLoop}, WRONG_BLOCKS),
    checks.check_own_encoder: ({"loop": Encoder, "in a row": EncoderInARow}, WRONG_ENCODERS),
}
