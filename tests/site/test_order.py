"""Lines to put in order: which orders are right is found by running them; a reader moves them in every way."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations

import nbformat
import pytest
from order import lines_in_order, puzzles, solve, write_orders
from places import NOTEBOOKS
from playwright.sync_api import expect

from encoder_lib.course.kit import lessons

POOL = ThreadPoolExecutor(1)

# Gradients may be cleared at any place before `backward`, or at the end of the step.
ANSWER = """def descend(model, given, beside, steps, lr):
    losses = []
    for step in range(steps):
        scores = model(given)
        loss = F.cross_entropy(scores, beside)
        model.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            parameter.data -= lr * parameter.grad
        losses.append(loss.item())
    return losses
"""
CHECK = "check_descend"
EXERCISE = f"checks.{CHECK}(descend)"
RIGHT = {"012345", "021345", "201345", "013542", "015342"}


def notebook(answer=ANSWER):
    """A notebook with one exercise and its answer."""
    setup = "import torch.nn.functional as F"
    told = f'<details class="answer"><summary>One answer</summary>\n\n```python\n{answer}```\n</details>'
    cells = [nbformat.v4.new_code_cell(setup), nbformat.v4.new_markdown_cell(told), nbformat.v4.new_code_cell(EXERCISE)]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(scope="module")
def puzzle():
    return puzzles(notebook())[CHECK]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The notebook, and the folder into which its orders are written."""
    folder = tmp_path_factory.mktemp("solved")
    nbformat.write(notebook(), folder / "99_x.ipynb")
    write = write_orders([folder / "99_x.ipynb"], folder / "orders", POOL)
    assert not list((folder / "orders").iterdir()), "they are solved while Sphinx writes the pages"
    write()
    return folder / "99_x.ipynb", folder / "orders"


@pytest.fixture(scope="module")
def solved(written):
    return json.loads((written[1] / f"99_x-{CHECK}.json").read_text(encoding="utf-8"))


def real():
    """The puzzles of the course."""
    return {name: p for path in NOTEBOOKS for name, p in puzzles(nbformat.read(path, as_version=4)).items()}


def test_every_table_has_its_answer_in_a_notebook():
    tables = lessons.texts("exercises.toml")
    assert set(real()) == {name for name, table in tables.items() if "order" in table} != set()


def test_statements_move_and_headers_stay(puzzle):
    assert [puzzle.lines[at].strip() for at in puzzle.movable] == [
        "scores = model(given)",
        "loss = F.cross_entropy(scores, beside)",
        "model.zero_grad()",
        "loss.backward()",
        "parameter.data -= lr * parameter.grad",
        "losses.append(loss.item())",
    ]


def test_all_orders_that_run_to_the_same_result_are_right(solved):
    assert set(solved["right"]) == RIGHT
    assert solved["head"] == "descend: right." and len(solved["passed"]) == 5


@pytest.mark.parametrize("begun, line, problem", [
    ("", "1", "cannot access local variable 'scores'"),
    ("013", "2", "'float' and 'NoneType'"),  # the gradients are cleared before they are used
    ("0123", "5", "expected 1 loss, one for each step, got 3"),
])  # fmt: skip
def test_a_wrong_line_has_what_the_check_says(solved, begun, line, problem):
    said, hint = solved["wrong"][begun][line]
    assert problem in said and hint


def test_a_variable_that_is_missing_has_no_line(solved):
    """Once a function has run a few times, Python 3.11 may give the line above for it."""
    assert "it stopped with UnboundLocalError: cannot" in solved["wrong"][""]["1"][0]
    assert "it stopped with TypeError at `parameter" in solved["wrong"]["013"]["2"][0]


def test_every_wrong_order_has_words(solved):
    """Whatever the order, the page finds what to say about its first line that is out of place."""
    for order in map("".join, permutations("012345")):
        if order in solved["right"]:
            continue
        same = [next(i for i in range(6) if order[i] != right[i]) for right in solved["right"]]
        assert solved["wrong"][order[: max(same)]][order[max(same)]]


@pytest.mark.long
@pytest.mark.parametrize("name", ["check_multi_head", "check_encoder_layer"])
def test_no_right_order_is_missed(name):
    """The check judges every order by itself, also those that are given up early."""
    puzzle = real()[name]
    orders = permutations(range(len(puzzle.movable)))
    right = ["".join(map(str, order)) for order in orders if puzzle.judge(order).correct]
    assert solve(puzzle)["right"] == right


def test_a_table_that_fits_no_answer_is_refused(monkeypatch, puzzle):
    for within, problem in (("while True:", "a line of the answer as `order`"), ("losses = []", "3 to 8 statements")):
        monkeypatch.setattr(lessons, "texts", lambda file, within=within: {CHECK: {"order": within}})
        with pytest.raises(ValueError, match=problem):
            puzzles(notebook())
    broken = replace(puzzle, lines=tuple(line.replace("-=", "+=") for line in puzzle.lines))
    with pytest.raises(ValueError, match="expected its check to pass the notebook's answer"):
        solve(broken)


def test_what_is_known_is_not_run_again(written, solved, capsys):
    path, folder = written
    write_orders([path], folder, POOL)()
    assert capsys.readouterr().out == ""
    write_orders([], folder, POOL)()
    assert list(folder.iterdir()) == []


# A reader.


@pytest.fixture
def page(exercise_page, puzzle, solved):
    """A page with the lines."""
    exercise_page.play("order", lines_in_order(puzzle, "/order.json"), solved)
    exercise_page.touch = exercise_page.context.new_cdp_session(exercise_page)
    return exercise_page


def order(page):
    return [code.strip() for code in page.locator("li[data-line] code").all_text_contents()]


def handle(page, words):
    return page.locator("li[data-line]").filter(has_text=words).get_by_role("button")


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, words, to):
    """Drag a line to a place, by finger or mouse."""
    (x, y), (_, below) = middle(handle(page, words)), middle(page.locator("li[data-line]").nth(to))
    heights = [y + (below - y) * step / 8 for step in range(1, 9)]
    if page.kind == "desk":
        page.mouse.move(x, y)
        page.mouse.down()
        for height in heights:
            page.mouse.move(x, height)
        page.mouse.up()
        return
    page.touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for height in heights:
        page.touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": height}]})
    page.touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def check(page):
    page.get_by_role("button", name="Check").click()


def sort(page, puzzle, move):
    """Bring the lines into the answer's order, from the top."""
    for place, at in enumerate(puzzle.movable):
        words = puzzle.lines[at].strip()
        if order(page)[place] != words:
            move(words, place)
        assert order(page)[place] == words


def check_right(page):
    check(page)
    expect(page.locator(".exercise-verdict")).to_contain_text("descend: right.✓ the loss of one step")
    assert page.evaluate("done") == ["/order.json"] and page.locator(".order-wrong").count() == 0


@pytest.mark.browser
def test_by_dragging(page, puzzle):
    sort(page, puzzle, lambda words, place: drag(page, words, place))
    assert page.locator(".order-picked").count() == 0
    check_right(page)


@pytest.mark.browser
def test_by_two_clicks(page, puzzle):
    """Without dragging: pick a line up by its handle, then click on the line whose place it should take."""

    def move(words, place):
        getattr(handle(page, words), page.press)()
        assert handle(page, words).get_attribute("aria-pressed") == "true"
        getattr(page.locator("li[data-line] code").nth(place), page.press)()

    sort(page, puzzle, move)
    check_right(page)


@pytest.mark.browser
@pytest.mark.parametrize("exercise_page", ["desk"], indirect=True)
def test_by_keyboard(page, puzzle):
    """The line keeps the focus, and the place is said; arrows at an end do nothing."""

    def move(words, place):
        handle(page, words).focus()
        for _ in range(order(page).index(words) - place):
            page.keyboard.press("ArrowUp")
        expect(page.locator(".order-heard")).to_have_text(f"Now line {place + 1} of 6.")
        assert handle(page, words).evaluate("e => e === document.activeElement")

    sort(page, puzzle, move)
    handle(page, "scores =").press("ArrowUp")
    handle(page, "losses.append").press("ArrowDown")
    check(page)
    page.get_by_role("button", name="Check").focus()
    check_right_text = page.locator(".exercise-verdict strong")
    expect(check_right_text).to_have_text("descend: right.")


@pytest.mark.browser
def test_the_first_line_out_of_place_is_named_until_something_moves(page, puzzle, solved):
    sort(page, puzzle, lambda words, place: drag(page, words, place))
    handle(page, "loss = ").press("ArrowDown")
    handle(page, "model.zero_grad").press("ArrowUp")  # these two can be exchanged with the first
    check_right(page)
    handle(page, "losses.append").press("ArrowUp")
    check(page)
    verdict = page.locator(".exercise-verdict")
    problem, hint = solved["wrong"]["2013"]["5"]
    expect(verdict).to_contain_text("descend: not there yet.The first line that is out of place: losses.append")
    expect(verdict).to_contain_text(f"✗ {problem}")
    expect(verdict).to_contain_text(f"Hint: {hint}")
    expect(page.locator(".order-wrong")).to_contain_text("losses.append")
    handle(page, "losses.append").press("ArrowDown")
    assert verdict.text_content() == "" and page.locator(".order-wrong").count() == 0


@pytest.mark.browser
def test_show_me_puts_the_lines_in_order(page, puzzle):
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".exercise-verdict")).to_be_focused()
    assert order(page) == [puzzle.lines[at].strip() for at in puzzle.movable]
    assert page.evaluate("done") == ["/order.json"]


@pytest.mark.browser
@pytest.mark.parametrize("exercise_page", ["desk"], indirect=True)
def test_without_a_network_one_can_try_again(page):
    page.context.set_offline(True)
    check(page)
    expect(page.locator(".exercise-verdict")).to_contain_text("You may be offline")
    page.context.set_offline(False)
    check(page)
    expect(page.locator(".exercise-verdict")).to_contain_text("not there yet")
