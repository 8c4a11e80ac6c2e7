"""MiniLM in the browser is MiniLM in Python: the same tokens, nearly the same numbers, the same words on the page."""

import json
import random
import re
import sys
import unicodedata

import numpy as np
import pytest
import torch
from explorers import minilm
from hostile_texts import HOSTILE
from places import ROOT
from safetensors.torch import load_file

from encoder_lib.course import explore
from encoder_lib.course.kit.texts import library_sentences
from encoder_lib.course.pretrained.explorers import RECORDED

pytestmark = [pytest.mark.long, pytest.mark.browser]
MOST = 15e6  # bytes until a first sentence is read
SPECIAL = (
    "", "a", "😀 emoji 👍🏽 family 👨‍👩‍👧", "naïve café ÀÉÎ Straße ﬁsh İstanbul ΟΔΟΣ", "你好世界 hello世界。",
    "한국어 텍스트", "x" * 100, "x" * 101, "a" * 10_000, "antidisestablishmentarianism", "$5<6+7=|~`^",
    "a\u0301\u0300b", "re\u00adread", "[CLS] hi [SEP][MASK] [mask] [UNK]y", "١٢٣ हिन्दी ไทย", "one word " * 200,
    "Don't e-mail me@home.org...", "\ufeffa\u200db\u3000c",
)  # fmt: skip
# What is read of a text, and how far its weights are from those of Python, which lie in a file.
READ = """async ([text, file]) => {
  const { read } = await import('/player/reader.js'), expected = await (await fetch(file)).arrayBuffer();
  const { tokens, vector, weights } = await read(JSON.parse(text)), all = new Float32Array(expected);
  const far = (layer, n) => layer.reduce((most, w, i) => Math.max(most, Math.abs(w - all[n * layer.length + i])), 0);
  return { tokens, vector, count: weights.length * weights[0].length === all.length,
           weight: Math.max(...weights.map(far)) };
}"""


@pytest.fixture(scope="module")
def player(minilm_player):
    """The page and its folder, where the weights of MiniLM are, too."""
    return minilm_player


@pytest.fixture(scope="module")
def texts():
    """Two hundred texts: recorded, special and hostile ones, and sentences of Python's documentation."""
    chosen = [*RECORDED, *SPECIAL, *HOSTILE.values()]
    return chosen + random.Random(0).sample(sorted(library_sentences()), 200 - len(chosen))


@pytest.fixture(scope="module")
def vocabulary(player):
    """The tokens of texts in the browser."""
    page, _ = player
    script = """async (texts) => {
      const [{ tokenize }, words] = [await import('/player/word_pieces.js'), await fetch('/minilm/vocabulary.txt')];
      const vocabulary = new Map((await words.text()).split('\\n').map((word, id) => [word, id]));
      return JSON.parse(texts).map((text) => tokenize(text, vocabulary));
    }"""
    return lambda texts: page.evaluate(script, json.dumps(texts))


def test_a_number_is_off_by_half_a_step_at_most(player):
    """In a matrix; vectors come as they were, and the position of a token that no text has is left out."""
    page, folder = player
    script = """async () => {
      const { unpack } = await import('/player/weights.js'), file = await fetch('/minilm/embedding.safetensors');
      return Object.entries(unpack(await file.arrayBuffer()));
    }"""
    got = {name: torch.tensor(numbers) for name, numbers in page.evaluate(script)}
    expected = minilm().encoder.embedding.state_dict()
    positions = expected["position.weight"][:256]
    steps = load_file(folder / "minilm/embedding.safetensors")["position.weight.scale"].float()
    assert (
        (got["position.weight"].view_as(positions) - positions).abs() <= 0.501 * steps.repeat_interleave(64, 1)
    ).all()
    assert torch.equal(got["position.mean"], expected["position.weight"].mean(dim=0))
    assert all(torch.equal(got[name], expected[name]) for name in ("norm.weight", "norm.bias")) and len(got) == 4


def test_tokens_are_those_of_the_library(vocabulary, texts):
    assert len(texts) == len(set(texts)) == 200
    assert vocabulary(texts) == [minilm().tokens(text) for text in texts]


def test_every_character_makes_the_same_tokens(vocabulary):
    """Between two letters, if it is of one kind since Unicode 3.2: what came later, not all know alike."""
    old, new = unicodedata.ucd_3_2_0.category, unicodedata.category
    letters = [c for c in map(chr, range(sys.maxunicode)) if old(c) == new(c) not in ("Cn", "Cs", "Co")]
    assert len(letters) > 90_000
    texts = [" ".join(f"a{letter}b" for letter in letters[n : n + 40]) for n in range(0, len(letters), 40)]
    assert vocabulary(texts) == [text.tokens for text in minilm().tokenizer.encode_batch(texts)]


def test_numbers_are_those_of_the_library(player, texts, capsys):
    """Of 200 texts: cosines of every two, weights of every look; the page states the bounds."""
    page, folder = player
    stated = re.search(r"\[WEIGHT, COSINE\] = \[([\d.]+), ([\d.]+)\]", (ROOT / "site/player/reader.js").read_text())
    vectors, weight = [], 0.0
    for text in texts:
        (folder / "expected").write_bytes(minilm().attention(text).numpy().tobytes())
        got = page.evaluate(READ, [json.dumps(text), f"/expected?{len(vectors)}"])
        assert got["count"] and got["tokens"] == minilm().tokens(text)
        vectors.append(got["vector"])
        weight = max(weight, got["weight"])
    got, expected = np.array(vectors), minilm().encode(texts).numpy()
    cosine = np.abs(got @ got.T - expected @ expected.T).max()
    own = (got * expected).sum(axis=1).min()
    with capsys.disabled():
        print(f"\nlargest error of 200 texts: a cosine {cosine:.4f}, a weight {weight:.4f}; own cosine from {own:.5f}")
    assert weight <= float(stated[1]) <= 0.02 and cosine <= float(stated[2]) <= 0.003 and own > 0.9999


@pytest.mark.parametrize("text", ["", "Nobody", RECORDED[1], "one word, " * 9])
def test_the_explorer_shows_the_same_as_with_a_kernel(player, text):
    """The same panels, words and numbers of the same weights, in every layer, of both kinds."""
    page, folder = player
    weights = minilm().attention(text)
    (folder / "weights").write_bytes(weights.numpy().tobytes())
    script = """async ([panels, tokens, layer, file]) => {
      const { showHeads } = await import('/player/heads.js'), bytes = await (await fetch(file)).arrayBuffer();
      const all = new Float32Array(bytes), layer1 = all.length / 6;
      const weights = Array.from({ length: 6 }, (_, n) => all.subarray(n * layer1, (n + 1) * layer1));
      const { _panels, _descriptions, _data } = showHeads({ _panels: panels, layer }, [{ tokens, weights }]);
      return { _panels, _descriptions, numbers: new Float32Array(_data.buffer) };
    }"""
    for atlas in (False, True):
        recorded = explore.heads(minilm(), "The cat sat.", atlas=atlas)._panels
        explorer = explore.heads(minilm(), text, atlas=atlas)
        for layer in (1, 4, 6):
            explorer.layer = layer
            got = page.evaluate(script, [recorded, minilm().tokens(text), layer, f"/weights?{len(text)}"])
            assert got["_panels"] == json.loads(json.dumps(explorer._panels))
            assert got["_descriptions"] == explorer._descriptions
            np.testing.assert_array_equal(
                np.array(got["numbers"], np.float32), np.frombuffer(explorer._data, np.float32)
            )


def test_the_first_download_is_as_large_as_announced(player):
    """And what is fetched for its words stays below 15 MB with it."""
    _, folder = player
    sizes = {path: path.stat().st_size for path in (folder / "minilm").rglob("*.*")}
    first = sum(size for path, size in sizes.items() if path.parent.name == "minilm")
    named = re.search(r"MEGABYTES = ([\d.]+)", (ROOT / "site/player/reader.js").read_text())[1]
    assert round(first / 1e6, 1) == float(named)
    words = max(size for path, size in sizes.items() if path.parent.name == "words")
    assert first + words * max(len(minilm().tokens(text)) for text in RECORDED) < MOST


def test_a_second_visit_fetches_nothing(player):
    """The browser keeps what has come: after a reload MiniLM reads though its files have gone."""
    page, folder = player
    script = "async () => (await (await import('/player/reader.js')).read('The cat sat.')).tokens"
    first = page.evaluate(script)
    (folder / "minilm").rename(folder / "gone")
    page.reload()
    assert page.evaluate(script) == first == minilm().tokens("The cat sat.")
    (folder / "gone").rename(folder / "minilm")


@pytest.mark.parametrize("name", ["00_start_here", "09_pretrained"])
def test_a_typed_sentence_is_encoded(browser, address, name):
    """On request alone, and offline as before: then what is typed is read, layer by layer."""
    page = browser.new_context().new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}notebooks/{name}.html")
    page.locator("details").evaluate_all("all => { for (const each of all) each.open = true; }")
    for place in page.locator(".recorded").all():
        place.scroll_into_view_if_needed()
    explorer = page.locator("section.explorer", has_text="Attention in your sentence")
    button, shown = explorer.get_by_role("button", name="Type your own"), explorer.locator(".explorer-description")
    button.wait_for()
    before = shown.text_content()
    assert not [url for url in asked if "/minilm/" in url]
    page.route("**/minilm/**", lambda route: route.fulfill(status=404))
    button.click()
    explorer.get_by_text("could not be fetched: the site answers 404").wait_for()
    page.unroute("**/minilm/**")
    page.context.set_offline(True)
    button.click()
    explorer.get_by_text("could not be fetched: the site does not answer, you may be offline").wait_for()
    assert shown.text_content() == before and explorer.locator("select").count() == 1
    page.context.set_offline(False)
    button.click()
    field = explorer.get_by_role("textbox", name="your sentence")
    field.wait_for()
    assert field.evaluate("e => e === document.activeElement") and shown.text_content() == before
    field.fill("Nobody believed the keeper.")
    words = explorer.locator(".explorer-words")
    words.get_by_text("keeper").wait_for()
    assert words.locator("button > span").all_text_contents() == minilm().tokens("Nobody believed the keeper.")
    explorer.locator("input[data-control=layer]").press("Home")
    shown.filter(has_text="Layer 1, head ").wait_for()
    assert shown.text_content().startswith("Layer 1, head ") and page.get_by_text("MiniLM runs here").is_visible()
    page.context.set_offline(True)
    field.fill("Zebras")
    explorer.get_by_text("MiniLM could not compute this text: the site does not answer, you may be offline").wait_for()
    page.context.set_offline(False)
    field.fill("Zebras!")
    words.get_by_text("zebra").wait_for()
    assert explorer.get_by_role("alert").is_hidden() and all(url.startswith(address) for url in asked)
    page.context.close()
