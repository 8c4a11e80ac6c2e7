"""Their names beside ours: a row for each name, and a strand from each to its partner."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.pretrained.plots import plot_names

TENSORS = {
    "old.layer.0.second.bias": torch.zeros(3),
    "old.layer.0.second.weight": torch.zeros(3, 2),
    "old.layer.0.first.weight": torch.zeros(2, 2),
    "old.layer.1.first.weight": torch.zeros(2, 2),
    "old.layer.2.first.weight": torch.zeros(2, 2),
    "top.weight": torch.zeros(5),
}
PARTS = {"old.layer": "new.layers", "first": "q_proj", "second": "linear1"}


@pytest.fixture
def ax():
    ours = {name: name for name in TENSORS}
    for theirs, our in PARTS.items():
        ours = {name: new.replace(theirs, our) for name, new in ours.items()}
    drawn = plot_names(TENSORS, ours, title="T")
    yield drawn
    plt.close(drawn.figure)


@pytest.fixture
def height(ax):
    """How high each text is."""
    return {text.get_text(): text.get_position()[1] for text in ax.texts}


def test_each_name_has_a_row_in_which_later_layers_share_one(ax):
    texts = [text.get_text() for text in ax.texts]
    assert texts[:6] == ["in the file", "old.layer.0.", "second", "first", "old.layer.1. … 2.", "top"]
    assert texts[6:11] == ["in our encoder", "new.layers.0.", "q_proj", "linear1", "new.layers.1. … 2."]


def test_shapes_stand_beside_the_names(height):
    assert height["3 × 2, 3"] == height["second"]
    assert height["2 × 2"] == height["first"]
    assert height["5"] == height["top"] == height["no partner"]


def test_a_strand_joins_partners_in_the_hue_of_their_part(ax, height):
    found = {(to_hex(strand.get_edgecolor()), *strand.get_path().vertices[[0, -1], 1]) for strand in ax.patches}
    rows = [("second", "linear1", "forward"), ("first", "q_proj", "query")]
    rows.append(("old.layer.1. … 2.", "new.layers.1. … 2.", "query"))
    assert found == {(LIGHT[role], height[theirs], height[ours]) for theirs, ours, role in rows}


def test_more_numbers_make_a_thicker_strand(ax):
    nine, four, eight = (strand.get_linewidth() for strand in ax.patches)
    assert nine > eight > four
