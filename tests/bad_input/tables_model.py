"""Bad input to the model, one row for each check: what a parameter's name says is wrong (KINDS), the rest beside it.

An entry holds arguments that are right. test_tables.py puts each wrong value in the place of the right one, and reads
the exception and its message. What the checks themselves refuse is in tests/test_expect.py.
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
    alibi_bias,
    attention,
    attention_scores,
    causal_mask,
    fast,
    lengths_mask,
    masked_softmax,
    padding_mask,
    sinusoidal_table,
    unpadded,
)
from encoder_lib.fast import FastFeedForward, FastLayerNorm

B, T, D, H, V = 2, 3, 8, 4, 11
INF = float("inf")
X = torch.zeros(B, T, D)
IDS = torch.zeros(B, T, dtype=torch.long)
LENGTHS = torch.tensor([1, T])


def ones(*shape, dtype=torch.bool):
    """A mask that allows everything."""
    return torch.ones(shape, dtype=dtype)


SIZE, COUNT, EVEN, FLAG, CHOICE = numbers(0), numbers(-1), numbers(7), types(1), numbers("swish")
WIDTH = numbers(torch.zeros(B, T, D + 1))
DOUBLE = types(X.double())  # another dtype than the weights'
KINDS = {
    "activation": CHOICE,
    "attention_bias": FLAG,
    "base": numbers(0),
    "bias": FLAG,
    "d_ff": SIZE,
    "d_head": EVEN,
    "d_model": SIZE,
    "dropout": numbers(1.5),
    "dtype": types(torch.complex64),
    "embedding_norm": FLAG,
    "eps": numbers(-1e-5),
    "final_norm": FLAG,
    "ids": types(IDS.float()),
    "k_len": COUNT,
    "length": COUNT,
    "max_len": SIZE,
    "n_heads": SIZE,
    "n_layers": SIZE,
    "norm": FLAG,
    "norm_first": FLAG,
    "padding_idx": numbers(-1, V),
    "positional": CHOICE,
    "q_len": COUNT,
    "scale": FLAG,
    "vocab_size": SIZE,
    "x": WIDTH,
}
row = partial(bad_values.row, KINDS, draws=True)
SIZES = {"d_model": D, "n_heads": H, "d_ff": 6}
HEADS = MultiHeadAttention(D, H)
MODEL = TransformerEncoder(V, 1, D, H, 6, padding_idx=0)
ENTRIES = [
    # ---- what modules are made of ----
    row(TokenEmbedding, vocab_size=V, d_model=D, padding_idx=0),
    row(TransformerEmbedding, vocab_size=V, d_model=D, eps=1.0, max_len=9, wrong={"positional": numbers("rotary")}),
    row(SinusoidalPositionalEncoding, d_model=D, wrong={"d_model": EVEN}),
    row(LearnedPositionalEncoding, d_model=D, max_len=9),
    row(RotaryPositionalEncoding, d_head=D),
    row(LayerNorm, d_model=D, eps=1.0),
    row(RMSNorm, d_model=D, eps=1.0),
    row(FeedForward, d_model=D, d_ff=6, dropout=0.0),
    row(MultiHeadAttention, d_model=D, n_heads=H, dropout=0.0, wrong={"positional": numbers("learned")}),
    row(EncoderLayer, **SIZES),
    row(Encoder, n_layers=1, **SIZES, wrong={"positional": numbers("sinusoidal")}),
    row(TransformerEncoder, n_layers=1, vocab_size=V, **SIZES, padding_idx=0, wrong={"d_model": EVEN}),
    # ---- functions ----
    row(sinusoidal_table, length=T, d_model=D, base=100, wrong={"d_model": EVEN}),
    row(alibi_bias, n_heads=H, q_len=T, k_len=T),
    row(padding_mask, ids=IDS, padding_idx=0, wrong={"ids": numbers(IDS[0]), "padding_idx": COUNT}),
    row(lengths_mask, lengths=LENGTHS, max_len=T, wrong={"lengths": numbers(LENGTHS + 1), "max_len": COUNT}),
    row(causal_mask, length=T),
    row(
        attention,
        query=X,
        key=X,
        value=X,
        scale=1.0,
        wrong={
            "query": types(IDS),
            "key": types(X.double()) + numbers(torch.zeros(B, T, 5), torch.zeros(5, T, D)),
            "value": types(X.half(), None) + numbers(torch.zeros(5, T, D), torch.zeros(B, 4, D), torch.zeros(D)),
            "mask": types(ones(T, T, dtype=torch.uint8)) + numbers(ones(T, T + 1)),
            "bias": types(ones(T, T), 0.5) + numbers(torch.zeros(H, T, T)),
            "scale": numbers(INF),
        },
    ),
    row(attention_scores, query=X, key=X, wrong={"key": types(X.double()), "scale": numbers(INF)}),
    row(
        masked_softmax,
        scores=torch.zeros(B, T, T),
        wrong={"scores": types(IDS, torch.tensor(1.0)), "mask": numbers(ones(5, 1, 1, T))},
    ),
    row(
        partial(unpadded, Encoder(1, D, H, 6)),
        x=X,
        lengths=LENGTHS,
        wrong={"x": types(IDS) + numbers(X[0]), "lengths": numbers(torch.tensor([1, T + 1]), torch.tensor([1, 2, 3]))},
    ),
    row(Packed, lengths=LENGTHS, wrong={"lengths": numbers(-LENGTHS)}),
    row(Packed(LENGTHS).pack, x=X, wrong={"x": numbers(X[:, :2], X[:1]) + types(IDS)}),
    # ---- what modules do with their input ----
    row(TokenEmbedding(V, D).forward, ids=IDS),
    row(TransformerEmbedding(V, D).forward, ids=IDS),
    row(SinusoidalPositionalEncoding(D).forward, x=X),
    row(LearnedPositionalEncoding(D, T).forward, x=X, wrong={"x": WIDTH + DOUBLE + numbers(torch.zeros(B, T + 1, D))}),
    row(RotaryPositionalEncoding(D).forward, x=X),
    row(LayerNorm(D).forward, x=X, wrong={"x": WIDTH + DOUBLE}),
    row(RMSNorm(D).forward, x=X, wrong={"x": WIDTH + DOUBLE}),
    row(FeedForward(D, 6).forward, x=X, wrong={"x": WIDTH + DOUBLE}),
    row(FastLayerNorm(D).forward, x=X, wrong={"x": WIDTH + DOUBLE}),
    row(torch.no_grad()(fast(FastFeedForward(D, 6)).forward), x=X, wrong={"x": WIDTH + DOUBLE}),
    row(EncoderLayer(D, H, 6).forward, x=X, wrong={"x": DOUBLE + numbers(X[0])}),
    row(Encoder(1, D, H, 6, norm_first=True).forward, x=X, wrong={"x": DOUBLE + numbers(X[None])}),
    row(MODEL.forward, ids=IDS, wrong={"ids": types(IDS.float()) + numbers(IDS[0]), "mask": numbers(ones(B, T, T))}),
    row(
        HEADS.forward,
        query=X,
        key=X,
        value=X,
        wrong={
            "query": numbers(X[None], X[:1]),
            "key": types(X.double()) + numbers(X[None], torch.zeros(B, 5, D), torch.zeros(B, T, 9)),
            "value": types(IDS) + numbers(X[:1]),
            "mask": types(torch.full((T, T), -INF)) + numbers(ones(T, T + 1), ones(B, T, T)),
        },
    ),
]

# Where the message names something else than the parameter: (call, exception, words that it has to contain)

CASES = {
    "id = vocab_size": (lambda: MODEL(IDS + V), IndexError, "token id 11 .*vocab_size=11 takes ids 0 … 10"),
    "id below 0": (lambda: MODEL(IDS - 1), IndexError, "token id -1 .*vocab_size=11"),
    "longer than learned": (lambda: LearnedPositionalEncoding(D, 2)(X), ValueError, "max_len=2.*got 3.*larger"),
    "heads that do not divide": (lambda: MultiHeadAttention(8, 3), ValueError, "d_model=8: expected.*n_heads=3"),
    "odd heads": (lambda: MultiHeadAttention(6, 2, positional="rotary"), ValueError, "d_head.*even.*3"),
    "rotary embedding": (lambda: TransformerEmbedding(V, D, positional="rotary"), ValueError, "pass it to MultiHead"),
    "another model": (lambda: unpadded(FeedForward(D, 6), X, LENGTHS), TypeError, "model: expected an Encoder or"),
    "unknown keyword": (lambda: TransformerEncoder(V, 1, D, H, 6, n_head=4), TypeError, "n_head"),
    "(B, T) as (query, key)": (lambda: HEADS(X, X, X, ones(B, T)), ValueError, "padding.*mask\\[:, None, None, :\\]"),
}
