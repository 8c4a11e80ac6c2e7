"""What a folder says of its model: refused where it is missing, absurd, or of another kind."""

import pytest
from bert_folders import (
    config,
    gone,
    made_folder,
    written,
)

from encoder_lib import load_pretrained

BAD = {
    "no config": (gone("config.json"), FileNotFoundError, "config.json: expected a file, got nothing"),
    "no tokenizer": (gone("tokenizer.json"), FileNotFoundError, "tokenizer.json: expected a file, got nothing"),
    "folder as config": (made_folder("config.json"), FileNotFoundError, "expected a file, got a folder"),
    "small vocabulary": (config(vocab_size=5), ValueError, "expected ids below.*5"),
    "absurd vocabulary": (config(vocab_size=10**12), ValueError, "vocab_size: expected at most"),
    "absurd width": (config(hidden_size=10**9), ValueError, "hidden_size: expected at most"),
    "absurd depth": (config(num_hidden_layers=10**9), ValueError, "num_hidden_layers: expected at most"),
    "absurd network": (config(intermediate_size=10**30), ValueError, "intermediate_size: expected at most"),
    "absurd length": (config(max_position_embeddings=10**9), ValueError, "max_position_embeddings: expected at most"),
    "no layers": (config(num_hidden_layers=0), ValueError, "num_hidden_layers: expected an integer of at least 1"),
    "negative width": (config(hidden_size=-12), ValueError, "hidden_size"),
    "width as text": (config(hidden_size="12"), TypeError, "hidden_size: expected an integer, got '12'"),
    "width as float": (config(hidden_size=12.0), TypeError, "hidden_size"),
    "width as true": (config(hidden_size=True), TypeError, "hidden_size"),
    "no width": (config(hidden_size=...), KeyError, "hidden_size"),
    "heads that do not divide": (config(num_attention_heads=5), ValueError, "divisible"),
    "padding outside": (config(pad_token_id=99), ValueError, "pad_token_id: expected at most"),
    "negative padding": (config(pad_token_id=-1), ValueError, "pad_token_id"),
    "unknown activation": (config(hidden_act="swish"), ValueError, "hidden_act.*'relu', 'gelu'.*got 'swish'"),
    "negative eps": (config(layer_norm_eps=-1e-12), ValueError, "layer_norm_eps"),
    "eps NaN": (config(layer_norm_eps=float("nan")), ValueError, "layer_norm_eps"),
    "eps as text": (config(layer_norm_eps="tiny"), TypeError, "layer_norm_eps"),
    "another family": (config(model_type="roberta"), ValueError, "model_type: expected 'bert'.*got 'roberta'"),
    "relative positions": (config(position_embedding_type="relative_key"), ValueError, "'absolute'"),
    "a decoder": (config(is_decoder=True), ValueError, "is_decoder"),
    "config no JSON": (written("config.json", b"{"), ValueError, "config.json: expected JSON"),
    "config no text": (written("config.json", b"\xff\xfe\0"), ValueError, "config.json: expected JSON"),
    "config too deep": (written("config.json", b"[" * 10**6), ValueError, "config.json: expected JSON"),
    "config a list": (written("config.json", b"[1]"), ValueError, "expected a JSON dict, got list"),
    "tokenizer no JSON": (written("tokenizer.json", b"<html>"), ValueError, "tokenizer.json: expected a file of"),
    "tokenizer of nothing": (written("tokenizer.json", b"{}"), ValueError, "tokenizer.json: expected a file of"),
    "another pooling": (
        written("1_Pooling/config.json", b'{"pooling_mode_cls_token": true}'),
        ValueError,
        "expected the mean of the tokens",
    ),
    "two poolings": (
        written("1_Pooling/config.json", b'{"pooling_mode": ["mean", "max"]}'),
        ValueError,
        "expected the mean of the tokens",
    ),
    "another module": (
        written("modules.json", b'[{"type": "sentence_transformers.models.Dense"}]'),
        ValueError,
        "Dense",
    ),
    "modules no list": (written("modules.json", b"{}"), ValueError, "expected a JSON list"),
    "length 0": (written("sentence_bert_config.json", b'{"max_seq_length": 0}'), ValueError, "max_seq_length"),
    "length as text": (written("tokenizer_config.json", b'{"model_max_length": "9"}'), TypeError, "model_max_length"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_folder(copy, name):
    """Each is refused with the file, what was expected, and what came."""
    spoil, error, words = BAD[name]
    spoil(copy)
    with pytest.raises(error, match=words):
        load_pretrained(copy)


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("no-such-folder", FileNotFoundError, "no-such-folder: expected 'minilm' or a folder"),
        (__file__, NotADirectoryError, "expected a folder, got a file"),
        (None, TypeError, "got NoneType"),
        (7, TypeError, "got int"),
        (b"minilm", TypeError, "got bytes"),
    ],
)
def test_bad_source(source, error, words):
    """Neither "minilm" nor a folder."""
    with pytest.raises(error, match=words):
        load_pretrained(source)
