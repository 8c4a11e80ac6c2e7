"""What readers of the clinic write: for each check why the broken code fails, mended code, and half-mended code."""

import copy
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import EncoderLayer, attention, from_torch, masked_softmax, padding_mask, sinusoidal_table


def sdpa(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, mask)


def weights_by_hand(query, key, value, mask, *, scale=lambda q, k: q.shape[-1] ** -0.5, dim=-1, see=lambda m: m):
    scores = torch.einsum("bqd,bkd->bqk", query, key) * scale(query, key)
    return scores.masked_fill(~see(mask), torch.finfo(scores.dtype).min).softmax(dim) @ value


# Modules, each with one thing done differently.


class TwoLinears(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.first, self.second = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.rate = dropout

    def hidden(self, x):
        return F.relu(self.first(x))

    def forward(self, x):
        return self.second(self.hidden(x))


class InAList(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.layers = [nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)]

    def forward(self, x):
        for layer in self.layers:
            layer.to(x.dtype)
            x = layer(x)
        return x


class NoBend(TwoLinears):
    def hidden(self, x):
        return self.first(x)


class OneFrozen(TwoLinears):
    def forward(self, x):
        return self.second(self.hidden(x).detach())


class MadeOnEachCall(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.sizes = d_model, d_ff

    def forward(self, x):
        return TwoLinears(*self.sizes).to(x.dtype)(x)


class DropsWhenTold(TwoLinears):
    def hidden(self, x):
        return F.dropout(super().hidden(x), self.rate, training=self.training)


class DropsByHand(TwoLinears):
    def hidden(self, x):
        hidden = super().hidden(x)
        if not self.training:
            return hidden
        return hidden * (torch.rand_like(hidden) > self.rate) / (1 - self.rate)


class DropsInEval(TwoLinears):
    def hidden(self, x):
        return F.dropout(super().hidden(x), self.rate, training=not self.training)


class DropsNever(TwoLinears):
    pass


class DropsTheOutput(TwoLinears):
    def forward(self, x):
        return F.dropout(super().forward(x), self.rate, training=self.training)


class DropsAsItLikes(TwoLinears):
    """The rate that was asked for goes nowhere."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__(d_model, d_ff, dropout)
        self.drop = nn.Dropout(0.1)

    def hidden(self, x):
        return self.drop(super().hidden(x))


class DropsOnce(TwoLinears):
    """The flag is read when the object is made, not when it is called."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__(d_model, d_ff, dropout)
        self.flag = self.training

    def hidden(self, x):
        return F.dropout(super().hidden(x), self.rate, training=self.flag)


class DropsAsAtFirst(TwoLinears):
    """The flag is read in the first call, and kept."""

    def hidden(self, x):
        self.flag = getattr(self, "flag", self.training)
        return F.dropout(super().hidden(x), self.rate, training=self.flag)


class ScalesInEval(TwoLinears):
    def hidden(self, x):
        hidden = F.dropout(super().hidden(x), self.rate, training=self.training)
        return hidden if self.training else hidden * (1 - self.rate)


def split_by_one(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def split_each(query, key, value, n_heads):
    return tuple(split_by_one(x, n_heads) for x in (query, key, value))


def split_without_transpose(query, key, value, n_heads):
    return [x.reshape(len(x), n_heads, x.shape[1], -1) for x in (query, key, value)]


def split_value_by_query(query, key, value, n_heads):
    return [split_by_one(query, n_heads), split_by_one(key, n_heads), split_by_one(value[:, : query.shape[1]], n_heads)]


def split_interleaved(query, key, value, n_heads):
    return [x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2) for x in (query, key, value)]


def weigh_by_exponentials(scores, mask):
    shifted = scores - scores.masked_fill(~mask, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
    weights = shifted.masked_fill(~mask, torch.finfo(scores.dtype).min).exp() * mask
    return weights / weights.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)


def weigh_with(fill):
    return lambda scores, mask: scores.masked_fill(~mask, fill).softmax(-1)


def weigh_lowest(scores, mask):
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)


def weigh_in_float32(scores, mask):
    return scores.float().masked_fill(~mask, -1e9).softmax(-1)


def weigh_and_replace(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()


def weigh_by_product(scores, mask):
    return scores.softmax(-1) * mask


def weigh_then_hide(scores, mask):
    return weigh_with(-1e9)(scores, mask) * mask


class Embedded(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model, padding_idx=0)

    def rows(self, x):
        return sinusoidal_table(x.shape[1], x.shape[2], dtype=x.dtype)

    def forward(self, ids):
        x = self.token(ids)
        return x + self.rows(x)


class TokensTwice(Embedded):
    def forward(self, ids):
        x = self.token(ids)
        return x + (x + self.rows(x))


class TokensAlone(Embedded):
    def forward(self, ids):
        return self.token(ids)


class PositionsAlone(Embedded):
    def forward(self, ids):
        return self.token(ids) * 0 + self.rows(self.token(ids))


class PaddingLikeAWord(Embedded):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
        self.token = nn.Embedding(vocab_size, d_model)


class IdsSpread(Embedded):
    """The shapes fit now, the ids are still in."""

    def forward(self, ids):
        x = self.token(ids)
        return x + (ids[..., None] + self.rows(x))


class RowsOnDemand(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        return x + sinusoidal_table(x.shape[1], self.d_model, dtype=x.dtype).to(x.device)


class RowsFollow(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.table = sinusoidal_table(50, d_model)

    def forward(self, x):
        return x + self.table[: x.shape[1]].to(x)


class RowsLearn(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.table = nn.Parameter(sinusoidal_table(50, d_model))

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class RowsOfOneType(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.table = sinusoidal_table(50, d_model).float()

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class RowsCast(RowsFollow):
    """The dtype follows, the device does not."""

    def forward(self, x):
        return x + self.table[: x.shape[1]].to(x.dtype)


def torch_flipped(attention, x, real):
    return attention(x, x, x, key_padding_mask=real.logical_not(), need_weights=False)[0]


def torch_by_square(attention, x, real):
    hidden = ~real[:, None, :].expand(-1, x.shape[1], -1)
    return attention(x, x, x, attn_mask=hidden)[0]


def torch_unmasked(attention, x, real):
    return attention(x, x, x)[0]


def torch_patched(attention, x, real):
    return attention(x, x, x, key_padding_mask=real)[0].nan_to_num()


def torch_zeroed(attention, x, real):
    return attention(x * real[..., None], x, x, key_padding_mask=~real)[0]


def norm_by_hand(x, *, eps=1e-5, unbiased=False, outside=False, wide=False):
    y = x.float() if wide and x.dtype == torch.float16 else x
    centred = y - y.mean(-1, keepdim=True)
    variance = y.var(-1, keepdim=True, unbiased=unbiased)
    spread = variance.sqrt() + eps if outside else (variance + eps).sqrt()
    return (centred / spread).to(x.dtype)


def norm_without_parentheses(x):
    return x - x.mean(-1, keepdim=True) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()


def norm_patched(x):
    return norm_by_hand(x, eps=1e-10).nan_to_num()


def norm_by_torch(x):
    return F.layer_norm(x, x.shape[-1:])


class OneMap(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.maps = nn.Linear(d_model, 3 * d_model)

    def forward(self, x, mask=None):
        return attention(*self.maps(x).chunk(3, dim=-1), mask)[0]


class MapsInAList(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.maps = [nn.Linear(d_model, d_model, dtype=torch.float64) for _ in range(3)]

    def forward(self, x, mask=None):
        return attention(*(linear(x) for linear in self.maps), mask)[0]


class OneMapForAll(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.map = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        return attention(*(self.map(x) for _ in range(3)), mask)[0]


class SeededOnEachCall(nn.Module):
    """Repeats, and still learns nothing."""

    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x, mask=None):
        torch.manual_seed(0)
        three = (nn.Linear(self.d_model, self.d_model).to(x.dtype)(x) for _ in range(3))
        return attention(*three, mask)[0]


class ThreeMapsUnmasked(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))

    def forward(self, x, mask=None):
        return attention(self.q(x), self.k(x), self.v(x))[0]


class Stacked(nn.Module):
    def __init__(self, n_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList(self.make(n_layers, *sizes))

    def make(self, n_layers, *sizes):
        layers = []
        while len(layers) < n_layers:
            layers.append(EncoderLayer(*sizes))
        return layers

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


class MaskDropped(Stacked):
    def forward(self, x, mask=None):
        return super().forward(x)


class SumOfLayers(Stacked):
    """Every layer reads the first x."""

    def forward(self, x, mask=None):
        y = x
        for layer in self.layers:
            y = y + layer(x, mask)
        return y


class SameObject(Stacked):
    def make(self, n_layers, *sizes):
        return [EncoderLayer(*sizes)] * n_layers


class LocalTemplate(Stacked):
    def make(self, n_layers, *sizes):
        template = EncoderLayer(*sizes)
        return [copy.deepcopy(template) for _ in range(n_layers)]


class PlainList(Stacked):
    def __init__(self, n_layers, *sizes):
        nn.Module.__init__(self)
        self.layers = [layer.double() for layer in self.make(n_layers, *sizes)]


class LastUnused(Stacked):
    def make(self, n_layers, *sizes):
        return super().make(n_layers + 1, *sizes)

    def forward(self, x, mask=None):
        for layer in self.layers[:-1]:
            x = layer(x, mask)
        return x


class DrawnThenZeroed(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx):
        super().__init__()
        weight = nn.init.xavier_uniform_(torch.empty(vocab_size, d_model))
        weight[padding_idx] = 0
        self.words = nn.Embedding.from_pretrained(weight, freeze=False, padding_idx=padding_idx)

    def forward(self, ids):
        return self.words(ids)


class TorchsOwnRows(DrawnThenZeroed):
    def __init__(self, vocab_size, d_model, padding_idx):
        nn.Module.__init__(self)
        self.words = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)


class ZeroAlways(DrawnThenZeroed):
    def __init__(self, vocab_size, d_model, padding_idx):
        super().__init__(vocab_size, d_model, 0)


class ZeroThatLearns(DrawnThenZeroed):
    def __init__(self, vocab_size, d_model, padding_idx):
        super().__init__(vocab_size, d_model, padding_idx)
        self.words.padding_idx = None


class AllZero(DrawnThenZeroed):
    def __init__(self, vocab_size, d_model, padding_idx):
        super().__init__(vocab_size, d_model, padding_idx)
        nn.init.zeros_(self.words.weight)


def real_by_loop(query, key, value, real):
    rows = [attention(query[b], key[b, real[b]], value[b, real[b]])[0] for b in range(len(query))]
    return torch.stack(rows)


def real_hides_queries(query, key, value, real):
    return attention(query, key, value, real[:, :, None])[0]


def real_turned(query, key, value, real):
    return attention(query, key, value, real.T if len(real) == real.shape[1] else real[:, None, :])[0]


def real_forgotten(query, key, value, real):
    return attention(query, key, value)[0]


def encode_one_by_one(ids, embedding, layers):
    y = torch.zeros(*ids.shape, embedding.token.d_model, dtype=embedding.token.weight.dtype)
    for b, row in enumerate(ids):
        x = embedding(row[row != 0][None])
        for layer in layers:
            x = layer(x)
        y[b, : x.shape[1]] = x[0]
    return y


def encode_with_mask(ids, embedding, layers, *, masked=lambda i: True, mask=lambda ids: padding_mask(ids, 0)):
    x = embedding(ids)
    for i, layer in enumerate(layers):
        x = layer(x, mask(ids)) if masked(i) else layer(x)
    return x


def encode_zeroed(ids, embedding, layers):
    x = embedding(ids) * (ids != 0)[..., None]
    for layer in layers:
        x = layer(x) * (ids != 0)[..., None]
    return x


def block_in_one_line(x, attend, network, norm1, norm2):
    y = norm1(x + attend(x))
    return norm2(y + network(y))


def block_pre_norm(x, attend, network, norm1, norm2):
    x = x + attend(norm1(x))
    return x + network(norm2(x))


def block_other_sum(x, attend, network, norm1, norm2):
    x = x + attend(x)
    y = norm1(x)
    return norm2(x + network(y))


def block_without_residual(x, attend, network, norm1, norm2):
    y = norm1(x + attend(x))
    return norm2(network(y))


def block_in_place(x, attend, network, norm1, norm2):
    x += attend(x)
    y = norm1(x)
    return norm2(y + network(y))


def block_one_norm(x, attend, network, norm1, norm2):
    x = norm1(x + attend(x))
    return norm1(x + network(x))


def table_by_pairs(length, d_model):
    speed = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(length)[:, None] * speed
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def table_with(exponent, *, first=torch.sin, second=torch.cos):
    def table(length, d_model):
        i = torch.arange(d_model)
        angle = torch.arange(length)[:, None] / 10_000 ** exponent(i, d_model)
        return torch.where(i % 2 == 0, first(angle), second(angle))

    return table


# check -> what the broken code's verdict must say, further right answers, half-mended ones
CLINIC = {
    "check_feed_forward": (
        "has no attribute 'layers'",
        {"two attributes": TwoLinears},
        {"a plain list": InAList, "no bend": NoBend, "detached": OneFrozen, "made on each call": MadeOnEachCall},
    ),
    "check_split": (
        "two queries, three keys: it stopped with RuntimeError: shape",
        {"chunks": split_each},
        {
            "no transpose": split_without_transpose,
            "value cut to the query": split_value_by_query,
            "every n-th number": split_interleaved,
        },
    ),
    "check_half_precision": (
        "float16: it stopped with RuntimeError: value cannot be converted",
        {"minus infinity": weigh_with(-torch.inf), "exponentials": weigh_by_exponentials},
        {"−1e4": weigh_with(-1e4), "in float32": weigh_in_float32, "times the mask": weigh_by_product},
    ),
    "check_embedding": (
        "expected [[[0.5, 1.6]]]\ngot      [[[2.5, 3.6]]]",
        {"rows on demand": Embedded},
        {"tokens twice": TokensTwice, "no positions": TokensAlone, "no tokens": PositionsAlone, "ids": IdsSpread,
         "padding like a word": PaddingLikeAWord},
    ),
    "check_positions": (
        "in, torch.float",
        {"on demand": RowsOnDemand, "follows its input": RowsFollow},
        {"a parameter": RowsLearn, "always float32": RowsOfOneType, "dtype alone": RowsCast},
    ),
    "check_empty_text": (
        "no NaN: with scores [[0.0, 0.0]], mask [[False, False]]\n"
        "expected [[0.0, 0.0]]\ngot      [[nan, nan]]",
        {"exponentials": weigh_by_exponentials, "nan_to_num": weigh_and_replace},
        {"lowest number": weigh_lowest, "−1e9": weigh_with(-1e9), "times the mask": weigh_by_product,
         "−1e9, then the mask": weigh_then_hide},
    ),
    "check_torch_mask": (
        "expected [[[1.0], [1.0]]]\ngot      [[[5.0], [5.0]]]",
        {"logical_not": torch_flipped, "a square mask for each sentence": torch_by_square},
        {"no mask": torch_unmasked, "nan_to_num": torch_patched, "padding zeroed as a query": torch_zeroed},
    ),
    "check_quiet_rows": (
        "in float16\nexpected [[0.0, 0.0, 0.0]]\ngot      [[nan, nan, nan]]",
        {"torch's": norm_by_torch, "in float32": partial(norm_by_hand, wide=True), "larger ε": norm_by_hand},
        {
            "nan_to_num": norm_patched,
            "ε of 1e-6": partial(norm_by_hand, eps=1e-6),
            "ε outside": partial(norm_by_hand, outside=True),
            "float32 and the old ε": partial(norm_by_hand, eps=1e-10, wide=True),
        },
    ),
    "check_self_attention": (
        "the same input twice",
        {"one large map": OneMap},
        {
            "a plain list": MapsInAList,
            "one map for all three": OneMapForAll,
            "a seed in forward": SeededOnEachCall,
            "the mask dropped": ThreeMapsUnmasked,
        },
    ),
    "check_evaluation": (
        "twice in eval mode: the two outputs differ",
        {"the flag": DropsWhenTold, "by hand": DropsByHand},
        {"never": DropsNever, "the wrong way round": DropsInEval, "asked once": DropsOnce, "scaled": ScalesInEval,
         "kept from the first call": DropsAsAtFirst,
         "on the output": DropsTheOutput, "a rate of its own": DropsAsItLikes},
    ),
    "check_stack": (
        "16 of 48 parameters got no gradient; the first is layer.attention",
        {"a loop": Stacked},
        {"one object": SameObject, "copies": LocalTemplate, "a plain list": PlainList, "one too many": LastUnused,
         "the mask dropped": MaskDropped, "a sum of layers": SumOfLayers},
    ),
    "check_padding_row": (
        "the padding,\nexpected [[[0.0, 0.0]]]",
        {"drawn, then zeroed": DrawnThenZeroed},
        {
            "no Xavier": TorchsOwnRows,
            "row 0 whatever padding is": ZeroAlways,
            "a row that learns": ZeroThatLearns,
            "all rows zero": AllZero,
        },
    ),
    "check_context": (
        "expected [[[0.5], [0.5]]]\ngot      [[[0.0], [0.5]]]",
        {"fused": sdpa, "by hand": weights_by_hand},
        {
            "no mask at all": lambda q, k, v, mask: attention(q, k, v)[0],
            "the other triangle": partial(weights_by_hand, see=lambda m: m & _all_like(m).triu()),
            "everything but itself": partial(weights_by_hand, see=lambda m: m & ~torch.eye(m.shape[-1]).bool()),
        },
    ),
    "check_batch_mask": (
        "expected [[[0.5], [0.5]], [[0.0], [0.0]]]\ngot      [[[0.5], [0.0]], [[0.5], [0.0]]]",
        {"sentence by sentence": real_by_loop, "fused": lambda q, k, v, real: sdpa(q, k, v, real.unsqueeze(1))},
        {"queries hidden": real_hides_queries, "transposed": real_turned, "no mask": real_forgotten},
    ),
    "check_padding": (
        "one padding token: with ids [[3, 0]], the words [3]",
        {
            "one by one": encode_one_by_one,
            "a mask by hand": partial(encode_with_mask, mask=lambda i: (i != 0)[:, None, None]),
        },
        {
            "first layer alone": partial(encode_with_mask, masked=lambda i: i == 0),
            "last layer alone": partial(encode_with_mask, masked=lambda i: i == 1),
            "padding multiplied by zero": encode_zeroed,
            "inverted": partial(encode_with_mask, mask=lambda i: (i == 0)[:, None, None]),
        },
    ),
    "check_mixture": (
        "expected [[[1.0]]]\ngot      [[[2.0]]]",
        {"fused": sdpa, "by hand": weights_by_hand},
        {
            "over the batch": partial(weights_by_hand, dim=0),
            "dim −2": partial(weights_by_hand, dim=-2),
            "divided by the keys": lambda q, k, v, mask: weights_by_hand(q, k, v, mask, dim=1) / k.shape[1],
        },
    ),
    "check_reread": (
        "expected [[[-3.75]]]\ngot      [[[-10.5]]]",
        {"y for both": block_in_one_line},
        {
            "pre-norm": block_pre_norm,
            "x and y swapped": block_other_sum,
            "no residual": block_without_residual,
            "norm1 twice": block_one_norm,
            "in place": block_in_place,
        },
    ),
    "check_table": (
        "expected [[0.0, 1.0], [0.8415, 0.5403]]\ngot      [[0.0, 1.0], [0.8415, 1.0]]",
        {"by pairs": table_by_pairs, "rounded down": table_with(lambda i, d: 2 * (i // 2) / d)},
        {
            "half the exponent": table_with(lambda i, d: (i // 2) / d),
            "columns without the 2": table_with(lambda i, d: i / d),
            "no cosines": table_with(lambda i, d: 2 * (i // 2) / d, second=torch.sin),
            "sine and cosine swapped": table_with(
                lambda i, d: 2 * (i // 2) / d, first=torch.cos, second=torch.sin
            ),
        },
    ),
    "check_wide": (
        "expected [[[0.1192]]]\ngot      [[[0.018]]]",
        {
            "fused": sdpa,
            "the keys made smaller": lambda q, k, v, mask: masked_softmax(q @ (k / k.shape[-1] ** 0.5).mT, mask) @ v,
        },
        {
            "/ K": partial(weights_by_hand, scale=lambda q, k: 1 / q.shape[-1]),
            "/ √T": partial(weights_by_hand, scale=lambda q, k: k.shape[1] ** -0.5),
            "a fixed 1/2": partial(weights_by_hand, scale=lambda q, k: 0.5 if q.shape[-1] > 1 else 1.0),
            "times √K": partial(weights_by_hand, scale=lambda q, k: q.shape[-1] ** 0.5),
        },
    ),
    "check_biased_variance": (
        "with [[1.0, 3.0]]\nexpected [[-1.0, 1.0]]\ngot      [[-0.7071, 0.7071]]",
        {"torch's": norm_by_torch, "var": norm_by_hand},
        {
            "biased, ε outside": partial(norm_by_hand, outside=True),
            "an ε of 1e-6": partial(norm_by_hand, eps=1e-6),
            "unbiased, ε inside": partial(norm_by_hand, unbiased=True),
            "a smaller ε": partial(norm_by_hand, eps=1e-10),
            "no parentheses": norm_without_parentheses,
        },
    ),
}  # fmt: skip


def _all_like(mask):
    return torch.ones(mask.shape[-1], mask.shape[-1], dtype=torch.bool)


# Your turn: the test of more padding


IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]])  # as in the notebook
REAL = IDS != 0


def longer(model, *, by=(0, 3), value=0):
    return model(F.pad(IDS, by, value=value))[:, :5] - model(IDS)


def padded(size, *, ask=longer):
    """A test that sees in the change (B, T, D) what `size` makes of it."""
    return lambda build: {"more padding": size(ask(build().eval()))}


def each_word(build):
    model, worst = build().eval(), 0.0
    with torch.no_grad():
        before, after = model(IDS), model(torch.cat([IDS, IDS.new_zeros(2, 7)], dim=1))
    for b, t in REAL.nonzero().tolist():
        off = (after[b, t] - before[b, t]).abs().max().item()
        worst = off if off != off or off > worst else worst
    return {"worst word": worst}


def padded_in_training(build):
    return {"more padding": longer(build())[REAL].abs().max()}


def padded_anew(build):
    change = build().eval()(F.pad(IDS, (0, 3)))[:, :5] - build().eval()(IDS)
    return {"more padding": change[REAL].abs().max()}


def on_its_own(build):
    model = build().eval()
    return {"on its own": (model(IDS[1:, :3]) - model(IDS)[1:, :3]).abs().max()}


def padded_bare(build):
    return longer(build().eval())[REAL].abs().max()


def padded_uncut(build):
    model = build().eval()
    return {"more padding": (model(F.pad(IDS, (0, 3))) - model(IDS)).abs().max()}


def padded_wrong_end(build):
    model = build().eval()
    return {"more padding": (model(F.pad(IDS, (0, 3)))[:, 3:] - model(IDS))[REAL].abs().max()}


def worst(x):
    return x[REAL].abs().max()


PADDING_RIGHT = {
    "in one line": padded(worst),
    "word by word, and seven columns": each_word,
    "the sum of the sizes": padded(lambda x: x[REAL].abs().sum()),
    "padding set to zero": padded(lambda x: (x * REAL[..., None]).square().mean().sqrt()),
}
# what is wrong -> the test, and words of the verdict's problem and of its hint
PADDING_WRONG = {
    "dropout on": (padded_in_training, "✗ a sound encoder: nothing is wrong", "Ask one model twice"),
    "built twice": (padded_anew, "drawn anew", "Compare two answers"),
    "padding looked at": (padded(lambda x: x.abs().max()), "something else at padding", "nobody reads"),
    "padded with a word": (padded(worst, ask=partial(longer, value=1)), "✗ a sound encoder: n", "Ask one model"),
    "padded in front": (padded(worst, ask=partial(longer, by=(3, 0))), "✗ a sound encoder: n", "Ask one model"),
    "the last columns": (padded_wrong_end, "✗ a sound encoder: nothing is wrong", "Ask one model twice"),
    "nothing cut": (padded_uncut, "✗ a sound encoder: it stopped with RuntimeError", "Ask one model twice"),
    "no padding put in": (padded(worst, ask=partial(longer, by=(0, 0))), "counts the columns", "Ask one model"),
    "the other question": (on_its_own, "a number that falls", "up or down"),
    "the largest, with its sign": (padded(lambda x: x[REAL].max()), "a number that falls", "each direction"),
    "the smallest, with its sign": (padded(lambda x: x[REAL].min()), "a number that rises", "each direction"),
    "the sum, with signs": (padded(lambda x: x[REAL].sum()), "one that rises and one that falls", "opposite sign"),
    "the second sentence": (padded(lambda x: x[1, :3].abs().max()), "first sentence", "Which words"),
    "the first token": (padded(lambda x: x[:, 0].abs().max()), "first sentence", "Which words"),
    "all but the third": (padded(lambda x: x[REAL][[0, 1, 2, 3, 4, 5, 6]].abs().max()), "last word", "Which words"),
    "NaN replaced": (padded(lambda x: worst(x.nan_to_num())), "✗ NaN: its words move", "NaN is a find"),
    "a bare number": (padded_bare, "what the test gives: expected", "Ask one model twice"),
}


# Your turn: parity


def share(model, theirs):
    """As in the notebook."""
    torch.manual_seed(0)
    words = torch.randn(11, 6)
    for ours, value in zip(model.parameters(), [words, *from_torch(theirs).parameters()], strict=True):
        ours.data.copy_(value)
    return words


def vectors_of(model, words):
    return words[IDS] + sinusoidal_table(5, 6)


def beside(size=worst, *, read=vectors_of, hide=~REAL, ready=nn.Module.eval, give=share, ask=lambda model: model(IDS)):
    """Parity with one thing done differently."""

    def parity(build):
        model, theirs = ready(build()), build.twin()
        words = give(model, theirs)
        return {"beside": size(ask(model) - theirs(read(model, words), src_key_padding_mask=hide))}

    return parity


def by_name(model, theirs):
    """Into the layers by the names of ours, the words as they are."""
    model.encoder.load_state_dict(from_torch(theirs).state_dict())
    return model.embedding.token.weight.detach()


def all_but_words(model, theirs):
    share(model, theirs)
    return torch.randn(11, 6)


PARITY_RIGHT = {
    "as on the page": beside(),
    "the sum of the sizes": beside(lambda x: x[REAL].abs().sum()),
    "padding set to zero": beside(lambda x: (x * REAL[..., None]).square().mean().sqrt()),
    "by name": beside(give=by_name),
}
# what is wrong -> the test, and words of the verdict's problem and of its hint
PARITY_WRONG = {
    "the model's own embedding": (
        beside(read=lambda model, words: model.embedding(IDS)), "case 5, a wrong table", "Whose positions"
    ),
    "its own embedding, copied by name": (
        beside(give=by_name, read=lambda model, words: model.embedding(IDS)), "case 5, a wrong table", "both sides"
    ),
    "its own words": (
        beside(read=lambda model, words: model.embedding.token(IDS) + sinusoidal_table(5, 6)),
        "words twice as long",
        "Whose words",
    ),
    "no positions": (beside(read=lambda model, words: words[IDS]), "✗ a sound encoder: nothing is wrong", "same input"),
    "nothing copied": (beside(give=lambda *_: torch.randn(11, 6)), "✗ a sound encoder: nothing is wrong", "parameters"),
    "other words": (beside(give=all_but_words), "✗ a sound encoder: nothing is wrong", "same input"),
    "the mask as ours": (beside(hide=REAL), "✗ a sound encoder: nothing is wrong", "same input"),
    "no mask": (beside(hide=None), "✗ a sound encoder: nothing is wrong", "same input"),
    "dropout on": (beside(ready=nn.Module.train), "✗ a sound encoder: nothing is wrong", "eval()"),
    "padding looked at": (beside(lambda x: x.abs().max()), "something else at padding", "nobody reads"),
    "with its sign": (beside(lambda x: x[REAL].max()), "a number that falls", "each direction"),
    "the sum, with signs": (beside(lambda x: x[REAL].sum()), "one that rises and one that falls", "opposite sign"),
    "the second sentence": (beside(lambda x: x[1, :3].abs().max()), "first sentence", "Which words"),
    "the first token": (beside(lambda x: x[:, 0].abs().max()), "first sentence", "Which words"),
    "all but the third": (beside(lambda x: x[REAL][:7].abs().max()), "last word", "Which words"),
    "NaN replaced": (beside(lambda x: worst(x.nan_to_num())), "✗ NaN", "NaN is a find"),
    "both are the model": (lambda build: {"beside": worst(build().eval()(IDS) * 0)}, "case 5", "Whose positions"),
}  # fmt: skip
