"""Checks of the exercises of 02_positional_encoding."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import TOLERANCE, Probe, Told, Verdict, diagnose, numbers, show, written
from encoder_lib.model.positional import sinusoidal_table


def check_look_back(attempt: Callable) -> Verdict:
    """look_back(rows, steps): from 16 rows of a table of clocks, the matrix M that makes `steps` back the best match.

    Row t of rows @ M @ rows.T is largest at t − steps: among these rows, and in a table of 200 with the same M.
    """
    looks = {
        "three clocks, three steps back": (6, 3, 16),
        "one step back": (6, 1, 16),
        "four clocks": (8, 5, 16),
        "the same matrix for 200 rows": (6, 3, 200),
        "four clocks and 200 rows": (8, 5, 200),
    }
    return diagnose("look_back", attempt, [Probe(label, partial(_looks_back, *at)) for label, at in looks.items()])


def _looks_back(width: int, steps: int, length: int, look_back: Callable) -> str:
    """What is wrong with the matrix for a table of that width, tried on so many rows; empty when nothing is."""
    rows = sinusoidal_table(length, width, base=100, dtype=torch.float64)
    matrix, given = written(look_back(rows[:16].clone(), steps), look_back), f"with rows {(16, width)}, steps {steps}"
    if not isinstance(matrix, Tensor) or matrix.shape != (width, width):
        got = tuple(matrix.shape) if isinstance(matrix, Tensor) else type(matrix).__name__
        return f"{given}: expected a tensor of shape {(width, width)}, got {got}"
    best = (rows @ matrix.detach().double() @ rows.T).argmax(dim=1)  # (T,): what each position matches best
    for t in range(steps, length):
        if best[t] != t - steps:
            return f"{given}: of {length} rows, row {t} matches row {best[t]} best, expected {t - steps}"
    return ""


def check_penalty(attempt: Callable) -> Verdict:
    """penalty(length): what the match of word i with word j loses, (T, T), so that a text and its mirror differ.

    Any penalty is right that depends on the steps between two words alone, is 0 for none, grows with each, to the left
    and to the right, and does not treat both sides alike.
    """
    probes = [
        Probe("three words", _a_table),
        Probe("a word and itself", _nothing_for_itself),
        Probe("the same steps, the same penalty", partial(_by_steps_alone, length=3)),
        Probe("each step costs more", partial(_grows, length=3)),
        Probe("dog bites man, read backwards", _sees_the_mirror),
        Probe("the same penalty in a longer text", _as_in_a_longer_text),
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
        raise Told(f"with length {length}: a penalty of inf or nan shuts a word out\ngot {show(losses)}")
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
