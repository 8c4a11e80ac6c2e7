"""The sentences that 13 classifies and searches: real ones, each once, with a label, and split by file."""

from encoder_lib.course.your_own_task.docstrings import LIBRARIES, PARTS, Docstring, docstrings

STAR = "Return a Path for a unit regular star with the given numVertices and radius of 1.0, centered at (0, 0)."


def test_first_sentences_of_public_docstrings_each_once_and_without_markup():
    found = {d.sentence: d.name for d in docstrings()}
    assert len(found) == len(docstrings()) and found[STAR] == "unit_regular_star"
    assert all(30 <= len(sentence) <= 120 and sentence[0].isupper() for sentence in found)
    assert not any(name.startswith(("_", "test_")) for name in found.values())


def test_every_library_has_sentences_in_every_part_that_do_not_name_it_and_a_file_is_in_one():
    for sentence in ("Convert a DataFrame to a list.", "Uses PyTorch.", "All Axes of it.", "An np array"):
        assert Docstring(sentence, "f", "pandas", "test").gives_away
    parts = [(d.library, d.part) for d in docstrings() if not d.gives_away]
    assert min(parts.count((library, part)) for library in LIBRARIES for part in PARTS) >= 30
    shapes = [d.part for d in docstrings() if d.name.startswith("unit_")]  # methods of one class
    assert len(shapes) > 4 and len({*shapes}) == 1
