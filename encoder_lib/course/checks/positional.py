"""Checks of the exercises of 02_positional_encoding."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import (
    TOLERANCE,
    Case,
    Probe,
    Told,
    Verdict,
    diagnose,
    examine,
    numbers,
    show,
    written,
)
from encoder_lib.model.positional import sinusoidal_table


def check_turned(attempt: Callable) -> Verdict:
    """turned(x, base): pair k of word t, how far up and how far right, moved on by t · ω_k. (T, D) -> (T, D)."""

    def reference(x: Tensor, base: float) -> Tensor:
        sin, cos = sinusoidal_table(*x.shape, base=base, dtype=torch.float64).unflatten(1, (-1, 2)).unbind(-1)
        up, right = x.unflatten(1, (-1, 2)).unbind(-1)  # (T, D/2) each
        return torch.stack([cos * up + sin * right, cos * right - sin * up], dim=-1).flatten(1)  # (T, D)

    cases = [
        Case("one word", (numbers(1, 4), 10_000.0)),
        Case("two words of one pair", (numbers(2, 2), 10_000.0)),
        Case("three words of two pairs", (numbers(3, 4), 10_000.0)),
        Case("another base", (numbers(3, 4), 100.0)),
        Case("two hundred words of 0, 1, 0, 1, 0, 1", (torch.tensor([0.0, 1.0]).double().repeat(200, 3), 10_000.0)),
    ]
    return examine("turned", attempt, reference, cases)


def check_penalty(attempt: Callable) -> Verdict:
    """penalty(length): what the match of word i with word j loses, (T, T), so that a text and its mirror differ.

    Any penalty is right that depends on the steps between two words alone, is 0 for none, grows with each, to the left
    and to the right, and does not treat both sides alike.
    """
    probes = [
        Probe("three words", _a_table),
        Probe("a word and itself", _nothing_for_itself),
        Probe("the same steps, the same loss", partial(_by_steps_alone, length=3)),
        Probe("each step costs more", partial(_grows, length=3)),
        Probe("dog bites man, read backwards", _sees_the_mirror),
        Probe("the same loss in a longer text", _as_in_a_longer_text),
        Probe("each step costs more, to the end of forty words", partial(_grows, length=40), "each step costs more"),
    ]
    return diagnose("penalty", attempt, probes)


def _losses(penalty: Callable, length: int) -> Tensor:
    """What a penalty gives for a text of that length. Raises: Told for anything but T × T finite numbers."""
    got = written(penalty(length), penalty)
    if not isinstance(got, Tensor):
        raise Told(f"with length {length}: expected a tensor, got {type(got).__name__}")
    if got.shape != (length, length):
        raise Told(f"with length {length}: expected shape {(length, length)}, got {tuple(got.shape)}")
    losses = got.detach().double()
    if not losses.isfinite().all():
        raise Told(f"with length {length}: a loss of inf or nan shuts a word out\ngot {show(losses)}")
    return losses


def _a_table(penalty: Callable) -> str:
    _losses(penalty, 3)
    return ""


def _nothing_for_itself(penalty: Callable) -> str:
    own = _losses(penalty, 3).diagonal()
    return "" if own.abs().max() < TOLERANCE else f"with length 3: expected 0 for each word and itself, got {show(own)}"


def _by_steps_alone(penalty: Callable, length: int) -> str:
    losses = _losses(penalty, length)
    if (losses[1:, 1:] - losses[:-1, :-1]).abs().max() < TOLERANCE:
        return ""
    return f"with length {length}: expected one number along each diagonal\ngot {show(losses)}"


def _grows(penalty: Callable, length: int) -> str:
    losses = _losses(penalty, length)
    for side, away in (("right", losses[0]), ("left", losses[:, 0])):
        if away.diff().min() < TOLERANCE:
            return f"with length {length}: expected more with each step to the {side}, got {show(away)}"
    return ""


def _sees_the_mirror(penalty: Callable) -> str:
    x, losses = numbers(3, 4) / 2, _losses(penalty, 3)

    def attended(x: Tensor) -> Tensor:
        return (x @ x.T - losses).softmax(dim=1) @ x  # (T, D)

    change = (attended(x.flip(0)) - attended(x).flip(0)).abs().max()
    return "" if change > TOLERANCE else "each word gets what it got before: the two sentences are one"


def _as_in_a_longer_text(penalty: Callable) -> str:
    short, long = _losses(penalty, 3), _losses(penalty, 40)
    if (long[:3, :3] - short).abs().max() < TOLERANCE:
        return _by_steps_alone(penalty, 40)
    return f"three words lose {show(short)}\nand as the first of forty {show(long[:3, :3])}"
