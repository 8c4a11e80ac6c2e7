"""Masks to paint: the page says what the check says, and a reader paints by mouse, finger and keyboard."""

import random

import nbformat
import pytest
import torch
from accessibility import AXE
from paint import Painting, mask_to_paint, paintings
from places import NOTEBOOKS
from playwright.sync_api import expect

from encoder_lib.course.kit import lessons
from encoder_lib.model.masks import causal_mask

HIDE, FUTURE = "check_hide", "check_mask_future"
# Point everywhere on the grid; gives the middle of each cell, by its words.
CELLS = """() => {
  const canvas = document.querySelector('canvas'), readout = document.querySelector('.explorer-readout');
  const { left, top, width, height } = canvas.getBoundingClientRect(), found = {};
  for (let x = 3; x < width; x += 6) for (let y = 3; y < height; y += 6) {
    canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + x, clientY: top + y }));
    const cell = readout.textContent.match(/query (\\S+), key (\\S+):/);
    if (cell) (found[cell.slice(1)] ??= []).push([x, y]);
  }
  return Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all[all.length >> 1]]));
}"""
WRONG = """async ([judged, masks]) => {
  const { findWrong } = await import('/player/paint.js');
  return masks.map((mask) => findWrong(judged, mask));
}"""


@pytest.fixture(scope="module")
def found():
    """All paintings of the course, by the names of their checks."""
    return {name: p for path in NOTEBOOKS for name, p in paintings(nbformat.read(path, as_version=4)).items()}


@pytest.fixture(scope="module")
def solved(found):
    return {name: painting.solve() for name, painting in found.items()}


def bits(mask):
    return "".join(str(int(x)) for x in mask.flatten())


def test_every_table_has_its_answer_in_a_notebook(found):
    tables = lessons.texts("exercises.toml")
    assert set(found) == {name for name, table in tables.items() if "paint" in table} == {HIDE, FUTURE}


def test_the_right_masks(solved):
    """Computed in another way than by the notebook's answer."""
    hidden = torch.ones(8, 8).bool()
    hidden[[0, 1, 3, 4, 5, 6, 7], 2] = False
    assert {name: s["right"] for name, s in solved.items()} == {HIDE: bits(hidden), FUTURE: bits(causal_mask(5))}


def test_every_cell_and_every_mistake_has_words(found, solved):
    for name, judged in solved.items():
        assert sorted(cell for cell, _ in judged["cells"]) == list(range(len(judged["right"])))
        assert all(problem and hint for _, (problem, hint) in judged["cells"] + judged["mistakes"])
        wrong = {mask for mask, _ in judged["mistakes"]}
        assert len(wrong) == len(found[name].table["mistakes"]) and judged["right"] not in wrong


def test_an_answer_that_the_check_refuses_is_refused(found):
    table = found[FUTURE].table
    wrong = Painting(FUTURE, "f", "", "def f(length):\n    return torch.ones(length, length).bool()", table)
    with pytest.raises(ValueError, match="expected its check to pass the notebook's answer"):
        wrong.solve()


@pytest.mark.browser
def test_the_page_finds_what_the_check_finds(player, found, solved):
    """In masks with one to twenty wrong cells; of a mask for the future, only the first of its wrong cells."""
    draw = random.Random(0)
    for name, painting in found.items():
        masks = []
        for count in range(1, 21):
            mask = painting.answer.clone()
            for cell in draw.sample(range(mask.numel()), count):
                mask.view(-1)[cell] ^= True
            masks.append(mask)
        page, _ = player
        said = page.evaluate(WRONG, [solved[name], [bits(mask) for mask in masks]])
        for mask, wrong in zip(masks, said, strict=True):
            row, column = divmod(wrong["cell"], len(mask))
            assert mask[row, column] != painting.answer[row, column]
            problem = painting.judge(mask).problem
            if name == HIDE:
                assert wrong["said"][0] == f"✗ {problem}"
            else:
                assert f"at ({row}, {column}), got {mask[row, column].item()}" in wrong["said"][0]
    assert page.evaluate(WRONG, [solved[HIDE], [solved[HIDE]["right"]]]) == [None]


# A reader.


@pytest.fixture
def paint(exercise_page, found, solved):
    """Puts an exercise on the page, and gives the page."""

    def start(name):
        markup = mask_to_paint(found[name].table, "/paint.json")
        exercise_page.play("paint", markup, solved[name])
        exercise_page.locator("canvas.explorer-picture").scroll_into_view_if_needed()
        return exercise_page

    return start


def check(page, *words):
    page.get_by_role("button", name="Check").click()
    for each in words:
        expect(page.locator(".exercise-verdict")).to_contain_text(each)


@pytest.mark.browser
def test_by_mouse_or_finger(paint):
    page = paint(HIDE)
    cells = page.evaluate(CELLS)
    assert len(cells) == 64

    def press(query, key):
        x, y = cells[f"{query},{key}"]
        getattr(page.locator("canvas.explorer-picture"), page.press)(position={"x": x, "y": y})

    press("bank", "river")
    check(page, "hide: not there yet.", "after 2 layers", "Hint: This is the first try")
    press("bank", "bank")
    assert page.locator(".exercise-verdict").text_content() == ""
    check(
        page, "The first wrong cell: row 3 (bank), column 3 (bank).", "token 3 can't attend to itself", "Hint: mask[i,"
    )
    press("bank", "bank")
    for query in ("[CLS]", "the", "was", "flooded", ".", "[SEP]"):
        press(query, "river")
    expect(page.locator(".explorer-description")).to_have_text("7 of 64 weights are masked out.")
    check(page, "hide: right.")
    assert page.evaluate("done") == ["/paint.json"]


@pytest.mark.browser
@pytest.mark.parametrize("exercise_page", ["desk"], indirect=True)
def test_by_keyboard(paint):
    """From cell to cell with the arrow keys, which are read out; Space and Enter switch a cell."""
    page = paint(FUTURE)
    page.locator("canvas.explorer-picture").focus()
    page.keyboard.press("Home")
    for row in range(4):
        page.keyboard.press("End")
        for column in range(4, row, -1):
            page.keyboard.press("Space" if column % 2 else "Enter")
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowDown")
    expect(page.locator(".explorer-readout")).to_contain_text("query man, key the: 0.2")
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator(".exercise-verdict")).to_have_text("mask_future: right.")
    assert page.evaluate("done") == ["/paint.json"]


@pytest.mark.browser
def test_show_me_paints_the_mask(paint):
    page = paint(FUTURE)
    check(page, "The first wrong cell: row 0 (the), column 1 (dog).", "expected False at (0, 1), got True")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".exercise-verdict strong")).to_have_text("mask_future: right.")
    expect(page.locator(".explorer-description")).to_have_text("10 of 25 weights are masked out.")


@pytest.mark.browser
@pytest.mark.parametrize("name", [HIDE, FUTURE])
def test_axe_finds_nothing(paint, name):
    page = paint(name)
    page.evaluate(AXE)
    faults = "async () => (await axe.run('main')).violations.map(({id}) => id)"
    assert page.evaluate(faults) == []


@pytest.mark.browser
@pytest.mark.parametrize("exercise_page", ["desk"], indirect=True)
@pytest.mark.long
def test_the_cosine_follows_the_mask(minilm_player, paint):
    """As the notebook has it: without a mask, after the first try, and with the right mask."""
    page = paint(HIDE)
    page.get_by_role("button", name="See the cosine").click()
    said = page.locator(".explorer-description")
    expect(said).to_contain_text("The cosine of bank and bank is 0.9", timeout=60_000)
    cosines = [float(said.text_content()[-6:-1])]
    for wanted in ("1 of 64", "7 of 64"):
        if wanted == "1 of 64":
            page.locator("canvas.explorer-picture").press("Home")
            for key in ["ArrowDown"] * 3 + ["ArrowRight"] * 2 + ["Enter"]:
                page.keyboard.press(key)
        else:
            page.get_by_role("button", name="Show me").click()
        expect(said).to_contain_text(wanted)
        page.wait_for_function("(old) => !document.body.textContent.includes(old)", arg=f"is {cosines[-1]:.3f}.")
        cosines.append(float(said.text_content()[-6:-1]))
    assert cosines == pytest.approx([0.907, 0.995, 1.0], abs=0.01)
