"""Record explorers: the states that `web` of each one lists, in one small file that the player reads.

A file is a JSON header and numbers, gzipped together. Equal values are stored only once, and so are equal lines of
pictures. An array that is the upper left corner of another one is cut out of that one.
"""

import gzip
import inspect
import json
import struct
import zlib
from itertools import product
from typing import Any

import numpy as np
from vector import svg_of

from encoder_lib.course.explore import Checkbox, Explorer, Range, Select, Text
from encoder_lib.course.kit.widget.controls import Control, Rounds
from encoder_lib.course.kit.widget.web import Web

FEW = 9  # recorded values of a slider, if `web` doesn't list any
ALL = 16  # a slider with at most so many values is recorded completely
MISSING = -32768  # the code of NaN
LARGE = 500  # arrays with more numbers are compared with others, which may be their corner
SENTENCES = "recorded sentences"


def stops_of(control: Control, web: Web) -> list:
    """Return the recorded values of a control. Its start value is one of them, and the first one for texts."""
    named = [control.check(value) for value in web.stops.get(control.name, ())]
    named += [control.check(start[control.name]) for start in web.starts if control.name in start]
    if isinstance(control, Checkbox):
        return [False, True]
    if isinstance(control, Select):
        return [option for option in control.options if option in named or not named or option == control.value]
    if isinstance(control, Range):
        return sorted({*(named or _spread(control)), control.min, control.max, control.value})
    if not named and control.name not in web.stops:
        raise ValueError(f"{control.name}: expected stops for a text field, got none: name them in Web(stops=…)")
    return list(dict.fromkeys([control.value, *named]))


def _spread(control: Range) -> list:
    """Return all values of a slider that has few, and some evenly spaced values of any other."""
    few = control.step is not None and control.positions <= ALL
    count = control.positions if few else FEW
    low, high = control.min, control.max
    fractions = [i / (count - 1) for i in range(count)]
    return [control.check(low + fraction * (high - low)) for fraction in fractions]


def states_of(explorer: Explorer) -> list[dict]:
    """Return the values of all controls in each state, the start first; a state contains all frames."""
    web = explorer.web
    if web.computed:
        return [explorer.values]
    controls = {name: c for name, c in _controls(explorer).items() if name != explorer._frames}
    stops = {name: stops_of(control, web) for name, control in controls.items()}
    groups = [tuple(name for name in group if name in controls) for group in web.together]
    fixed = {name for start in web.starts for name in start}
    groups += [(name,) for name in controls if name not in fixed and not any(name in group for group in groups)]
    states = {}
    for start in ({}, *web.starts):
        for group in ((), *groups):
            for values in product(*(stops[name] for name in group)):
                state = explorer.values | start | dict(zip(group, values, strict=True))
                states[tuple(state.items())] = state
    return list(states.values())


def _controls(explorer: Explorer) -> dict[str, Control]:
    """The controls that a page has: without a kernel nothing goes on."""
    return {name: control for name, control in explorer._by_name.items() if not isinstance(control, Rounds)}


def record(explorer: Explorer) -> bytes:
    """Return the recording of an explorer, and leave the explorer in the state it was in."""
    web = explorer.web
    start, arrays, shared = explorer.values, Arrays(web.levels), Shared()
    controls = _controls(explorer)
    states = []
    drawn = not web.computed  # by Python; otherwise the player computes it
    explorer._render = bytes  # no PNG, since the figure is drawn as SVG
    for values in states_of(explorer):
        explorer.set(**values)
        panels = [arrays.add(panel.values) for panel in explorer._view.panels] if explorer._view and drawn else []
        state = {
            "at": [shared.add(values[name]) for name in controls],
            "descriptions": shared.add(explorer._descriptions),
            "panels": shared.add(explorer._panels),
            "limits": shared.add(explorer._limits),
            "tokens": shared.add(explorer._tokens),
            "arrays": panels,
            "picture": [],
        }
        if explorer._figure and drawn:
            state["picture"] = [shared.add(line) for line in svg_of(explorer._figure, web.shades).splitlines()]
        states.append(list(state.values()))
    del explorer._render
    explorer.set(**start)
    index, codes = arrays.packed()
    header = {
        "title": explorer.title,
        "names": list(controls),
        "controls": [_spec(control, web, name == explorer._frames) for name, control in controls.items()],
        "start": {name: start[name] for name in controls},
        "frames": explorer._frames,
        "colours": {name: list(table) for name, table in explorer._colours.items()},
        "values": shared.values,
        "states": states,
        "arrays": index,
        "live": web.live,
        "typed": [control.to_spec() for control in controls.values()] if web.live else [],
        "computed": web.computed,
        "given": {name: inspect.getclosurevars(explorer._show).nonlocals[name] for name in web.given},
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return gzip.compress(struct.pack("<I", len(text)) + text + codes, 9, mtime=0)


def _spec(control: Control, web: Web, frames: bool) -> dict:
    """Return a control for the front end, with its stops. A text field becomes a choice of the recorded texts."""
    if web.computed:
        return control.to_spec() | {"stops": None}
    spec, stops = control.to_spec(), [] if frames else stops_of(control, web)
    if isinstance(control, Text):
        label = f"{control.label} ({SENTENCES})"
        spec = {"kind": "select", "name": control.name, "label": label, "options": stops}
    elif isinstance(control, Select):
        spec["options"] = stops
    every = isinstance(control, Range) and control.step is not None and len(stops) == control.positions
    complete = every or frames or isinstance(control, Checkbox | Select)
    return spec | {"stops": None if complete else stops}


class Shared:
    """Values; equal ones are stored only once."""

    def __init__(self) -> None:
        self.values: list = []
        self._places: dict[str, int] = {}

    def add(self, value: Any) -> int:
        """Add a value, and return its index."""
        key = json.dumps(value)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


class Arrays:
    """The numbers of heatmaps as integer codes, `levels` of them on each side of 0 up to the array's largest number.

    `packed` returns an index and all codes, first their lower bytes, then their higher ones. The index has, for each
    array: where its codes begin, its rows, its columns, the columns of the array that it is the corner of, the step
    between two codes, and whether the codes are differences to the row above.
    """

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self._known: dict[bytes, int] = {}
        self._matrices: list[np.ndarray] = []

    def add(self, values: np.ndarray) -> int:
        """Add an array, and return its index. Raises ValueError for infinite numbers, which have no code."""
        if np.isinf(values).any():
            raise ValueError("expected finite numbers or NaN to record, got an infinite one: choose other stops")
        matrix = values.reshape(-1, values.shape[-1])
        key = repr(matrix.shape).encode() + matrix.tobytes()
        if key not in self._known:
            self._known[key] = len(self._matrices)
            self._matrices.append(matrix)
        return self._known[key]

    def packed(self) -> tuple[list[list], bytes]:
        """Return the index and the codes of all arrays, the largest first, because others may be their corners."""
        index: list[list] = [[]] * len(self._matrices)
        large: list[tuple[np.ndarray, list]] = []
        parts, begin = [np.zeros(0, "<i2")], 0
        for place in sorted(range(len(index)), key=lambda place: -self._matrices[place].size):
            matrix = self._matrices[place]
            rows, columns = matrix.shape
            if whole := next((entry for other, entry in large if _is_corner(matrix, other)), None):
                index[place] = [whole[0], rows, columns, *whole[3:]]
                continue
            step = float(np.nanmax(np.abs(matrix), initial=0.0)) / self.levels or 1.0
            codes = np.where(np.isnan(matrix), MISSING, np.round(np.nan_to_num(matrix) / step)).astype("<i2")
            down = np.diff(codes, axis=0, prepend=np.zeros((1, columns), "<i2"))  # wraps around, as in the player
            above = rows > 2 and _size(down) < 0.9 * _size(codes)
            index[place] = [begin, rows, columns, columns, step, int(above)]
            parts.append((down if above else codes).ravel())
            begin += codes.size
            if codes.size > LARGE:
                large.append((matrix, index[place]))
        return index, _planes(np.concatenate(parts))


def _is_corner(matrix: np.ndarray, other: np.ndarray) -> bool:
    rows, columns = matrix.shape
    return bool(np.array_equal(other[:rows, :columns], matrix, equal_nan=True))


def _planes(codes: np.ndarray) -> bytes:
    return np.ascontiguousarray(codes).view(np.uint8).reshape(-1, 2).T.tobytes()


def _size(codes: np.ndarray) -> int:
    return len(zlib.compress(_planes(codes), 6))
