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
    for name in ("lib/one.py", "lib/tests/two.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.setattr(docstrings, "LIBRARIES", {"L": ("lib",)})
    monkeypatch.setattr(docstrings.sysconfig, "get_path", lambda _: str(tmp_path))
    found = docstrings.docstrings.__wrapped__()
    assert [(d.sentence, d.name) for d in found] == [
        ("Holds the pandas.Index of all rows, once.", "A"),
        ("Return the number of the rows that are left.", "A.E.f"),
    ]
    assert len({d.part for d in found}) == 1 and found[0].gives_away and not found[1].gives_away


@pytest.mark.parametrize(
    "sentence", ["Convert a DataFrame to a list.", "Uses PyTorch.", "All Axes of it.", "An np array"]
)
def test_a_sentence_that_names_a_library_is_noticed(sentence):
    assert Docstring(sentence, "f", "pandas", "test").gives_away
