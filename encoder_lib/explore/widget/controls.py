"""The controls of an explorer: what values each one takes, and how the front end draws it."""

import keyword
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import isclose
from numbers import Real
from typing import Any

import traitlets

from encoder_lib import expect
from encoder_lib.plots import readable


@dataclass(frozen=True)
class Control:
    """A named value that the reader can change. `label` is what stands beside it; without one, its name does."""

    name: str
    value: object
    label: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        expect.text("name", self.name)
        if not self.name.isidentifier() or keyword.iskeyword(self.name) or self.name.startswith("_"):
            raise ValueError(
                f"expected a Python identifier as a control's name, got {self.name!r}: it names an argument"
            )
        self._keep("label", readable(self.label or self.name.replace("_", " "), 80))
        self._keep("value", self.check(self.value))

    def _keep(self, field_name: str, value: object) -> None:
        object.__setattr__(self, field_name, value)

    def _refuse(self, expected: str, value: object, error: type[Exception] = ValueError) -> Exception:
        return error(f"{self.name}: expected {expected}, got {expect.shown(value)}")

    def check(self, value: Any) -> Any:
        """Return the value that the control takes for `value`. Raises TypeError or ValueError when it takes none."""
        raise NotImplementedError

    def wire(self) -> dict:
        """Return what the front end needs to draw the control."""
        return {"kind": type(self).__name__.lower(), **asdict(self)}


@dataclass(frozen=True)
class Number(Control):
    """A number from `min` to `max`, typed in. A value between two steps moves to the nearer one."""

    value: float
    min: float = field(kw_only=True)
    max: float = field(kw_only=True)
    step: float = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("min", "max", "step"):
            number = getattr(self, name)
            if not self._may_lack(name):
                expect.number(f"{self.name}: {name}", number)
        if not self.min < self.max:
            raise self._refuse("min < max", (self.min, self.max))
        if not self._step_fits():
            raise self._refuse("a positive step that divides max - min", self.step)
        super().__post_init__()

    def _may_lack(self, name: str) -> bool:
        return False

    def _step_fits(self) -> bool:
        return self.step > 0 and isclose((self.max - self.min) / self.step, self.positions - 1, rel_tol=1e-9)

    @property
    def positions(self) -> int:
        """How many values the control can take."""
        return round((self.max - self.min) / self.step) + 1

    def position(self, value: float) -> int:
        """Return the number of steps from `min` to `value`."""
        return round((value - self.min) / self.step)

    def check(self, value: float) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self._refuse("a number", value, TypeError)
        if not self.min <= value <= self.max:  # NaN fails here as well
            raise self._refuse(f"a number from {self.min} to {self.max}", value)
        return self._snap(value)

    def _snap(self, value: float) -> float:
        nearest = self.min + self.position(value) * self.step
        return nearest if isinstance(nearest, int) else float(f"{nearest:.12g}")  # 0.3, not 0.30000000000000004


@dataclass(frozen=True)
class Range(Number):
    """A number from `min` to `max`, chosen on a slider.

    With `log` the slider moves by equal factors; `min` must then be positive, and `step=None` allows every value.
    """

    step: float | None = field(default=1, kw_only=True)  # type: ignore[assignment]  # here alone it may be None
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        expect.flags(log=self.log)
        super().__post_init__()

    def _may_lack(self, name: str) -> bool:
        return name == "step" and self.step is None

    def _step_fits(self) -> bool:
        if self.log and self.min <= 0:
            raise self._refuse("min > 0 on a logarithmic slider", self.min)
        return self.log if self.step is None else super()._step_fits()

    def _snap(self, value: float) -> float:
        return float(value) if self.step is None else super()._snap(value)


@dataclass(frozen=True)
class Select(Control):
    """One of `options`: strings or numbers."""

    options: tuple[str | float, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.options, str) or not isinstance(self.options, Iterable):
            raise self._refuse("a list of options", self.options, TypeError)
        self._keep("options", tuple(self.options))
        for option in self.options:
            if not isinstance(option, str | int | float):
                raise self._refuse("strings or numbers as options", option, TypeError)
        super().__post_init__()

    def check(self, value: object) -> str | float:
        for option in self.options if isinstance(value, str | Real) else ():
            if option == value and isinstance(option, bool) == isinstance(value, bool):
                return option
        raise self._refuse(f"one of {list(self.options)}", value)


@dataclass(frozen=True)
class Checkbox(Control):
    """Yes or no."""

    value: bool

    def check(self, value: bool) -> bool:
        if not isinstance(value, bool):
            raise self._refuse("True or False", value, TypeError)
        return value


@dataclass(frozen=True)
class Text(Control):
    """One line of text. The control cuts what is longer than `max_length` characters before anything is computed."""

    value: str
    max_length: int = field(default=200, kw_only=True)

    def __post_init__(self) -> None:
        expect.sizes(max_length=self.max_length)
        super().__post_init__()

    def check(self, value: str) -> str:
        if not isinstance(value, str):
            raise self._refuse("a string", value, TypeError)
        return readable(value[: self.max_length], self.max_length)


class ControlTrait(traitlets.TraitType):
    """The trait that holds a control's value on an explorer: the control decides what it takes."""

    def __init__(self, control: Control) -> None:
        super().__init__(default_value=control.value)
        self.control = control
        self.tag(sync=True)

    def validate(self, obj: object, value: object) -> object:
        """Return the checked value."""
        return self.control.check(value)
