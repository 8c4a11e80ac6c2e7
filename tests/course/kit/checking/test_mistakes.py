"""A wrong result that a known mistake explains is reported as that mistake, with its own hint."""

import pytest
import torch
from answers import ANSWERS

from encoder_lib.course import checks
from encoder_lib.course.attention import checks as attention
from encoder_lib.course.encoder_block import checks as encoder_block
from encoder_lib.course.kit.checking import mistakes, verdict
from encoder_lib.course.start_here import checks as start_here

KNOWN = {
    "take": start_here.TAKE_MISTAKES,
    "multi_head": attention.MULTI_HEAD_MISTAKES,
    "count_parameters": encoder_block.COUNT_MISTAKES,
}
ONE, TWO = (verdict.Case(str(n), (torch.arange(n) + 1.0,)) for n in (1, 2))


@pytest.fixture
def judge(monkeypatch):
    """Judges a function that should give its input back, and knows two mistakes."""
    hints = {"a doubled input": "Why twice?", "the input backwards": "Mind the order."}
    monkeypatch.setitem(verdict.HINTS, "t", {"hints": ["general", "stronger"], "mistakes": hints})
    known = [("a doubled input", lambda x: 2 * x), ("the input backwards", lambda x: x.flip(0))]
    return lambda attempt: mistakes.examine_with_mistakes("t", attempt, lambda x: x, [ONE, TWO], known)


def test_a_known_mistake_is_named_and_gets_its_hint(judge):
    said = judge(lambda x: x.flip(0))
    assert said.passed == ("1",) and "This result comes from the input backwards." in said.problem
    assert said.hint == "Mind the order."


def test_a_mistake_that_earlier_cases_rule_out_is_not_named(judge):
    said = judge(lambda x: x if len(x) == 1 else 2 * x)
    assert "comes from" not in said.problem and said.hint == "general"


def test_an_attempt_that_raises_is_not_run_again(judge):
    calls = []

    def attempt(x):
        calls.append(x)
        raise ValueError("no")

    assert "comes from" not in judge(attempt).problem and len(calls) == 1


def test_a_right_attempt_passes(judge):
    assert judge(lambda x: x).correct and judge(lambda x: ...).hint == ""


def test_every_known_mistake_has_a_hint_and_every_hint_a_mistake():
    tables = {name: set(text["mistakes"]) for name, text in verdict.HINTS.items() if "mistakes" in text}
    assert tables == {exercise: {name for name, _ in known} for exercise, known in KNOWN.items()}


@pytest.mark.parametrize(
    ("check", "mistake", "words"),
    [
        (checks.check_take, "forbidden too late", "comes from weights set to 0 after the softmax"),
        (checks.check_take, "scores of zero", "comes from a score of 0 for masked tokens"),
        (checks.check_take, "a root", "comes from scores divided by √K"),
        (checks.check_take, "a score of -100", "very low scores"),
        (checks.check_take, "changes the values", "changed its own input values"),
        (checks.check_hide, "not itself", "Every token should, and that includes the secret"),
        (checks.check_hide, "the word looks at nobody", "the word can't attend to token 2"),
        (checks.check_hide, "its look alone", "has learned of the secret after 2 layers"),
        (checks.check_hide, "the other too looks at nobody", "could be allowed again"),
        (checks.check_descend, "one loss too many", "expected 1 loss, one for each step, got 2"),
        (checks.check_descend, "back after the first step", "expected 2 losses, one for each step, got 1"),
        (checks.check_descend, "the last loss alone", "got a single number"),
        (checks.check_descend, "a loss of each pair", "loss of each step, got a tensor of shape (4,)"),
        (checks.check_padded_embedding, "a seed", "is a seed set in __init__?"),
        (checks.check_padded_embedding, "one parameter too many", "the only parameter, found scale as well"),
        (checks.check_padded_embedding, "data alone", "no gradient reaches weight"),
        (checks.check_look_back, "always the speeds of base 100", "M has to be computed from what"),
        (checks.check_look_back, "not a number", "the matrix contains NaN"),
        (checks.check_largest, "not a number", "expected a number, got NaN"),
        (checks.check_head_by_hand, "not a number", "W_Q has NaN"),
        (checks.check_head_by_hand, "a little too quiet", "only 98.96 % of its weight"),
        (checks.check_multi_head, "cut without exchanging", "comes from heads cut by reshape alone"),
        (checks.check_multi_head, "cut and joined without exchanging", "comes from heads cut by reshape alone"),
        (checks.check_multi_head, "joined without exchanging", "comes from heads joined by reshape alone"),
        (checks.check_multi_head, "out_proj forgotten", "comes from joined heads without out_proj"),
        (checks.check_multi_head, "never exchanged", "comes from heads that are cut and never exchanged"),
        (checks.check_multi_head, "keys by q_proj", "comes from keys that are projected like queries"),
        (checks.check_multi_head, "x itself", "comes from x in place of its projections"),
        (checks.check_multi_head, "the weights", "comes from the attention weights in place of the output"),
        (checks.check_take, "columns of the keys", "comes from a product with the columns of the keys"),
        (checks.check_take, "divided once more", "comes from a mean that divides once more"),
        (checks.check_count_parameters, "more heads, more parameters", "comes from four linear layers for each head"),
        (checks.check_count_parameters, "without biases", "comes from linear layers without biases"),
        (checks.check_count_parameters, "no biases in the network", "comes from a network without biases"),
        (checks.check_count_parameters, "three maps in attention", "comes from three linear layers in attention"),
        (checks.check_count_parameters, "one norm", "comes from one norm, or two without biases"),
        (checks.check_count_parameters, "no norms", "comes from no norms"),
        (checks.check_multi_head, "mask forgotten", "comes from attention without the mask"),
        (checks.check_multi_head, "mask the wrong way round", "comes from a mask read the wrong way round"),
        (checks.check_multi_head, "a score of -10", "comes from a finite score for masked keys"),
        (checks.check_multi_head, "x detached", "no gradient reaches x"),
        (checks.check_multi_head, "the last map by its data", "no gradient reaches out_proj.weight"),
        (checks.check_multi_head, "changes a map", "changed its own input q_proj.weight"),
    ],
)
def test_a_verdict_speaks_of_the_mistake(check, mistake, words):
    assert words in repr(check(ANSWERS[check][1][mistake]))
