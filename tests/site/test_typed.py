"""Numbers and shapes to type: what the page judges by is computed, and every right way to write an answer counts."""

import nbformat
import pytest
from places import NOTEBOOKS
from playwright.sync_api import expect
from typed import number_to_type, typed_answers

from encoder_lib.course.encoder_block.checks import COUNT_MISTAKES
from encoder_lib.course.kit import lessons
from encoder_lib.course.kit.checking.verdict import HINTS
from encoder_lib.model.encoder import EncoderLayer

COUNTED = "check_count_parameters"


@pytest.fixture(scope="module")
def found():
    """All questions of the course, by the names of their checks."""
    return {
        check: each for path in NOTEBOOKS for check, each in typed_answers(nbformat.read(path, as_version=4)).items()
    }


def test_every_table_has_its_answer_in_a_notebook(found):
    tables = lessons.texts("exercises.toml")
    assert set(found) == {name for name, table in tables.items() if "ask" in table} != set()


def test_answers_are_what_the_questions_ask_for(found):
    """Each computed in another way than by the notebook's answer."""
    counted = sum(parameter.numel() for parameter in EncoderLayer(4, 2, 6).parameters())
    expected = {
        "check_mask_padding": [2, 1, 1, 5],
        COUNTED: [counted],
        "check_reach": [2 + 2**3 - 1],
        "check_join": [(1 * 1 + 3 * 5) / 4],
    }
    assert {check: computed["answer"] for check, (_, computed) in found.items()} == expected


def test_known_mistakes_have_their_hints(found):
    """One for each, and no two of them give the same number."""
    mistakes = found[COUNTED][1]["mistakes"]
    assert len({tuple(numbers) for numbers, _ in mistakes}) == len(mistakes) == len(COUNT_MISTAKES)
    assert {hint for _, hint in mistakes} == set(HINTS["count_parameters"]["mistakes"].values())


@pytest.fixture
def page(exercise_page):
    return exercise_page


def ask(page, question, computed):
    page.play("typed", number_to_type(question, "/typed.json"), computed)


def answer(page, text):
    """Type an answer and have it checked, by mouse or finger."""
    page.get_by_role("textbox", name="Your answer").fill(text)
    getattr(page.get_by_role("button", name="Check"), page.press)()


@pytest.mark.browser
def test_a_mistake_has_its_hint_and_others_the_exercise_s(page, found):
    question, computed = found[COUNTED]
    ask(page, question, computed)
    verdict = page.locator(".exercise-verdict")
    numbers, hint = computed["mistakes"][0]
    answer(page, str(numbers[0]))
    expect(verdict).to_contain_text(f"count_parameters: not there yet.✗ {numbers[0]} is not the answerHint: {hint}")
    for number, hint in zip((1, 2, 3, 4), [*computed["hints"][1:], computed["hints"][-1]], strict=False):
        answer(page, str(number))
        expect(verdict).to_contain_text(f"✗ {number} is not the answerHint: {hint}")
    assert page.evaluate("done") == []
    answer(page, str(computed["answer"][0]))
    expect(verdict).to_have_text("count_parameters: right.")
    assert page.evaluate("done") == ["/typed.json"]
    page.get_by_role("textbox").press("1")
    assert verdict.text_content() == ""


@pytest.mark.browser
@pytest.mark.parametrize(("wanted", "written", "right"), [
    ([2, 1, 1, 5], ["2, 1, 1, 5", "(2, 1, 1, 5)", "[2,1,1,5]", "2 1 1 5", "torch.Size([2, 1, 1, 5])"], True),
    ([2, 1, 1, 5], ["2, 1, 5", "2, 1, 1, 5, 1", "2115"], False),
    ([3152384], ["3152384", "3,152,384"], True),
    ([0.5], ["0.5", ".5", "5e-1", "0.50004"], True),
    ([-4.0], ["-4", "−4", "-4.0"], True),
    ([0.5], ["0.51", "-0.5"], False),
])  # fmt: skip
@pytest.mark.parametrize("exercise_page", ["desk"], indirect=True)
def test_ways_to_write_an_answer(page, wanted, written, right):
    ask(page, "?", {"head": "x: right.", "answer": wanted, "mistakes": [], "hints": ["Look again."]})
    for text in written:
        answer(page, text)
        expect(page.locator(".exercise-verdict strong")).to_have_text("x: right." if right else "x: not there yet.")


@pytest.mark.browser
@pytest.mark.parametrize("exercise_page", ["desk"], indirect=True)
def test_by_keyboard(page, found):
    """Enter checks; what is no number is said to be none; "Show me" by the Tab key."""
    question, computed = found["check_mask_padding"]
    ask(page, question, computed)
    verdict = page.locator(".exercise-verdict")
    page.get_by_role("textbox").focus()
    for text in ("", "two", "2, x"):
        page.get_by_role("textbox").fill(text)
        page.keyboard.press("Enter")
        expect(verdict).to_contain_text("Expected a number, or the numbers of a shape")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(verdict).to_have_text("mask_padding: right.")
    expect(page.get_by_role("textbox")).to_have_value("2, 1, 1, 5")
    assert page.evaluate("done") == ["/typed.json"]
