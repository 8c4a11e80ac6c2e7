"""What an explorer shows: heatmaps side by side, optionally the words of one of them, and a description."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import (
    TICK,
    as_array,
    as_labels,
    figure_size,
    label_ticks,
    plot_heatmap,
    plot_token_attention,
    readable,
    token_attention_height,
)
from encoder_lib.course.kit.plots.colour_maps import SEQUENTIAL, colour_map
from encoder_lib.course.kit.plots.style import INK
from encoder_lib.course.kit.widget.boxes import Boxes
from encoder_lib.course.kit.widget.plane import PANEL_FIELDS, Plane

GAP = 0.12  # inches between the words and the panels, and between panels one above the other
ASK = "Point at a word, or walk with the arrow keys: where does it look?"


class Heatmap:
    """A matrix as colours, or a stack of equally large matrices (frames) that a control steps through.

    values: (R, C); or (N, R, C) for N frames; or with `window=R` a tall (N-1+R, C), whose frame f is rows f to f+R-1.
    title: {frame} in it is replaced by the number of the frame, counted from 1.
    x_ticks: C labels. y_ticks: one label for each row; with a window they shift along with the rows.
    limits: the values at the ends of the colour map.
    missing: the meaning of NaN, which is drawn in grey stripes.
    tile: the number of rows and columns of the square tiles that the matrix is made of; the axes name each tile once.
    picks: the names of two `Range` controls, which a click on a tile, or Enter, sets to its row and column of tiles.
    toggles: for each cell, the name of the `Checkbox` that a click on it, or Enter, switches: True where it is allowed.
    Raises ValueError for other shapes, for labels or toggles that do not match, and for `picks` without tiles.
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
        limits: tuple[float, float] = (0.0, 1.0),
        cmap: str = SEQUENTIAL,
        window: int | None = None,
        missing: str = "NaN",
        tile: int | None = None,
        picks: tuple[str, str] | None = None,
        toggles: Sequence[Sequence[str]] | None = None,
    ) -> None:
        self.values = as_array(values, ndim=(2,) if window else (2, 3)).astype(np.float32)
        if picks and tile is None:
            raise ValueError(f"picks: expected tiles to pick, got tile None and picks {picks}")
        self.title, self.x_label, self.y_label, self.missing = title, x_label, y_label, missing
        self.limits, self.cmap, self.window, self.tile, self.picks = limits, cmap, window, tile, picks
        self.rows, self.columns = (window or self.values.shape[-2]), self.values.shape[-1]
        self.toggles = [list(names) for names in toggles or ()]
        if toggles and [len(names) for names in self.toggles] != [self.columns] * self.rows:
            raise ValueError(f"toggles: expected {self.rows} rows of {self.columns} names, got {toggles}")
        self.framed = bool(window) or self.values.ndim == 3
        self.frames = len(self.values) - (window or 1) + 1 if self.framed else 1
        self.x_ticks = as_labels(x_ticks, self.columns, "x_ticks")
        self.y_ticks = as_labels(y_ticks, len(self.values) if window else self.rows, "y_ticks")

    def frame(self, index: int) -> np.ndarray:
        """Return the matrix (R, C) that frame `index` shows; without frames, the one matrix."""
        if self.window:
            return self.values[index : index + self.window]
        return self.values[index] if self.framed else self.values

    def to_spec(self) -> dict:
        """Return what the front end needs to draw the panel, apart from numbers and limits."""
        stride = self.columns if self.window else self.rows * self.columns  # numbers per frame
        same = {name: getattr(self, name) for name in PANEL_FIELDS}
        hands = {"picks": list(self.picks or ()), "toggles": self.toggles}
        hands = {name: controls for name, controls in hands.items() if controls}
        return same | {"stride": stride, "shift_rows": bool(self.window)} | hands

    def room_for_long_words(self) -> float:
        """Extra space, in inches, that words at the rows and columns need beyond those of an ordinary sentence."""
        words = [*(self.x_ticks or ()), *(self.y_ticks or ())]
        widths = [sum(2 if ord(letter) > 0x2E80 else 1 for letter in word[:TICK]) for word in words]
        return 0.11 * max(0, max(widths, default=0) - 16)

    def draw(self, index: int, ax: Axes) -> None:
        """Draw frame `index` on a matplotlib Axes."""
        y_ticks = self.y_ticks[index : index + self.window] if self.window and self.y_ticks else self.y_ticks
        plot_heatmap(
            self.frame(index),
            title=self.title.replace("{frame}", str(index + 1)),
            x_label=self.x_label,
            y_label=self.y_label,
            x_ticks=self.x_ticks if self.tile is None else None,
            y_ticks=y_ticks if self.tile is None else None,
            limits=self.limits,
            cmap=self.cmap,
            colorbar=self.tile is None,  # tiles have the colours of the large matrix below them
            ax=ax,
        )
        if self.tile is not None and self.x_ticks and self.y_ticks:
            ax.set_aspect("equal")
            middles = slice((self.rows % self.tile or self.tile) // 2, None, self.tile)
            label_ticks(ax.xaxis, range(self.columns)[middles], self.x_ticks[middles])
            label_ticks(ax.yaxis, range(self.rows)[middles], self.y_ticks[middles])
            ax.patch.set_visible(not self.picks)  # between tiles that can be picked, the ground is seen

    def frame_tile(self, ax: Axes, row: int, column: int) -> None:
        """Draw a frame around a tile, in the middle of the gaps beside it."""
        assert self.tile is not None
        gap = self.tile - (self.rows % self.tile or self.tile)
        corner = (self.tile * column - (1 + gap) / 2, self.tile * row - (1 + gap) / 2)
        ax.add_patch(Rectangle(corner, self.tile, self.tile, fill=False, edgecolor=INK, linewidth=2, clip_on=False))


def attention_map(weights: ArrayLike, words: Sequence[str], title: str, **options: Any) -> Heatmap:
    """Attention weights as colours: a row for each query, a column for each key."""
    return Heatmap(weights, title=title, x_label="key", y_label="query", x_ticks=words, y_ticks=words, **options)


class View:
    """Heatmaps, planes or boxes side by side, and a `description` of what they show, which is also their alt text.

    frames: the name of the `Range` control that picks the frame of every framed panel. The front end steps through the
    frames by itself, so this control causes no computation. `description` may then be a list, one text for each frame.
    tokens: a panel with the same words on both axes. The words are shown above the panels as a sentence, with a button
    for each. The word that is pointed at or focused gives all of them the colours and percentages of its row; the front
    end does that by itself, and frames the row in every panel with these words.
    chosen: the position of the word that is highlighted at first: the second one, because the first is often a special
    token.
    """

    def __init__(
        self,
        *panels: Heatmap | Plane | Boxes,
        description: str | Sequence[str],
        frames: str = "",
        tokens: Heatmap | None = None,
        chosen: int = 1,
    ) -> None:
        self.panels, self.frames, self.tokens = panels, frames, tokens
        self.count = max(panel.frames for panel in panels)
        self.chosen = min(chosen, tokens.rows - 1) if tokens else 0
        texts = [description] if isinstance(description, str) else description
        self.descriptions = [readable(text, 2000) for text in texts]

    def to_spec(self) -> dict:
        """Return the traits that the front end draws from."""
        return {
            "_panels": [panel.to_spec() for panel in self.panels],
            "_limits": [list(panel.limits) for panel in self.panels],
            "_colours": {panel.cmap: colour_table(panel.cmap) for panel in self.panels if panel.cmap},
            "_data": b"".join(panel.values.tobytes() for panel in self.panels),
            "_frames": self.frames,
            "_tokens": self._tokens_spec(),
            "_descriptions": self.descriptions,
        }

    def _tokens_spec(self) -> dict:
        return {"panel": self.panels.index(self.tokens), "title": ASK, "chosen": self.chosen} if self.tokens else {}

    def draw(self, index: int, positions: Mapping[str, int] | None = None) -> Figure:
        """Return a matplotlib figure of frame `index`, for readers without the live explorer.

        positions: those of the controls that pick a tile, which gets a frame.
        """
        tiled = any(panel.tile for panel in self.panels)  # many small matrices, which need a row for themselves
        rows, columns = (len(self.panels), 1) if tiled else (1, len(self.panels))
        width, height = figure_size(columns, 4.0 if columns < 3 else 2.8 if self.tokens else 3.1)
        room = max(panel.room_for_long_words() for panel in self.panels)
        width, height = width + room * columns, (height + room) * rows
        above = token_attention_height(self.tokens.y_ticks or [], width) + GAP if self.tokens else 0
        below = ConstrainedLayoutEngine(
            rect=(0, 0, 1, height / (height + above)), wspace=0.05, h_pad=GAP if tiled else None
        )
        figure = Figure(figsize=(width, height + above), layout=below)
        if self.tokens:
            bottom, top = (height + GAP) / (height + above), 1 - 0.35 / (height + above)  # with its title above
            _draw_tokens(self.tokens, self.chosen, index, figure.add_axes((0, bottom, 1, top - bottom)))
        grid, drawn = figure.add_gridspec(rows, columns), []
        for i, panel in enumerate(self.panels):
            cell = grid[i]
            beside = tiled and not panel.tile  # in the middle, about as wide as high
            ax = figure.add_subplot(cell.subgridspec(1, 3, width_ratios=(1, 3, 1))[1] if beside else cell)
            ax.set_anchor("N" if len(self.panels) > 1 else "NW")  # titles stand level, a single one at the left
            panel.draw(index, ax)
            if isinstance(panel, Heatmap) and panel.picks and positions:
                panel.frame_tile(ax, *(positions[name] for name in panel.picks))
            drawn.append(ax)
        loose = [ax for ax in drawn if ax.get_aspect() == "auto"]
        if len(loose) < len(drawn):
            for ax in loose:
                ax.set_box_aspect(1)  # as high as the squares beside it
        return figure


def _draw_tokens(weights: Heatmap, chosen: int, index: int, ax: Axes) -> None:
    """Draw the words, coloured by the attention weights of the chosen one in frame `index`."""
    words = weights.y_ticks or []
    row, title = weights.frame(index)[chosen], f"Attention weights of “{words[chosen]}”"
    plot_token_attention(row, words, chosen=chosen, title=title, limits=weights.limits, cmap=weights.cmap, ax=ax)


@lru_cache
def colour_table(cmap: str) -> bytes:
    """Return the 256 colours of a colour map in the light, then in the dark, three bytes (red, green, blue) each."""
    maps = (colour_map(cmap, dark=dark) for dark in (False, True))
    return b"".join(colours(np.arange(256), bytes=True)[:, :3].tobytes() for colours in maps)
