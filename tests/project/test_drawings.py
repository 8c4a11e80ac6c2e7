"""The drawings: which parts are lit, their alt texts, where they are shown, and that no words overlap."""

import base64
import io
import re
from itertools import combinations
from xml.etree import ElementTree

import nbformat
import pytest
from fontTools.ttLib import TTFont
from places import NOTEBOOKS, ROOT
from run_notebooks import FONT, lettered, light, lit_drawings
from run_notebooks import TEXTS as WRITTEN

SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "notebooks/pictures").iterdir()}
ENCODER = DRAWINGS["encoder"]
SITE = (ROOT / "site/site.css").read_text(encoding="utf-8")
PARTS = sorted({*re.findall(r'data-part="(\w+)"', ENCODER)})
TEXTS = {path.relative_to(ROOT): [c.source for c in nbformat.read(path, 4).cells] for path in NOTEBOOKS}
TEXTS[(ROOT / "README.md").relative_to(ROOT)] = [(ROOT / "README.md").read_text(encoding="utf-8")]
# The place of every word on the page, of the box that it is in, and of the drawing
PLACES = """(svgs) => svgs.map((svg) => {
  document.body.innerHTML = svg;
  const place = (element) => { const r = element.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const boxes = [...document.querySelectorAll('rect.box:not([stroke-dasharray])')].map(place);
  const words = [...document.querySelectorAll('text')].map((text) => [text.textContent, place(text)]);
  return { all: place(document.querySelector('svg')), boxes, words };
})"""


def lit(drawing):
    """The parts of a drawing that are lit, and those that are not."""
    groups = ElementTree.fromstring(drawing).findall(f".//{SVG}g[@data-part]")
    return [{g.get("data-part") for g in groups if (g.get("class") == "lit") == is_lit} for is_lit in (True, False)]


@pytest.mark.parametrize("names", [[], PARTS, *([name] for name in PARTS)], ids=str)
def test_only_the_named_parts_are_lit(names):
    assert lit(light(ENCODER, *names)) == [{*names}, {*PARTS} - {*names}]


def alt(drawing):
    """The alt text of a drawing."""
    return ElementTree.fromstring(drawing).get("aria-label")


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_has_alt_text_and_runs_nothing(drawing):
    root = ElementTree.fromstring(drawing)
    style, common = (FONT.sub("", ElementTree.fromstring(text)[0].text) for text in (drawing, ENCODER))
    assert root.get("role") == "img" and alt(drawing) and style == common
    assert not re.search(r"(?i)<script|\son\w+=|url\(|@import|xlink|href=\"(?!\w+\.ipynb\")", FONT.sub("", drawing))


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_has_the_figures_font_in_its_letters_and_stays_small(drawing):
    """And in bold where parts are lit. It refers to nothing else."""
    root, faces = ElementTree.fromstring(drawing), {}
    for face in FONT.findall(drawing):
        weight, data = re.fullmatch(
            r"@font-face\{font-family:Course Sans;font-weight:(\d+);src:url\(data:font/woff;base64,([\w+/=]+)\)\}", face
        ).groups()
        faces[int(weight)] = TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap()
    for weight, path in WRITTEN.items():
        letters = {ord(letter) for text in root.findall(path) for letter in "".join(text.itertext())}
        assert letters == faces.get(weight, {}).keys(), weight
    assert "Course Sans,Arial" in drawing and len(drawing) < 14_000


def test_the_letters_follow_the_words():
    changed = lettered(DRAWINGS["04_attention"].replace(">attention<", ">Qual<"))
    assert changed != DRAWINGS["04_attention"] and lettered(changed) == changed and len(FONT.findall(changed)) == 2


def test_the_alt_text_names_what_is_lit():
    assert alt(light(ENCODER, "feed_forward", "norm")).startswith("The encoder, with feed-forward, norm lit. A text ")
    assert alt(ENCODER).startswith("The encoder. A text ")


# In the notebooks


def test_stored_drawings_are_up_to_date():
    drawn = ("encoder", "attention", "encoder_decoder", "heads", "layer", "norm_orders", "weighted_mean")
    edited = {name: DRAWINGS[name] for name in drawn}
    stored = {name: FONT.sub("", drawing) for name, drawing in DRAWINGS.items()}
    made = {name: FONT.sub("", drawing) for name, drawing in (edited | lit_drawings(ENCODER)).items()}
    assert made == stored, "run `make notebooks`"


def test_pictures_in_the_prose_have_their_drawings_alt_text():
    prose = "\n".join(text for cells in TEXTS.values() for text in cells)
    found = re.findall(r"!\[([^\]]*)\]\((?:notebooks/)?pictures/(\w+)\.svg\)", prose)
    assert {name for _, name in found} == {*DRAWINGS}
    assert [name for words, name in found if words != alt(DRAWINGS[name])] == []


def test_notebooks_show_the_encoder_before_any_code():
    """With the parts lit that lead to it, where any do."""
    for path, (_, text, *_) in {path: cells for path, cells in TEXTS.items() if path.suffix == ".ipynb"}.items():
        name = path.stem if path.stem in DRAWINGS else "encoder"
        assert text.count(f"](pictures/{name}.svg)") == 1, path
    assert {*lit_drawings(ENCODER)} <= {path.stem for path in NOTEBOOKS}


def test_the_drawing_of_08_ends_in_its_linear_layer():
    drawing = DRAWINGS["08_training"]
    assert lit(drawing)[0] == {"linear"} and not {"mean", "cosine"} & lit(drawing)[1]
    assert alt(drawing).endswith("A linear layer makes a score for each letter from every vector.")


# On a page


def overlap(a, b):
    """Whether two places, (left, top, right, bottom) each, overlap."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def within(a, b):
    """Whether a place lies inside another one."""
    return b[0] <= a[0] and b[1] <= a[1] and a[2] <= b[2] and a[3] <= b[3]


def faults(places):
    """What overlaps or leaves its box."""
    words = places["words"]
    for (a, one), (b, other) in combinations(words, 2):
        if overlap(one, other):
            yield f"{a} runs over {b}"
    for word, place in words:
        if not within(place, places["all"]):
            yield f"{word} leaves the drawing"
        if any(overlap(place, box) and not within(place, box) for box in places["boxes"]):
            yield f"{word} runs over the edge of a box"


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1000])
@pytest.mark.parametrize("sheet", ["svg { max-width: 100%; height: auto }", SITE], ids=["notebook", "site"])
def test_words_overlap_neither_each_other_nor_their_box(browser, width, sheet):
    page = browser.new_page(viewport={"width": width, "height": 600})
    page.set_content(f"<style>{sheet}</style><body class='bd-content'>")
    everything = {**DRAWINGS, "all lit": light(ENCODER, *PARTS)}
    places = page.evaluate(PLACES, [*everything.values()])
    page.close()
    assert all(len(each["words"]) > 7 and len(each["boxes"]) > 3 for each in places)
    assert {name: found for name, each in zip(everything, places, strict=True) if (found := list(faults(each)))} == {}
    if (sheet, width) == (SITE, 360):  # words stay legible because the drawing takes less width
        assert min(bottom - top for each in places for _, (_, top, _, bottom) in each["words"]) > 10


def test_overlaps_are_detected():
    box, long, low = [10, 10, 50, 30], [5, 12, 55, 28], [12, 25, 40, 45]
    found = list(faults({"all": [0, 0, 54, 60], "boxes": [box], "words": [["long", long], ["low", low]]}))
    edge = "{} runs over the edge of a box"
    assert found == ["long runs over low", "long leaves the drawing", edge.format("long"), edge.format("low")]
