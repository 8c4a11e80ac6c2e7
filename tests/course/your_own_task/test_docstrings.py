"""The sentences that 13 classifies and searches: real ones, each once, with a label, and split by file."""

import pytest

from encoder_lib.course.your_own_task import docstrings
from encoder_lib.course.your_own_task.docstrings import LIBRARIES, Docstring


def test_every_library_has_sentences_in_every_part():
    found = docstrings.docstrings()
    assert len({d.sentence for d in found}) == len(found)
    assert {d.library for d in found} == {*LIBRARIES}
    for library in LIBRARIES:
        parts = [d.part for d in found if d.library == library and not d.gives_away]
        assert min(map(parts.count, ("training", "validation", "test"))) >= 30
    assert ("Read HTML tables into a list of ``DataFrame`` objects.".replace("`", ""), "read_html") in [
        (d.sentence, d.name) for d in found
    ]


def test_public_names_and_first_sentences_are_read_from_a_file(tmp_path, monkeypatch):
    source = '''class A:
    """Holds the :class:`~pandas.Index` of **all** ``rows``, once.  More."""
    def b(self):
        """Too short."""
    def c(self):
        """return nothing that begins with a small letter."""
    def _d(self):
        """Return what nobody outside may ever see."""
    class E:
        def f(self):
            """Return the number of
            the rows that are left."""
'''
    for name, text in {"one.py": source, "tests/two.py": source, "__init__.py": ""}.items():
        path = tmp_path / "package_of_a_test" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(docstrings, "LIBRARIES", {"L": ("package_of_a_test",)})
    monkeypatch.syspath_prepend(tmp_path)
    found = docstrings.docstrings.__wrapped__()
    assert [(d.sentence, d.name) for d in found] == [
        ("Holds the pandas.Index of all rows, once.", "A"),
        ("Return the number of the rows that are left.", "A.E.f"),
    ]
    assert len({d.part for d in found}) == 1 and found[0].gives_away and not found[1].gives_away


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(docstrings, "LIBRARIES", {"L": ("no_such_package/core",)})
    with pytest.raises(ModuleNotFoundError, match="expected no_such_package/core to be installed"):
        docstrings.docstrings.__wrapped__()


@pytest.mark.parametrize(
    "sentence", ["Convert a DataFrame to a list.", "Uses PyTorch.", "All Axes of it.", "An np array"]
)
def test_a_sentence_that_names_a_library_is_noticed(sentence):
    assert Docstring(sentence, "f", "pandas", "test").gives_away
