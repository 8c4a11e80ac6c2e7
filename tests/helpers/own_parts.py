"""Workshops for tests: with right answers for the nine parts, and with nothing written yet."""

from answers import ANSWERS
from torch import nn

from encoder_lib.course.workshop import Workshop
from encoder_lib.course.workshop.own import CHECKS

ONE = {check: next(iter(right.values())) for check, (right, _) in ANSWERS.items()}
OTHER = {check: list(right.values())[-1] for check, (right, _) in ANSWERS.items()}


class Stub(nn.Module):
    """What the notebook begins with."""

    def __init__(self, *sizes):
        super().__init__()

    def forward(self, *inputs): ...


def workshop(answers=ONE, **instead):
    """A workshop of right answers, but for what is given."""
    return Workshop(*(instead.get(name, answers[check]) for name, check in CHECKS.items()))


def stubs():
    return Workshop(*[Stub] * 7, lambda x, real: ..., lambda model, draw, steps, lr: ...)
