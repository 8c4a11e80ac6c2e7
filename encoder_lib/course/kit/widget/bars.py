"""Numbers as bars that glide from step to step, as a panel of a view."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import GREY, as_array
from encoder_lib.course.kit.plots.style import HALO, INK, NOTE_SIZE, label_axes, plain_text
from encoder_lib.course.kit.widget.plane import WORD_COLOURS, Plane

ROOM = 0.06  # the fraction of the picture's height that a number below its bar needs
WIDE = 0.7  # the width of a bar, where a bar and the space after it make 1; as in bars.js


class Bars(Plane):
    """The numbers (N, C) of N frames as C bars each, with a dashed line at their mean.

    Around the line, a band reaches one standard deviation up and down. What goes beyond the limits is cut off there,
    and its number is written all the same.
    names: one for each bar. kinds: one string for each bar; those of one kind have one colour.
    titles: the title of each frame.
    outlines: the numbers (C,) that were there at first, as empty bars.
    Raises ValueError for other shapes, and for names, kinds or titles that do not match.
    """

    def __init__(
        self,
        values: ArrayLike,
        names: Sequence[str],
        *,
        kinds: Sequence[str] | None = None,
        limits: tuple[float, float],
        titles: Sequence[str],
        outlines: ArrayLike,
    ) -> None:
        numbers = as_array(values, ndim=(2,), finite=True)
        frames, count = numbers.shape
        first = as_array(outlines, ndim=(1,), finite=True)
        if len(titles) != frames or first.shape != (count,):
            raise ValueError(
                f"expected {frames} titles and outlines of shape ({count},), "
                f"got {len(titles)} titles and outlines of shape {first.shape}"
            )
        bars = np.concatenate([numbers, np.broadcast_to(first, (frames, count))], axis=1)  # (N, 2C)
        heights = np.stack([np.broadcast_to(np.arange(2 * count) % count + 1.0, bars.shape), bars], axis=-1)
        band = np.stack([numbers.mean(axis=1), numbers.std(axis=1)], axis=-1)  # (N, 2)
        super().__init__(
            np.concatenate([heights, band[:, None]], axis=1),  # (N, 2C + 1, 2)
            [*names, *[""] * (count + 1)],
            kinds=[*(kinds or [""] * count), *(kinds or [""] * count), ""],
            x_limits=(0.4, count + 1.6),
            y_limits=limits,
            title=max(titles, key=len),
            wide=2.0,
        )
        self.count, self.titles = count, list(titles)

    def to_spec(self) -> dict:
        """Return what the front end needs to draw the panel, apart from the numbers."""
        return super().to_spec() | {"bars": {"count": self.count, "titles": self.titles}}

    def draw(self, index: int, ax: Axes) -> None:
        """Draw frame `index` on a matplotlib Axes."""
        points, count, (bottom, top) = self.frame(index), self.count, self.y_limits
        x, heights, outlines = points[:count, 0], points[:count, 1], points[count:-1, 1]
        mean, deviation = points[-1]
        ax.set(xlim=self.x_limits, ylim=self.y_limits)
        ax.axhspan(mean - deviation, mean + deviation, color=GREY, alpha=0.18, linewidth=0, zorder=0)
        ax.plot([self.x_limits[0], count + 0.6], [mean, mean], "--", color=INK, linewidth=1.2)
        ax.axhline(0, color=GREY, linewidth=0.7)
        colours = [WORD_COLOURS[colour] for colour in self.colours[:count]]
        ax.bar(x, outlines, WIDE, color="none", edgecolor=colours, alpha=0.6)
        ax.bar(x, heights, WIDE, color=colours)
        for i in range(count):
            place = np.clip(heights[i], bottom, top)
            side = -1 if heights[i] < 0 and place - bottom > ROOM * (top - bottom) else 1
            ax.annotate(
                decimals(heights[i]), (x[i], place), xytext=(0, 3 * side), textcoords="offset points", ha="center",
                va="bottom" if side > 0 else "top", fontsize=NOTE_SIZE, gid=HALO, **plain_text(),
            )  # fmt: skip
        note = f"mean\n{decimals(mean)}\n± {decimals(deviation)}"
        ax.text(count + 1.05, mean, note, ha="center", va="center", fontsize=NOTE_SIZE, gid=HALO, **plain_text())
        ax.set_xticks(x, self.names[:count])
        label_axes(ax, self.titles[index])


def decimals(number: float) -> str:
    """A number with two decimals, a real minus, and none before a zero, as `fixed` of `format.js` writes it."""
    return f"{round(float(number), 2) + 0.0:.2f}".replace("-", "−")
