"""Workshops for tests: with right answers for the nine parts, and with nothing written yet; and encoders of them."""

import functools
import json
import subprocess
import sys

import torch
from answers import ANSWERS
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

from encoder_lib.course.build_your_own import Workshop
from encoder_lib.course.build_your_own.own import CHECKS
from encoder_lib.seeded import seeded

ONE = {check: next(iter(right.values())) for check, (right, _) in ANSWERS.items()}
OTHER = {check: list(right.values())[-1] for check, (right, _) in ANSWERS.items()}

SIZES = {"vocab_size": 7, "max_len": 9, "n_layers": 2, "d_model": 6, "n_heads": 3, "d_ff": 5, "eps": 1e-12}


class Stub(nn.Module):
    """What the notebook begins with."""

    def __init__(self, *sizes):
        super().__init__()

    def forward(self, *inputs): ...


made_once = functools.cache(Workshop)  # it tries nine parts, and never changes


def workshop(answers=ONE, *, broken=(), **instead):
    """A workshop of right answers, but for what is given."""
    return made_once(*(instead.get(name, answers[check]) for name, check in CHECKS.items()), broken=tuple(broken))


@functools.cache
def stubs():
    return Workshop(*[Stub] * 7, lambda x, real: ..., lambda model, draw, steps, lr: ...)


def made(mine):
    """An encoder of these sizes, of a workshop's parts, as the notebook makes it."""
    vocab_size, max_len, n_layers, d_model, n_heads, d_ff, eps = SIZES.values()
    with seeded(3):
        blocks = [
            mine.Block(mine.Attention(d_model, n_heads), mine.FeedForward(d_model, d_ff), *norms)
            for norms in [[mine.Norm(d_model, eps), mine.Norm(d_model, eps)] for _ in range(n_layers)]
        ]
        ends = mine.Embedding(vocab_size, d_model), mine.Positions(max_len, d_model), mine.Norm(d_model, eps)
        return mine.Encoder(*ends, blocks).double()


WITHOUT = """
import json, runpy, sys
sys.modules["encoder_lib"] = None  # from here on, importing it raises ImportError
texts, folders = json.loads(sys.argv[1])
for folder in folders:
    sys.argv[1:] = texts
    runpy.run_path(folder + "/my_encoder.py", run_name="__main__")
"""


def run_exported(texts, *folders):
    """The vectors that programs of exported encoders print, in a Python without encoder_lib: (folders, texts, D)."""
    command = [sys.executable, "-I", "-c", WITHOUT, json.dumps([texts, list(map(str, folders))])]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    vectors = torch.tensor([[float(x) for x in line.split()] for line in printed.stdout.splitlines()])
    return vectors.unflatten(0, (len(folders), len(texts)))


def tokenizer():
    """One that knows two words."""
    words = Tokenizer(models.WordLevel({"[PAD]": 0, "a": 1, "dog": 2, "[UNK]": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return words
