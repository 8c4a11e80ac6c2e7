"""Interventions on MiniLM in the browser give what the library gives, and only what they change is computed again."""

import json
import re
from copy import deepcopy
from dataclasses import asdict
from functools import cache

import pytest
import torch
from explorers import PAIR, minilm
from places import ROOT
from playwright.sync_api import Error as PlaywrightError
from safetensors.torch import load_file
from torch import Tensor

from encoder_lib.course.kit.interventions import PARTS, Cut, Intervened, Knockout, Question

pytestmark = [pytest.mark.long, pytest.mark.browser]
RIVER, BIG = {"side": 0, "query": 3, "key": 2}, {"side": 1, "query": 3, "key": 2}  # what “bank” attends to


def cuts(layer, head):
    """Attention from “bank” to the word before it is cut in both sentences."""
    return tuple(Cut(layer=layer, head=head, **edge) for edge in (RIVER, BIG))


def knockouts(*parts):
    """Parts are taken out, each in one layer or in all."""
    return tuple(Knockout(part, layer) for part, layer in parts)


# Every kind of intervention, in a head, in a layer and everywhere; and some that meet.
ASKED = {
    "nothing": {},
    "cut, one head": {"cuts": cuts(0, 2)},
    "cut, one layer": {"cuts": cuts(0, None)},
    "cut, a head of all layers": {"cuts": cuts(None, 2)},
    "cut, all layers": {"cuts": cuts(None, None)},
    "cut, second sentence": {"cuts": (Cut(1, 3, 7, 4, 9),)},
    "cut, every key": {"cuts": tuple(Cut(0, 1, None, 3, key) for key in range(8))},
    **{f"{part}, layer 2": {"knockouts": knockouts((part, 1))} for part in PARTS[1:]},
    **{f"{part}, all layers": {"knockouts": knockouts((part, None))} for part in PARTS},
    "no norm": {"knockouts": knockouts(("norm1", None), ("norm2", None))},
    "no residual": {"knockouts": knockouts(("residual1", None), ("residual2", None))},
    "a branch and its residual": {"knockouts": knockouts(("attention", 2), ("residual1", 2), ("feed_forward", 4))},
    "a cut under a knockout": {"cuts": cuts(0, None), "knockouts": knockouts(("attention", 3), ("position", None))},
    "one sentence": {"texts": PAIR[:1], "cuts": cuts(2, None)[:1]},
    "no common word": {"texts": ("Nobody came.", "It rains!")},
    "another word": {"texts": ("A penguin, a penguin!", "Two penguins swam past a penguin."), "word": "a"},
}
COMPUTE = """async (question) => {
  const { compute } = await import('/player/reader.js');
  return compute(JSON.parse(question));
}"""
# The same questions in turn to one model, which keeps layers and starts from the run without interventions, and each to
# another one, which has kept none; gives where their numbers differ, and how many layers the first one has computed for
# each question.
KEEP = """async ([texts, questions]) => {
  const [{ changesOf, Runs }, { fetchModel, fetchWord }, { tokenize }] = await Promise.all(
    ['interventions', 'weights', 'word_pieces'].map((name) => import(`/player/${name}.js`)));
  const model = await fetchModel(() => {}), kept = new Runs(model), plain = [], differ = [], counts = [];
  for (const question of questions) {
    const before = kept.computed;
    for (const [side, text] of texts.entries()) {
      const tokens = tokenize(text, model.vocabulary), changes = changesOf(question, side, 6);
      const words = await Promise.all(tokens.map((token) => fetchWord(model.vocabulary.get(token))));
      const run = kept.run(tokens, words, changes, plain[side] ??= kept.run(tokens, words));
      const fresh = new Runs(model).run(tokens, words, changes);
      run.layers.forEach((layer, n) => {
        for (const [name, x] of Object.entries(layer)) {
          const same = x.every((value, i) => Object.is(value, fresh.layers[n][name][i]));
          if (!same) differ.push([question, side, n, name]);
        }
      });
    }
    counts.push(kept.computed - before);
  }
  return { differ, counts };
}"""


@pytest.fixture(scope="module")
def ask(minilm_player):
    """Asks MiniLM in the browser."""
    page, _ = minilm_player
    return lambda question: page.evaluate(COMPUTE, json.dumps(asdict(question)))


@pytest.fixture(scope="module")
def answer(ask):
    """What MiniLM answers in the browser, by the name of an intervention; each is asked once."""
    return cache(lambda name: ask(question_of(name)))


@pytest.fixture(scope="module")
def rounded(minilm_player):
    """The library's MiniLM with the numbers that the browser fetches."""
    model, folder = deepcopy(minilm()), minilm_player[1] / "minilm"
    embedding = model.encoder.embedding
    for n, layer in enumerate(model.encoder.encoder.layers, 1):
        layer.load_state_dict(_unpacked(folder / f"layer{n}.safetensors"))
    with torch.no_grad():
        for n, rows in enumerate(embedding.token.weight.split(32)):
            rows.copy_(_unpacked(folder / f"words/{n}.safetensors")["weight"])
        table, rows = embedding.position.weight, _unpacked(folder / "embedding.safetensors")["position.weight"]
        mean = table.mean(dim=0)
        table[: len(rows)] = rows
        table[len(rows) :] += 2 * (mean - table.mean(dim=0))  # rows that no text has: the mean is not rounded
        assert len(table) == 2 * len(rows)
    return Intervened(model)


def _unpacked(path):
    """Whole numbers times the scale of their group, and vectors as they are."""
    file = load_file(path)
    found = {name: x for name, x in file.items() if x.dtype == torch.float32}
    for name in (name.removesuffix(".high") for name in file if name.endswith(".high")):
        low = (file[f"{name}.low"][..., None] >> torch.tensor([0, 2, 4, 6])) & 3
        codes = 4 * file[f"{name}.high"].float() + low.flatten(1)
        found[name] = codes * file[f"{name}.scale"].float().repeat_interleave(64, 1)
    return found


def flat(answer, name=""):
    """The numbers and words of an answer, by their names."""
    if isinstance(answer, dict):
        return {key: x for part, inner in answer.items() for key, x in flat(inner, f"{name}.{part}").items()}
    if isinstance(answer, list) and answer and isinstance(answer[0], dict | list | Tensor):
        return {key: x for i, inner in enumerate(answer) for key, x in flat(inner, f"{name}.{i}").items()}
    return {name: answer}


def differences(got, expected):
    """How far the browser's numbers are from the library's, by their kind; a length relative to the largest one.

    Words are equal, and a score that is cut is −∞ on both sides.
    """
    got, expected = flat(got), flat(asdict(expected))
    assert got.keys() == expected.keys()
    far = {}
    for name, value in expected.items():
        if not isinstance(value, Tensor | float):
            assert got[name] == value, name
            continue
        one, other = (torch.as_tensor(x, dtype=torch.float64).flatten() for x in (got[name], value))
        finite = other.isfinite()
        assert torch.equal(one.isfinite(), finite), name
        error = (one - other)[finite].abs().max() / other[finite].abs().max().clamp(min=1)
        kind = next(part for part in reversed(name.split(".")) if not part.isdigit())
        far[kind] = max(far.get(kind, 0.0), error.item())
    return far


def question_of(name):
    """The question that an intervention asks, with one head open."""
    return Question(**{"texts": PAIR, "word": "bank", "detail": (1, 2)} | ASKED[name])


@pytest.mark.parametrize("name", ASKED)
def test_an_intervention_does_in_the_browser_what_it_does_in_the_library(answer, rounded, name):
    """With the same rounded weights: the same words, and numbers that are equal but for float32.

    Without norms the scores reach hundreds, where float32 has fewer decimals.
    """
    far = differences(answer(name), rounded.ask(question_of(name)))
    assert len(far) >= 9 and max(far.values()) < (1e-4 if name == "no norm" else 2e-5), far


def test_the_page_states_what_rounding_changes(answer, capsys):
    """Against the published weights, each cosine after every intervention: without a residual connection it is more."""
    source = (ROOT / "site/player/reader.js").read_text()
    stated = re.search(r"\[CHANGED, ALONE\] = \[([\d.]+), ([\d.]+)\]", source)
    changed, alone = map(float, stated.groups())
    library, largest = Intervened(minilm()), {}
    for name in ASKED:
        far = differences(answer(name), library.ask(question_of(name)))
        largest[name] = max(far.get(kind, 0) for kind in ("kept", "word_cosines", "sentence_cosine"))
    without = {name: error for name, error in largest.items() if "residual" in name}
    others = {name: error for name, error in largest.items() if name not in without}
    with capsys.disabled():
        print(
            f"\nlargest error of a cosine: {max(others.values()):.4f}, without a residual {max(without.values()):.4f}"
        )
    assert max(others.values()) <= changed < max(without.values()) <= alone, largest


def test_only_layers_above_an_intervention_are_computed_again(minilm_player):
    """And give the same numbers, to the last bit, as a model that has kept nothing."""
    first, both = [asdict(cut) for cut in cuts(3, None)[:1]], [asdict(cut) for cut in cuts(3, None)]
    norm = [asdict(knockout) for knockout in knockouts(("norm2", 4))]
    questions = [
        {"cuts": [], "knockouts": []},  # six layers of two sentences
        {"cuts": first, "knockouts": []},  # three of the first sentence
        {"cuts": both, "knockouts": []},  # three of the second one
        {"cuts": both, "knockouts": norm},  # two of each, above the cut
        {"cuts": first[::-1], "knockouts": []},  # which is known
        {"cuts": both, "knockouts": norm[::-1]},
        {"cuts": [], "knockouts": [{"part": "position", "layer": None}]},  # all of both
        {"cuts": [], "knockouts": []},
    ]
    assert minilm_player[0].evaluate(KEEP, [list(PAIR), questions]) == {
        "differ": [], "counts": [12, 3, 3, 4, 0, 0, 12, 0]
    }  # fmt: skip


def test_a_long_text_is_refused_in_words(ask):
    with pytest.raises(PlaywrightError, match="expected at most 64 tokens, got 256; try a shorter text"):
        ask(Question(("one word " * 200,), "word"))


def test_an_unknown_word_is_replaced_by_the_longest_common_one(ask):
    answer = ask(Question(("The mouse ate the cheese.", "The mouse ran."), "cheese"))
    assert (answer["word"], answer["common"]) == ("mouse", ["the", "mouse"])
