"""The explorers of 01_embedding: the rows that ids read, and words during training as cosines and as arrows."""

import pytest
import torch
from explorers import EXPLORERS

from encoder_lib.course import explore


def test_look_up_shows_the_rows_that_the_ids_name():
    explorer = explore.look_up(first=1, second=4, third=1)
    one_hot, table, out = (torch.tensor(panel.frame(0)) for panel in explorer._view.panels)
    assert one_hot.argmax(dim=1).tolist() == [1, 4, 1]
    assert table.isnan().any(dim=1).tolist() == [True, False, True, True, False, True]
    assert torch.equal(out, table[[1, 4, 1]])
    assert [panel["missing"] for panel in explorer._panels] == ["NaN", "not read", "NaN"]
    assert "rows 1 and 4 are read" in explorer.description and "first and third" in explorer.description


def test_similarity_steps_through_cosines_in_the_front_end():
    explorer = EXPLORERS["similarity"]()
    (panel,) = explorer._view.panels
    assert panel.frames == 5 and explorer._frames == "step"
    assert (abs(panel.frame(3).diagonal() - 1) < 1e-6).all()


def test_word_arrows_hold_each_training_step_by_step():
    """Their points are the tables, colours tell the kinds, and the description measures angles and lengths."""
    right, up = torch.tensor([2.0, 0.0]), torch.tensor([0.0, 4.0])
    together = torch.stack([right, right, up, up])  # two kinds, 90° from each other
    apart = torch.stack([right, -right, right, -right])
    runs = [torch.stack([apart, together]), torch.stack([together, apart])]
    explorer = explore.word_arrows(runs, list("abcd"), ["x", "x", "y", "y"])
    (panel,) = explorer._view.panels
    assert explorer.step == 1 and panel.colours == [0, 0, 1, 1] and panel.arrows
    for n in (0, 1):
        assert torch.equal(torch.tensor(panel.frame(n)), runs[0][n])
    expected = "same kind are 0° apart on average, two of different kinds 90°. The mean length of an arrow is 3.0."
    assert explorer.description == f"Training 1 after 1 steps: two words of the {expected}"
    explorer.training = 2
    assert "Training 2 after 1 steps: two words of the same kind are 180° apart" in explorer.description
    assert torch.equal(torch.tensor(explorer._view.panels[0].frame(0)), together)


@pytest.mark.parametrize("shape", [(3, 4, 3), (1, 4, 2), (4, 2)])
def test_word_arrows_need_two_numbers_and_two_steps(shape):
    with pytest.raises(ValueError, match=r"expected .*steps"):
        explore.word_arrows([torch.zeros(shape)], list("abcd"), list("xxyy"))


def ball(explorer, step):
    """Where the ball is after a step, as drawn."""
    (panel,) = explorer._view.panels
    return panel.frame(step)[0].tolist()


def test_the_ball_moves_as_plain_gradient_descent_would():
    """Each step multiplies w by 1 - rate; the trail ends where the ball is."""
    for rate in (0.3, 1.8, 2.0):
        explorer = explore.valley(rate)
        for step in (0, 1, 5, 24):
            w = -2.4 * (1 - rate) ** step
            assert ball(explorer, step) == pytest.approx([w, w * w / 2], abs=1e-6)
        trail = explorer._view.panels[0].frame(5)[50:]
        assert (trail[5:] == trail[5]).all() and trail[5].tolist() == ball(explorer, 5)


def test_kept_gradients_add_up():
    explorer = explore.valley(0.1, 2, zero_grad=False)
    gradients = [-2.4, -2.4 + 0.1 * 2.4]  # at the first two places
    w = gradients[1] - 0.1 * sum(gradients)
    assert ball(explorer, 2)[0] == pytest.approx(w)
    assert f".grad, which the next step uses, is {sum(gradients) + w:.2f}" in explorer.description.replace("−", "-")


def test_the_words_say_when_the_ball_has_left_the_picture():
    assert "The ball has left the picture." in explore.valley(2.1).description
    assert "left" not in explore.valley(1.9).description
    assert explore.valley(1.8, 1).description.startswith("After 1 step, w is 1.92 and the loss 1.84.")
