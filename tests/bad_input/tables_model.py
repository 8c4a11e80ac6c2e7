"""Bad input to the model: what a parameter's name says is wrong, and the mistakes that each function has of its own.

An entry holds arguments that are right. What is wrong for a parameter follows from its name (KINDS), or stands beside
the entry. test_tables.py puts each wrong value in the place of the right one: the exception, and what it says.
"""

from functools import partial

import bad_values
import torch
from bad_values import numbers, types

from encoder_lib import (
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    Packed,
    RMSNorm,
    RotaryPositionalEncoding,
    SinusoidalPositionalEncoding,
    TokenEmbedding,
    TransformerEmbedding,
    TransformerEncoder,
    unpadded,
)

B, T, D, H, V = 2, 3, 8, 4, 11
INF, NAN = float("inf"), float("nan")
X = torch.zeros(B, T, D)
IDS = torch.zeros(B, T, dtype=torch.long)
LENGTHS = torch.tensor([1, T])


def ones(*shape, dtype=torch.bool):
    """A mask that allows everything."""
    return torch.ones(shape, dtype=dtype)


SIZE = types(8.0) + numbers(0)
EVEN = SIZE + numbers(7)
COUNT = types(1.0) + numbers(-1)
FLAG = types(1)
CHOICE = numbers("swish")
DTYPE = types(torch.complex64, "float32")
VECTORS = types(IDS) + numbers(torch.zeros(B, T, D + 1), torch.zeros(D))
DOUBLE = types(X.double())  # another dtype than the weights'
TOKEN_IDS = types(IDS.float()) + numbers(torch.tensor(3))
MASK = types(ones(T, T, dtype=torch.uint8), torch.full((T, T), -INF), [[True] * T] * T) + numbers(
    ones(T, T + 1), ones(5, 1, 1, T), ones(B, T), ones(1, 1, 1, T, T)
)
LAYER_MASK = MASK + numbers(torch.tensor(True), ones(T), ones(B, T, T), ones(B, 1, T))
KINDS = {
    "activation": CHOICE,
    "attention_bias": FLAG,
    "base": types(True) + numbers(0, NAN),
    "bias": FLAG,
    "d_ff": SIZE,
    "d_head": EVEN,
    "d_model": SIZE,
    "dropout": types("0.1") + numbers(1.5),
    "dtype": DTYPE,
    "embedding_norm": FLAG,
    "eps": types("0.1") + numbers(-1e-5),
    "final_norm": FLAG,
    "ids": TOKEN_IDS,
    "k_len": COUNT,
    "length": COUNT,
    "max_len": SIZE,
    "n_heads": SIZE,
    "n_layers": SIZE,
    "norm": FLAG,
    "norm_first": FLAG,
    "padding_idx": COUNT + numbers(V),
    "positional": CHOICE,
    "q_len": COUNT,
    "scale": FLAG,
    "vocab_size": SIZE,
    "x": VECTORS,
}
row = partial(bad_values.row, KINDS, draws=True)
# What is handed on is refused where it arrives: one wrong value of each shows that it does.
row_handing_on = partial(bad_values.row, {name: kind[-1:] for name, kind in KINDS.items()}, draws=True)
VOCABULARY, WIDTHS = {"vocab_size": V, "d_model": D}, {"d_model": D, "n_heads": H, "d_ff": 6}


def of(make, part="forward", **wrong):
    """An entry for what a module does with its input."""
    module = make()
    name = f"{type(module).__module__.removeprefix('encoder_lib.')}.{type(module).__name__}.{part}"
    return row(name, call=module, wrong=wrong, **({"x": X} if "x" in wrong else {"ids": IDS}))


ENTRIES = [
    # ---- what modules are made of ----
    row("model.embedding.TokenEmbedding", **VOCABULARY, padding_idx=0, scale=True),
    row_handing_on(
        "model.embedding.TransformerEmbedding",
        **VOCABULARY,
        **{"eps": 1e-5, "dropout": 0.0, "max_len": 9},
        wrong={"positional": numbers(None, "rotary"), "d_model": EVEN},
    ),
    row("model.positional.SinusoidalPositionalEncoding", d_model=D, wrong={"d_model": EVEN}),
    row("model.positional.LearnedPositionalEncoding", d_model=D, max_len=9),
    row("model.positional.RotaryPositionalEncoding", d_head=D),
    row("model.norm.LayerNorm", d_model=D, eps=1.0),
    row("model.norm.RMSNorm", d_model=D, eps=1.0),
    row("model.feed_forward.FeedForward", d_model=D, d_ff=6, dropout=0.0),
    row(
        "model.attention.MultiHeadAttention",
        d_model=D,
        n_heads=H,
        dropout=0.0,
        wrong={"positional": numbers("swish", None, "learned")},
    ),
    row_handing_on("model.encoder.EncoderLayer", **WIDTHS, eps=1e-5, dropout=0.0),
    row_handing_on(
        "model.encoder.Encoder",
        n_layers=1,
        **WIDTHS,
        wrong={"positional": numbers("sinusoidal"), "bias": FLAG},
    ),
    row_handing_on(
        "model.encoder.TransformerEncoder",
        n_layers=1,
        vocab_size=V,
        **WIDTHS,
        max_len=9,
        padding_idx=0,
        wrong={"d_model": EVEN},
    ),
    # ---- functions ----
    row(
        "model.positional.sinusoidal_table",
        length=T,
        d_model=D,
        base=100,
        wrong={"d_model": EVEN},
    ),
    row("model.positional.alibi_bias", n_heads=H, q_len=T, k_len=T),
    row(
        "model.masks.padding_mask",
        ids=IDS,
        padding_idx=0,
        wrong={"ids": TOKEN_IDS + types(IDS.bool(), [[1, 2]]) + numbers(IDS[0], IDS[None]), "padding_idx": COUNT},
    ),
    row(
        "model.masks.lengths_mask",
        lengths=LENGTHS,
        max_len=T,
        wrong={
            "lengths": types(torch.tensor([1.0]), [1, 2])
            + numbers(IDS, torch.tensor(3), torch.tensor([2, -1]), torch.tensor([2, 5])),
            "max_len": COUNT,
        },
    ),
    row("model.masks.causal_mask", length=T),
    row(
        "model.attention.attention",
        query=X,
        key=X,
        value=X,
        scale=1.0,
        wrong={
            "query": types(X.long(), [[1.0]]) + numbers(torch.zeros(D), X[..., :0]),
            "key": types(X.double()) + numbers(torch.zeros(B, T, 5), torch.zeros(5, T, D)),
            "value": types(X.half(), None) + numbers(torch.zeros(5, T, D), torch.zeros(B, 4, D), torch.zeros(D)),
            "mask": MASK[:1] + MASK[3:],
            "bias": types(ones(T, T), torch.zeros(T, T).double(), 0.5)
            + numbers(torch.zeros(T, 4), torch.zeros(H, T, T), torch.zeros(1, B, T, T)),
            "scale": types("0.1") + numbers(INF),
        },
    ),
    row(
        "model.attention.masked_softmax",
        scores=torch.zeros(B, T, T),
        wrong={"scores": types(torch.ones(2, 3).long(), torch.tensor(1.0)), "mask": MASK[2:4]},
    ),
    row(
        "fast.unpadded",
        call=partial(unpadded, Encoder(1, D, H, 6)),
        x=X,
        lengths=LENGTHS,
        wrong={
            "x": types(IDS) + numbers(X[0]),
            "lengths": types([1, 2], torch.tensor([1.0, 2.0]))
            + numbers(torch.tensor([[1, 2]]), torch.tensor([1, T + 1]), torch.tensor([1, -1]), torch.tensor([1, 2, 3])),
        },
    ),
    row(
        "packed.Packed",
        lengths=LENGTHS,
        wrong={
            "lengths": types([1, 3], torch.tensor([1.0])) + numbers(torch.tensor([[1]]), torch.tensor([-1])),
        },
    ),
    row(
        "packed.Packed.pack",
        call=Packed(LENGTHS).pack,
        x=X,
        wrong={"x": numbers(torch.zeros(B, 2, D), torch.zeros(1, D))},
    ),
    # ---- what modules do with their input ----
    of(lambda: TokenEmbedding(V, D)),
    of(lambda: TransformerEmbedding(V, D)),
    of(lambda: SinusoidalPositionalEncoding(D), x=VECTORS),
    of(lambda: LearnedPositionalEncoding(D, T), x=VECTORS + DOUBLE),
    of(lambda: RotaryPositionalEncoding(D), x=VECTORS),
    of(lambda: LayerNorm(D), x=VECTORS + DOUBLE + types([[0.0] * D], X.bool())),
    of(lambda: RMSNorm(D), x=VECTORS + DOUBLE),
    of(lambda: FeedForward(D, 6), x=VECTORS + DOUBLE),
    of(lambda: EncoderLayer(D, H, 6), x=DOUBLE + numbers(X[0])),
    of(lambda: Encoder(1, D, H, 6, norm_first=True), x=DOUBLE + numbers(X[None])),
    of(
        lambda: TransformerEncoder(V, 1, D, H, 6, padding_idx=0),
        ids=TOKEN_IDS + numbers(IDS[0], IDS[None]),
        mask=MASK[:1] + LAYER_MASK[-2:],
    ),
    row(
        "model.attention.MultiHeadAttention.forward",
        call=MultiHeadAttention(D, H),
        query=X,
        key=X,
        value=X,
        wrong={
            "query": numbers(X[None], X[0], X[:1]),
            "key": types(X.double()) + numbers(X[None], torch.zeros(B, 5, D), torch.zeros(B, T, 9)),
            "value": types(IDS) + numbers(X[:1]),
            "mask": LAYER_MASK,
        },
    ),
]

# Where the message names something else than the parameter: (call, exception, words that it has to contain)

TABLE, HEADS = TokenEmbedding(V, D), MultiHeadAttention(D, H)
MODEL = TransformerEncoder(V, 1, D, H, 6, padding_idx=0)
CASES = {
    "id = vocab_size": (lambda: TABLE(IDS + V), IndexError, "token id 11 .*vocab_size=11 takes ids 0 … 10"),
    "id below 0": (lambda: MODEL(IDS - 1), IndexError, "token id -1 .*vocab_size=11"),
    "longer than learned": (lambda: LearnedPositionalEncoding(D, 2)(X), ValueError, "max_len=2.*got 3.*larger"),
    "heads that do not divide": (lambda: MultiHeadAttention(8, 3), ValueError, "d_model=8: expected.*n_heads=3"),
    "heads of a model": (lambda: TransformerEncoder(V, 1, 8, 5, 6), ValueError, "divisible by n_heads=5"),
    "odd heads": (lambda: MultiHeadAttention(6, 2, positional="rotary"), ValueError, "d_head.*even.*3"),
    "rotary embedding": (lambda: TransformerEmbedding(V, D, positional="rotary"), ValueError, "pass it to MultiHead"),
    "another model": (lambda: unpadded(FeedForward(D, 6), X, LENGTHS), TypeError, "model: expected an Encoder or"),
    "unknown keyword": (lambda: TransformerEncoder(V, 1, D, H, 6, n_head=4), TypeError, "n_head"),
    "keyword of a layer": (lambda: Encoder(1, D, H, 6, heads=4), TypeError, "heads"),
    "(B, T) as (query, key)": (lambda: HEADS(X, X, X, ones(B, T)), ValueError, "padding.*mask\\[:, None, None, :\\]"),
}
