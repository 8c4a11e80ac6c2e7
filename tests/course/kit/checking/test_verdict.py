"""A verdict shows the smallest input that tells an attempt wrong, what was expected and what came, and a hint."""

import linecache
from functools import partial

import numpy as np
import pytest
import torch
from answers import ANSWERS, answers_of

from encoder_lib.course import checks
from encoder_lib.course.kit.checking import verdict
from encoder_lib.course.kit.checking.verdict import Probe, diagnose

table_gradient = answers_of("embedding").table_gradient


def _fails(*_):
    raise RuntimeError("<b>no</b>")


def test_hints_grow_stronger_and_start_over_after_success():
    wrong = ANSWERS[checks.check_table_gradient][1]["as it arrives"]
    first, second, third, fourth = (checks.check_table_gradient(wrong).hint for _ in range(4))
    assert len({first, second, third, fourth}) == 4 and checks.check_table_gradient(wrong).hint == fourth
    assert checks.check_table_gradient(table_gradient).correct
    assert checks.check_table_gradient(wrong).hint == first


def test_a_verdict_shows_the_smallest_input_expected_and_got():
    text = repr(checks.check_table_gradient(lambda ids, arriving, n_rows: torch.zeros(n_rows, 1)))
    assert "with ids [1], arriving [[1.0]], n_rows 2\n" in text
    assert "expected [[0.0], [1.0]]" in text and "got      [[0.0], [0.0]]" in text


class _HidesWhatItTakes:
    """A callable whose signature cannot be asked for."""

    @property
    def __signature__(self):
        raise RuntimeError("no")

    def __call__(self, ids, arriving, vocab_size):
        return torch.zeros(vocab_size, 1)


@pytest.mark.parametrize(
    "attempt", [lambda ids, *more: torch.zeros(2, 1), _HidesWhatItTakes()], ids=["a star", "hidden"]
)
def test_a_verdict_shows_the_input_where_it_has_no_names(attempt):
    assert "with [1], [[1.0]], 2\n" in checks.check_table_gradient(attempt).problem


def test_a_verdict_is_escaped_text_for_screen_readers():
    html = checks.check_table_gradient(_fails)._repr_html_()
    assert html.startswith('<div role="status"') and "&lt;b&gt;no&lt;/b&gt;" in html and "<b>" not in html


def test_keyboard_interrupts_pass_through():
    def interrupted(*_):
        raise KeyboardInterrupt

    for check in (checks.check_table_gradient, checks.check_own_norm):
        with pytest.raises(KeyboardInterrupt):
            check(interrupted)


def test_a_branch_without_return_is_a_mistake():
    said = checks.check_table_gradient(lambda ids, g, n: table_gradient(ids, g, n) if n < 4 else None)
    assert len(said.passed) == 2 and "returns nothing; is a `return` missing" in said.problem and said.hint


def test_a_body_without_return_is_a_mistake():
    def attempt(ids, arriving, vocab_size):
        gradient = torch.zeros(vocab_size, 1)  # noqa: F841

    assert "returns nothing; is a `return` missing" in checks.check_table_gradient(attempt).problem


@pytest.mark.parametrize("number", [float, np.float64, np.float32, torch.tensor, lambda x: x])
def test_a_single_number_may_come_as_any_kind_of_number(number):
    total, ones = partial(verdict.problem_on, reference=torch.sum), verdict.Case("ones", (torch.ones(3),))
    assert not total(lambda x: number(x.sum().item()), case=ones)
    assert "expected a tensor or a number, got str" in total(lambda x: "0", case=ones)
    assert "expected shape (2, 1), got a single number" in checks.check_table_gradient(lambda *_: 1.0).problem


def test_an_answer_in_float32_is_right_too():
    three = verdict.Case("three", (torch.tensor(3.0).double(),))
    problem = partial(verdict.problem_on, reference=lambda x: 10 / x, case=three)
    assert not problem(lambda x: 10 / x.float()) and problem(lambda x: 10 / x.half())


def test_a_large_result_is_shown_where_it_differs_most():
    ones = verdict.Case("ones", (torch.ones(200, 6),))
    problem = verdict.problem_on(lambda x: x + torch.arange(1, 7), reference=lambda x: x, case=ones)
    assert ": 1200 of 1200 positions differ, most at (0, 5): expected 1.0, got 7.0" in problem


@pytest.mark.parametrize(
    ("check", "mistake", "words"),
    [
        (
            checks.check_padded_embedding,
            "no parameter",
            "one parameter of shape (4, 3) in parameters(), found 0",
        ),
        (checks.check_learn, "nothing returned", ": the function returns nothing; is a `return` missing?"),
        (checks.check_learn, "SGD", "with draw () → ids and targets (1, 4), steps 1, lr 0.1\n"),
        (checks.check_head_by_hand, "the root forgotten", "% of its weight there"),
        (checks.check_multi_head, "not divided", "divided by √K"),
        (checks.check_look_back, "to the right, not to the left", "row 3 has its highest score with row 6, expected 0"),
        (checks.check_look_back, "rows rounded to one decimal", "that fits only these rows is not"),
        (
            checks.check_larger,
            "numbers, not tensors",
            "expected 4 tensors (w1, b1, w2, b2), got list, list, list, list",
        ),
        (
            checks.check_larger,
            "weights as rows",
            "shapes (n, 2), (n,), (1, n), (1,), got (2, 3), (3,), (3, 1)",
        ),
        (checks.check_stack, "a plain list", "layers and norm, but layers.0.attention.q_proj.weight is missing"),
        (
            checks.check_carry,
            "keys before queries",
            "has the right shape and the numbers of encoder.layers.0.attention.k_proj.weight",
        ),
        (checks.check_carry, "as it came", "encoder.layers.0.attention.q_proj.weight is missing"),
        (checks.check_carry, "names alone", "expected a dictionary of tensors, got a list of 16"),
        (checks.check_by_luck, "a coin for each head", "points [[True, True]], least 1: expected about 0.50, got 0.7"),
        (checks.check_table_gradient, "whole numbers", "the same dtype: a.to(b.dtype) converts a"),
        (checks.check_larger, "a large constant for what is below zero", "lift"),
        (checks.check_stack, "one layer, again and again", "created separately"),
        (checks.check_reach, "one after the other", "all do so at once"),
        (checks.check_by_luck, "three hundred rounds", "Play a few thousand rounds"),
        (checks.check_by_luck, "exactly", "or more than three"),
        (checks.check_by_luck, "a coin for each head", "either both right or both wrong"),
        (checks.check_by_luck, "any head", "the best head that counts"),
        (checks.check_vectors_of, "not brought to length 1", "divide it by its own length"),
        (checks.check_vectors_of, "each token at length 1 first", "to length 1 after that"),
        (checks.check_vectors_of, "no mask", "The encoder takes the mask too"),
        (checks.check_vectors_of, "padding counted in", "Padding must not count in the mean"),
        (checks.check_pair_loss, "rows alone", "That is what the columns ask"),
        (checks.check_pair_loss, "without the factor", "by what does the script multiply them"),
        (checks.check_pair_loss, "their sum", "the mean of the two losses and not their sum"),
        (checks.check_table_gradient, "each row once", "both copies have to be added"),
        (checks.check_own_norm, "a mean that remembers", "random or averaged over calls"),
        (checks.check_own_positions, "in place", "changed its own input"),
    ],
)
def test_a_verdict_and_its_hint_speak_of_the_mistake(check, mistake, words):
    said = repr(check(ANSWERS[check][1][mistake]))
    assert words in said and "it stopped with ValueError" not in said


@pytest.fixture
def hints(monkeypatch):
    """Hints for an exercise called t."""
    monkeypatch.setitem(verdict.HINTS, "t", {"hints": ["first", "second"], "inputs": {"own": "its own"}})


def test_diagnose_stops_at_the_first_objection(hints):
    probes = (Probe("one", lambda thing: ""), Probe("two", lambda thing: f"got {thing()}"), Probe("three", _fails))
    result = diagnose("t", lambda: 5, probes)
    assert result.passed == ("one",) and result.problem == "two: got 5" and result.hint == "first"
    assert diagnose("t", lambda: 5, probes).hint == "second"
    assert diagnose("t", lambda: 5, probes[:1]).correct


@pytest.mark.parametrize("probe", [Probe("own", lambda thing: "wrong"), Probe("other", lambda thing: "wrong", "own")])
def test_a_probe_gives_its_own_hint_or_the_one_that_it_names(hints, probe):
    assert [diagnose("t", lambda: 5, [probe]).hint for _ in range(2)] == ["its own"] * 2


def test_diagnose_reports_errors_in_words(hints):
    probes = (Probe("a call", lambda thing: thing() or ""),)
    told = 'a call: it stopped with RuntimeError at `raise RuntimeError("<b>no</b>")`: <b>no</b>'
    assert diagnose("t", _fails, probes).problem == told
    assert diagnose("t", 3, probes).problem == "expected a function or a class, got int"


def _attempt(body, given="x"):
    """A function of the learner's, whose lines can be quoted."""
    source, name = f"def attempt({given}):\n    {body}\n", f"<cell {body}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    names = {"torch": torch}
    exec(compile(source, name, "exec"), names)
    return names["attempt"]


MISTAKES = {  # what a function does -> what is said of it
    "return sum(p for _, p in zip(x, [1], strict=True))": "the two that zip() goes through should have the same length",
    "return x.relu_ and None.shape": "something is None here: does a function lack its `return`?",
    "return x + None": "something is None here",
    "f = None; return f(x)": "something is None here",
    "return torch.nn.utils.rnn.pad_sequence([])": "a list that should hold tensors is empty",
    "return torch.stack([])": "a list that should hold tensors is empty",
    "return x.bincount()": "this operation does not take that dtype",
    "return 1 if x > 0 else x": "a tensor is no single yes or no",
    "return torch.ones(2, requires_grad=True).add_(x)": "parameters are changed inside `with torch.no_grad():`",
    "x.sum().backward()": "no gradient can be computed: everything is detached",
    "return x @ x.half()": "the same dtype: a.to(b.dtype) converts a",
    "return torch.nn.Module(4)": "the class has no __init__ that takes these sizes",
    "return (lambda a: a)(x, x)": "it stopped with TypeError at `return (lambda a: a)(x, x)`: () takes 1 positional",
}


@pytest.mark.parametrize("body", MISTAKES)
def test_an_error_of_torch_or_python_comes_with_what_it_means(body):
    said = verdict.problem_on(_attempt(body), lambda x: x, verdict.Case("two", (torch.tensor([1.0, 2.0]),)))
    assert said.startswith("two: with [1.0, 2.0]: it stopped with") and f" at `{body}`" in said
    assert MISTAKES[body] in said and "<locals>" not in said


MISSPELT = {"return querys": "query", "return query.sofmax(dim=0)": "softmax", "return flaot(query)": "float"}


@pytest.mark.parametrize("body", MISSPELT)
def test_a_misspelt_name_comes_with_the_one_most_like_it(body):
    case = verdict.Case("two", (torch.tensor([1.0, 2.0]),))
    said = verdict.problem_on(_attempt(body, given="query"), lambda x: x, case)
    assert said.endswith(f"; did you mean {MISSPELT[body]}?")


@pytest.mark.parametrize("body", ["return nothing_like_it", "return query.nothing_like_it", "raise NameError('no')"])
def test_a_name_like_no_other_comes_without_a_suggestion(body):
    case = verdict.Case("two", (torch.tensor([1.0, 2.0]),))
    assert "did you mean" not in verdict.problem_on(_attempt(body, given="query"), lambda x: x, case)


def test_an_error_of_the_check_itself_is_not_the_learners(hints, monkeypatch):
    monkeypatch.setattr(verdict, "COURSE_FILES", __file__)
    monkeypatch.setattr(verdict, "FOREIGN_FILES", (__file__, *verdict.FOREIGN_FILES))
    probes = [Probe("first entry", lambda thing: thing()[0])]
    said = diagnose("t", _attempt("return []", given=""), probes).problem
    assert said == "first entry: the check cannot use what came back: list index out of range"
    said = diagnose("t", _attempt("return []"), probes).problem
    assert "it cannot be called as the check calls it: attempt() missing 1" in said
    said = diagnose("t", _attempt("return [][0]", given=""), probes).problem
    assert "it stopped with IndexError at `return [][0]`" in said


BODIES = {  # words of a problem that have a hint -> what a function does
    "changed its own input": "x.zero_(); return x",
    "no gradient reaches": "return 2 * x.detach()",
    "but the gradient of": "return x.detach() + x",
    "NameError": "return y",
    "is a `return` missing": "print(x)",
    "'tuple'": "return (x, x).sum()",
    "has no attribute": "return x.sofmax(dim=0)",
    "numpy.ndarray": "return x.numpy() @ x",
    "got a NumPy array": "return x.numpy().astype(str)",
    "expected a tensor, got": "return [x, x]",
    "expected a tensor or a number, got": "return str(x.sum())",
    "NaN": "return 2 * x / 0 * 0",
    "shapes cannot be multiplied": "return x[None] @ torch.ones(3, 3)",
    "must match the size": "return x + torch.ones(3)",
    "expected shape": "return x[None]",
}


def _hints(words, label):
    """The hints of three tries that make the mistake with these words."""
    x = torch.tensor([1.0, 2.0])
    reference = torch.sum if "or a number" in words else lambda x: 2 * x
    attempt, cases = _attempt(BODIES[words]), [verdict.Case(label, (x,))]
    return [verdict.examine("t", attempt, reference, cases, gradients=True).hint for _ in range(3)]


@pytest.mark.parametrize("words", verdict.HINTS["mistakes"])
@pytest.mark.parametrize("label", ["one", "own"])
def test_a_hint_for_the_mistake_comes_in_every_try(hints, words, label):
    assert _hints(words, label) == [verdict.HINTS["mistakes"][words]] * 3


@pytest.mark.parametrize("words", verdict.HINTS["symptoms"])
def test_a_hint_for_a_symptom_comes_before_the_exercises_own(hints, words):
    assert _hints(words, "one") == [verdict.HINTS["symptoms"][words], "first", "second"]
    assert _hints(words, "own") == ["its own"] * 3


def test_the_learners_random_numbers_go_on_as_they_were():
    before = torch.get_rng_state()
    for check in (checks.check_pair_loss, checks.check_own_norm):
        check(lambda *_: torch.rand(3))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("value", "function", "error"),
    [
        (..., lambda: 3, verdict.NotWritten),
        (None, lambda: None, verdict.NotWritten),
        (None, lambda x: x.append(3), verdict.Feedback),
    ],
)
def test_placeholder_and_missing_return_differ(value, function, error):
    assert verdict.require_written(0, function) == 0
    with pytest.raises(error):
        verdict.require_written(value, function)
