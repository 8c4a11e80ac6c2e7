"""Answers to the clinic's cases and exercise: mended code, and half-mended code.

A function or class is given as it is; a dictionary lists changes to the case's own code, `old` text -> new.
"""

from typing import NamedTuple

import torch
from torch import nn

from encoder_lib import EncoderLayer, attention, sinusoidal_table
from encoder_lib.course import debugging_clinic as clinic


class Answers(NamedTuple):
    """For a case: words of the verdict on the broken code, the smallest fix, other fixes, and half-mended code.

    With each piece of half-mended code come words of the first hint that it gets.
    """

    says: str
    mend: dict
    right: dict
    half: dict


class Stacked(nn.Module):
    def __init__(self, n_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList()
        while len(self.layers) < n_layers:
            self.layers.append(EncoderLayer(*sizes))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


def table_by_pairs(length, d_model):
    angle = torch.arange(length)[:, None] * 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def by_heads(layer, query, key, value, mask):
    maps, joined = (layer.q_proj(query), layer.k_proj(key), layer.v_proj(value)), []
    mask = None if mask is None else mask[:, 0]
    for q, k, v in zip(*(x.chunk(layer.n_heads, dim=-1) for x in maps), strict=True):
        joined.append(attention(q, k, v, mask)[0])
    return layer.out_proj(torch.cat(joined, dim=-1))


TEMPLATE = {"        self.layer = EncoderLayer(d_model, n_heads, d_ff)\n": ""}
OWN_LAYERS = TEMPLATE | {"deepcopy(self.layer)": "EncoderLayer(d_model, n_heads, d_ff)"}

CLINIC = {
    "check_stack": Answers(
        "one layer: expected 154 trainable numbers in parameters(), got 308",
        OWN_LAYERS,
        {"a loop": Stacked},
        {
            "one object": ({"self.layer = E": "layer = E", "deepcopy(self.layer) for": "layer for"},
                           "holds only one layer"),
            "copies": ({"self.layer = E": "layer = E", "deepcopy(self.layer)": "deepcopy(layer)"},
                       "the second fault: a deep copy copies the random numbers too."),
            "a plain list": (
                TEMPLATE | {"nn.ModuleList(deepcopy(self.layer) for _ in range(n_layers))":
                            "[EncoderLayer(d_model, n_heads, d_ff).double() for _ in range(n_layers)]"},
                ""),
            "one too many": (
                OWN_LAYERS | {"range(n_layers)": "range(n_layers + 1)", "in self.layers": "in self.layers[1:]"}, ""),
            "frozen": (OWN_LAYERS | {"range(n_layers))": "range(n_layers)).requires_grad_(False)"}, ""),
            "detached": (OWN_LAYERS | {"layer(x, mask)": "layer(x.detach(), mask)"}, "a gradient reaches"),
            "one head": (OWN_LAYERS | {"deepcopy(self.layer)": "EncoderLayer(d_model, 1, d_ff)"}, "Each layer reads"),
            "the mask dropped": (OWN_LAYERS | {"layer(x, mask)": "layer(x)"}, "gets the mask"),
        },
    ),
    "check_torch_mask": Answers(
        "expected [[[1.0], [1.0]]]\ngot      [[[5.0], [5.0]]]",
        {"=real": "=~real"},
        {"a square mask for each sentence":
            {"key_padding_mask=real": "attn_mask=~real[:, None, :].expand(-1, x.shape[1], -1)"}},
        {
            "no mask": ({", key_padding_mask=real": ""}, "a mixture of both"),
            "nan_to_num": ({"[0]": "[0].nan_to_num()"}, ""),
            "the mask inverted in place": ({"=real": "=real.logical_not_()"}, "belong to the caller"),
            "a detached x": ({"=real": "=~real", "(x, x": "(x.detach(), x"}, "a gradient reaches"),
            "−100 in place of −∞": ({"=real": "=-100.0 * (~real).to(x.dtype)"}, "below all of them"),
            "padding zeroed as a query": (
                {"(x, x, x, key_padding_mask=real": "(x * real[..., None], x, x, key_padding_mask=~real"},
                "The mask is right"),
        },
    ),
    "check_positions": Answers(
        "in, torch.float",
        {"self.table = sinusoidal_table(100, d_model)":
            'self.register_buffer("table", sinusoidal_table(100, d_model))'},
        {"on demand": {"self.table[: x.shape[1]]": "sinusoidal_table(*x.shape[1:], dtype=x.dtype).to(x.device)"},
         "follows its input": {"[: x.shape[1]]": "[: x.shape[1]].to(x)"},
         "not stored": {"self.table = sinusoidal_table(100, d_model)":
                        'self.register_buffer("table", sinusoidal_table(100, d_model), persistent=False)'},
         "frozen": {"sinusoidal_table(100, d_model)":
                    "nn.Parameter(sinusoidal_table(100, d_model), requires_grad=False)"}},
        {
            "a parameter": ({"= sinusoidal_table(100, d_model)": "= nn.Parameter(sinusoidal_table(100, d_model))"},
                            "training would change it"),
            "always float32": ({"(100, d_model)": "(100, d_model).float()"}, "the table has kept its own"),
            "in place": (
                {"self.table = sinusoidal_table(100, d_model)":
                 'self.register_buffer("table", sinusoidal_table(100, d_model))', "x + self": "x.add_(self",
                 "x.shape[1]]": "x.shape[1]])"}, "start from x.clone()"),
            "a table of ten rows": (
                {"self.table = sinusoidal_table(100, d_model)":
                 'self.register_buffer("table", sinusoidal_table(10, d_model))'}, "the first T rows"),
            "a detached x": ({"x + self.table[: x.shape[1]]": "x.detach() + self.table[: x.shape[1]].to(x)"},
                             "a gradient reaches"),
            "dtype alone": ({"[: x.shape[1]]": "[: x.shape[1]].to(x.dtype)"}, "the device doesn't"),
        },
    ),
    "check_table": Answers(
        "with length 2, d_model 2: expected 0.5403 at (1, 1), got 1.0",
        {"2 * i /": "2 * (i // 2) /"},
        {"by pairs": table_by_pairs},
        {
            "half the exponent": ({"2 * i /": "i // 2 /"}, "The first clock is right"),
            "columns without the 2": ({"2 * i /": "i /"}, ""),
            "sine and cosine swapped": ({"angle.sin(), angle.cos()": "angle.cos(), angle.sin()"}, "At position 0"),
        },
    ),
    "check_unknown": Answers(
        "two heads: with n_heads 2",
        {"heads.reshape(query.shape)": "heads.transpose(1, 2).reshape(query.shape)"},
        {"flattened": {"heads.reshape(query.shape)": "heads.transpose(1, 2).flatten(-2)"}, "head by head": by_heads},
        {
            "cut as it is joined": (
                {f"({x}).unflatten(-1, slices).transpose(1, 2)": f"({x}).view(2, *slices, 4 // layer.n_heads)"
                 for x in ("query", "key", "value")},
                "With one head everything is right"),
            "no mask": ({"heads.reshape": "heads.transpose(1, 2).reshape", "(scores, mask)": "(scores, None)"},
                        "Who gets the mask"),
            "the size of keys": (
                {"heads.reshape(query.shape)": "heads.transpose(1, 2).reshape(key.shape)"},
                "as many tokens as query"),
            "keys as values": ({"heads.reshape": "heads.transpose(1, 2).reshape", "v_proj(value)": "v_proj(key)"},
                               "gets its own input"),
            "detached scores": (
                {"heads.reshape": "heads.transpose(1, 2).reshape", "(scores, mask)": "(scores.detach(), mask)"},
                "a gradient reaches"),
            "hidden by −100": (
                {"heads.reshape": "heads.transpose(1, 2).reshape", "masked_softmax(scores, mask)":
                 "(scores if mask is None else scores.masked_fill(~mask, -100.0)).softmax(dim=-1)"},
                "below all of them"),
            "no fourth linear layer": ({"layer.out_proj(heads.reshape(query.shape))": "heads.reshape(query.shape)"},
                              "the fourth linear layer"),
        },
    ),
}  # fmt: skip


IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]])  # as in the notebook
REAL = IDS != 0


# Your turn: parity


def worst(x):
    return x[REAL].abs().max()


# Ways to measure how large a difference (B, T, D) is
SIZES = {
    "the sum of the sizes": lambda x: x[REAL].abs().sum(),
    "padding set to zero": lambda x: (x * REAL[..., None]).square().mean().sqrt(),
}
WRONG_SIZES = {
    "padding compared too": (lambda x: x.abs().max(), "something else at padding", "never used"),
    "the largest, with its sign": (lambda x: x[REAL].max(), "a number that falls", "either direction"),
    "the smallest, with its sign": (lambda x: x[REAL].min(), "a number that rises", "either direction"),
    "the sum, with signs": (lambda x: x[REAL].sum(), "one that rises and one that falls", "opposite sign"),
    "the second sentence": (lambda x: x[1, :3].abs().max(), "first sentence", "Which words"),
    "the first numbers": (lambda x: x[REAL][:, :2].abs().max(), "at the end of a vector", "Which components"),
    "all but the third": (lambda x: x[REAL][:7].abs().max(), "last word", "Which words"),
    "NaN replaced": (lambda x: worst(x.nan_to_num()), "✗ NaN: its words", "NaN is a result"),
    "NaN lost in Python's max": (lambda x: max(0.0, worst(x).item()), "✗ NaN: its words", "max(0.0, nan) is 0.0"),
}


def vectors_of(model, words):
    return words[IDS] + sinusoidal_table(5, 6)


def beside(size=worst, *, read=vectors_of, hide=~REAL):
    """my_parity with one thing done differently."""

    def parity(model):
        words, reference = clinic.torch_counterpart(model)
        return {"beside": size(model(IDS) - reference(read(model, words), src_key_padding_mask=hide))}

    return parity


def parity_by_row(model):
    (words, reference), found = clinic.torch_counterpart(model), {}
    for b in range(len(IDS)):
        x, hide = vectors_of(model, words)[b : b + 1], ~REAL[b : b + 1]
        off = model(IDS[b : b + 1]) - reference(x, src_key_padding_mask=hide)
        found[f"row {b}"] = off[0, REAL[b]].abs().max()
    return found


def _caught(test, model):
    try:
        return test(model)
    except Exception:
        return {"beside": 0.0}


PARITY_RIGHT = {"row by row": parity_by_row} | {name: beside(size) for name, size in SIZES.items()}
NOTHING_WRONG = "✗ a correct encoder: nothing is wrong"
# what is wrong -> the test, and words of the verdict's problem and of its hint
PARITY_WRONG = {
    "the model's own embedding": (
        beside(read=lambda model, words: model.embedding(IDS)), "case 4, a wrong table", "Whose positions"
    ),
    "its own words": (
        beside(read=lambda model, words: model.embedding.token(IDS) + sinusoidal_table(5, 6)),
        "word vectors twice as long",
        "Whose words",
    ),
    "no positions": (beside(read=lambda model, words: words[IDS]), NOTHING_WRONG, "same input"),
    "the mask as ours": (beside(hide=REAL), NOTHING_WRONG, "same input"),
    "a bare number": (lambda model: beside()(model)["beside"], "what the test returns: expected", "same input"),
    "errors caught": (lambda model: _caught(beside(), model), "a model that stops", "An error is a finding"),
    "both are the model": (lambda model: {"beside": worst(model(IDS) * 0)}, "case 4", "Whose positions"),
    **{name: (beside(size), *said) for name, (size, *said) in WRONG_SIZES.items()},
}  # fmt: skip
