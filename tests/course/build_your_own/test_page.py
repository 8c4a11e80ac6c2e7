"""The page to print says what was built and measured, and nothing that it was not given."""

import re

import pytest
from own_parts import stubs, workshop

from encoder_lib.course.build_your_own import Page

MEASURED = {"cards answered": "99.9 %", "largest difference": "1e-15"}


def test_it_says_what_is_the_readers_and_what_was_measured():
    mine = workshop(Attention=lambda *_: ...)
    page = Page(mine, MEASURED, name="Ada")
    assert repr(page).splitlines()[0] == "A Transformer encoder by Ada: 8 of 9 parts written by hand"
    assert "Attention: lent by the library" in repr(page) and "Norm: own" in repr(page)
    assert repr(page).endswith("cards answered: 99.9 %\nlargest difference: 1e-15")
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", page._repr_html_())
    assert cells == [text for row in page.rows() for text in row]


def test_nobodys_page_has_no_name():
    assert repr(Page(stubs(), MEASURED)).splitlines()[0] == "A Transformer encoder: 0 of 9 parts written by hand"


def test_what_the_reader_types_never_becomes_markup(tmp_path):
    page = Page(stubs(), {"<b>a</b>": "<script>"}, name="<img src=x>")
    page.save(tmp_path / "mine.html")
    for text in (page._repr_html_(), (tmp_path / "mine.html").read_text(encoding="utf-8")):
        assert "<script>" not in text and "<img" not in text and "<b>" not in text
        assert "&lt;img src=x&gt;" in text


def test_a_page_that_is_there_is_never_overwritten(tmp_path):
    path = tmp_path / "mine.html"
    path.write_text("a diary", encoding="utf-8")
    with pytest.raises(FileExistsError, match=r"expected a name that is free, got 'mine\.html'"):
        Page(stubs(), MEASURED).save(path)
    assert path.read_text(encoding="utf-8") == "a diary"
