"""The alt text of every stored picture is a sentence of its own that says what was found."""

import re

import nbformat
import pytest
from notebook_rules import Tags, code_cells, data_of, is_explorer
from places import NOTEBOOKS

SHORTEST = 40
NUMBERS = (
    r"\d|\b(nothing|none|no|one|two|three|four|five|six|seven|eight|nine|ten|half|twice|both|all|each|every|few|most)\b"
)
COMPARISONS = (
    r"\b(than|more|less|least|same|alike|like|unlike|equal|near|nearly|closest|higher|lower|highest|lowest|only|always"
    r"|never|other|coincide|rises?|falls?|grows?|climbs?|stays?|flat|level|high|low|bright|dark|far|above|below)\b"
)
KINDS = (
    r"^(an? |the )?(plot|figure|picture|image|graph|chart|screenshot|diagram)\b( of| that| show|\s*$)"
    r"|(plot|figure) showing"
)


def alt_texts(notebook):
    """The alt text of every stored picture, and the cell that it belongs to."""
    for cell in code_cells(notebook):
        for data in data_of(cell):
            for tag, attributes in Tags(data.get("text/html", "")).found:
                if tag == "img":
                    yield cell, attributes.get("alt") or ""


def titles(cell):
    """What the code of a cell writes as titles, as plain words."""
    return [plain(title) for title in re.findall(r'title="([^"]+)"', cell.source)]


def plain(text):
    """A text without its capitals and punctuation."""
    return re.sub(r"[^\w ]", "", text).casefold().strip()


def faults(cell, alt):
    """What is wrong with an alt text."""
    if len(alt) < SHORTEST:
        yield f"{alt!r} has {len(alt)} characters, expected at least {SHORTEST}"
    if not re.match(r"[A-Z0-9“]", alt) or not alt.endswith("."):
        yield f"{alt!r} is not a sentence: it begins with a small letter or ends without a full stop"
    if re.search(KINDS, alt, re.IGNORECASE):
        yield f"{alt!r} says that there is a picture, which the reader knows"
    if plain(alt) in titles(cell):
        yield f"{alt!r} is the title once more"
    if not re.search(NUMBERS, alt, re.IGNORECASE) and not re.search(COMPARISONS, alt, re.IGNORECASE):
        yield f"{alt!r} names no number, no comparison and nothing special"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_alt_texts_name_the_finding(path):
    pictures = alt_texts(nbformat.read(path, as_version=4))  # 12's show what the reader has built, and none is stored
    assert [fault for cell, alt in pictures for fault in faults(cell, alt)] == []


def test_alt_texts_are_unique():
    texts = [alt for path in NOTEBOOKS for cell, alt in alt_texts(nbformat.read(path, as_version=4))]
    assert texts and sorted({text for text in texts if texts.count(text) > 1}) == []


def test_explorers_are_described_by_more_than_one_number():
    """What a control moves is described in numbers, since only they distinguish two positions of a slider."""
    for path in NOTEBOOKS:
        for cell, alt in alt_texts(nbformat.read(path, as_version=4)):
            assert not is_explorer(cell) or len(re.findall(r"\d+", alt)) >= 2, alt


@pytest.mark.parametrize(
    ("alt", "fault"),
    [
        ("Loss falls to 0.", "characters"),
        ("the loss of eight trainings falls to nearly 0 within 100 steps.", "not a sentence"),
        ("A plot of the loss of eight trainings, which falls to nearly 0.", "that there is a picture"),
        ("The loss falls to nearly 0 in all of the eight trainings.", "title once more"),
        ("The position vectors of the words of a sentence as colours.", "nothing special"),
    ],
)
def test_an_alt_text_without_a_finding_is_detected(alt, fault):
    source = 'show(plot_lines(lines, title="The loss falls to nearly 0 in all of the eight trainings"), alt="")'
    found = list(faults(nbformat.v4.new_code_cell(source), alt))
    assert len(found) == 1 and fault in found[0]
    assert list(faults(nbformat.v4.new_code_cell(source), "Eight losses fall to nearly 0, the deepest one last.")) == []
