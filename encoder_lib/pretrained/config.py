"""The settings of a BERT-style folder: sizes, tokenizer, pooling; validated before anything is allocated."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, normalizers

from encoder_lib import expect
from encoder_lib.files import existing_file
from encoder_lib.model.feed_forward import ACTIVATIONS

# our keyword -> their key, and a maximum that no such model reaches
SIZES = {
    "vocab_size": ("vocab_size", 2_000_000),
    "n_layers": ("num_hidden_layers", 200),
    "d_model": ("hidden_size", 20_000),
    "n_heads": ("num_attention_heads", 1_000),
    "d_ff": ("intermediate_size", 100_000),
    "max_len": ("max_position_embeddings", 200_000),
}
# settings with one supported value; older configs omit them
FIXED = {"model_type": "bert", "position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False}


def folder(source: str | Path) -> Path:
    """`source` as a path, if it is an existing folder."""
    if os.path.isdir(source):  # unlike Path.is_dir, it takes a name that is too long for any file
        return Path(source)
    name = expect.short_repr(str(source)).strip("'")
    if os.path.exists(source):
        raise NotADirectoryError(f"{name}: expected a folder, got a file; try the folder that contains it")
    files = "config.json, tokenizer.json and model.safetensors"
    raise FileNotFoundError(f"{name}: expected 'minilm' or a folder with {files}, got a path that does not exist")


def settings(folder: Path) -> dict:
    """The arguments of TransformerEncoder, from `config.json`. A setting that it does not support is refused."""
    path = folder / "config.json"
    config = _json(path)
    for key, only in FIXED.items():
        if config.get(key) not in (None, only):
            raise ValueError(f"{path}: {key}: expected {only!r}, as in BERT's encoder, got {config[key]!r}")
    if missing := [key for key, _ in SIZES.values() if key not in config]:
        raise KeyError(f"{path}: expected the key {missing[0]!r}, got {sorted(config)}")
    sizes = {
        ours: expect.integer(f"{path}: {key}", config[key], least=1, most=most) for ours, (key, most) in SIZES.items()
    }
    if sizes["d_model"] % sizes["n_heads"]:
        raise ValueError(f"{path}: expected a hidden_size divisible by num_attention_heads, got {sizes}")
    activation, eps = config.get("hidden_act", "gelu"), config.get("layer_norm_eps", 1e-12)
    expect.choice(f"{path}: hidden_act", activation, ACTIVATIONS)
    expect.positive(f"{path}: layer_norm_eps", eps)
    padding_idx = config.get("pad_token_id", 0)
    if padding_idx is not None:
        expect.integer(f"{path}: pad_token_id", padding_idx, least=0, most=sizes["vocab_size"] - 1)
    bert = {"positional": "learned", "embedding_norm": True, "norm_first": False, "activation": activation, "eps": eps}
    return sizes | bert | {"padding_idx": padding_idx}


def check_pooling(folder: Path) -> None:
    """Require mean pooling: a text's vector is the mean of its tokens' vectors. Without a file it is the default."""
    modules = _json(folder / "modules.json", optional=True, kind=list)
    kinds = {str(module.get("type")).rpartition(".")[2] for module in modules if isinstance(module, dict)}
    if more := kinds - {"Transformer", "Pooling", "Normalize"}:
        got = f"got also {sorted(more)}"
        raise ValueError(f"{folder / 'modules.json'}: expected Transformer, Pooling and Normalize, {got}")
    for path in folder.glob("*_Pooling/config.json"):
        config = _json(path)
        flags = [key for key, on in config.items() if key.startswith("pooling_mode_") and on]
        mode = config.get("pooling_mode", flags)
        if mode not in ("mean", ["mean"], ["pooling_mode_mean_tokens"]):
            raise ValueError(f"{path}: expected mean pooling, got {mode!r}")


def tokenizer(folder: Path, *, vocab_size: int, max_len: int) -> Tokenizer:
    """The tokenizer, without padding. It truncates texts to the maximum length that the model was published with."""
    path = existing_file(folder / "tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more specific
        raise ValueError(f"{path}: expected a file of the tokenizers library, got another kind: {error}") from error
    if (largest := max(tokenizer.get_vocab().values(), default=0)) >= vocab_size:
        raise ValueError(f"{path}: expected ids below the vocab_size of config.json, {vocab_size}, got {largest}")
    recipe = _json(folder / "sentence_bert_config.json", optional=True)
    if recipe.get("do_lower_case"):
        then = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
        tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *then])
    tokenizer.enable_truncation(min(max_len, _max_tokens(folder)))
    tokenizer.no_padding()
    return tokenizer


def _max_tokens(folder: Path) -> int:
    """The maximum number of tokens, which sentence-transformers takes from the first file that sets it."""
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        config = _json(folder / name, optional=True)
        if config.get(key) is not None:
            return expect.integer(f"{folder / name}: {key}", config[key], least=3)  # [CLS], a word, [SEP]
    return sys.maxsize


def _json(path: Path, *, optional: bool = False, kind: type = dict) -> Any:
    """The content of a JSON file, which must be a `kind`; a missing `optional` file counts as empty."""
    if optional and not path.exists():
        return kind()
    existing_file(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected JSON, got other text: {error}") from error
    if not isinstance(content, kind):
        raise ValueError(f"{path}: expected a JSON {kind.__name__}, got {type(content).__name__}")
    return content
