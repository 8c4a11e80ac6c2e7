"""The explorer of 06_encoder_block: each part's arithmetic on one row, as torch computes it."""

import pytest
import torch
import torch.nn.functional as F
from explorers import SENTENCE, minilm

from encoder_lib.course import explore
from encoder_lib.course.encoder_block.explorers import FROM, LINES, STEPS


def numbers(explorer, step):
    """The numbers that are seen at a step, row by row, each as (name of the row, its five numbers)."""
    (panel,) = explorer._view.panels
    labels, seen = panel.labels[step], panel.frame(step)[:, 4] > 0
    rows = len(labels) - 6 * len(STEPS)
    parts = [range(start, start + 6) for start in range(rows, len(labels), 6)]
    shown = sorted((panel.frame(step)[part[0], 1], part) for part in parts if seen[part[0]])
    return [(labels[part[0]], [float(labels[i].replace("−", "-")) for i in part[1:]]) for _, part in shown]


def by_torch(layer, x):
    """Every row of a post-norm layer at x (T, D), with torch's own norm and activation."""

    def norm(x, part):
        return F.layer_norm(x, x.shape[-1:], part.weight, part.bias, part.eps)

    attended = layer.attention(x[None], x[None], x[None])[0]
    first = norm(x + attended, layer.norm1)
    thought = layer.feed_forward.linear2(F.gelu(layer.feed_forward.linear1(first)))
    return [x, attended, x + attended, first, thought, first + thought, norm(first + thought, layer.norm2)]


@pytest.mark.parametrize(("layer", "word"), [(1, 0), (3, 8)])
def test_each_part_shows_what_torch_computes(layer, word):
    model = minilm()
    explorer = explore.one_row(model, SENTENCE, word=word, layer=layer)
    layers = list(model.encoder.encoder.layers)
    with torch.no_grad():
        x = model.encoder.embedding(model.ids(SENTENCE))
        for below in layers[: layer - 1]:
            x = below(x)
        rows = [row[word] for row in by_torch(layers[layer - 1], x[0])]
    largest = int(rows[5][4:].abs().argmax()) + 4
    for step, name in enumerate(STEPS):
        *operands, (_, result) = numbers(explorer, step)
        assert result == pytest.approx(rows[step][[0, 1, 2, 3, largest]].tolist(), abs=0.051)
        assert [row for _, row in operands] == [numbers(explorer, STEPS.index(other))[-1][1] for other in FROM[name]]


def test_a_sum_is_written_as_two_rows_and_their_sum():
    explorer = explore.one_row(minilm(), SENTENCE, word=8)
    (x, first), (added, second), (total, third) = numbers(explorer, 2)
    assert (x, added, total) == ("x", "attention", "sum 1")
    (panel,) = explorer._view.panels
    signs = [i for i, label in enumerate(panel.labels[2]) if label in "+=" and panel.kinds[i] == "note" and label]
    assert [panel.labels[2][i] for i in signs] == ["+", "="]
    assert [panel.frame(step)[signs, 4].tolist() for step in (0, 2, 3)] == [[0, 0], [1, 1], [0, 1]]
    beside = [i for i, label in enumerate(panel.labels[2]) if label in ("0.10", "0.50") and panel.frame(2)[i, 4]]
    assert {*panel.frame(2)[signs, 1]} <= {*panel.frame(2)[beside, 1]}, "at the height of the numbers that they make"
    assert [a + b for a, b in zip(first, second, strict=True)] == pytest.approx(third, abs=0.0151)
    assert explorer.description.startswith("Step 2, sum 1, in dimensions 0, 1, 2, 3 and 63: x (0.40, ")


def test_each_part_of_the_drawing_leads_to_its_step():
    (panel,) = explore.one_row(minilm(), SENTENCE)._view.panels
    leading = {panel.labels[0][i]: step for i, step in enumerate(panel.steps) if step >= 0}
    assert leading == {"x": 0, "attention": 1, "norm 1": 3, "feed-forward": 4, "+": 5, "norm 2": 6, "y": 6}
    assert panel.steps[len(LINES) + 2] == 2


def test_layers_with_their_norms_first_are_refused(monkeypatch):
    monkeypatch.setattr(minilm().encoder.encoder.layers[0], "norm_first", True)
    with pytest.raises(ValueError, match="post-norm"):
        explore.one_row(minilm(), SENTENCE)
