"""The drawings: which parts are lit, what is said of them, and that nothing runs over anything else."""

from xml.etree import ElementTree

import pytest
from notebook_rules import Tags

from encoder_lib.course.plots import ENCODER_PARTS, draw_encoder

SVG = "{http://www.w3.org/2000/svg}"


def lit(drawing):
    """The parts of a drawing that are lit, and those that are not."""
    groups = [group for group in ElementTree.fromstring(drawing.svg).iter(f"{SVG}g")]
    return [{g.get("data-part") for g in groups if (g.get("class") == "lit") == is_lit} for is_lit in (True, False)]


@pytest.mark.parametrize("name", ENCODER_PARTS)
def test_the_part_that_is_named_is_lit_and_only_it(name):
    assert lit(draw_encoder(name)) == [{name}, {*ENCODER_PARTS} - {name}]


def test_none_or_all_parts_are_lit():
    assert lit(draw_encoder()) == [set(), {*ENCODER_PARTS}]
    assert lit(draw_encoder(*ENCODER_PARTS)) == [{*ENCODER_PARTS}, set()]


@pytest.mark.parametrize("name", ["atention", "", None])
def test_an_unknown_part_is_refused(name):
    with pytest.raises(ValueError, match=rf"lit: expected one of 'tokens', .*, got {name!r}"):
        draw_encoder("norm", name)


def test_the_alt_text_says_what_is_drawn_and_what_is_lit():
    drawing = draw_encoder("feed_forward", "norm")
    assert drawing.alt.endswith(" Lit: feed-forward, norm.") and "Lit" not in draw_encoder().alt
    shown = drawing._repr_mimebundle_()
    ((tag, attributes),) = Tags(shown["text/html"]).found
    assert tag == "img" and attributes["alt"] == drawing.alt and drawing.alt in shown["text/plain"]
    root = ElementTree.fromstring(drawing.svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", drawing.alt)
