"""Bad input to the tools that readers call, and to published weights: what a parameter's name says is wrong.

An entry holds arguments that are right. What is wrong for a parameter follows from its name (KINDS), or stands beside
the entry. test_tables.py puts each wrong value in the place of the right one: the exception, and what it says.
"""

from collections.abc import Callable
from functools import partial

import bad_values
import numpy as np
import pandas as pd
import torch
from bad_values import (
    COUNT,
    DEVICE,
    FLAG,
    FUNCTION,
    MODULE,
    SEED,
    SIZE,
    TEXT,
    TEXTS,
    Wrong,
    numbers,
    optional,
    types,
)
from explorers import minilm
from torch import nn

from encoder_lib import Encoder, LayerNorm, TransformerEncoder
from encoder_lib.course.kit import notebook
from encoder_lib.seeded import seeded

KINDS = {
    "batch_tokens": SIZE,
    "device": optional(DEVICE),
    "function": FUNCTION,
    "model": MODULE,
    "module": MODULE,
    "progress": FLAG,
    "seed": SEED,
    "text": TEXT,
    "texts": TEXTS,
}


row = partial(bad_values.row, KINDS)


def entered(make: Callable) -> Callable:
    """A context manager's way in, followed by its way out."""

    def call(**arguments):
        with make(**arguments):
            pass

    return call


def spoken(name: str) -> Callable:
    """A method of the pretrained model, which is read when it is called."""
    return lambda **arguments: getattr(minilm(), name)(**arguments)


ENTRIES = [
    row("seeded.seeded", seed=0, call=entered(seeded)),
    row("kit.notebook.setup", seed=0, wrong={"seed": [*SEED, *numbers(2**32)]}),
    row(
        "kit.notebook.complaint",
        function=int,
        arguments="x",
        call=lambda function, arguments: notebook.complaint(function, arguments),
    ),
    row(
        "kit.notebook.show_source",
        things=LayerNorm,
        call=lambda things: notebook.show_source(LayerNorm, things),
        wrong={"things": types(None, 3, "LayerNorm", len)},
    ),
    row(
        "kit.notebook.table",
        columns={"a": [1.0, 2.0]},
        rows=["x", "y"],
        wrong={
            "columns": types(None, [1, 2], torch.zeros(2), {3: [1.0, 2.0]})
            + types({"a": "text"}, {"a": {1, 2}}, {"a": [None, 1]}, {"a": [[1], [2]]}, {"a": [(1, 2.5), 1]})
            + types({"a": torch.tensor([1j, 2j])}, {"a": [torch.ones(1), 1]})
            + numbers({}, {"a": []}, {"a": [1, 2], "b": [1]}, {"a": torch.ones(2, 2)}, {"a": torch.tensor(1.0)}),
            "rows": optional(TEXTS) + numbers([], ["x"], ["x"] * 3),
            "decimals": COUNT,
        },
    ),
    row("trace.trace", model=TransformerEncoder(5, 1, 8, 2, 8)),
    row(
        "from_torch.from_torch",
        module=nn.TransformerEncoderLayer(4, 2, 4),
        wrong={"module": MODULE + types(nn.Linear(2, 2), nn.TransformerDecoderLayer(4, 2, 4), Encoder(1, 4, 2, 4))},
    ),
    row(
        "pretrained.sentence_encoder.load_pretrained",
        wrong={
            "source": types(None, 3, b"minilm")
            + [Wrong(path, FileNotFoundError) for path in ("no/such/folder", "a\0b", "MiniLM", "x" * 5000)]
            + [Wrong(__file__, NotADirectoryError)],
            "dtype": types(torch.int64, "float32", float),
        },
    ),
    *(
        row(f"pretrained.sentence_encoder.SentenceEncoder.{name}", text="A cat.", call=spoken(name))
        for name in ("tokens", "ids", "attention")
    ),
    row(
        "pretrained.sentence_encoder.SentenceEncoder.encode",
        texts=["A cat."],
        call=spoken("encode"),
        wrong={
            "texts": TEXTS
            + types({"text": ["a", "b"]}, {1: "a"}, {"a", "b"}, frozenset("ab"))
            + types(pd.DataFrame({"text": ["a", "b"]}), np.array([["a", "b"]]), np.array("a"), pd.Series(["a", None]))
        },
    ),
]
