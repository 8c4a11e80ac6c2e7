"""The controls of an explorer: which values each one accepts, and how the front end draws it."""

from dataclasses import asdict, dataclass, field
from numbers import Real
from typing import Any

import traitlets

from encoder_lib import expect
from encoder_lib.course.kit.plots import readable


@dataclass
class Control:
    """A named value that the reader can change. `label` is shown beside it, or the name if there is no label."""

    name: str
    value: Any
    label: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        self.label = self.label or self.name.replace("_", " ")
        self.value = self.check(self.value)

    def _refuse(self, expected: str, value: object, error: type[Exception] = ValueError) -> Exception:
        return error(f"{self.name}: expected {expected}, got {expect.short_repr(value)}")

    def check(self, value: Any) -> Any:
        """Return the value that the control stores for `value`. Raises TypeError or ValueError if it accepts none."""
        raise NotImplementedError

    def to_spec(self) -> dict:
        """Return what the front end needs to draw the control."""
        return {"kind": type(self).__name__.lower(), **asdict(self)}


@dataclass
class Range(Control):
    """A number from `min` to `max`, chosen on a slider. A value between two steps is rounded to the nearer one.

    With `log` the slider moves by equal factors; `step=None` then allows every value.
    """

    min: float = field(kw_only=True)
    max: float = field(kw_only=True)
    step: float | None = field(default=1, kw_only=True)
    log: bool = field(default=False, kw_only=True)

    @property
    def positions(self) -> int:
        """The number of values of a slider with steps."""
        return self.position(self.max) + 1

    def position(self, value: float) -> int:
        """Return the number of steps from `min` to `value`."""
        return round((value - self.min) / (self.step or 1))

    def check(self, value: float) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self._refuse("a number", value, TypeError)
        if not self.min <= value <= self.max:  # NaN fails here as well
            raise self._refuse(f"a number from {self.min} to {self.max}", value)
        if self.step is None:
            return float(value)
        nearest = self.min + self.position(value) * self.step
        return nearest if isinstance(nearest, int) else float(f"{nearest:.12g}")  # 0.3, not 0.30000000000000004


@dataclass
class Select(Control):
    """One of `options`: strings or numbers."""

    options: tuple[str | float, ...] = field(kw_only=True)

    def check(self, value: Any) -> str | float:
        for option in self.options if isinstance(value, str | Real) else ():
            if option == value:
                return option
        raise self._refuse(f"one of {list(self.options)}", value)


@dataclass
class Checkbox(Control):
    """Yes or no."""

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._refuse("True or False", value, TypeError)
        return value


@dataclass
class Text(Control):
    """One line of text. Anything beyond `max_length` characters is cut off before anything is computed."""

    max_length: int = field(default=200, kw_only=True)

    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._refuse("a string", value, TypeError)
        return readable(value[: self.max_length], self.max_length)


@dataclass
class Rounds(Control):
    """How many rounds some work has gone on, from 0 to `max`: a button lets it go on round by round, and stops it."""

    max: int = field(kw_only=True)

    def check(self, value: Any) -> int:
        if type(value) is not int:
            raise self._refuse("an integer", value, TypeError)
        if not 0 <= value <= self.max:
            raise self._refuse(f"an integer from 0 to {self.max}", value)
        return value


class ControlTrait(traitlets.TraitType):
    """The trait that holds a control's value on an explorer; the control decides which values it accepts."""

    def __init__(self, control: Control) -> None:
        super().__init__(default_value=control.value)
        self.control = control
        self.tag(sync=True)

    def validate(self, obj: object, value: object) -> object:
        """Return the checked value."""
        return self.control.check(value)
