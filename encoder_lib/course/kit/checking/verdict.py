"""Checks of the exercises: each tries the learner's function on small inputs and returns a verdict.

A check never raises, whatever the function returns or does, and never shows how the answer is computed.
"""

import difflib
import html
import re
import sysconfig
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from encoder_lib.course.kit import lessons
from encoder_lib.course.kit.checking.comparison import CODE, Comparison
from encoder_lib.course.kit.checking.gradients import requiring_gradients, wrong_gradients
from encoder_lib.course.kit.checking.inputs import argument_names, call
from encoder_lib.course.kit.checking.limit import WAITING, TimeUp, run_within
from encoder_lib.course.kit.checking.results import (
    NOTHING,
    TOLERANCE,
    Feedback,
    compared,
    difference,
    numbers,
    show,
    with_input,
)
from encoder_lib.course.kit.checking.sandbox import InputAsked, Printed, restored_settings, sandbox
from encoder_lib.course.kit.plots import readable
from encoder_lib.seeded import seeded

__all__ = [
    "CHANGED",
    "NOTHING",
    "PATIENCE",
    "TOLERANCE",
    "Case",
    "Feedback",
    "NotWritten",
    "Probe",
    "Verdict",
    "diagnose",
    "difference",
    "examine",
    "numbers",
    "problem_on",
    "require_written",
    "show",
]  # fmt: skip

PATIENCE = 5.0  # seconds of processor time that one input may take
CARD = (
    "box-sizing:border-box;max-width:800px;margin:4px 0 8px;padding:10px 20px;border:1px solid #8886;"
    "border-radius:2px 10px 10px 2px;"
)
MAX_CHARACTERS = 1000  # the longest line that is shown, in characters
MAX_LINE = 88  # characters of an input that is shown on one line, and of a line that the learner's code printed
MAX_PRINTED = 8  # lines that the learner's code printed
COURSE_FILES = str(Path(__file__).parents[2])
FOREIGN_FILES = (  # not the learner's code: the library, Python and the installed packages
    str(Path(__file__).parents[3]),
    sysconfig.get_path("stdlib"),
    str(Path(torch.__file__).parents[1]),
)
CALLERS = "call", "run_on_copies", "build"  # functions of the course that call the learner's code
EMPTY = (lambda: None).__code__  # of a function without a body
CHANGED = "the function changed its own input; make a new one instead"
FUNCTION_TO_WRITE = "the function returns nothing yet: write its body, then run this cell again"
CLASS_TO_WRITE = "the class makes nothing yet: write its methods, then run this cell again"
NOT_WRITTEN = "unwritten"  # the problem of an attempt that returns its placeholder
NO_INPUT = "it calls input(), which a check cannot answer; take everything from the arguments"
GRADIENTS_OFF = "Gradients are off in this kernel. Training needs them: torch.set_grad_enabled(True)"
SHARED_HINTS = tomllib.loads(Path(__file__).with_name("hints.toml").read_text(encoding="utf-8"))
HINTS = SHARED_HINTS | lessons.texts("hints.toml")  # by exercise, besides the tables of shared hints
_tries: Counter[str] = Counter()  # tries of each exercise since it last passed


@dataclass(frozen=True)
class Case:
    """One input to try: a label that says what it tests, the arguments, and the name of its hint if not the label."""

    label: str
    arguments: tuple
    hint: str = ""


@dataclass(frozen=True)
class Probe:
    """One test of what a learner built: its label, and a function that describes the problem or returns "".

    `hint` is the name of its hint if not the label.
    """

    label: str
    find_problem: Callable[[Callable], str]
    hint: str = ""


class NotWritten(BaseException):
    """Raised if an attempt returns its placeholder; no `except Exception` catches it."""


def require_written(value: Any, function: Any) -> Any:
    """Return the result of a learner's function. Raises: NotWritten for a placeholder; Feedback for None.

    None counts as a placeholder if the function's body is as empty as the stubs of notebook 12.
    """
    code = getattr(function, "__code__", None)
    if value is ... or (value is None and code and len(code.co_code) == len(EMPTY.co_code)):
        raise NotWritten
    if value is None:
        raise Feedback(NOTHING)
    return value


@dataclass(frozen=True)
class Verdict:
    """The cases that passed, and the first problem with a hint.

    `note` is about the kernel and not about the attempt; `printed` is the beginning of what the attempt printed;
    `comparison` is shown below the problem, to readers of the page.
    """

    exercise: str
    passed: tuple[str, ...]
    problem: str = ""
    hint: str = ""
    note: str = ""
    printed: str = ""
    comparison: Comparison | None = field(default=None, compare=False)

    @property
    def correct(self) -> bool:
        return not self.problem

    def lines(self) -> list[str]:
        """The lines to show. Long lines are cut and unprintable characters replaced."""
        head = f"{self.exercise}: " + ("right." if self.correct else "not there yet.")
        lines = [head, *(f"✓ {label}" for label in self.passed)]
        if self.problem:
            lines.append(f"✗ {self.problem}")
        if self.hint:
            lines.append(f"Hint: {self.hint}")
        lines += [self.note] * bool(self.note) + [f"Printed:\n{self.printed}"] * bool(self.printed)
        return ["\n".join(readable(part, MAX_CHARACTERS) for part in line.split("\n")) for line in lines]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        colour = "#2e7d32" if self.correct else "#b26a00"
        head, *rest = (html.escape(line, quote=True) for line in self.lines())
        items = "".join(f'<li style="white-space:pre-wrap{_font(line)}">{line}</li>' for line in rest)
        picture = self.comparison.to_html() if self.comparison else ""
        kind = 'role="status" class="mathjax_ignore tex2jax_ignore"'  # so that a dollar sign does not start a formula
        return (
            f'<div {kind} style="{CARD}border-left:3px solid {colour}"><strong>{head}</strong>'
            f'<ul style="list-style:none;padding-left:0;margin:6px 0 0">{items}</ul>{picture}</div>'
        )


def _font(line: str) -> str:
    """The style of a line that shows tensors or what was printed: a fixed-width font, in which columns align."""
    fixed = line.startswith("Printed:") or (line.startswith("✗") and "[" in line)
    return f";font-family:{CODE};font-size:0.93em" if fixed else ""


def examine(
    exercise: str, attempt: Callable, reference: Callable, cases: Sequence[Case], *, gradients: bool = False
) -> Verdict:
    """Try `attempt` on every case, smallest first, against `reference`; stop at the first that differs.

    With `gradients`, the gradients of all floating inputs are compared too, and of the parameters of modules among
    them.
    """
    return _first_problem(exercise, cases, partial(problem_on, attempt, reference, gradients=gradients))


def diagnose(exercise: str, thing: Callable, probes: Sequence[Probe]) -> Verdict:
    """Try every probe on `thing`, a function or a class that the learner wrote; stop at the first problem."""
    return _first_problem(exercise, probes, partial(_problem_with, thing))


@seeded(0)
def _first_problem(exercise: str, inputs: Sequence[Any], problem_at: Callable[[Any], str]) -> Verdict:
    """Try the inputs in order and report the first problem, with the hint that hints.toml has for it.

    The kernel's random states, settings and streams are left as they were.
    """
    note = "" if torch.is_grad_enabled() else GRADIENTS_OFF
    with sandbox() as printed:
        verdict = _try_in_turn(exercise, inputs, problem_at)
    return replace(verdict, note=note, printed=_first_lines(printed))


def _try_in_turn(exercise: str, inputs: Sequence[Any], problem_at: Callable[[Any], str]) -> Verdict:
    passed: list[str] = []
    for each in inputs:
        compared.clear()
        problem = problem_at(each)
        if problem == NOT_WRITTEN and passed:
            problem = f"{each.label}: {NOTHING}"
        elif problem == NOT_WRITTEN:
            return Verdict(exercise, (), CLASS_TO_WRITE if exercise.split()[-1][0].isupper() else FUNCTION_TO_WRITE)
        if problem:
            _tries[exercise] += 1
            differs = next((each for each in compared if each.fits and each.problem in problem), None)
            hint = _hint(exercise, each.hint or each.label, problem)
            return Verdict(exercise, tuple(passed), problem, hint, comparison=differs)
        passed.append(each.label)
    del _tries[exercise]
    return Verdict(exercise, tuple(passed))


def _first_lines(printed: Printed) -> str:
    lines = printed.kept.rstrip("\n").split("\n")
    shown = "\n".join(readable(line, MAX_LINE) for line in lines[:MAX_PRINTED])
    left = printed.n_lines - MAX_PRINTED
    return f"{shown}\n… and {left:,} more line{'s' * (left > 1)}" if left > 0 else shown


def _hint(exercise: str, label: str, problem: str) -> str:
    """Return the hint for a problem at the input or probe with this label, at the current number of tries.

    A hint for the mistake comes first, then the hint of the input, then those of the exercise, which get stronger with
    each try.
    A case of the clinic comes broken: its first run shows what is wrong, and the hints begin with the second.
    """
    texts, tries = HINTS[exercise], _tries[exercise] - exercise.startswith("Case ")
    if not tries:
        return ""
    if mistake := _hint_for("mistakes", problem):
        return mistake
    if own := (HINTS["everywhere"] | texts.get("inputs", {})).get(label):
        return own
    general = _hint_for("symptoms", problem)
    ladder = [*([general] if general else []), *texts["hints"]]
    return ladder[min(tries, len(ladder)) - 1]


def _hint_for(table: str, problem: str) -> str:
    """Return the first hint in this table of hints.toml whose key occurs in the problem, or ""."""
    return next((hint for words, hint in HINTS[table].items() if words in problem), "")


def _problem_with(thing: Callable, probe: Probe) -> str:
    """Return the problem that a probe finds, after its label, or "". An error counts as a problem."""
    if not callable(thing):
        return f"expected a function or a class, got {type(thing).__name__}"
    objection, failed = _run_safely(probe.find_problem, thing)
    problem = failed or objection
    return problem if problem in ("", NOT_WRITTEN) else f"{probe.label}: {problem}"


def problem_on(attempt: Callable, reference: Callable, case: Case, *, gradients: bool = False) -> str:
    """Describe what is wrong with the attempt on this case; return "" if nothing is."""
    if not callable(attempt):
        return f"expected a function, got {type(attempt).__name__}"
    given = _describe_arguments(attempt, case.arguments)
    got, problem = _run_safely(lambda *given: require_written(call(attempt, *given), attempt), *case.arguments)
    if problem == NOT_WRITTEN:
        return NOT_WRITTEN
    if not problem:
        try:
            problem = difference(given, reference(*case.arguments), got)
        except Exception as error:  # a tensor without numbers, for instance
            problem = with_input(given, f"the result cannot be compared: {_message_of(error)}")
        if gradients and not problem:
            wrong, failed = _run_safely(partial(_wrong_gradients, attempt, reference), case.arguments)
            problem = (failed or wrong) and with_input(given, failed or wrong)
    else:
        problem = with_input(given, problem)
    return problem and f"{case.label}: {problem}"


def _wrong_gradients(attempt: Callable, reference: Callable, arguments: tuple) -> str:
    names = argument_names(attempt, len(arguments)) or [f"argument {n}" for n, _ in enumerate(arguments, start=1)]
    (mine, tensors), (theirs, others) = (requiring_gradients(arguments, names) for _ in range(2))
    return wrong_gradients(attempt(*mine), tensors, reference(*theirs), others)


def _run_safely(function: Callable, *arguments: Any) -> tuple[Any, str]:
    """Return the result of a learner's function, and a description of what stopped it, or ""."""
    try:
        with restored_settings():
            return run_within(PATIENCE, function, *arguments), ""
    except TimeUp:
        times = f"{PATIENCE:.0f} seconds of computing, or {WAITING * PATIENCE:.0f} of waiting"
        return None, f"it was still running after {times}; does a loop never end?"
    except NotWritten:
        return None, NOT_WRITTEN
    except KeyboardInterrupt:
        raise
    except InputAsked:
        return None, NO_INPUT
    except Feedback as complaint:
        return None, str(complaint)
    except BaseException as error:
        return None, _explain_error(error)


def _explain_error(error: BaseException) -> str:
    """Describe an error for the learner: what it was, at which of their lines, and advice if it is a known one.

    An error raised by the check's own code, which could not use a result, is described as such.
    """
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.line for frame in frames if not frame.filename.startswith(FOREIGN_FILES)]
    ours = [frame for frame in frames if frame.filename.startswith(COURSE_FILES)]
    said = re.sub(r"[\w.]*<locals>\.(<lambda>)?", "", _message_of(error))
    advice = next((f"; {words}" for pattern, words in ADVICE.items() if re.search(pattern, said)), "")
    if isinstance(error, Exception) and not lines and ours and ours[-1].name not in CALLERS:
        refused = isinstance(error, TypeError) and re.search(r"\(\) (takes|missing|got)", said)
        what = "it cannot be called as the check calls it" if refused else "the check cannot use what came back"
        return f"{what}: {said}{advice}"
    where = f" at `{lines[-1]}`" if lines and lines[-1] else ""
    return f"it stopped with {type(error).__name__}{where}: {said}{advice or _suggestion(error)}"


def _suggestion(error: BaseException) -> str:
    """Suggest a name like the one that Python did not find, as Python itself does below an error, or ""."""
    try:
        if isinstance(error, AttributeError):
            known = dir(error.obj)
        elif isinstance(error, NameError):
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            known = [*frame.f_locals, *frame.f_globals, *frame.f_builtins]
        else:
            return ""
        near = difflib.get_close_matches(error.name or "", known, 1, 0.75)
        return f"; did you mean {near[0]}?" if near else ""
    except Exception:  # the learner's objects may answer as they like
        return ""


ADVICE = {  # a pattern in an error message of torch or Python -> what it means here
    r"dtype": "both sides of a product need the same dtype: a.to(b.dtype) converts a",
    r"zip\(\) argument \d is (shorter|longer)": "the two that zip() goes through should have the same length",
    r"'NoneType' (object|and)|'NoneType'$": "something is None here: does a function lack its `return`?",
    r"empty list of (sequences|tensors)|non-empty TensorList": "a list that should hold tensors is empty",
    r"not implemented for '": "this operation does not take that dtype: x.long() and x.double() convert",
    r"Boolean value of Tensor": "a tensor is no single yes or no: .all() or .any() makes one, torch.where chooses",
    r"leaf Variable that requires grad": "parameters are changed inside `with torch.no_grad():`",
    r"does not require grad and does not have a grad_fn": "no gradient can be computed: everything is detached",
    r"^Module\.__init__\(\) takes": "the class has no __init__ that takes these sizes: is its name misspelt?",
}


def _describe_arguments(attempt: Callable, arguments: tuple) -> str:
    """Describe the arguments of a case, without modules; if there are several, with the attempt's names for them.

    If they do not fit on one line, each gets its own.
    """
    shown = [show(argument) for argument in arguments]
    names = argument_names(attempt, len(arguments))
    if len(shown) > 1 and names:
        shown = [f"{name} {value}" for name, value in zip(names, shown, strict=True)]
    shown = [words for words, argument in zip(shown, arguments, strict=True) if not isinstance(argument, nn.Module)]
    line = ", ".join(shown)
    return line if len(line) <= MAX_LINE and "\n" not in line else "\n".join(shown)


def _message_of(error: BaseException) -> str:
    """The beginning of an error's message; a class that the learner wrote may have none."""
    try:
        return str(error)[:300]
    except Exception:
        return "(its message cannot be shown)"
