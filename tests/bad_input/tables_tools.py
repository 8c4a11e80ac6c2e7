"""Bad input to the tools that readers call, and to published weights: as tables_model.py."""

from functools import partial

import bad_values
import numpy as np
import pandas as pd
import torch
from bad_values import Wrong, numbers, types
from explorers import minilm
from torch import nn

from encoder_lib import Encoder, LayerNorm, TransformerEncoder, from_torch, load_pretrained, trace
from encoder_lib.course.kit import notebook
from encoder_lib.seeded import seeded

TEXT = types(b"text")
KINDS = {
    "batch_tokens": numbers(0),
    "device": numbers("cuda:77"),
    "model": types(nn.Linear),
    "progress": types(1),
    "seed": numbers(2**64),
    "text": TEXT,
    "texts": types("one text"),
}
row = partial(bad_values.row, KINDS)


def enter(seed):
    """Begin a block with this seed, and end it."""
    with seeded(seed):
        pass


def encode(**arguments):
    return minilm().encode(**arguments)


def read(method):
    """A method of the pretrained model, which is read when it is called."""

    def call(text):
        return getattr(minilm(), method)(text)

    return call


ENTRIES = [
    row(enter, seed=0),
    row(notebook.setup, seed=0, wrong={"seed": numbers(2**32)}),
    row(
        lambda things: notebook.show_source(LayerNorm, things),
        things=LayerNorm,
        wrong={"things": types(None, 3, "LayerNorm", len)},
    ),
    row(
        notebook.table,
        columns={"a": [1.0, 2.0]},
        rows=["x", "y"],
        wrong={
            "columns": types(None, [1, 2], torch.zeros(2), {3: [1.0, 2.0]})
            + types({"a": "text"}, {"a": {1, 2}}, {"a": [None, 1]}, {"a": [[1], [2]]}, {"a": [(1, 2.5), 1]})
            + types({"a": torch.tensor([1j, 2j])}, {"a": [torch.ones(1), 1]})
            + numbers({}, {"a": []}, {"a": [1, 2], "b": [1]}, {"a": torch.ones(2, 2)}, {"a": torch.tensor(1.0)}),
            "rows": types("xy") + numbers([], ["x"], ["x"] * 3),
            "decimals": numbers(-1),
        },
    ),
    row(trace, model=TransformerEncoder(5, 1, 8, 2, 8)),
    row(from_torch, module=nn.TransformerEncoderLayer(4, 2, 4), wrong={"module": types(Encoder(1, 4, 2, 4))}),
    row(
        load_pretrained,
        wrong={
            "source": types(b"minilm")
            + [Wrong(path, FileNotFoundError) for path in ("no/such/folder", "a\0b", "MiniLM", "x" * 5000)]
            + [Wrong(__file__, NotADirectoryError)],
            "dtype": types(torch.int64),
        },
    ),
    *(row(read(method), text="A cat.") for method in ("tokens", "ids", "attention")),
    row(
        encode,
        texts=["A cat."],
        wrong={
            "texts": types("one text", b"text", None, {1: "a"}, {"a", "b"}, frozenset("ab"), ["good", b"bad"])
            + types(pd.DataFrame({"text": ["a", "b"]}), np.array([["a", "b"]]), np.array("a"), pd.Series(["a", None])),
            "batch_tokens": KINDS["batch_tokens"],
            "progress": KINDS["progress"],
        },
    ),
]
