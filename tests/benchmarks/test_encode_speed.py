"""How fast texts become vectors: ours beside sentence-transformers and transformers, on the same 1000 sentences.

The sentences are those of Python's own documentation, which every machine has. All three give the same vectors and
take turns; what the machine does in a plain matrix product, just before, is the ceiling.
"""

import re
import warnings
from pydoc_data.topics import topics
from statistics import median

import pytest
import torch
import torch.nn.functional as F
from measuring import THREADS, matmul_peaks, operations, seconds

from encoder_lib import load_pretrained
from encoder_lib.pretrained import hub

REPEATS = 3
BATCH = 32


def sentences(n=1000):
    """The first different sentences of the documentation, in the order of its topics."""
    found = {}
    for topic in sorted(topics):
        for paragraph in re.split(r"\n\s*\n", topics[topic]):
            for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
                if re.match(r"[A-Z]\w* \w+ .{20,}[.!?]$", sentence):
                    found.setdefault(sentence)
    return list(found)[:n]


def transformers_encode(model, tokenizer, texts):
    """Hugging Face's BertModel at its best by hand: sorted by length, padded batches of 32, the masked mean."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = torch.empty(len(texts), model.config.hidden_size)
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = tokenizer([texts[i] for i in rows], padding=True, truncation=True, return_tensors="pt")
            real = batch["attention_mask"][..., None]
            x = model(**batch).last_hidden_state
            vectors[rows] = F.normalize((x * real).sum(1) / real.sum(1), dim=-1)
    return vectors


@pytest.fixture(scope="module")
def subjects():
    """Name -> a function from texts to vectors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
        from transformers import AutoTokenizer, BertModel
        from transformers.utils import logging

        logging.disable_progress_bar()
        folder = hub.minilm()
        theirs = SentenceTransformer(str(folder), device="cpu")
        bert = BertModel.from_pretrained(folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder, model_max_length=256)
    return {
        "encoder_lib": load_pretrained(device="cpu").encode,
        "sentence-transformers": lambda texts: theirs.encode(texts, convert_to_tensor=True),
        "transformers, sorted": lambda texts: transformers_encode(bert, tokenizer, texts),
    }


def test_encode_is_faster_than_sentence_transformers(subjects):
    """At least one and a half times as many tokens a second, for the same vectors."""
    torch.set_num_threads(THREADS)
    try:
        texts, model = sentences(), load_pretrained(device="cpu")
        lengths = [len(model.tokens(text)) for text in texts]
        vectors = {name: encode(texts) for name, encode in subjects.items()}  # the first run, not timed
        for name, theirs in vectors.items():
            difference = (vectors["encoder_lib"] - theirs).abs().max().item()
            assert difference <= 1e-5, f"{name} gives other vectors: {difference}"
        peak, times = max(matmul_peaks().values()), {name: [] for name in subjects}
        for _ in range(REPEATS):
            for name, encode in subjects.items():
                times[name].append(seconds(lambda encode=encode: encode(texts)))
    finally:
        torch.set_num_threads(1)
    layer = model.encoder.encoder.layers[0]
    sizes = len(model.encoder.encoder.layers), layer.attention.d_model, layer.feed_forward.linear1.out_features
    work = operations(lengths, *sizes)
    print(f"\n{len(texts)} sentences, {sum(lengths):,} tokens, median {median(lengths):.0f}, {THREADS} threads")
    print(f"best matrix product: {peak / 1e9:.0f} GFLOP/s")
    for name, runs in times.items():
        took = median(runs)
        print(
            f"{name:22} {took:6.2f} s ({min(runs):.2f} … {max(runs):.2f})  {sum(lengths) / took:7,.0f} tokens/s  "
            f"{work / took / peak:4.0%} of the matrix product"
        )
    ratio = median(times["sentence-transformers"]) / median(times["encoder_lib"])
    print(f"encoder_lib is {ratio:.2f} times as fast as sentence-transformers")
    assert ratio >= 1.5
