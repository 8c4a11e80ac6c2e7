"""The sentences that 13 classifies and searches: real ones, each once, with a label, and split by file."""

import re

import pytest

from encoder_lib.course.your_own_task.docstrings import LIBRARIES, PARTS, Docstring, docstrings

STAR = "Return a Path for a unit regular star with the given numVertices and radius of 1.0, centered at (0, 0)."


def test_first_sentences_of_public_docstrings_each_once_and_without_markup():
    found = {d.sentence: d.name for d in docstrings()}
    assert len(found) == len(docstrings())
    assert found["Read HTML tables into a list of DataFrame objects."] == "read_html"
    assert found[STAR] == "Path.unit_regular_star"
    assert all(30 <= len(sentence) <= 120 and sentence[0].isupper() for sentence in found)
    assert not any(re.search(r"(^|\.)(_|test_)", name) for name in found.values())


def test_every_library_has_sentences_in_every_part_and_a_file_is_in_one():
    parts = [(d.library, d.part) for d in docstrings() if not d.gives_away]
    assert min(parts.count((library, part)) for library in LIBRARIES for part in PARTS) >= 30
    assert sorted(PARTS) == ["test", "training", "training", "validation"]
    methods = [d.part for d in docstrings() if d.name.startswith("Path.")]
    assert len(methods) > 5 and len({*methods}) == 1


@pytest.mark.parametrize(
    "sentence", ["Convert a DataFrame to a list.", "Uses PyTorch.", "All Axes of it.", "An np array"]
)
def test_a_sentence_that_names_a_library_is_noticed(sentence):
    assert Docstring(sentence, "f", "pandas", "test").gives_away
