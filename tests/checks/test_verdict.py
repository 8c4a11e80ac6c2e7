"""A verdict shows the smallest input that tells an attempt wrong, what was expected and what came, and a hint."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers.embedding import rows
from answers.positional import interleave, table_by_loop
from answers.pretrained import ANSWERS as PRETRAINED
from answers.training import ANSWERS as TRAINING

from encoder_lib import checks
from encoder_lib.checks import verdict


def _fails(*_):
    raise RuntimeError("<b>no</b>")


def test_hints_grow_stronger_and_start_over_after_success():
    verdict._tries.clear()
    wrong, right = lambda table, ids: table[:1], lambda table, ids: table[ids]
    first, second, third, fourth = (checks.check_look_up(wrong).hint for _ in range(4))
    assert len({first, second, third}) == 3 and fourth == third
    assert checks.check_look_up(right).correct
    assert checks.check_look_up(wrong).hint == first


def test_a_verdict_shows_the_smallest_input_with_expected_and_got():
    text = repr(checks.check_look_up(lambda table, ids: table[: len(ids)]))
    assert "with table [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ids [1]\n" in text
    assert "expected [[3.0, 4.0]]" in text and "got      [[1.0, 2.0]]" in text


class _HidesWhatItTakes:
    """A callable whose signature cannot be asked for."""

    @property
    def __signature__(self):
        raise RuntimeError("no")

    def __call__(self, table, ids):
        return table[: len(ids)]


@pytest.mark.parametrize(
    "attempt",
    [lambda *both: both[0][:1], lambda table, *more: table[:1], _HidesWhatItTakes()],
    ids=["stars", "a star", "hidden"],
)
def test_a_verdict_shows_the_bare_input_where_its_parts_have_no_names(attempt):
    assert "with [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1]\n" in checks.check_look_up(attempt).problem


def test_a_verdict_is_escaped_text_for_screen_readers():
    html = checks.check_look_up(_fails)._repr_html_()
    assert html.startswith('<div role="status"') and "&lt;b&gt;no&lt;/b&gt;" in html and "<b>" not in html


def test_keyboard_interrupts_pass_through():
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checks.check_look_up(interrupted)


def test_a_branch_without_return_is_a_mistake():
    verdict = checks.check_gets_gradient(lambda ids, v, p: rows(ids, v, p) if p is None else None)
    assert len(verdict.passed) == 3 and "returns nothing; is a `return` missing" in verdict.problem and verdict.hint


@pytest.mark.parametrize("number", [float, np.float64, np.float32, torch.tensor, lambda x: x])
def test_a_single_number_may_come_as_any_kind_of_number(number):
    assert checks.check_cross_entropy(lambda s, t: number(F.cross_entropy(s, t).item())).correct
    assert checks.check_flops(lambda t, d, f: number(2 * t * (4 * d**2 + 2 * d * f) + 4 * t**2 * d)).correct


def test_what_is_no_number_is_told_what_is_expected():
    assert "expected a tensor or a number, got str" in checks.check_cross_entropy(lambda s, t: "0").problem
    assert "expected a tensor, got float" in checks.check_look_up(lambda table, ids: 1.0).problem


def test_an_answer_in_float32_is_right_too():
    def in_float32(length, d_model, base):
        speed = base ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
        angles = torch.arange(length, dtype=torch.float32)[:, None] * speed
        return interleave(angles.sin(), angles.cos())

    assert checks.check_sinusoidal_table(in_float32).correct


def test_a_large_result_is_shown_where_it_differs_most():
    problem = checks.check_sinusoidal_table(lambda n, d, base: table_by_loop(n, d, base) + (n > 100)).problem
    assert "at (" in problem and "expected" in problem and "got" in problem


@pytest.mark.parametrize(
    ("check", "mistake", "hint"),
    [
        (checks.check_translate, "keys and queries exchanged", "the next D the keys"),
        (checks.check_translate, "biases exchanged", "in_proj_bias lies in the same order"),
        (checks.check_translate, "width fixed at two", "a number of rows written out"),
        (checks.check_pool, "not brought to length 1", "divide it by its own length"),
        (checks.check_pool, "each token at length 1 first", "to length 1 after that"),
        (checks.check_pool, "padding counted in", "Padding counts here"),
        (checks.check_pool, "length over the batch", "divide it by its own length"),
        (checks.check_search, "cosines", "neither the cosines that stand there nor the vectors"),
        (checks.check_search, "the vectors", "neither the cosines that stand there nor the vectors"),
        (checks.check_search, "worst first", "the largest is the nearest"),
        (checks.check_search, "one too few", "k places"),
        (checks.check_search, "largest absolute", "compare with sign"),
    ],
)
def test_the_hint_speaks_of_the_mistake(check, mistake, hint):
    assert hint in check(PRETRAINED[check][1][mistake]).hint


def test_a_mask_with_its_last_two_dimensions_exchanged_is_told_so():
    check = checks.check_forbid
    assert "last two dimensions exchanged" in check(TRAINING[check][1]["looked at in rows"]).hint


def test_the_mean_need_not_be_divided_since_length_1_undoes_it():
    assert checks.check_pool(lambda x, real: F.normalize((x * real[..., None]).sum(dim=1), dim=-1)).correct
