"""The steps of one token's attention: what is drawn and said are the numbers of a trace, in rows of equal height."""

import itertools
from collections import Counter

import numpy as np
import pytest
from explorers import PAIR, minilm
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, FancyArrowPatch, PathPatch, Rectangle
from matplotlib.path import Path

from encoder_lib import trace
from encoder_lib.course.kit.interventions import Cut, Question
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import show
from encoder_lib.course.kit.widget.alive_chain import (
    NARROW,
    ROW,
    SHADES,
    STRIP,
    WIDE,
    draw_chains,
    finding,
    in_words,
    share,
)

LAYER, HEAD = 2, 1  # counted from 0: several tokens have a weight here
TEXT = "The trophy does not fit into the suitcase because it is too big."


@pytest.fixture(scope="module")
def it(intervened):
    """The sentence, its open head and the place of “it”."""
    (sentence,) = intervened.ask(Question((TEXT,), "it", detail=(LAYER, HEAD))).sentences
    return sentence, sentence.detail, sentence.tokens.index("it")


@pytest.fixture(scope="module")
def traced():
    """What the encoder computes in that head."""
    model = minilm()
    with trace(model.encoder) as t:
        model.encoder(model.ids(TEXT))
    names = ("query", "key", "value", "scores", "weights", "heads")
    return {name: t[f"encoder.layers.{LAYER}.attention.{name}"][0, HEAD].detach() for name in names}


def drawn(opened, *, wide=True):
    (ax,) = draw_chains(opened, wide=wide).axes
    return ax


def chain_of_it(it, *, wide=True):
    return drawn([(*it[:2], "sentence-1")], wide=wide)


def bars_of(ax, roles, left, right):
    """The bars of some roles between two edges, from the top."""
    colours = [to_rgba(LIGHT[role]) for role in roles]
    bars = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_facecolor() in colours]
    inside = [bar for bar in bars if left <= bar.get_x() <= right]
    return sorted(inside, key=lambda bar: bar.get_y())


def colour_of(patch):
    """The role that its edge has."""
    return next((role for role, colour in LIGHT.items() if to_rgba(colour)[:3] == patch.get_edgecolor()[:3]), None)


def curves_of(ax, role):
    """The curves of a role, in order."""
    paths = [patch for patch in ax.patches if isinstance(patch, PathPatch) and patch.get_path().codes is not None]
    return [patch for patch in paths if Path.CURVE4 in patch.get_path().codes and colour_of(patch) == role]


def cells_of(ax, role, span, heights):
    """The shades of the cells in a column of strips, below zero for negative numbers: (strips, components)."""
    found = {}
    for patch in ax.patches:
        sign = {role: 1, "line-strong": -1}.get(colour_of(patch))
        if sign and isinstance(patch, PathPatch) and patch.get_alpha() and patch not in curves_of(ax, role):
            for x, y in patch.get_path().vertices[::2]:
                if span[0] <= x <= span[1] and heights[0] <= y <= heights[1]:
                    found[y, x] = sign * patch.get_alpha()
    rows, columns = (sorted({place[i] for place in found}) for i in (0, 1))
    return np.array([[found.get((y, x), 0) for x in columns] for y in rows])


def words_of(ax):
    return [text.get_text() for text in ax.texts]


def test_scores_and_weights_are_those_of_a_trace(it, traced):
    ax, place = chain_of_it(it), it[2]
    scores, weights = traced["scores"][place].numpy(), traced["weights"][place].numpy()
    (left, right), (first, last) = WIDE.scores, WIDE.weights
    lengths = np.array([bar.get_width() for bar in bars_of(ax, ("ink", "quiet"), left, right)])
    np.testing.assert_allclose(lengths / lengths.max(), scores / scores.max(), rtol=1e-4)
    lengths = np.array([bar.get_width() for bar in bars_of(ax, ("attention",), first, last)])
    np.testing.assert_allclose(lengths / lengths.sum(), weights, atol=1e-6)
    said = words_of(ax)
    assert {f"{score:.1f}".replace("-", "−") for score in scores} <= set(said)
    assert {share(weight) for weight in weights.tolist() if weight >= 0.005} <= set(said)


@pytest.mark.parametrize("wide", [True, False], ids=["wide", "phone"])
def test_strips_hold_the_vectors_of_a_trace(it, traced, wide):
    ax, place, layout = chain_of_it(it, wide=wide), it[2], WIDE if wide else NARROW
    end = ax.get_ylim()[0]
    first, second = (0, end / layout.bands), (end - end / layout.bands, end)
    for role, span, heights, vectors, scale in (
        ("query", layout.query, first, traced["query"][place : place + 1], traced["query"][place]),
        ("key", layout.keys, first, traced["key"], traced["key"]),
        ("value", layout.values, second, traced["value"], traced["value"]),
        ("value", layout.mean, second, traced["heads"][place : place + 1], traced["value"]),
    ):
        shades = np.round(SHADES * (vectors / scale.abs().max()).numpy()) / SHADES
        shades = shades[shades.any(axis=1)][:, shades.any(axis=0)]  # some strips are so pale that nothing is drawn
        np.testing.assert_allclose(cells_of(ax, role, span, heights), shades, atol=1.01 / SHADES)


def test_a_ribbon_is_as_wide_as_its_weight_and_ends_at_the_mean(it, traced):
    ax, weights = chain_of_it(it), traced["weights"][it[2]].tolist()
    ribbons = curves_of(ax, "value")  # the hue of attention, too
    wanted = [max(0.6, STRIP * weight) * 0.75 for weight in weights]
    assert [ribbon.get_linewidth() for ribbon in ribbons] == pytest.approx(wanted, rel=1e-4)
    assert {ribbon.get_path().vertices[-1][0] for ribbon in ribbons} == {WIDE.mean[0]}
    assert len(curves_of(ax, "query")) == len(weights), "one line to each key"


@pytest.mark.parametrize("layout", [WIDE, NARROW], ids=["wide", "phone"])
def test_the_stream_runs_past_all_columns_and_what_attention_computes_is_added_to_it(it, layout):
    ax = chain_of_it(it, wide=layout is WIDE)
    (plus,) = (patch for patch in ax.patches if isinstance(patch, Circle))
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch) and colour_of(patch) == "stream"]
    stream, to_query, back = (arrow._path_original for arrow in arrows)  # in the units of the axes
    assert arrows[0].get_linewidth() > 2 * arrows[1].get_linewidth()
    assert stream.vertices[0][0] == layout.query[0] and stream.vertices[:, 0].max() > layout.mean[1] - 4
    assert stream.intersects_path(plus.get_path().transformed(plus.get_patch_transform()), filled=False)
    assert stream.vertices[0][1] == to_query.vertices[0][1] and layout.query[0] < to_query.vertices[0][0]
    strips = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_height() == STRIP]
    for column, (x, y) in ((layout.query, to_query.vertices[-1]), (layout.mean, back.vertices[0])):
        (strip,) = (strip for strip in strips if strip.get_x() == column[0])
        assert column[0] < x < column[1] and 0 < y - strip.get_bbox().y1 < 4, "at the lower edge of the strip"
    assert np.hypot(*(back.vertices[-1] - plus.center)) == pytest.approx(plus.radius)
    assert any(  # the stream has the name of its token
        text.get_text() == "it" and text.get_position() == (layout.names, pytest.approx(stream.vertices[0][1], abs=5))
        for text in ax.texts
    )


@pytest.mark.parametrize(("wide", "layout"), [(True, WIDE), (False, NARROW)], ids=["wide", "phone"])
def test_rows_are_equally_high_and_nothing_is_cut_off_or_overlaps(intervened, wide, layout):
    answer = intervened.ask(Question(PAIR, "bank", detail=(0, 2)))
    opened = list(
        zip(answer.sentences, [s.detail for s in answer.sentences], ("sentence-1", "sentence-2"), strict=True)
    )
    ax = drawn(opened, wide=wide)
    ax.figure.draw_without_rendering()
    names = [text for text in ax.texts if text.get_position()[0] == layout.names]
    assert len(names) == sum(layout.bands * len(s.tokens) + 1 for s in answer.sentences), "and beside the stream"
    heights = sorted(text.get_position()[1] for text in names)
    steps = Counter(round(below - above) for above, below in itertools.pairwise(heights))
    assert min(steps) == ROW and steps[ROW] == sum(layout.bands * (len(s.tokens) - 1) for s in answer.sentences)
    assert words_of(ax).count("Layer 1, head 3, in both sentences") == 1
    assert words_of(ax).count("scores") == (1 if wide else 2), "the names of the columns, once where there is one band"
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not [(a, b) for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]
    whole = ax.figure.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 + 4 for box in boxes)
    assert min(text.get_fontsize() for text in ax.texts) / 0.75 >= 11
    bold = {text.get_text() for text in names if text.get_weight() == "bold"}
    assert bold == {"bank", "river", "big"}


def test_the_open_layer_is_framed_among_all_six(it):
    ax = chain_of_it(it)
    number = {text.get_text(): text for text in ax.texts if text.get_position()[0] > WIDE.mean[0] - 60}
    boxes = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_edgecolor() == to_rgba(LIGHT["ink"])]
    framed = [box for box in boxes if box.get_linewidth() and box.get_facecolor() == to_rgba(LIGHT["band-lit"])]
    assert len(framed) == 1 and framed[0].get_bbox().contains(*number[str(LAYER + 1)].get_position())
    assert [number[n].get_weight() for n in "123456"] == ["bold" if n == LAYER + 1 else "normal" for n in range(1, 7)]


@pytest.mark.parametrize("wide", [True, False], ids=["wide", "phone"])
def test_it_fills_the_page_or_the_phone(it, wide):
    svg = show(chain_of_it(it, wide=wide).figure, alt="One.").svg
    assert f'width="{761 if wide else 367}"' in svg and len(svg) < 60_000


@pytest.mark.parametrize(
    ("weight", "text"),
    [(0.0, "0 %"), (1e-9, "< 0.0001 %"), (0.0008, "0.08 %"), (0.005, "1 %"), (0.786, "79 %"), (0.9991, "99.9 %"),
     (0.99998, "> 99.9 %"), (1.0, "100 %")],
)  # fmt: skip
def test_shares_are_honest_near_none_and_all(weight, text):
    assert share(weight) == text


def test_the_words_say_what_is_found(it):
    sentence, detail, _ = it
    assert finding(sentence, detail) == "In layer 3, head 2, “it” gives “big” 79 % of its attention"
    assert in_words(sentence, detail).endswith(": the score of its key is 5.4, and the highest of the others is 3.4")
    said = words_of(chain_of_it(it))
    assert {"the other 9: 1 %", "q · k ÷ √32", "residual stream: the vector of “it”"} <= set(said)


def test_a_cut_key_is_named_and_with_all_keys_cut_it_attends_to_nothing(intervened):
    count = len(minilm().tokens(TEXT))
    place = minilm().tokens(TEXT).index("it")
    one, every = [Cut(0, None, None, place, 13)], [Cut(0, None, None, place, key) for key in range(count)]
    for cuts, cut in ((one, 1), (every, count)):
        asked = Question((TEXT,), "it", tuple(cuts), detail=(LAYER, HEAD))
        (sentence,) = intervened.ask(asked).sentences
        said = words_of(drawn([(sentence, sentence.detail, "sentence-1")]))
        assert said.count("cut") == cut
    assert in_words(sentence, sentence.detail) == "In layer 3, head 2, “it” attends to nothing"


def test_a_token_can_attend_to_itself(intervened):
    (sentence,) = intervened.ask(Question(("bank",), "bank", detail=(0, 2))).sentences
    sentence.weights[0][2, 1] = sentence.weights[0][2, 1].new_tensor([0.1, 0.7, 0.2])
    assert finding(sentence, sentence.detail) == "In layer 1, head 3, “bank” gives itself 70 % of its attention"
