"""The explorer in 06_encoder_block shows the tensors of a real layer, each as it is computed and where."""

import re

import pytest
import torch
import torch.nn.functional as F
from explorers import SENTENCE, minilm

from encoder_lib import EncoderLayer
from encoder_lib.course import explore
from encoder_lib.course.encoder_block.explorers import ORDERS, STEPS, layer_tensors, rewired, side_by_side, tiles
from encoder_lib.course.encoder_block.plots import BLOCK_PARTS


@pytest.fixture
def explorer():
    return explore.block_steps(minilm(), SENTENCE)


def by_hand(layer, x, norm_first):
    """Every tensor of a layer in order, computed from its parameters alone."""

    def linear(x, m):
        return x @ m.weight.double().T + m.bias.double()

    def norm(x, m):
        return F.layer_norm(x, x.shape[-1:], m.weight.double(), m.bias.double(), m.eps)

    def attend(x):
        heads = [linear(x, m).unflatten(-1, (12, 32)).transpose(0, 1) for m in (a.q_proj, a.k_proj, a.v_proj)]
        scores = heads[0] @ heads[1].transpose(1, 2) / 32**0.5
        out = scores.softmax(-1) @ heads[2]
        return [*heads, scores, scores.softmax(-1), out, linear(out.transpose(0, 1).flatten(1), a.out_proj)]

    def think(x):
        before = linear(x, f.linear1)
        return [before, F.gelu(before), linear(F.gelu(before), f.linear2)]

    a, f = layer.attention, layer.feed_forward
    if norm_first:
        first = norm(x, layer.norm1)
        inside = attend(first)
        stream = x + inside[-1]
        second = norm(stream, layer.norm2)
        thought = think(second)
        return [x, first, *inside, stream, second, *thought, stream + thought[-1]]
    inside = attend(x)
    first = norm(x + inside[-1], layer.norm1)
    thought = think(first)
    stream = first + thought[-1]
    return [x, *inside, x + inside[-1], first, *thought, stream, norm(stream, layer.norm2)]


def shown(explorer):
    """The matrix shown as colours beside the drawing of the layer."""
    (image,) = explorer._figure.axes[0].images
    return torch.as_tensor(image.get_array().filled(float("nan"))).double()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("layer", [1, pytest.param(6, marks=pytest.mark.long)])
@torch.no_grad()
def test_every_step_shows_the_tensor_that_it_names(order, layer):
    model = minilm()
    explorer = explore.block_steps(model, SENTENCE, layer=layer, order=order)
    layers = model.encoder.encoder.layers
    x = model.encoder.embedding(model.ids(SENTENCE))
    for below in layers[: layer - 1]:
        x = below(x)
    for number, values in enumerate(by_hand(layers[layer - 1], x[0].double(), order == "pre-norm"), start=1):
        explorer.step = number
        step = layer_tensors(order == "pre-norm", "gelu")[number - 1]
        matrix = {"(H, T, T)": tiles, "(H, T, K)": side_by_side}.get(step.letters, torch.clone)(values)
        torch.testing.assert_close(shown(explorer), matrix, atol=1e-3, rtol=1e-4, equal_nan=True)
        assert f"step {number} of {STEPS}: {step.name}" in explorer.description
        assert f"shape {step.letters} = {tuple(values.shape)}" in explorer.description
        if step.letters != "(H, T, T)":
            length = values.square().sum(dim=(0, 2) if values.ndim == 3 else 1).sqrt().mean()
            assert f"vector is {length:.1f} long" in explorer.description
        assert f"Mean {values.mean().item() + 0.0:.2f}, standard deviation".replace("-0.00", "0.00") in (
            explorer.description
        )


@pytest.mark.parametrize("norm_first", [False, True])
def test_fifteen_tensors_from_parts_in_the_drawing(norm_first):
    steps = layer_tensors(norm_first)
    assert len(steps) == STEPS == len({s.name for s in steps})
    assert {s.part for s in steps} <= set(BLOCK_PARTS)
    assert steps[0].part == "x" and steps[-1].part == ("sum2" if norm_first else "norm2")
    assert "ReLU" in "".join(s.formula for s in steps)


def test_the_drawing_highlights_the_part_that_computes_the_tensor(explorer):
    pictures = {}
    for step, part in ((8, "attention"), (9, "sum1"), (10, "norm1"), (13, "feed_forward")):
        explorer.step = step
        pictures[part] = bytes(explorer._figure.axes[-1].images[0].get_array()[:, :260].tobytes())
    assert len(set(pictures.values())) == 4
    explorer.step = 2  # the same part as step 8, so the same drawing beside other colours
    assert explorer._figure.axes[-1].images[0].get_array()[:, :260].tobytes() == pictures["attention"]


def test_the_first_layer_keeps_most_of_its_input(explorer):
    cosine = {}
    for step in (8, 9, 15):
        explorer.step = step
        cosine[step] = float(re.search(r"its own x is (-?[\d.]+)\.", explorer.description).group(1))
    assert cosine[8] < 0.5 < 0.8 < cosine[15] and cosine[9] > 0.9


def test_the_number_furthest_from_zero_is_named_with_its_position(explorer):
    explorer.set(step=13)
    assert "at “[CLS]”, in dimension 99" in explorer.description
    explorer.set(step=6)
    assert re.search(r"in head 3, where “\S+” attends to “\S+”", explorer.description)


def test_the_order_that_was_not_trained_is_named(explorer):
    assert "trained in" not in explorer.description
    explorer.order = "pre-norm"
    assert explorer.description.endswith("These parameters were trained in post-norm order.")


def test_rewiring_shares_the_parameters_and_leaves_the_layer_unchanged():
    torch.manual_seed(0)
    layer, x = EncoderLayer(8, 2, 16).eval(), torch.randn(1, 3, 8)
    before = layer(x)
    other = rewired(layer, norm_first=True)
    assert other.norm_first and not layer.norm_first and not other.training
    assert other.attention is layer.attention and other.norm2 is layer.norm2
    expected = x + layer.attention(*[layer.norm1(x)] * 3)
    torch.testing.assert_close(other(x), expected + layer.feed_forward(layer.norm2(expected)))
    assert torch.equal(layer(x), before) and torch.equal(rewired(layer, norm_first=False)(x), before)


def test_rewiring_keeps_the_modes_of_the_shared_parts():
    layer = EncoderLayer(8, 2, 16).train()
    layer.attention.eval()
    rewired(layer, norm_first=True)
    assert layer.norm1.training and not layer.attention.training and not layer.attention.q_proj.training


def test_heads_are_side_by_side_or_in_squares():
    values = torch.arange(24.0).reshape(3, 2, 4)  # (H, T, K)
    wide = side_by_side(values)
    assert wide.shape == (2, 3 * 4 + 2 * 3)
    assert torch.equal(wide[:, 7:11], values[1]) and wide[:, 4:7].isnan().all()
    maps = torch.arange(12.0).reshape(3, 2, 2)  # three heads: two in the first row, one in the second
    grid = tiles(maps)
    assert grid.shape == (5, 5) and grid[2].isnan().all() and grid[3:, 3:].isnan().all()
    assert torch.equal(grid[:2, 3:], maps[1]) and torch.equal(grid[3:, :2], maps[2])
