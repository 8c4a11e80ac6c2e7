"""Checks of the exercises: each takes the learner's function, tries it on small inputs, and answers with a verdict.

A check never raises, whatever the function returns or does, and never shows how the answer is computed.
"""

import html
import inspect
import sysconfig
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from encoder_lib.course.checks.limit import TimeUp, run_within
from encoder_lib.course.notebook import tidy
from encoder_lib.course.plots import readable
from encoder_lib.seeded import seeded

TOLERANCE = 1e-4  # an answer computed in float32 is right too
PATIENCE = 5.0  # seconds that one input may take
LONGEST = 1000  # characters of a line
OTHERS = str(Path(__file__).parents[2]), *map(sysconfig.get_path, ("stdlib", "purelib"))  # not the learner's code
FEW = 3  # so many numbers, or places where two results differ, are shown one by one
LINE = 88  # characters of an input that stands on one line
NOTHING = "the function returns nothing; is a `return` missing?"
EMPTY = (lambda: None).__code__  # of a function without a body
CHANGED = "the function changed its own input; make a new one instead"
FUNCTION_TO_WRITE = "the function returns nothing yet: write its body, then run this cell again"
CLASS_TO_WRITE = "the class makes nothing yet: write its methods, then run this cell again"
UNWRITTEN = "unwritten"  # the problem of an attempt that gives back its placeholder
HINTS = tomllib.loads(Path(__file__).with_name("hints.toml").read_text(encoding="utf-8"))  # by exercise
_tries: Counter[str] = Counter()  # how often each exercise was tried since it last passed


@dataclass(frozen=True)
class Case:
    """One input to try: what it tests, in words, the arguments, and its hint's name where that is not the label."""

    label: str
    arguments: tuple
    hint: str = ""


@dataclass(frozen=True)
class Probe:
    """One question to ask of what a learner built: its name, and a function that gives the problem in words, or "".

    And its hint's name where that is not the label.
    """

    label: str
    look: Callable[[Callable], str]
    hint: str = ""


class Unwritten(BaseException):
    """Raised where an attempt gives back its placeholder; no `except Exception` catches it."""


class Told(ValueError):
    """Raised by a look at an attempt: what is wrong with that, in words for the reader."""


def written(value: Any, function: Any) -> Any:
    """What a learner's function gave. Raises: Unwritten for a placeholder; Told for nothing.

    Nothing is a placeholder, too, where the body is as empty as the stubs of notebook 12.
    """
    code = getattr(function, "__code__", None)
    if value is ... or (value is None and code and len(code.co_code) == len(EMPTY.co_code)):
        raise Unwritten
    if value is None:
        raise Told(NOTHING)
    return value


@dataclass(frozen=True)
class Verdict:
    """What passed, and the first thing that did not, with a hint."""

    exercise: str
    passed: tuple[str, ...]
    problem: str = ""
    hint: str = ""

    @property
    def correct(self) -> bool:
        return not self.problem

    def lines(self) -> list[str]:
        """What it says, a line for each thing; words of the learner's are cut, and lose what no screen can show."""
        head = f"{self.exercise}: " + ("right." if self.correct else "not there yet.")
        lines = [head, *(f"✓ {label}" for label in self.passed)]
        if self.problem:
            lines.append(f"✗ {self.problem}")
        if self.hint:
            lines.append(f"Hint: {self.hint}")
        return ["\n".join(readable(part, LONGEST) for part in line.split("\n")) for line in lines]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        colour = "#2e7d32" if self.correct else "#b26a00"
        head, *rest = (html.escape(line, quote=True) for line in self.lines())
        items = "".join(f'<li style="white-space:pre-wrap">{line}</li>' for line in rest)
        kind = 'role="status" class="mathjax_ignore tex2jax_ignore"'  # a dollar sign of the learner's starts no formula
        return (
            f'<div {kind} style="border-left:4px solid {colour};padding:2px 12px"><strong>{head}</strong>'
            f'<ul style="list-style:none;padding-left:0;margin:4px 0">{items}</ul></div>'
        )


def examine(exercise: str, attempt: Callable, reference: Callable, cases: Sequence[Case]) -> Verdict:
    """Try `attempt` on every case, smallest first, against `reference`; stop at the first that differs."""
    return _first_problem(exercise, cases, partial(problem_on, attempt, reference))


def diagnose(exercise: str, thing: Callable, probes: Sequence[Probe]) -> Verdict:
    """Ask every probe about `thing`, a function or a class that the learner wrote; stop at the first that objects."""
    return _first_problem(exercise, probes, partial(_objection, thing))


@seeded(0)
def _first_problem(exercise: str, looks: Sequence[Any], problem_at: Callable[[Any], str]) -> Verdict:
    """Look for a problem in turn, and tell of the first, with the hint that hints.toml has for it.

    A look that has a hint of its own gives that; otherwise the hints get stronger with the tries. The learner's random
    numbers go on as they were.
    """
    passed: list[str] = []
    for look in looks:
        problem = problem_at(look)
        if problem == UNWRITTEN and passed:
            problem = f"{look.label}: {NOTHING}"
        elif problem == UNWRITTEN:
            return Verdict(exercise, (), CLASS_TO_WRITE if exercise.split()[-1][0].isupper() else FUNCTION_TO_WRITE)
        if problem:
            _tries[exercise] += 1
            return Verdict(exercise, tuple(passed), problem, _hint(exercise, look.hint or look.label))
        passed.append(look.label)
    del _tries[exercise]
    return Verdict(exercise, tuple(passed))


def _hint(exercise: str, label: str) -> str:
    """What to say of an exercise that was tried so often, and failed at the look of that label.

    A case of the clinic comes broken: its first run shows what is wrong, and the hints begin with the second.
    """
    texts, tries = HINTS[exercise], _tries[exercise] - exercise.startswith("Case ")
    if not tries:
        return ""
    own = (HINTS["everywhere"] | texts.get("looks", {})).get(label)
    return own or texts["hints"][min(tries, len(texts["hints"])) - 1]


def _objection(thing: Callable, probe: Probe) -> str:
    """What a probe says against the thing, its label in front; empty when nothing. An error is an objection too."""
    if not callable(thing):
        return f"expected a function or a class, got {type(thing).__name__}"
    objection, failed = _asked(probe.look, thing)
    problem = failed or objection
    return problem if problem in ("", UNWRITTEN) else f"{probe.label}: {problem}"


def problem_on(attempt: Callable, reference: Callable, case: Case) -> str:
    """What is wrong with the attempt on this case, in words; empty when nothing is."""
    if not callable(attempt):
        return f"expected a function, got {type(attempt).__name__}"
    given = _given(attempt, case.arguments)
    mine = tuple(a.clone() if isinstance(a, Tensor) else a for a in case.arguments)
    got, failed = _asked(lambda *given: written(attempt(*given), attempt), *mine)
    if failed == UNWRITTEN:
        return UNWRITTEN
    changed = [a for a, b in zip(case.arguments, mine, strict=True) if isinstance(a, Tensor) and not _same(a, b)]
    if failed:
        problem = _with(given, failed)
    elif changed:
        problem = _with(given, CHANGED)
    else:
        try:
            problem = difference(given, reference(*case.arguments), got)
        except Exception as error:  # a tensor without numbers, for instance
            problem = _with(given, f"the result cannot be compared: {_said(error)}")
    return problem and f"{case.label}: {problem}"


def _asked(function: Callable, *arguments: Any) -> tuple[Any, str]:
    """What a learner's function gives, and in words what stopped it, if anything did."""
    try:
        return run_within(PATIENCE, function, *arguments), ""
    except TimeUp:
        return None, f"it was still running after {PATIENCE:.0f} seconds; does a loop never end?"
    except Unwritten:
        return None, UNWRITTEN
    except KeyboardInterrupt:
        raise
    except Told as complaint:
        return None, str(complaint)
    except BaseException as error:
        said = _said(error)
        advice = "; both sides of a product need one dtype: a.to(b.dtype) gives a that of b" if "dtype" in said else ""
        return None, f"it stopped with {type(error).__name__}{_where(error)}: {said}{advice}"


def _where(error: BaseException) -> str:
    """The line of the learner's own code at which an error was raised, in words; empty where it can't be shown."""
    lines = [frame.line for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(OTHERS)]
    return f" at `{lines[-1]}`" if lines and lines[-1] else ""


def _given(attempt: Callable, arguments: tuple) -> str:
    """The arguments of a case in words, but for modules; where there are several, each with the attempt's name for it.

    Many take a line each.
    """
    shown = [show(argument) for argument in arguments]
    try:
        parameters = list(inspect.signature(attempt).parameters.values())[: len(shown)]
    except Exception:  # not every callable tells what it takes
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if 1 < len(shown) == len(parameters) and all(p.kind in plain for p in parameters):
        shown = [f"{p.name} {value}" for p, value in zip(parameters, shown, strict=True)]
    shown = [words for words, argument in zip(shown, arguments, strict=True) if not isinstance(argument, nn.Module)]
    line = ", ".join(shown)
    return line if len(line) <= LINE else "\n".join(shown)


def _with(given: str, problem: str) -> str:
    """A problem with the input `given`; on a line of its own where one of both takes several."""
    if "\n" in given:
        return f"with\n{given}\n{problem}"
    return f"with {given}\n{problem}" if "\n" in problem else f"with {given}: {problem}"


def _said(error: BaseException) -> str:
    """The words of an error, not too many; a class that the learner wrote may fail to have any."""
    try:
        return str(error)[:300]
    except Exception:
        return "(it cannot be shown in words)"


def difference(given: str, expected: Tensor, got: object) -> str:
    """How a result differs from what was expected, the input `given` in words; empty when it does not."""
    if got is None:
        return _with(given, NOTHING)
    if not isinstance(got, Tensor):
        if expected.ndim or not isinstance(got, Real):
            number = "" if expected.ndim else " or a number"
            return _with(given, f"expected a tensor{number}, got {type(got).__name__}")
        got = torch.tensor(got)
    if got.shape != expected.shape:
        return _with(given, f"expected shape {tuple(expected.shape)}, got {tuple(got.shape)}")
    if got.is_complex():
        return _with(given, f"expected real numbers, got {got.dtype}")
    kind = "boolean" if expected.dtype == torch.bool else "a number"
    if (got.dtype == torch.bool) != (expected.dtype == torch.bool):
        return _with(given, f"expected each element to be {kind}, got {got.dtype}")
    off = ~_close(expected, got)
    places = [tuple(place) for place in off.nonzero().tolist()]
    if not places:
        return ""
    if expected.numel() <= FEW:
        return _with(given, f"expected {show(expected)}\ngot      {show(got)}")
    if len(places) <= FEW:
        differ = (f"expected {show(expected[place])} at {place}, got {show(got[place])}" for place in places)
        return _with(given, "\n".join(differ))
    far = (got.detach().double() - expected.double()).abs().nan_to_num(torch.inf).where(off, 0.0)
    place = tuple(int(i) for i in np.unravel_index(int(far.argmax()), off.shape))
    there = f"expected {show(expected[place])}, got {show(got[place])}"
    return _with(given, f"{len(places)} of {off.numel()} places differ, most at {place}: {there}")


def _close(a: Tensor, b: Tensor) -> Tensor:
    return torch.isclose(a.detach().double(), b.detach().double(), atol=TOLERANCE, rtol=0)


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(_close(a, b).all())


def show(value: object) -> str:
    """A value in words: a tensor of a few numbers as a list, another by its shape."""
    if isinstance(value, Tensor):
        value = value.double() if value.is_floating_point() else value
        return str(tidy(value).tolist()) if value.numel() <= 12 else f"a tensor of shape {tuple(value.shape)}"
    return repr(value)[:100]


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
