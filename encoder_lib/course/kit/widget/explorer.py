"""The live pictures of the notebooks: controls, and a picture computed from their values."""

import io
import re
from collections.abc import Callable
from typing import Any

import anywidget
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from traitlets import Bunch, Bytes, Dict, List, Unicode

from encoder_lib.course.kit import plots
from encoder_lib.course.kit.widget.controls import Control, ControlTrait, Range
from encoder_lib.course.kit.widget.front_end import STYLE, script
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import RUN, Web

HYPHEN = re.compile(r"(?<![\w“−-])-(?=\.?\d)")  # in place of a minus; as in site/player/format_numbers.js


class Explorer(anywidget.AnyWidget):
    """Show what `show` computes from the values of the controls, and update it when they change.

    show: a pure function, called with every control's value by name. It returns a `View`; or, with `figure`, it updates
        the artists of that one matplotlib figure and returns the picture's description in words.
    web: how the web edition shows it; None for an explorer that is on no page.
    Each control's value is a trait: read it, set it (`explorer.base = 200`), observe it, link it. A value that the
    control does not accept raises TypeError or ValueError. An exception in `show` appears in the explorer, which keeps
    its last good picture, and is raised again.
    """

    _esm = script("explorer.js")
    _css = STYLE

    title = Unicode().tag(sync=True)
    error = Unicode().tag(sync=True)  # the error of the last computation, or ""
    _controls: List[dict] = List().tag(sync=True)
    _descriptions: List[str] = List().tag(sync=True)  # one text, or one for each frame
    _panels: List[dict] = List().tag(sync=True)  # each heatmap's title and how it is cut into frames
    _limits: List[list[float]] = List().tag(sync=True)  # its smallest and largest colour
    _colours = Dict().tag(sync=True)  # colour map -> 256 colours in the light, then in the dark
    _data = Bytes().tag(sync=True)  # the numbers of all panels, one after another, as float32
    _frames = Unicode().tag(sync=True)  # the control that picks the frame
    _tokens = Dict().tag(sync=True)  # the panel whose words are buttons, if any
    _picture = Bytes().tag(sync=True)  # a figure as PNG

    def __init__(
        self,
        show: Callable[..., Any],
        *controls: Control,
        title: str,
        figure: Figure | None = None,
        web: Web | None = None,
    ) -> None:
        self.web = web
        self._by_name = {control.name: control for control in controls}
        self.add_traits(**{control.name: ControlTrait(control) for control in controls})
        self._show, self._paused = show, False
        self._figure, self._canvas = figure, None if figure is None else FigureCanvasAgg(figure)
        self._view: View | None = None
        if figure is not None:
            plt.close(figure)  # otherwise the notebook would draw it a second time
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # laid out once: the axes stay where they are, and drawing is quicker
        state = self._compute()
        super().__init__(title=title, **{"_controls": self._specs(), **state})
        if controls:
            self.observe(self._update, list(self._by_name))

    @property
    def values(self) -> dict:
        """The value of every control, by name."""
        return {name: getattr(self, name) for name in self._by_name}

    @property
    def description(self) -> str:
        """A description of what the picture shows now."""
        return self._descriptions[self._frame if len(self._descriptions) > 1 else 0]

    def set(self, **values: object) -> None:
        """Set several controls and compute once. Raises KeyError for an unknown name, before any of them is set."""
        if unknown := values.keys() - self._by_name.keys():
            raise KeyError(f"expected some of {sorted(self._by_name)}, got {sorted(unknown)}")
        checked = {name: self._by_name[name].check(value) for name, value in values.items()}
        self._paused = True
        try:
            with self.hold_sync():
                for name, value in checked.items():
                    setattr(self, name, value)
        finally:
            self._paused = False
        self._update()

    def set_state(self, sync_data: dict) -> None:
        """Accept values of the controls from the front end, and nothing else.

        If a control refuses a value, `error` says so, and the front end gets the current value back.
        """
        self.send({})  # an echo, so that the front end knows that the kernel is there
        taken, refused = {}, {}
        for name in self._by_name.keys() & (sync_data.keys() if isinstance(sync_data, dict) else ()):
            try:
                self._by_name[name].check(sync_data[name])
                taken[name] = sync_data[name]
            except (TypeError, ValueError) as problem:
                refused[name] = problem
        super().set_state(taken)
        if refused:
            self.error = plots.readable("; ".join(map(str, refused.values())), 500)
            self.send_state(list(refused))

    @property
    def _positions(self) -> dict[str, int]:
        """How many steps each slider is from its first value."""
        sliders = {name: control for name, control in self._by_name.items() if isinstance(control, Range)}
        return {name: control.position(getattr(self, name)) for name, control in sliders.items()}

    @property
    def _frame(self) -> int:
        return self._positions.get(self._frames, 0)

    def _update(self, change: Bunch | None = None) -> None:
        """Compute again, unless paused or only the control that picks the frame has changed."""
        changed = {name for name, value in self.values.items() if value != self._computed_from[name]}
        if self._paused or not changed - {self._frames}:
            return
        try:
            state = self._compute()
        except Exception as problem:
            self.error = plots.readable(f"{type(problem).__name__}: {problem}", 500)
            raise
        with self.hold_sync():
            for name, value in {**state, "error": ""}.items():
                setattr(self, name, value)

    def _compute(self) -> dict:
        """Call `show` and return the traits that carry its result to the front end."""
        self._computed_from = self.values
        shown = self._show(**self._computed_from)
        if self._canvas is not None:
            state = {"_picture": self._render()}
            descriptions = [plots.readable(shown, 2000)]
        else:
            self._view = shown
            state = shown.to_spec() | self._reach(shown)
            descriptions = shown.descriptions
        return state | {"_descriptions": [HYPHEN.sub("−", text) for text in descriptions]}

    def _render(self) -> bytes:
        """Return the figure as PNG, barely compressed, three times as fast as `savefig`."""
        assert self._canvas is not None  # of the figure
        self._canvas.draw()
        pixels = np.asarray(self._canvas.buffer_rgba())[..., :3]
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "png", compress_level=1)
        return file.getvalue()

    def _reach(self, view: View) -> dict:
        """Let the control that picks the frame reach the last one, and go there if that is new."""
        control = self._by_name.get(view.frames)
        if not isinstance(control, Range) or control.positions == view.count:
            return {}
        control.max = control.min + (view.count - 1) * (control.step or 1)
        return {"_controls": self._specs(), control.name: control.max}

    def _specs(self) -> list[dict]:
        return [control.to_spec() for control in self._by_name.values()]

    def _static(self) -> plots.Picture:
        figure = self._view.draw(self._frame, self._positions) if self._view else self._figure
        assert figure is not None  # `show` gives a view, or it updates the figure
        return plots.show(figure, alt=self.description)

    def _repr_mimebundle_(self, **kwargs: dict) -> tuple[dict, dict]:
        """Give the live widget and, for readers without a kernel, the picture as it is now."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        picture = self._static()._repr_mimebundle_()
        return {**data, **picture, "text/html": RUN + picture["text/html"]}, metadata


def returns_explorer(function: Callable) -> bool:
    """Whether a function is annotated to return an `Explorer`, which makes it one of the course's explorers."""
    return getattr(function, "__annotations__", {}).get("return") is Explorer
