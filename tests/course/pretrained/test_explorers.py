"""The explorer of 00 and 09: what the heads of the pretrained model attend to, in any sentence."""

import itertools

import torch
from explorers import SENTENCE, heads, minilm


def test_heads_show_the_attention_of_the_model():
    explorer = heads(layer=6, head=12)
    (panel,) = explorer._view.panels
    weights, tokens = minilm().attention(SENTENCE), minilm().tokens(SENTENCE)
    assert panel.x_ticks == panel.y_ticks == tokens and panel.frames == 12
    assert torch.equal(torch.tensor(panel.frame(11)), weights[5, 11])
    assert (
        "Layer 6, head 12: on average over all tokens, 64 % of its weight, the most, goes to “cat”"
        in explorer.description
    )
    assert "from “the” to “cat”, 80 %" in explorer.description
    explorer.set(layer=1, head=3)
    assert "92 % of its weight, the most, goes to the token before" in explorer.description


def test_the_stored_atlas_frames_the_chosen_head():
    """Also after a step from head to head, which computes nothing anew."""
    explorer = heads(atlas=True, layer=2, head=8)
    explorer.head = 9
    figure = explorer._view.draw(explorer._frame, explorer._positions)
    atlas = next(ax for ax in figure.axes if ax.get_title() == "All 72 heads")
    (frame,) = atlas.patches
    size, middle = explorer._view.panels[0].tile, frame.get_bbox().get_points().mean(axis=0)
    assert not frame.get_fill() and (middle // size).tolist() == [8, 1] and frame.get_width() == size


def test_the_atlas_holds_every_head_and_names_it():
    """And a click on one sets the controls `layer` and `head`."""
    atlas = heads(atlas=True)._view.panels[0]
    assert atlas.picks == ("layer", "head")
    weights = minilm().attention(SENTENCE)
    length = weights.shape[-1]
    gap = 1 + length // 6
    size = length + gap
    assert atlas.values.shape == (6 * size - gap, 12 * size - gap)
    for layer, head in itertools.product(range(6), range(12)):
        tile = atlas.values[layer * size :, head * size :][:length, :length]
        assert torch.equal(torch.tensor(tile), weights[layer, head])
        assert (atlas.y_ticks[layer * size], atlas.x_ticks[head * size]) == (str(layer + 1), str(head + 1))
