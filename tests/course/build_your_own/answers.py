"""What learners write in 12_build_your_own: right parts, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from source_edits import folded, wrong
from torch import nn
from torch.nn.utils.rnn import pad_sequence  # noqa: F401 (the notebook's answer wants it)

from encoder_lib.course import checks

Embedding, Positions, Norm, Attention, FeedForward, Block, Encoder, vectors_of = folded(
    "12", __name__, "Embedding", "Positions", "Norm", "Attention", "FeedForward", "Block", "Encoder", "vectors_of"
)


class EmbeddingWithPadding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model, padding_idx=0)

    def forward(self, ids):
        return self.table(ids)


class EmbeddingByOneHot(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return F.one_hot(ids, len(self.rows)).to(self.rows.dtype) @ self.rows


class PositionsByLookUp(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.places = nn.Embedding(max_len, d_model)

    def forward(self, x):
        return self.places(torch.arange(x.shape[1], device=x.device)) + x


class NormAroundRMSNorm(nn.Module):
    """As 03 has it, with a name for the bias that is the reader's own."""

    def __init__(self, d_model, eps):
        super().__init__()
        self.shift, self.rms = nn.Parameter(torch.zeros(d_model)), nn.RMSNorm(d_model, eps)

    def forward(self, x):
        return self.rms(x - x.mean(dim=-1, keepdim=True)) + self.shift


class FusedAttention(nn.Module):
    """PyTorch's own attention between the maps, of which the last is made first."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.out_proj, self.n_heads = nn.Linear(d_model, d_model), n_heads
        self.v_proj, self.k_proj, self.q_proj = (nn.Linear(d_model, d_model) for _ in range(3))

    def forward(self, x, mask=None):
        maps = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (linear(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for linear in maps)
        return self.out_proj(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(-2))


class FeedForwardInARow(nn.Sequential):
    def __init__(self, d_model, d_ff):
        super().__init__(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))


class BlockByHalves(nn.Module):
    def __init__(self, attention, feed_forward, norm1, norm2):
        super().__init__()
        self.norm2, self.norm1, self.feed_forward, self.attention = norm2, norm1, feed_forward, attention

    def forward(self, x, mask=None):
        fetched = self.attention(x, mask=mask)
        x1 = self.norm1(fetched + x)
        made = self.feed_forward(x1)
        return self.norm2(made + x1)


class EncoderInARow(nn.Module):
    def __init__(self, embedding, positions, norm, blocks):
        super().__init__()
        self.blocks, self.embedding, self.positions, self.norm = nn.Sequential(*blocks), embedding, positions, norm

    def forward(self, ids, mask=None):
        x = self.embedding(ids)
        for part in (self.positions, self.norm):
            x = part(x)
        for block in self.blocks:
            x = block(x, mask)
        return x


NORMED = "self.norm(self.positions(self.embedding(ids)))"


def vectors_one_by_one(encoder, rows):
    return F.normalize(torch.stack([encoder(row[None])[0].mean(dim=0) for row in rows]), dim=-1)


ANSWERS = {
    checks.check_own_embedding: (
        {"a table": Embedding, "padding_idx=0": EmbeddingWithPadding, "one-hot": EmbeddingByOneHot},
        wrong(Embedding, {
            "scaled": {"self.weight[ids]": "self.weight[ids] * self.weight.shape[1]**0.5"},
            "the first token alone": {"[ids]": "[ids[:, :1]].expand(*ids.shape, -1)"},
            "cut off from training": {"self.weight[ids]": "self.weight[ids].detach()"},
            "not trained": {"d_model))": "d_model), requires_grad=False)"},
            "columns as rows": {"(vocab_size, d_model))": "(d_model, vocab_size))", "[ids]": ".T[ids]"},
            "gives nothing back": {"return self": "self"},
            "dropout": {"self.weight[ids]": "F.dropout(self.weight[ids], 0.5, self.training)"},
            "no super": {"        super().__init__()\n": ""},
        }),
    ),
    checks.check_own_positions: (
        {"parameter": Positions, "look-up": PositionsByLookUp},
        wrong(Positions, {
            "the table alone": {"x + self.weight[: x.shape[1]]": "self.weight[: x.shape[1]].expand_as(x)"},
            "the whole table": {"[: x.shape[1]]": ""},
            "the first row everywhere": {"[: x.shape[1]]": "[0]"},
            "in place": {"x + self.weight[: x.shape[1]]": "x.add_(self.weight[: x.shape[1]])"},
            "not learned": {"x.shape[1]]": "x.shape[1]].detach()"},
            "x detached": {"return x +": "return x.detach() +"},
        }) | wrong(PositionsByLookUp, {"places on the CPU": {", device=x.device": ""}}),
    ),
    checks.check_own_norm: (
        {"formula": Norm, "around RMS norm": NormAroundRMSNorm},
        wrong(Norm, {
            "std with D − 1": {"x.square().mean(": "x.var("},
            "eps outside the root": {"(variance + self.eps).sqrt()": "(variance.sqrt() + self.eps)"},
            "no eps": {" + self.eps": ""},
            "no bias": {" + self.bias": ""},
            "no gain": {"self.weight * x": "x"},
            "no mean": {"x = x - x.mean(dim=-1, keepdim=True)": "pass"},
            "one mean for all tokens": {"- x.mean(dim=-1, keepdim=True)": "- x.mean()",
                                        "square().mean(dim=-1, keepdim=True)": "square().mean()"},
            "along the tokens": {"- x.mean(dim=-1": "- x.mean(dim=-2", "square().mean(dim=-1": "square().mean(dim=-2"},
            "the last of three dimensions": {"- x.mean(dim=-1": "- x.mean(dim=2",
                                             "square().mean(dim=-1": "square().mean(dim=2"},
            "names of its own": {"self.weight =": "self.gain =", "self.bias =": "self.shift =",
                                 "return self.weight": "return self.gain", "+ self.bias": "+ self.shift"},
            "no parameters": lambda d_model, eps: nn.LayerNorm(d_model, eps, elementwise_affine=False),
            "a gain of 0": {"torch.ones": "torch.zeros"},
            "cut off from training": {"self.weight * x": "self.weight.detach() * x"},
            "mean and deviation without gradients": {
                "x = x - x.mean(dim=-1, keepdim=True)": "x = x - x.mean(dim=-1, keepdim=True).detach()",
                "variance = x.square().mean(dim=-1, keepdim=True)":
                    "variance = x.square().mean(dim=-1, keepdim=True).detach()"},
            "the deviation by NumPy": {"variance = x.square().mean(dim=-1, keepdim=True)":
                                       "variance = torch.tensor(x.detach().numpy().var(axis=-1, keepdims=True))"},
            "a mean that remembers": {"return self": "self.mean = getattr(self, 'mean', 0.0) + 0.1\n"
                                      "        return self.mean * self.training + self"},
        }),
    ),
    checks.check_own_attention: (
        {"four maps": Attention, "fused": FusedAttention},
        wrong(Attention, {
            "no root": {" / q.shape[-1] ** 0.5": ""},
            "the root of D": {"q.shape[-1]": "x.shape[-1]"},
            "no mask": {"mask is not None": "False"},
            "values are not mapped": {"self.v_proj(x)": "x"},
            "no last map": {"self.out_proj = nn.Linear(d_model, d_model)": "self.out_proj = nn.Identity()"},
            "cut off from training": {"scores.softmax": "scores.detach().softmax"},
            "keys of a detached x": {"self.k_proj(x)": "self.k_proj(x.detach())"},
            "hidden by −100": {"-torch.inf": "-100.0"},
            "the mask in place": {"        if mask is": "        mask is None or mask.fill_(True)\n        if mask is"},
            "dropout": {"scores.softmax(dim=-1)": "F.dropout(scores.softmax(dim=-1), 0.5, self.training)"},
            "names of its own": {"self.q_proj =": "self.q =", "self.k_proj =": "self.k =", "self.v_proj =": "self.v =",
                                 "self.q_proj(x), self.k_proj(x), self.v_proj(x)": "self.q(x), self.k(x), self.v(x)"},
        }),
    ),
    checks.check_own_feed_forward: (
        {"two maps": FeedForward, "in a row": FeedForwardInARow},
        wrong(FeedForward, {
            "ReLU": {"F.gelu": "F.relu"},
            "approximate GELU": {"F.gelu(self.linear1(x))": "F.gelu(self.linear1(x), approximate='tanh')"},
            "sizes exchanged": {"d_model, d_ff):": "d_ff, d_model):"},
            "a single map": lambda d_model, d_ff: nn.Linear(d_model, d_model),
            "dropout": {"F.gelu(self.linear1(x))": "F.dropout(F.gelu(self.linear1(x)), 0.5, self.training)"},
            "cut off from training": {"self.linear1(x)": "self.linear1(x).detach()"},
            "x detached": {"self.linear1(x)": "self.linear1(x.detach())"},
            "a third map": {"d_ff, d_model)\n": "d_ff, d_model)\n        self.more = nn.Linear(d_model, d_ff)\n"},
        }),
    ),
    checks.check_own_block: (
        {"two lines": Block, "halves": BlockByHalves},
        wrong(Block, {
            "no sums": {"(x + self.attention": "(self.attention", "(x + self.feed": "(self.feed"},
            "pre-norm": {"self.norm1(x + self.attention(x, mask))": "x + self.attention(self.norm1(x), mask)",
                         "self.norm2(x + self.feed_forward(x))": "x + self.feed_forward(self.norm2(x))"},
            "no mask": {"(x, mask))": "(x))"},
            "a detached residual path": {"(x + self.attention": "(x.detach() + self.attention"},
            "a detached branch": {"self.feed_forward(x)": "self.feed_forward(x.detach())"},
            "an extra parameter": {"super().__init__()": "super().__init__()\n        self.norm3 = nn.LayerNorm(4)"},
            "queries, keys and values": {"self.attention(x, mask)": "self.attention(x, x, x, mask)"},
            "the mask for everybody": {"feed_forward(x)": "feed_forward(x, mask)"},
            "names of its own": {"self.attention, self.feed": "self.look, self.feed", "self.attention(": "self.look("},
            "parts in no module": {
                "self.attention, self.feed_forward = attention, feed_forward":
                    "self.__dict__.update(attention=attention, feed_forward=feed_forward)",
                "self.norm1, self.norm2 = norm1, norm2": "self.__dict__.update(norm1=norm1, norm2=norm2)"},
        }),
    ),
    checks.check_own_encoder: (
        {"loop": Encoder, "in a row": EncoderInARow},
        wrong(Encoder, {
            "no positions": {"self.positions(self.embedding(ids))": "self.embedding(ids)"},
            "no norm": {NORMED: "self.positions(self.embedding(ids))"},
            "norm at the end": {NORMED: "self.positions(self.embedding(ids))", "return x": "return self.norm(x)"},
            "the first block alone": {"in self.blocks": "in self.blocks[:1]"},
            "backwards": {"in self.blocks": "in reversed(self.blocks)"},
            "no mask": {"block(x, mask)": "block(x)"},
            "blocks in a plain list": {"nn.ModuleList(blocks)": "list(blocks)"},
            "blocks on detached vectors": {"block(x, mask)": "block(x.detach(), mask)"},
            "back after one block": {"        return x": "            return x"},
            "names of its own": {"self.blocks =": "self.stack =", "in self.blocks": "in self.stack"},
            "an extra norm": {"super().__init__()": "super().__init__()\n        self.last = nn.LayerNorm(1)"},
            "blocks taken out of the list": {"ModuleList(blocks)": "ModuleList([blocks.pop(0) for _ in blocks[:]])"},
            "nothing at id 0": {"self.embedding(ids)": "self.embedding(ids) * (ids != 0)[..., None]"},
            "the mean at once": {"return x": "return x.mean(dim=1)"},
        }),
    ),
    checks.check_vectors_of: (
        {"in a batch": vectors_of, "one by one": vectors_one_by_one},
        wrong(vectors_of, {
            "padding counted in": {"(x * real).sum(dim=1) / real.sum(dim=1)": "x.mean(dim=1)"},
            "not brought to length 1": {"F.normalize(": "(", ", dim=-1)": ")"},
            "each token at length 1 first": {"(x * real": "(F.normalize(x, dim=-1) * real"},
            "one mean for all": {"(x * real).sum(dim=1) / real.sum(dim=1)":
                                 "x[real[..., 0]].mean(dim=0).expand(len(x), -1)"},
            "no mask": {", real[:, None, None, :]": ""},
            "the mask of another shape": {"real[:, None, None, :]": "real"},
            "the mask the wrong way round": {"real[:, None, None, :]": "~real[:, None, None, :]"},
            "ids cut off at 5": {"    ids =": "    for row in rows:\n        row.clamp_(max=5)\n    ids ="},
            "rows sorted": {"    ids =": "    rows.sort(key=len)\n    ids ="},
            "four tokens of each": {"pad_sequence(rows": "pad_sequence([row[:4] for row in rows]"},
            "each word once": {"pad_sequence(rows": "pad_sequence([row.unique() for row in rows]"},
            "detached": {"    x = encoder(": "    x = torch.no_grad()(encoder)("},
        }),
    ),
}  # fmt: skip
