"""The course's own explorers: what they show is computed, right, and different at the two ends of every control."""

import itertools
import math
import re

import matplotlib.pyplot as plt
import pytest
import torch
from explorers import EXPLORERS, SENTENCE, ends, heads, minilm, picture, similarity

from encoder_lib import explore, sinusoidal_table


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_control_changes_picture_and_description(name):
    for control, (low, high) in ends(EXPLORERS[name]()).items():
        explorer = EXPLORERS[name]()
        explorer.set(**{control: low})
        before = picture(explorer), explorer.description
        explorer.set(**{control: high})
        assert picture(explorer) != before[0] and explorer.description != before[1], control


@pytest.mark.long
@pytest.mark.parametrize("name", EXPLORERS)
def test_every_two_controls_work_at_every_two_ends(name):
    explorer = EXPLORERS[name]()
    start, both = explorer.values, ends(explorer)
    for a, b in itertools.combinations_with_replacement(both, 2):
        for values in itertools.product(both[a], both[b]):
            explorer.set(**start | dict(zip((a, b), values, strict=True)))
            assert not explorer.error and explorer.description.endswith(".")


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_explorer_has_a_static_picture_with_its_description(name):
    explorer = EXPLORERS[name]()
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"] and "<img alt=" in bundle["text/html"] and explorer.description in bundle["text/plain"]


@pytest.mark.parametrize("name", EXPLORERS)
def test_no_control_touches_the_random_numbers_of_the_notebook(name):
    explorer = EXPLORERS[name]()
    before = torch.get_rng_state()
    for control, values in ends(explorer).items():
        for value in values:
            explorer.set(**{control: value})
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", [n for n in EXPLORERS if n not in ("look_up", "training_maps")])  # they mean to draw
def test_making_an_explorer_draws_no_random_numbers(name):
    before = torch.get_rng_state()
    EXPLORERS[name]()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("make", "control"),
    [
        (lambda: explore.normalise(mean=100), "mean"),
        (lambda: explore.depth(order="x"), "order"),
        (lambda: explore.depth(99), "depth"),
        (lambda: explore.block_steps(minilm(), SENTENCE, step=99), "step"),
        (lambda: explore.fit_curve(width=0), "width"),
        (lambda: explore.fit_curve(width=33), "width"),
        (lambda: explore.fit_curve(unit=0), "unit"),
        (lambda: explore.fit_curve(curve="x"), "curve"),
    ],
)
def test_what_a_control_does_not_take_is_refused_before_anything_is_drawn(make, control):
    with pytest.raises(ValueError, match=f"^{control}: expected"):
        make()
    assert plt.get_fignums() == []


def test_look_up_shows_the_rows_that_the_ids_name():
    explorer = explore.look_up(first=1, second=4, third=1)
    one_hot, table, out = (torch.tensor(panel.frame(0)) for panel in explorer._view.panels)
    assert one_hot.argmax(dim=1).tolist() == [1, 4, 1]
    assert table.isnan().any(dim=1).tolist() == [True, False, True, True, False, True]
    assert torch.equal(out, table[[1, 4, 1]])
    assert "rows 1 and 4 are read" in explorer.description and "first and third" in explorer.description


def test_similarity_steps_through_cosines_in_the_front_end():
    explorer = similarity()
    (panel,) = explorer._view.panels
    assert panel.frames == 5 and explorer._frames == "step"
    assert (abs(panel.frame(3).diagonal() - 1) < 1e-6).all()


@pytest.mark.parametrize(
    ("length", "d_model", "base", "shift"), [(64, 128, 10_000, 0), (8, 16, 100, 5), (128, 8, 10, 64)]
)
def test_positional_shows_the_table_and_products_that_do_not_move(length, d_model, base, shift):
    explorer = explore.positional(length, d_model, base, shift)
    table, products = explorer._view.panels
    expected = sinusoidal_table(length + shift, d_model, base=base, dtype=torch.float64)[shift:]
    assert torch.allclose(torch.tensor(table.frame(shift)).double(), expected, atol=1e-6)
    by_hand = expected @ expected[0] / (d_model / 2)
    assert torch.allclose(torch.tensor(products.frame(shift)[:, 0]).double(), by_hand, atol=1e-6)
    assert abs(products.frame(shift) - products.frame(0)).max() < 1e-6
    assert f"{2 * math.pi * base ** (1 - 2 / d_model):,.1f} positions" in explorer.description
    assert f"Positions {shift} to {shift + length - 1} " in explorer.description


def test_shift_costs_no_computation():
    explorer = explore.positional()
    view = explorer._view
    explorer.shift = 7
    assert explorer._view is view
    explorer.base = 500
    assert explorer._view is not view


def test_clocks_turn_by_the_shift_alone():
    explorer = explore.clocks(position=3, shift=5)
    turned = re.search(r"turn by (.*)\.", explorer.description).group(1)
    expected = [round(math.degrees(5 * 100 ** (-2 * k / 8))) % 360 for k in range(4)]
    assert turned == ", ".join(f"{angle}°" for angle in expected)
    explorer.position = 77
    assert turned in explorer.description
    explorer.shift = 6
    assert turned not in explorer.description


def test_clocks_that_come_back_show_the_same_picture():
    explorer = explore.clocks(position=0, shift=1)
    before = explorer._picture
    explorer.position = 50
    assert explorer._picture != before
    explorer.position = 0
    assert explorer._picture == before


def test_rows_that_are_not_read_are_called_so():
    assert [panel["missing"] for panel in explore.look_up()._panels] == ["NaN", "not read", "NaN"]


def test_heads_show_the_attention_of_the_model():
    explorer = heads(layer=6, head=12)
    (panel,) = explorer._view.panels
    weights, tokens = minilm().attention(SENTENCE), minilm().tokens(SENTENCE)
    assert panel.x_ticks == panel.y_ticks == tokens and panel.frames == 12
    assert torch.equal(torch.tensor(panel.frame(11)), weights[5, 11])
    assert "Layer 6, head 12: most of all it looks at “cat”" in explorer.description
    assert "“the” at “cat”, 80 %" in explorer.description
    explorer.set(layer=1, head=3)
    assert "the token before, with 92 %" in explorer.description


def test_the_atlas_holds_every_head_and_names_it():
    atlas = heads(atlas=True)._view.panels[0]
    weights = minilm().attention(SENTENCE)
    size = weights.shape[-1] + 1
    assert atlas.values.shape == (6 * size - 1, 12 * size - 1)
    for layer, head in itertools.product(range(6), range(12)):
        tile = atlas.values[layer * size :, head * size :][: size - 1, : size - 1]
        assert torch.equal(torch.tensor(tile), weights[layer, head])
        assert (atlas.y_ticks[layer * size], atlas.x_ticks[head * size]) == (str(layer + 1), str(head + 1))


HOSTILE = ["", " ", "🙂" * 40, "你好世界" * 30, "<b>$x^$</b>", "\ud800", "w" * 1_000_000, "a " * 500, "\x00\n"]


@pytest.mark.parametrize("sentence", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_can_be_typed(sentence):
    explorer = heads(atlas=True)
    explorer.sentence = sentence
    assert not explorer.error and len(explorer.sentence) <= 100
    assert max(panel.rows for panel in explorer._view.panels) <= 512
    assert explorer._repr_mimebundle_()[0]["image/png"]
