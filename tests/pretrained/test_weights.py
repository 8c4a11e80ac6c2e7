"""The weights of a folder: in any dtype, under any of BERT's names; nothing is unpickled, nothing guessed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from bert_folders import WORDS, bert, config, cut, difference, made_folder, save, weights, written
from safetensors.torch import load_file, save_file

from encoder_lib import load_pretrained
from encoder_lib.pretrained.weights import BLOCK

F64 = torch.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_file_in_any_dtype(hugging, tmp_path, dtype):
    """Half precision is widened to float32 and float64 rounded to it, unless another dtype is asked for."""
    theirs = bert(hugging).to(dtype)
    folder = save(theirs, tmp_path)
    assert {p.dtype for p in load_pretrained(folder).encoder.parameters()} == {torch.float32}
    assert difference(load_pretrained(folder, dtype=F64), theirs.double(), len(WORDS), 24) <= 1e-10


@pytest.mark.parametrize("old_names", [False, True])
def test_file_of_a_pretraining_model(hugging, tmp_path, old_names):
    """BERT's own file: names prefixed with "bert.", heads for its tasks, norms with gamma and beta."""
    theirs = bert(hugging, "BertForPreTraining")
    file = save(theirs, tmp_path) / "model.safetensors"
    if old_names:
        new, old = ("LayerNorm.weight", "LayerNorm.bias"), ("LayerNorm.gamma", "LayerNorm.beta")
        save_file({n.replace(new[0], old[0]).replace(new[1], old[1]): x for n, x in load_file(file).items()}, file)
    assert any(name.startswith("cls.") for name in load_file(file))
    assert difference(load_pretrained(tmp_path, dtype=F64), theirs.bert.double(), len(WORDS), 24) <= 1e-10


# Tensors of more than 2**15 numbers, for which torch starts threads, and each prime size no multiple of a block.
LARGE = {
    "hidden_size": 67,
    "num_attention_heads": 1,
    "intermediate_size": 601,
    "max_position_embeddings": 599,
    "vocab_size": 997,
    "num_hidden_layers": 1,
}
COUNT_THREADS = """
import json, os, sys, torch
from encoder_lib import load_pretrained
before = len(os.listdir("/proc/self/task"))
for folder in sys.argv[1:]:
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        load_pretrained(folder, dtype=dtype, device="cpu")
after = len(os.listdir("/proc/self/task"))
torch.ones(2**17).exp()
print(json.dumps([before, after, len(os.listdir("/proc/self/task"))]))
"""


LINUX = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="Linux lists a process's threads and maps")


@LINUX
def test_loading_starts_no_threads(hugging, tmp_path):
    """A forked child would wait for them for ever. The last count shows that torch would have started some."""
    folders = []
    for dtype in (torch.float16, torch.bfloat16, torch.float32, F64):
        theirs = bert(hugging, **LARGE).to(dtype)
        folders.append(save(theirs, tmp_path / str(dtype)))
        assert difference(load_pretrained(folders[-1], dtype=F64), theirs.double(), 997, 599) <= 1e-10
    command, env = [sys.executable, "-c", COUNT_THREADS, *folders], os.environ | {"OMP_NUM_THREADS": "3"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=True)
    before, after, with_threads = json.loads(done.stdout)
    assert after == before < with_threads


@LINUX
def test_float32_weights_stay_mapped(good):
    """All but the positions, to which the token type is added, are the file's own memory."""
    model = load_pretrained(good)
    maps = [
        line.split()[0] for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(good / FILE))
    ]
    spans = [range(*(int(end, 16) for end in span.split("-"))) for span in maps]
    weights = model.encoder.named_parameters()
    copied = [name for name, weight in weights if not any(weight.data_ptr() in span for span in spans)]
    assert copied == ["embedding.position.weight"]


@pytest.mark.parametrize("place", [0, BLOCK - 1, BLOCK, -1])
def test_non_finite_number_in_any_block_is_found(hugging, tmp_path, place):
    """At the ends of a block, and at the end of the tensor."""
    folder, name = save(bert(hugging, **LARGE), tmp_path), "encoder.layer.0.intermediate.dense.weight"
    weights(lambda w: w[name].view(-1)[place].fill_(torch.inf))(folder)
    with pytest.raises(ValueError, match=f"{name}.*non-finite"):
        load_pretrained(folder)


FILE, NOT_IT = "model.safetensors", "not a safetensors file"
QUERY, TYPES = "encoder.layer.1.attention.self.query.weight", "embeddings.token_type_embeddings.weight"


def put(name, *shape, dtype=None):
    """Spoil the weights: zeros of that shape under that name."""
    return weights(lambda w: w.update({name: torch.zeros(shape, dtype=dtype)}))


def renamed(folder):
    """Leave only a file of another kind."""
    (folder / FILE).rename(folder / "pytorch_model.bin")


BAD = {
    "a pickle alone": (renamed, FileNotFoundError, "model.safetensors: expected a file, got nothing"),
    "folder as weights": (made_folder(FILE), FileNotFoundError, "expected a file, got a folder"),
    "web page": (written(FILE, b"\n<!DOCTYPE html><p>" + b"x" * 99), ValueError, "web page"),
    "zip pickle": (written(FILE, b"PK\3\4" + b"\0" * 99), ValueError, f"{NOT_IT}.*never loaded"),
    "cut in the numbers": (cut(0.9), ValueError, NOT_IT),
    "NaN": (weights(lambda w: w[QUERY][0, :1].fill_(torch.nan)), ValueError, f"{QUERY}.*non-finite"),
    "missing weight": (weights(lambda w: w.pop(QUERY)), KeyError, QUERY),
    "missing types": (weights(lambda w: w.pop(TYPES)), KeyError, TYPES),
    "wrong shape": (put(QUERY, 12, 13), ValueError, r"expected shape \(12, 12\), got \(12, 13\)"),
    "no token type": (put(TYPES, 0, 12), ValueError, "token_type_embeddings.*expected shape"),
    "types of width 1": (put(TYPES, 2, 1), ValueError, "token_type_embeddings.*expected shape"),
    "integers": (put(QUERY, 12, 12, dtype=torch.int32), ValueError, "floating-point numbers.*got I32"),
    "unknown weight": (put("adapter.weight", 3), ValueError, "adapter.weight"),
    "a name twice": (put(f"bert.{QUERY}", 12, 12), ValueError, "twice"),
    "another vocabulary": (config(vocab_size=99), ValueError, r"expected shape \(99, 12\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_weights_are_refused(copy, name):
    spoil, error, words = BAD[name]
    spoil(copy)
    with pytest.raises(error, match=words):
        load_pretrained(copy)
