"""What an explorer shows: heatmaps side by side, the words along one of them, and a description."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike

from encoder_lib import expect
from encoder_lib.explore.widget.controls import Control, Range
from encoder_lib.plots import (
    LABEL,
    TICK,
    TITLE,
    as_array,
    as_labels,
    colour_limits,
    colour_map,
    figure_size,
    label_ticks,
    plot_heatmap,
    plot_token_attention,
    readable,
    token_attention_height,
)

LARGEST = 512  # rows or columns of one heatmap
ASK = "Point at a word, or walk with the arrow keys: where does it look?"
WIRED = (
    "title",
    "x_label",
    "y_label",
    "x_ticks",
    "y_ticks",
    "cmap",
    "rows",
    "columns",
    "frames",
    "stride",
    "missing",
    "tile",
)


class Heatmap:
    """A matrix as colours, or a stack of equally large matrices (frames) that a control steps through.

    values: (R, C); or (N, R, C) for N frames; or with `window=R` a tall (N-1+R, C), whose frame f is rows f to f+R-1.
    x_ticks: C labels. y_ticks: one label for each row; with a window they shift along with the rows.
    limits: the values at the ends of the colour map; without them they fit the finite values of all frames.
    missing: what NaN, drawn in grey stripes, stands for.
    tile: the matrix is made of square tiles of so many rows and columns; the axes name each tile once, in its middle.
    Raises ValueError for other shapes, matrices above 512 x 512, labels that do not match, an unknown colour map.
    """

    def __init__(
        self,
        values: ArrayLike,
        *,
        title: str = "",
        x_label: str = "",
        y_label: str = "",
        x_ticks: Sequence | None = None,
        y_ticks: Sequence | None = None,
        limits: tuple[float, float] | None = None,
        cmap: str = "viridis",
        window: int | None = None,
        missing: str = "NaN",
        tile: int | None = None,
    ) -> None:
        for name, size in (("window", window), ("tile", tile)):
            if size is not None:
                expect.whole(name, size)
        array = as_array(values, ndim=(2, 3) if window is None else (2,))
        if window is not None and not 1 <= window <= len(array):
            raise ValueError(
                f"window: expected a window of 1 to {len(array)} rows, got {window}: it is the height of one frame"
            )
        colour_map(cmap)
        with np.errstate(over="ignore"):  # what float32 cannot hold shows as infinity
            self.values = array.astype(np.float32)
        self.rows, self.columns = (window or array.shape[-2]), array.shape[-1]
        if max(self.rows, self.columns) > LARGEST:
            raise ValueError(
                f"values: expected at most {LARGEST} rows and columns, got {self.rows} x {self.columns}: show a part"
            )
        self.frames = len(array) - window + 1 if window else (len(array) if array.ndim == 3 else 1)
        self.stride = self.columns if window else self.rows * self.columns  # numbers from one frame to the next
        self.framed = window is not None or array.ndim == 3
        self.title, self.cmap = readable(title, TITLE), cmap
        self.x_label, self.y_label = readable(x_label, LABEL), readable(y_label, LABEL)
        self.x_ticks = as_labels(x_ticks, self.columns, "x_ticks")
        self.y_ticks = as_labels(y_ticks, len(array) if window else self.rows, "y_ticks")
        if tile is not None and not 1 <= tile <= max(self.rows, self.columns):
            raise ValueError(f"tile: expected a tile of 1 to {max(self.rows, self.columns)} rows, got {tile}")
        self.window, self.missing, self.tile = window, readable(missing, LABEL), tile
        self.limits = colour_limits(self.values, limits, cmap)

    def frame(self, index: int) -> np.ndarray:
        """Return the matrix (R, C) that frame `index` shows; without frames, the one matrix.

        Raises IndexError for a frame that is not there.
        """
        if self.framed:
            expect.index("index", index, self.frames, "a frame")
        if self.window:
            return self.values[index : index + self.window]
        return self.values[index] if self.framed else self.values

    def wire(self) -> dict:
        """Return what the front end needs to draw the panel, apart from numbers and limits."""
        return {name: getattr(self, name) for name in WIRED} | {"shift_rows": self.window is not None}

    def room_for_long_words(self) -> float:
        """Inches that words at the rows and columns take beyond those of an ordinary sentence."""
        words = [*(self.x_ticks or ()), *(self.y_ticks or ())]
        widths = [sum(2 if ord(letter) > 0x2E80 else 1 for letter in word[:TICK]) for word in words]
        return 0.11 * max(0, max(widths, default=0) - 16)

    def draw(self, index: int, ax: Axes) -> None:
        """Draw frame `index` on a matplotlib Axes."""
        y_ticks = self.y_ticks[index : index + self.window] if self.window and self.y_ticks else self.y_ticks
        plot_heatmap(
            self.frame(index),
            title=self.title,
            x_label=self.x_label,
            y_label=self.y_label,
            x_ticks=self.x_ticks if self.tile is None else None,
            y_ticks=y_ticks if self.tile is None else None,
            limits=self.limits,
            cmap=self.cmap,
            ax=ax,
        )
        if self.tile is not None and self.x_ticks and self.y_ticks:
            ax.set_aspect("equal")
            middles = slice(self.tile // 2, None, self.tile)
            label_ticks(ax.xaxis, range(self.columns)[middles], self.x_ticks[middles])
            label_ticks(ax.yaxis, range(self.rows)[middles], self.y_ticks[middles])


class Tokens:
    """A sentence above the heatmaps, one button a word: the word that is pointed at or focused shows where it looks.

    The others take the colours, and the numbers in per cent, that they have in its row of `weights`; the front end
    does that by itself, and frames the row in every panel with the same words along it.

    weights: a panel of the view with the same words on both axes; its rows look, its columns are looked at.
    chosen: the word that is lit at first, counted from 0.
    Raises ValueError for a panel without such words or with numbers that are not finite, IndexError for no such word.
    """

    def __init__(self, weights: Heatmap, *, title: str = ASK, chosen: int = 0) -> None:
        expect.kind("weights", weights, Heatmap, "a heatmap")
        if weights.window or weights.tile or not weights.y_ticks or weights.x_ticks != weights.y_ticks:
            raise ValueError("weights: expected a heatmap with the same words as x_ticks and y_ticks")
        if not np.isfinite(weights.values).all():
            raise ValueError("weights: expected finite numbers: where nothing is looked at, the weight is 0")
        expect.index("chosen", chosen, weights.rows, "a word")
        self.weights, self.words = weights, weights.y_ticks
        self.title, self.chosen = readable(title, TITLE), chosen

    def draw(self, index: int, ax: Axes) -> None:
        """Draw the words, and where the chosen one looks in frame `index`, on a matplotlib Axes."""
        row, words = self.weights.frame(index)[self.chosen], self.words
        plot_token_attention(
            row,
            words,
            chosen=self.chosen,
            title=f"Where “{words[self.chosen]}” looks",
            limits=self.weights.limits,
            cmap=self.weights.cmap,
            ax=ax,
        )


class View:
    """Heatmaps side by side, and `description`: what they show, in words, which is also their alt text.

    frames: the name of the `Range` control that picks the frame of every framed panel. The front end steps through the
    frames by itself, so this control causes no computation. `description` may then be a list, one text for each frame.
    tokens: the words along one of the panels, to point at.
    Raises ValueError for no panels, an empty description, numbers of frames that differ, or words of another panel.
    """

    def __init__(
        self,
        *panels: Heatmap,
        description: str | Sequence[str],
        frames: str | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        for panel in panels:
            expect.kind("panels", panel, Heatmap, "heatmaps")
        expect.kind("frames", frames, str | None, "the name of a control")
        expect.kind("tokens", tokens, Tokens | None, "a Tokens")
        descriptions = [description] if isinstance(description, str) else expect.texts("description", description)
        counts = {panel.frames for panel in panels if panel.framed}
        if not panels:
            raise ValueError("panels: expected at least one panel, got none: pass a Heatmap")
        if not descriptions or not all(text.strip() for text in descriptions):
            raise ValueError(
                "description: expected a description, got an empty one: say in words what the picture shows"
            )
        if (frames is None) == bool(counts):
            raise ValueError(f"expected frames and framed panels together, got frames={frames!r} and counts {counts}")
        if not isinstance(description, str):
            counts = counts | {len(descriptions)}
        if len(counts) > (frames is not None):
            raise ValueError(f"expected one number of frames for all panels and descriptions, got {sorted(counts)}")
        if tokens is not None and tokens.weights not in panels:
            raise ValueError("tokens: expected the words of one of the panels; pass its heatmap to the view as well")
        self.panels, self.frames, self.count, self.tokens = panels, frames, max(counts, default=1), tokens
        self.descriptions = [readable(text, 2000) for text in descriptions]

    def wire(self, controls: dict[str, Control]) -> dict:
        """Return the traits that the front end draws from. Raises ValueError when `frames` names no fitting control."""
        if self.frames is not None:
            control = controls.get(self.frames)
            if not isinstance(control, Range) or control.log:
                raise ValueError(f"frames: expected the name of a linear Range control, got {self.frames!r}")
            if control.positions != self.count:
                raise ValueError(f"frames: expected {control.positions}, as {self.frames!r} has, got {self.count}")
        return {
            "_panels": [panel.wire() for panel in self.panels],
            "_limits": [list(panel.limits) for panel in self.panels],
            "_colours": {panel.cmap: colour_table(panel.cmap) for panel in self.panels},
            "_data": b"".join(panel.values.tobytes() for panel in self.panels),
            "_frames": self.frames or "",
            "_tokens": self._wire_tokens(),
            "_descriptions": self.descriptions,
        }

    def _wire_tokens(self) -> dict:
        if self.tokens is None:
            return {}
        panel = self.panels.index(self.tokens.weights)
        return {"panel": panel, "title": self.tokens.title, "chosen": self.tokens.chosen}

    def draw(self, index: int) -> Figure:
        """Return a matplotlib figure of frame `index`: the picture for readers without the live one."""
        width, height = figure_size(len(self.panels), 3.6 if len(self.panels) < 3 else 3.0)
        room = max(panel.room_for_long_words() for panel in self.panels)
        width, height = width + room * len(self.panels), height + room
        above = 0 if self.tokens is None else token_attention_height(self.tokens.words, width)
        below = ConstrainedLayoutEngine(rect=(0, 0, 1, height / (height + above)))
        figure = Figure(figsize=(width, height + above), layout=below)
        if self.tokens is not None:
            bottom, top = height / (height + above), 1 - 0.35 / (height + above)  # and its title above
            self.tokens.draw(index, figure.add_axes((0, bottom, 1, top - bottom)))
        squares = any(panel.rows == panel.columns for panel in self.panels)
        for column, panel in enumerate(self.panels):
            ax = figure.add_subplot(1, len(self.panels), column + 1)
            panel.draw(index, ax)
            if squares and ax.get_aspect() == "auto":
                ax.set_box_aspect(1)  # as high as the squares beside it
        return figure


@lru_cache
def colour_table(cmap: str) -> bytes:
    """Return the 256 colours of a matplotlib colour map, three bytes (red, green, blue) each."""
    return colour_map(cmap)(np.arange(256), bytes=True)[:, :3].tobytes()
