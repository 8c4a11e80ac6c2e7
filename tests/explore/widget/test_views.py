"""Heatmaps on their way to the front end: every number and every label arrives, and what cannot travel is refused."""

import numpy as np
import pytest
import torch
from small_explorers import HOSTILE, numbers, still

from encoder_lib.explore import Explorer, Heatmap, View
from encoder_lib.explore.widget.views import colour_table

# ---- heatmaps ----


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (64, 128), (512, 512)])
def test_the_front_end_gets_the_matrix(shape):
    values = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(numbers(still(values)), values.astype(np.float32))


def test_panels_stand_one_after_another():
    first, second = np.eye(3), np.arange(8.0).reshape(2, 4)
    explorer = Explorer(lambda: View(Heatmap(first), Heatmap(second), description="Two."), title="Two")
    np.testing.assert_array_equal(numbers(explorer, panel=0), first)
    np.testing.assert_array_equal(numbers(explorer, panel=1), second)


def test_a_half_precision_tensor_with_gradient_converts_and_stays_as_it_was():
    values = torch.tensor([[0.5, -1.0]], dtype=torch.bfloat16, requires_grad=True)
    np.testing.assert_array_equal(numbers(still(values)), [[0.5, -1]])
    assert values.requires_grad and values.dtype == torch.bfloat16


def test_an_array_is_copied():
    values = np.ones((2, 2), dtype=np.float32)
    panel = Heatmap(values)
    values[:] = 7
    assert (panel.values == 1).all()


def test_nan_and_infinity_travel_but_do_not_count():
    values = np.array([[np.nan, np.inf], [-np.inf, 2.0], [1.0, 1.5]])
    explorer = still(values)
    np.testing.assert_array_equal(numbers(explorer), values)
    assert explorer._limits == [[1, 2]]


@pytest.mark.parametrize(
    ("values", "cmap", "limits"),
    [
        (np.zeros((2, 2)), "viridis", [-0.5, 0.5]),
        (np.zeros((2, 2)), "coolwarm", [-1, 1]),
        ([[-2.0, 1.0]], "PuOr", [-2, 2]),
    ],
)
def test_limits_fit_the_data(values, cmap, limits):
    assert still(values, cmap=cmap)._limits == [limits]


def test_what_float32_cannot_hold_is_infinite():
    assert numbers(still([[1e300, 1.0]]))[0, 0] == np.inf


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,), (2, 3, 4, 5), (513, 2), (2, 513)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="expected"):
        Heatmap(np.zeros(shape))


@pytest.mark.parametrize(
    "wrong",
    [
        {"x_ticks": ["a"]},
        {"y_ticks": list("abc")},
        {"limits": (1, 0)},
        {"cmap": "rainbowish"},
        {"window": 3},
        {"window": 0},
    ],
)
def test_settings_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        Heatmap(np.zeros((2, 2)), **wrong)


@pytest.mark.parametrize("text", HOSTILE)
def test_labels_are_cut_and_fit_for_the_wire(text):
    spec = Heatmap([[1.0]], title=text, x_label=text, y_label=text, x_ticks=[text], y_ticks=[text]).wire()
    for sent in (spec["title"], spec["x_label"], spec["y_label"], *spec["x_ticks"], *spec["y_ticks"]):
        assert len(sent.encode()) <= 500


def test_a_colour_table_holds_256_colours():
    table = np.frombuffer(colour_table("viridis"), dtype=np.uint8).reshape(256, 3)
    np.testing.assert_array_equal(table[[0, -1]], [[68, 1, 84], [253, 231, 36]])
    assert still([[1.0]], cmap="coolwarm")._colours == {"coolwarm": colour_table("coolwarm")}
