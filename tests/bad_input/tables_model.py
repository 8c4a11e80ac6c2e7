"""Bad input to the model: every constructor and function, with every kind of value that it does not take."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import (
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    RMSNorm,
    RotaryPositionalEncoding,
    SinusoidalPositionalEncoding,
    TokenEmbedding,
    TransformerEmbedding,
    TransformerEncoder,
    alibi_bias,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    from_torch,
    lengths_mask,
    masked_softmax,
    padding_mask,
    sinusoidal_table,
)

B, T, D, H, V = 2, 3, 8, 4, 11
X = torch.zeros(B, T, D)
SQUARE = torch.zeros(T, T, D)  # as many sequences as tokens
IDS = torch.zeros(B, T, dtype=torch.long)


def ones(*shape, dtype=torch.bool):
    """A mask that allows everything."""
    return torch.ones(shape, dtype=dtype)


def table(ids):
    """A look-up in a table of 11 rows."""
    return TokenEmbedding(V, D)(ids)


def encode(ids, mask=None, **settings):
    """One pass of a whole model."""
    return TransformerEncoder(V, 1, D, H, 6, **settings)(ids, mask)


def heads(query=X, key=X, value=X, mask=None, **settings):
    """One pass of a MultiHeadAttention."""
    return MultiHeadAttention(D, H, **settings)(query, key, value, mask)


def scored(mask=None, query=X, key=X, value=X, **settings):
    """One call of the function `attention`."""
    return attention(query, key, value, mask, **settings)


def torch_layer(**settings):
    """One of torch's layers."""
    return nn.TransformerEncoderLayer(D, H, 6, batch_first=True, **settings)


def torch_stack(norm=None, **settings):
    """One of torch's stacks."""
    return nn.TransformerEncoder(torch_layer(**settings), 1, norm, enable_nested_tensor=False)


def without_norm_weights():
    """A layer of torch's whose first norm was replaced."""
    layer = torch_layer()
    layer.norm1 = nn.LayerNorm(D, elementwise_affine=False)
    return layer


def without_layers():
    """A stack of torch's from which the layers were taken."""
    stack = torch_stack()
    stack.layers = nn.ModuleList()
    return stack


# Sizes: every constructor, every size, every kind of value that is none.

SIZES = {
    "vocab_size": [
        lambda n: TokenEmbedding(n, D),
        lambda n: TransformerEmbedding(n, D),
        lambda n: TransformerEncoder(n, 1, D, H, 6),
    ],
    "d_model": [
        lambda n: TokenEmbedding(V, n),
        lambda n: TransformerEmbedding(V, n, positional="none"),
        lambda n: sinusoidal_table(T, n),
        lambda n: SinusoidalPositionalEncoding(n),
        lambda n: LearnedPositionalEncoding(n, 9),
        lambda n: LayerNorm(n),
        lambda n: RMSNorm(n),
        lambda n: FeedForward(n, 6),
        lambda n: MultiHeadAttention(n, H),
        lambda n: EncoderLayer(n, H, 6),
        lambda n: Encoder(1, n, H, 6),
        lambda n: TransformerEncoder(V, 1, n, H, 6),
    ],
    "d_head": [lambda n: RotaryPositionalEncoding(n)],
    "n_heads": [
        lambda n: MultiHeadAttention(D, n),
        lambda n: EncoderLayer(D, n, 6),
        lambda n: Encoder(1, D, n, 6),
        lambda n: TransformerEncoder(V, 1, D, n, 6),
        lambda n: alibi_bias(n, T, T),
    ],
    "d_ff": [
        lambda n: FeedForward(D, n),
        lambda n: EncoderLayer(D, H, n),
        lambda n: Encoder(1, D, H, n),
        lambda n: TransformerEncoder(V, 1, D, H, n),
    ],
    "n_layers": [lambda n: Encoder(n, D, H, 6), lambda n: TransformerEncoder(V, n, D, H, 6)],
    "max_len": [
        lambda n: LearnedPositionalEncoding(D, n),
        lambda n: TransformerEmbedding(V, D, positional="learned", max_len=n),
        lambda n: TransformerEmbedding(V, D, max_len=n),
        lambda n: TransformerEncoder(V, 1, D, H, 6, positional="learned", max_len=n),
    ],
}
NO_SIZES = [0, -1, 8.0, True, "8", None, [8], math.nan, torch.tensor(8), np.bool_(True)]
COUNTS = {
    "length": [lambda n: sinusoidal_table(n, D), lambda n: causal_mask(n)],
    "start": [lambda n: sinusoidal_table(T, D, start=n)],
    "q_len": [lambda n: alibi_bias(H, n, T)],
    "k_len": [lambda n: alibi_bias(H, T, n)],
    "offset": [
        lambda n: SinusoidalPositionalEncoding(D)(X, offset=n),
        lambda n: LearnedPositionalEncoding(D, 9)(X, offset=n),
        lambda n: RotaryPositionalEncoding(D)(X, offset=n),
    ],
    "padding_idx": [lambda n: padding_mask(IDS, n)],
}
OPTIONAL_COUNTS = {
    "padding_idx": [
        lambda n: TokenEmbedding(V, D, padding_idx=n),
        lambda n: TransformerEmbedding(V, D, padding_idx=n),
        lambda n: TransformerEncoder(V, 1, D, H, 6, padding_idx=n),
    ],
    "max_len": [lambda n: lengths_mask(torch.tensor([0]), n)],
}
NO_COUNTS = [-1, -100, 1.0, True, "1", [1], torch.tensor(1)]


def table_of(calls, values):
    """One case for each call and each value."""
    return [
        pytest.param(function, name, value, id=f"{name}-{i}-{value!r}")
        for name, functions in calls.items()
        for i, function in enumerate(functions)
        for value in values
    ]


# Numbers, flags and choices

DROPOUTS = [
    lambda p: SinusoidalPositionalEncoding(D, dropout=p),
    lambda p: LearnedPositionalEncoding(D, 9, dropout=p),
    lambda p: TransformerEmbedding(V, D, dropout=p),
    lambda p: FeedForward(D, 6, dropout=p),
    lambda p: MultiHeadAttention(D, H, dropout=p),
    lambda p: EncoderLayer(D, H, 6, dropout=p),
    lambda p: Encoder(1, D, H, 6, dropout=p),
    lambda p: TransformerEncoder(V, 1, D, H, 6, dropout=p),
]
EPSES = [
    lambda e: LayerNorm(D, eps=e),
    lambda e: RMSNorm(D, eps=e),
    lambda e: TransformerEmbedding(V, D, eps=e),
    lambda e: TransformerEmbedding(V, D, norm=True, eps=e),
    lambda e: EncoderLayer(D, H, 6, eps=e),
    lambda e: Encoder(1, D, H, 6, norm_first=True, eps=e),
    lambda e: TransformerEncoder(V, 1, D, H, 6, eps=e),
]
BASES = [
    lambda b: sinusoidal_table(T, D, base=b),
    lambda b: SinusoidalPositionalEncoding(D, base=b),
    lambda b: RotaryPositionalEncoding(D, base=b),
]
SCALES = [
    lambda s: attention_scores(X, X, scale=s),
    lambda s: attention_weights(X, X, scale=s),
    lambda s: attention(X, X, X, scale=s),
]
NO_NUMBERS = [True, "0.1", [0.1], 1j, torch.tensor(0.1)]
NUMBERS = [
    ("dropout", DROPOUTS, [*NO_NUMBERS, None, math.nan, math.inf, -0.1, 1.5, -1, 2, 10**400]),
    ("eps", EPSES, [*NO_NUMBERS, None, math.nan, math.inf, -math.inf, -1, -1e-5, 10**400]),
    ("base", BASES, [*NO_NUMBERS, None, math.nan, math.inf, 0, 0.0, -2.0, 10**400]),
    ("scale", SCALES, [*NO_NUMBERS, math.nan, math.inf, -math.inf, 10**400]),
]


FLAGS = {
    "scale": [
        lambda f: TokenEmbedding(V, D, scale=f),
        lambda f: TransformerEmbedding(V, D, scale=f),
        lambda f: TransformerEncoder(V, 1, D, H, 6, scale=f),
    ],
    "bias": [
        lambda f: LayerNorm(D, bias=f),
        lambda f: MultiHeadAttention(D, H, bias=f),
        lambda f: FeedForward(D, 6, bias=f),
        lambda f: EncoderLayer(D, H, 6, bias=f),
        lambda f: Encoder(1, D, H, 6, bias=f),
    ],
    "norm": [lambda f: TransformerEmbedding(V, D, norm=f)],
    "embedding_norm": [lambda f: TransformerEncoder(V, 1, D, H, 6, embedding_norm=f)],
    "attention_bias": [lambda f: EncoderLayer(D, H, 6, attention_bias=f)],
    "norm_first": [
        lambda f: EncoderLayer(D, H, 6, norm_first=f),
        lambda f: Encoder(1, D, H, 6, norm_first=f),
        lambda f: TransformerEncoder(V, 1, D, H, 6, norm_first=f),
    ],
}
OPTIONAL_FLAGS = {
    "final_norm": [
        lambda f: Encoder(1, D, H, 6, final_norm=f),
        lambda f: TransformerEncoder(V, 1, D, H, 6, final_norm=f),
    ],
}
NO_FLAGS = ["post", "yes", 1, 0, 1.0, np.bool_(True)]


CHOICES = {
    "activation": [
        lambda c: FeedForward(D, 6, activation=c),
        lambda c: EncoderLayer(D, H, 6, activation=c),
        lambda c: TransformerEncoder(V, 1, D, H, 6, activation=c),
    ],
    "positional": [
        lambda c: MultiHeadAttention(D, H, positional=c),
        lambda c: EncoderLayer(D, H, 6, positional=c),
        lambda c: TransformerEmbedding(V, D, positional=c),
        lambda c: TransformerEncoder(V, 1, D, H, 6, positional=c),
    ],
}
NO_CHOICES = ["swish", "ReLU", "Rotary", "", None, True, 0, ["relu"], {}, torch.tensor([1, 2]), F.gelu]


# Everything else: (call, exception, words that the message has to contain)

MODULES_OF_VECTORS = {
    "LayerNorm": LayerNorm(D),
    "RMSNorm": RMSNorm(D),
    "sinusoidal": SinusoidalPositionalEncoding(D),
    "learned": LearnedPositionalEncoding(D, 9),
    "rotary": RotaryPositionalEncoding(D),
    "FeedForward": FeedForward(D, 6),
    "layer": EncoderLayer(D, H, 6),
    "pre-norm layer": EncoderLayer(D, H, 6, norm_first=True),
    "stack": Encoder(1, D, H, 6),
}
NO_VECTORS = {
    "token ids": (IDS, TypeError, ["floating-point vectors", "int64", "embedding first"]),
    "bools": (X.bool(), TypeError, ["floating-point vectors", "torch.bool"]),
    "complex": (X.to(torch.complex64), TypeError, ["floating-point vectors", "complex64"]),
    "list": ([[0.0] * D], TypeError, ["expected a tensor", "list", "try torch.tensor"]),
    "numpy": (X.numpy(), TypeError, ["expected a tensor", "ndarray"]),
    "None": (None, TypeError, ["expected a tensor", "NoneType"]),
    "wider": (torch.zeros(B, T, D + 1), ValueError, ["expected", "8)", "got (2, 3, 9)"]),
    "narrower": (torch.zeros(B, T, 1), ValueError, ["expected", "8)", "got (2, 3, 1)"]),
    "one vector": (torch.zeros(D), ValueError, ["expected", "got"]),
    "0 dimensions": (torch.tensor(0.0), ValueError, ["expected", "got"]),
    "turned": (torch.zeros(B, D, T), ValueError, ["expected", "8)", "got (2, 8, 3)"]),
}
OF_ANOTHER_DTYPE = {name: m for name, m in MODULES_OF_VECTORS.items() if name not in ("sinusoidal", "rotary")}


MODULES_OF_IDS = {
    "TokenEmbedding": table,
    "TransformerEmbedding": lambda ids: TransformerEmbedding(V, D)(ids),
    "TransformerEncoder": encode,
    "TransformerEncoder with padding": lambda ids: encode(ids, padding_idx=0),
}
NO_IDS = {
    "vocab_size": (IDS + V, IndexError, ["token id 11", "vocab_size=11", "0 … 10"]),
    "one of many": (torch.tensor([[0, 1, 99]]), IndexError, ["token id 99", "vocab_size=11"]),
    "negative": (IDS - 1, IndexError, ["token id -1", "vocab_size=11"]),
    "negative and large": (torch.tensor([[-5, 99]]), IndexError, ["token id -5"]),
    "float": (IDS.float(), TypeError, ["integer", "float32", "try .long()"]),
    "bool": (IDS.bool(), TypeError, ["integer", "torch.bool"]),
    "uint8": (IDS.byte(), TypeError, ["integer", "uint8", "try .long()"]),
    "int16": (IDS.short(), TypeError, ["integer", "int16"]),
    "complex": (IDS.to(torch.complex64), TypeError, ["integer", "complex64"]),
    "0 dimensions": (torch.tensor(3), ValueError, ["expected", "got", "try ids[None]"]),
    "vectors": (X, TypeError, ["integer", "float32"]),
    "list": ([[1, 2]], TypeError, ["expected a tensor", "list", "try torch.tensor"]),
    "text": ("to be", TypeError, ["expected a tensor", "str"]),
    "number": (3, TypeError, ["expected a tensor", "int"]),
    "None": (None, TypeError, ["expected a tensor", "NoneType"]),
}


def mask_takers(square=False):
    """Every way in for a mask."""
    x, ids = (SQUARE, torch.zeros(T, T, dtype=torch.long)) if square else (X, IDS)
    layer, stack = EncoderLayer(D, H, 6), Encoder(1, D, H, 6, norm_first=True)
    return {
        "MultiHeadAttention": lambda mask: heads(x, x, x, mask),
        "EncoderLayer": lambda mask: layer(x, mask),
        "Encoder": lambda mask: stack(x, mask),
        "TransformerEncoder": lambda mask: encode(ids, mask),
        "TransformerEncoder with padding": lambda mask: encode(ids, mask, padding_idx=0),
    }


FUNCTIONS = {
    "attention": scored,
    "attention_weights": lambda mask: attention_weights(X, X, mask),
    "masked_softmax": lambda mask: masked_softmax(torch.zeros(B, T, T), mask),
}
NO_MASKS = {
    "uint8": (ones(T, T, dtype=torch.uint8), TypeError, ["mask: expected dtype bool", "uint8", "try mask.bool()"]),
    "int64": (ones(T, T, dtype=torch.int64), TypeError, ["bool", "int64", "True = may attend"]),
    "float": (ones(T, T, dtype=torch.float32), TypeError, ["bool", "float32"]),
    "additive": (torch.full((T, T), -math.inf), TypeError, ["bool", "float32"]),
    "list": ([[True] * T] * T, TypeError, ["mask: expected a tensor", "list"]),
    "True": (True, TypeError, ["mask: expected a tensor", "bool"]),
    "too long": (ones(T, T + 1), ValueError, ["mask shape: expected", "3, 3)", "got (3, 4)"]),
    "too many queries": (ones(T + 1, T), ValueError, ["mask shape: expected", "got (4, 3)"]),
    "transposed padding": (ones(T, 1, 1, B), ValueError, ["mask shape: expected", "got (3, 1, 1, 2)"]),
    "another batch": (ones(5, 1, 1, T), ValueError, ["mask shape: expected", "got (5, 1, 1, 3)"]),
    "another number of heads": (ones(B, 3, T, T), ValueError, ["mask shape: expected", "got (2, 3, 3, 3)"]),
    "(B, T)": (ones(B, T), ValueError, ["mask shape: expected", "3, 3)", "got (2, 3)"]),
    "5 dimensions": (ones(1, 1, 1, T, T), ValueError, ["mask shape: expected", "got (1, 1, 1, 3, 3)"]),
}
NO_LAYER_MASKS = {
    "0 dimensions": (torch.tensor(True), ValueError, ["mask shape: expected (query, key)", "got ()"]),
    "(T,)": (ones(T), ValueError, ["mask shape: expected (query, key)", "got (3,)"]),
    "(B, T, T)": (ones(B, T, T), ValueError, ["mask shape: expected (query, key)", "try mask[:, None]"]),
    "(B, 1, T)": (ones(B, 1, T), ValueError, ["mask shape: expected (query, key)", "got (2, 1, 3)"]),
}


CASES = {
    # embedding and positions
    "padding_idx = vocab_size": (lambda: TokenEmbedding(V, D, padding_idx=V), ValueError, ["padding_idx", "0 … 10"]),
    "padding_idx in the model": (lambda: encode(IDS, padding_idx=V), ValueError, ["padding_idx", "0 … 10"]),
    "padding_idx -1 in the model": (lambda: encode(IDS, padding_idx=-1), ValueError, ["padding_idx", "at least 0"]),
    "odd table": (lambda: sinusoidal_table(T, 7), ValueError, ["d_model", "even", "7"]),
    "odd sinusoids": (lambda: SinusoidalPositionalEncoding(7), ValueError, ["d_model", "even", "7"]),
    "odd embedding": (lambda: TransformerEmbedding(V, 7), ValueError, ["d_model", "even", "7"]),
    "odd model": (lambda: TransformerEncoder(V, 1, 7, 1, 6), ValueError, ["d_model", "even", "7"]),
    "odd rotary": (lambda: RotaryPositionalEncoding(7), ValueError, ["d_head", "even", "7"]),
    "odd heads": (lambda: MultiHeadAttention(6, 2, positional="rotary"), ValueError, ["d_head", "even", "3"]),
    "int table": (lambda: sinusoidal_table(T, D, dtype=torch.int64), TypeError, ["dtype", "floating", "int64"]),
    "complex table": (lambda: sinusoidal_table(T, D, dtype=torch.complex64), TypeError, ["dtype", "complex64"]),
    "dtype by name": (lambda: sinusoidal_table(T, D, dtype="float32"), TypeError, ["dtype", "'float32'"]),
    "int bias": (lambda: alibi_bias(H, T, T, dtype=torch.int32), TypeError, ["dtype", "floating", "int32"]),
    "longer than learned": (lambda: LearnedPositionalEncoding(D, 2)(X), ValueError, ["max_len=2", "got 3", "larger"]),
    "offset beyond": (lambda: LearnedPositionalEncoding(D, 4)(X, 2), ValueError, ["max_len=4", "got 5"]),
    "model beyond": (lambda: encode(IDS, positional="learned", max_len=2), ValueError, ["max_len=2", "got 3"]),
    "rotary embedding": (lambda: TransformerEmbedding(V, D, positional="rotary"), ValueError, ["acts in attention"]),
    "alibi embedding": (lambda: TransformerEmbedding(V, D, positional="alibi"), ValueError, ["acts in attention"]),
    "learned attention": (lambda: heads(positional="learned"), ValueError, ["added to the embedding"]),
    "sinusoidal stack": (lambda: Encoder(1, D, H, 6, positional="sinusoidal"), ValueError, ["TransformerEmbedding"]),
    # the functions of attention
    "width of keys": (lambda: scored(key=torch.zeros(B, T, 5)), ValueError, ["key: expected", "8)", "(2, 3, 5)"]),
    "width 0": (lambda: attention_scores(X[..., :0], X[..., :0]), ValueError, ["query", "at least 1", "(2, 3, 0)"]),
    "batch of keys": (lambda: scored(key=torch.zeros(5, T, D)), ValueError, ["same batch", "(2, 3, 8)", "(5, 3, 8)"]),
    "batch of values": (lambda: scored(value=torch.zeros(5, T, D)), ValueError, ["same batch", "(5, 3, 8)"]),
    "number of values": (lambda: scored(value=torch.zeros(B, 4, D)), ValueError, ["value: expected", "got 4"]),
    "dtype of keys": (lambda: scored(key=X.double()), TypeError, ["key: expected torch.float32", "float64"]),
    "dtype of values": (lambda: scored(value=X.half()), TypeError, ["value: expected torch.float32", "float16"]),
    "int queries": (lambda: scored(query=X.long()), TypeError, ["query: expected floating-point"]),
    "query list": (lambda: scored(query=[[1.0]]), TypeError, ["query: expected a tensor", "list"]),
    "query vector": (lambda: scored(query=torch.zeros(D)), ValueError, ["query: expected", "got (8,)"]),
    "value vector": (lambda: scored(value=torch.zeros(D)), ValueError, ["value: expected", "got (8,)"]),
    "value None": (lambda: scored(value=None), TypeError, ["value: expected a tensor", "NoneType"]),
    "bias a mask": (lambda: scored(bias=ones(T, T)), TypeError, ["bias: expected torch.float32", "bool", "`mask`"]),
    "bias dtype": (lambda: scored(bias=torch.zeros(T, T).double()), TypeError, ["bias: expected torch.float32", "try"]),
    "bias ints": (lambda: scored(bias=torch.zeros(T, T).long()), TypeError, ["bias: expected torch.float32", "int64"]),
    "bias number": (lambda: scored(bias=0.5), TypeError, ["bias: expected a tensor", "float"]),
    "bias shape": (lambda: scored(bias=torch.zeros(T, 4)), ValueError, ["bias shape: expected", "(2, 3, 3)", "(3, 4)"]),
    "bias heads": (lambda: scored(bias=torch.zeros(H, T, T)), ValueError, ["bias shape: expected", "(4, 3, 3)"]),
    "bias larger": (lambda: scored(bias=torch.zeros(1, B, T, T)), ValueError, ["bias shape", "got (1, 2, 3, 3)"]),
    "int scores": (lambda: masked_softmax(torch.ones(2, 3).long()), TypeError, ["scores: expected floating", "int64"]),
    "one score": (lambda: masked_softmax(torch.tensor(1.0)), ValueError, ["scores: expected", "try scores[None]"]),
    "scores list": (lambda: masked_softmax([1.0, 2.0]), TypeError, ["scores: expected a tensor", "list"]),
    # the module of attention
    "heads do not divide": (lambda: MultiHeadAttention(8, 3), ValueError, ["d_model=8", "divisible", "n_heads=3"]),
    "more heads than D": (lambda: MultiHeadAttention(4, 8), ValueError, ["d_model=4", "divisible", "n_heads=8"]),
    "heads of a layer": (lambda: EncoderLayer(8, 3, 6), ValueError, ["divisible", "n_heads=3"]),
    "heads of a model": (lambda: TransformerEncoder(V, 1, 8, 5, 6), ValueError, ["divisible", "n_heads=5"]),
    "4-D query": (lambda: heads(X[None]), ValueError, ["query: expected 3 dimensions", "got 4", "(1, 2, 3, 8)"]),
    "2-D query": (lambda: heads(X[0]), ValueError, ["query: expected 3 dimensions", "got 2"]),
    "4-D key": (lambda: heads(key=X[None]), ValueError, ["key: expected 3 dimensions", "got 4"]),
    "2-D layer": (lambda: EncoderLayer(D, H, 6)(X[0]), ValueError, ["expected 3 dimensions", "got 2"]),
    "2-D pre-norm": (lambda: Encoder(1, D, H, 6, norm_first=True)(X[0]), ValueError, ["3 dimensions", "got 2"]),
    "4-D stack": (lambda: Encoder(1, D, H, 6)(X[None]), ValueError, ["expected 3 dimensions", "got 4"]),
    "more values": (lambda: heads(value=torch.zeros(B, 5, D)), ValueError, ["value: expected", "keys, 3", "got 5"]),
    "more keys": (lambda: heads(key=torch.zeros(B, 5, D)), ValueError, ["value: expected", "keys, 5", "got 3"]),
    "wider key": (lambda: heads(key=torch.zeros(B, T, 9)), ValueError, ["key: expected", "8)", "(2, 3, 9)"]),
    "wider value": (lambda: heads(value=torch.zeros(B, T, 9)), ValueError, ["value: expected", "8)", "(2, 3, 9)"]),
    "key batch of 1": (lambda: heads(X, X[:1], X[:1]), ValueError, ["same batch size", "(2, 3, 8)", "(1, 3, 8)"]),
    "query batch of 1": (lambda: heads(X[:1]), ValueError, ["same batch size", "(1, 3, 8)"]),
    "value batch of 1": (lambda: heads(value=X[:1]), ValueError, ["same batch size", "(1, 3, 8)"]),
    "key dtype": (lambda: heads(key=X.double()), TypeError, ["key: expected torch.float32", "float64", "try"]),
    "value ids": (lambda: heads(value=IDS), TypeError, ["value: expected floating-point", "embedding first"]),
    # masks from ids and lengths
    "float ids": (lambda: padding_mask(X[..., 0], 0), TypeError, ["ids: expected integers", "float32"]),
    "1-D ids": (lambda: padding_mask(IDS[0], 0), ValueError, ["ids: expected shape (B, T)", "(3,)", "try ids[None]"]),
    "3-D ids": (lambda: padding_mask(IDS[None], 0), ValueError, ["ids: expected shape (B, T)", "(1, 2, 3)"]),
    "bool ids": (lambda: padding_mask(IDS.bool(), 0), TypeError, ["ids: expected integers", "bool"]),
    "ids list": (lambda: padding_mask([[1]], 0), TypeError, ["ids: expected a tensor", "list"]),
    "float lengths": (lambda: lengths_mask(torch.tensor([1.0])), TypeError, ["lengths: expected integers", "float32"]),
    "list of lengths": (lambda: lengths_mask([1, 2]), TypeError, ["lengths: expected a tensor", "try torch.tensor"]),
    "2-D lengths": (lambda: lengths_mask(IDS), ValueError, ["lengths: expected shape (B,)", "(2, 3)"]),
    "0-D lengths": (lambda: lengths_mask(torch.tensor(3)), ValueError, ["lengths: expected", "try lengths[None]"]),
    "negative length": (lambda: lengths_mask(torch.tensor([2, -1])), ValueError, ["lengths: expected 0 … 2", "got -1"]),
    "all negative": (lambda: lengths_mask(torch.tensor([-3])), ValueError, ["lengths: expected 0 … 0", "got -3"]),
    "beyond max_len": (lambda: lengths_mask(torch.tensor([2, 5]), 4), ValueError, ["lengths: expected 0 … 4", "got 5"]),
    # ids of a whole model
    "1-D sequence": (lambda: encode(IDS[0]), ValueError, ["ids: expected shape (B, T)", "(3,)", "try ids[None]"]),
    "3-D sequence": (lambda: encode(IDS[None]), ValueError, ["ids: expected shape (B, T)", "(1, 2, 3)"]),
    "unknown keyword": (lambda: encode(IDS, n_head=4), TypeError, ["n_head"]),
    "keyword of a layer": (lambda: Encoder(1, D, H, 6, heads=4), TypeError, ["heads"]),
    # torch's encoders
    "a linear map": (lambda: from_torch(nn.Linear(2, 2)), TypeError, ["nn.TransformerEncoder", "got Linear"]),
    "None": (lambda: from_torch(None), TypeError, ["nn.TransformerEncoder", "got NoneType"]),
    "a class": (lambda: from_torch(nn.TransformerEncoder), TypeError, ["nn.TransformerEncoder", "got type"]),
    "a decoder": (lambda: from_torch(nn.TransformerDecoderLayer(D, H, 6)), TypeError, ["got TransformerDecoderLayer"]),
    "our own": (lambda: from_torch(Encoder(1, D, H, 6)), TypeError, ["nn.TransformerEncoder", "got Encoder"]),
    "activation silu": (lambda: from_torch(torch_layer(activation=F.silu)), ValueError, ["ReLU or exact GELU", "silu"]),
    "activation tanh GELU": (
        lambda: from_torch(torch_stack(activation=nn.GELU("tanh"))), ValueError, ["activation", "exact GELU", "tanh"]
    ),
    "activation lambda": (lambda: from_torch(torch_layer(activation=lambda x: x)), ValueError, ["ReLU", "lambda"]),
    "final RMSNorm": (lambda: from_torch(torch_stack(nn.RMSNorm(D))), ValueError, ["nn.LayerNorm", "RMSNorm"]),
    "final norm over two": (lambda: from_torch(torch_stack(nn.LayerNorm((T, D)))), ValueError, ["last dimension"]),
    "norm without weights": (lambda: from_torch(without_norm_weights()), ValueError, ["nn.LayerNorm", "with weights"]),
    "no layers": (lambda: from_torch(without_layers()), ValueError, ["at least one layer", "got none"]),
}  # fmt: skip
