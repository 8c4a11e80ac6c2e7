"""The settings in a folder: defaults, and what is refused because it is missing, absurd, or of another kind."""

import json

import pytest
from bert_folders import CONFIG, WORDS, config, gone, written

from encoder_lib import LayerNorm, load_pretrained
from encoder_lib.pretrained.config import settings

SIZES = [
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "intermediate_size",
    "num_attention_heads",
    "max_position_embeddings",
]
POOLING, MODULES = "1_Pooling/config.json", "modules.json"
MEAN = "expected mean pooling"
BAD = {
    f"absurd {size}": (config(**{size: 10**12}), ValueError, f"{size}: expected an integer from 1 to") for size in SIZES
} | {
    "no config": (gone("config.json"), FileNotFoundError, "config.json: expected a file, got nothing"),
    "no tokenizer": (gone("tokenizer.json"), FileNotFoundError, "tokenizer.json: expected a file, got nothing"),
    "small vocabulary": (config(vocab_size=5), ValueError, "expected ids below.*5"),
    "no layers": (
        config(num_hidden_layers=0),
        ValueError,
        "num_hidden_layers: expected an integer from 1 to 200, got 0",
    ),
    "width as text": (config(hidden_size="12"), TypeError, "hidden_size: expected an integer, got '12'"),
    "no width": (config(hidden_size=...), KeyError, "hidden_size"),
    "heads that do not divide": (config(num_attention_heads=5), ValueError, "divisible"),
    "padding outside": (config(pad_token_id=len(WORDS)), ValueError, "pad_token_id: expected an integer from 0 to"),
    "negative padding": (config(pad_token_id=-1), ValueError, "pad_token_id"),
    "unknown activation": (config(hidden_act="swish"), ValueError, "hidden_act.*'relu', 'gelu'.*got 'swish'"),
    "negative eps": (config(layer_norm_eps=-1e-12), ValueError, "layer_norm_eps"),
    "another family": (config(model_type="roberta"), ValueError, "model_type: expected 'bert'.*got 'roberta'"),
    "relative positions": (config(position_embedding_type="relative_key"), ValueError, "'absolute'"),
    "a decoder": (config(is_decoder=True), ValueError, "is_decoder"),
    "config no JSON": (written("config.json", b"{"), ValueError, "config.json: expected JSON"),
    "config too deep": (written("config.json", b"[" * 10**6), ValueError, "config.json: expected JSON"),
    "config a list": (written("config.json", b"[1]"), ValueError, "expected a JSON dict, got list"),
    "tokenizer no JSON": (written("tokenizer.json", b"<html>"), ValueError, "tokenizer.json: expected a file of"),
    "another pooling": (written(POOLING, b'{"pooling_mode_cls_token": true}'), ValueError, MEAN),
    "two poolings": (written(POOLING, b'{"pooling_mode": ["mean", "max"]}'), ValueError, MEAN),
    "another module": (written(MODULES, b'[{"type": "sentence_transformers.models.Dense"}]'), ValueError, "Dense"),
    "modules no list": (written(MODULES, b"{}"), ValueError, "expected a JSON list"),
    "length 0": (written("sentence_bert_config.json", b'{"max_seq_length": 0}'), ValueError, "max_seq_length"),
    "length as text": (written("tokenizer_config.json", b'{"model_max_length": "9"}'), TypeError, "model_max_length"),
}


def test_missing_settings_take_berts_defaults(hugging, copy):
    """Those of transformers' own class; the model gets them in every layer."""
    (copy / "config.json").write_text(json.dumps({key: CONFIG[key] for key in SIZES}))
    ours, theirs = settings(copy), hugging.BertConfig()
    assert ours["eps"] == theirs.layer_norm_eps == 1e-12
    assert (ours["activation"], ours["padding_idx"]) == (theirs.hidden_act, theirs.pad_token_id)
    norms = [module for module in load_pretrained(copy).encoder.modules() if isinstance(module, LayerNorm)]
    assert [norm.eps for norm in norms] == [1e-12] * 5


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_refused(copy, name):
    spoil, error, words = BAD[name]
    spoil(copy)
    with pytest.raises(error, match=words):
        load_pretrained(copy)


def test_missing_folder_is_named():
    with pytest.raises(FileNotFoundError, match=r"^no-such-folder: expected 'minilm' or a folder"):
        load_pretrained("no-such-folder")
