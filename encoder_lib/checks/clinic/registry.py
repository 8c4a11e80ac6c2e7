"""What the clinic remembers: the fault of each case, what its check first found wrong, and what it saw last."""

from collections.abc import Callable
from functools import wraps

from encoder_lib.checks.clinic.fault_injection import TESTS, FaultyModel, detects
from encoder_lib.checks.verdict import Verdict
from encoder_lib.seeded import seeded

Check = Callable[[Callable], Verdict]  # looks at what the learner wrote
FAULTS: dict[str, Callable[[Callable], FaultyModel]] = {}  # the fault of each case, and how it gets into an encoder
_seen: dict[str, tuple[Callable, bool]] = {}  # what each check saw last, and whether it was right
_faulty: dict[str, Callable] = {}  # what each check first found wrong


def case(fault: str, operation: Callable[[Callable], FaultyModel]) -> Callable[[Check], Check]:
    """Register a check under the name of its fault; it then remembers what it saw."""

    def register(check: Check) -> Check:
        FAULTS[fault] = operation

        @wraps(check)
        def remember(thing: Callable) -> Verdict:
            with seeded(0):  # the notebook's random numbers stay as they are
                verdict = check(thing)
            _seen[fault] = thing, verdict.correct
            if not verdict.correct:
                _faulty.setdefault(fault, thing)
            return verdict

        remember.__dict__["fault"] = fault  # a function may carry more than its name
        return remember

    return register


def fault_matrix() -> tuple[dict[str, list[bool]], dict[str, list[bool]]]:
    """For each fault, which of the five tests catch it; and for each that is mended by now, which still object.

    The first looks at what the check of each case first found wrong, the second at what it saw last and accepted. A
    case that was mended before this kernel started has no fault to show: there both look at what is mended.
    Raises: LookupError when no check has run yet.
    """
    if not _seen:
        raise LookupError("expected at least one case to look at, got none: run the cells of the cases first")
    caught = {name: _caught(name, _faulty.get(name, _seen[name][0])) for name in FAULTS if name in _seen}
    return caught, {name: _caught(name, _seen[name][0]) for name in caught if _seen[name][1]}


def _caught(fault: str, thing: Callable) -> list[bool]:
    return [detects(test, FAULTS[fault](thing)) for test in TESTS.values()]


def faulty_model(fault: str) -> FaultyModel:
    """An encoder with a faulty piece in it: what the check of this fault first found wrong, or else what it saw."""
    if fault not in _seen:
        raise LookupError(f"expected a fault whose cell has run, got {fault!r}; there are {list(_seen)}")
    return FAULTS[fault](_faulty.get(fault, _seen[fault][0]))
