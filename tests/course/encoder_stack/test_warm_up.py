"""A stack learns to reverse with the steps that were asked for, and says what came out."""

import pytest
import torch

from encoder_lib.course.encoder_stack import warm_up
from encoder_lib.course.encoder_stack.warm_up import learn_to_reverse


@pytest.fixture
def rates(monkeypatch):
    """The learning rate of each step that was made."""
    made, step = [], torch.optim.Adam.step

    def note(self, *args, **options):
        made.extend(group["lr"] for group in self.param_groups)
        return step(self, *args, **options)

    monkeypatch.setattr(torch.optim.Adam, "step", note)
    return made


@pytest.mark.parametrize(
    ("warmed", "expected"),
    [
        (0, [0.1] * 6),
        (1, [0.1] * 6),
        (4, [0.025, 0.05, 0.075, 0.1, 0.1, 0.1]),
        (12, [0.1 * s / 12 for s in range(1, 7)]),
    ],
)
def test_learning_rate_rises_for_the_given_steps(rates, warmed, expected):
    learn_to_reverse(1, norm_first=True, warm_up=warmed, steps=6, lr=0.1)
    assert rates == pytest.approx(expected)


@pytest.mark.parametrize("norm_first", [False, True])
def test_one_layer_learns_to_reverse_in_either_order(norm_first):
    losses, right, similarity, arrives = learn_to_reverse(1, norm_first=norm_first, steps=100)
    assert len(losses) == 100 and losses[-1] < 0.5 < losses[0]
    assert right > 0.9 and -0.2 < similarity < 0.9 and 0.01 < arrives < 100


def test_training_depends_only_on_the_seed(nothing_drawn):
    one, again, other = (learn_to_reverse(1, norm_first=True, steps=2, seed=seed) for seed in (0, 0, 1))
    assert one == again != other


def test_untrained_stack_is_at_chance():
    assert learn_to_reverse(1, norm_first=False, steps=1, lr=1e-6).accuracy == pytest.approx(
        1 / warm_up.SYMBOLS, abs=0.08
    )
