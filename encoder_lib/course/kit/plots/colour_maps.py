"""The colour maps of heatmaps: the course's own, which follow the theme of the page, and those of matplotlib."""

from functools import cache

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap, to_hex

SEQUENTIAL, DIVERGING = "sequential", "diverging"
# The course's own maps, each in its light and in its dark version: the least colour is nearly that of the page, and
# lightness changes by about equal steps, in the dark by larger ones at first, since eyes see less there. The hues are
# those of attention and, below zero, of the followed token.
OURS = {
    SEQUENTIAL: (
        ("#faf1ec", "#f5cfbd", "#edaa8b", "#e08257", "#cb5a2b", "#ad3c12"),
        ("#1f1c1f", "#5f3722", "#95501f", "#c4651f", "#ee8634", "#ffb87c"),
    ),
    DIVERGING: (
        ("#145f9f", "#3a86c4", "#75b0e0", "#b4d4ef", "#f2f3f5", "#f4c7b3", "#e79872", "#ce6434", "#ad3c12"),
        ("#a5e0ff", "#4fb4ee", "#1f7fb8", "#1b4a6b", "#20242b", "#68381f", "#a85017", "#ec802e", "#ffb87c"),
    ),
}
OF_MATPLOTLIB = frozenset(
    {"BrBG", "PRGn", "PiYG", "PuOr", "RdBu", "RdGy", "bwr", "coolwarm", "icefire", "seismic", "vlag"}
)
ENDS = 0.06, 0.94  # of a diverging map of matplotlib; beyond them, equal large numbers look like a dark wall


def is_diverging(name: str) -> bool:
    """Return whether the middle of a colour map stands for zero."""
    return name == DIVERGING or name.removesuffix("_r") in OF_MATPLOTLIB


@cache
def colour_map(name: str, *, dark: bool = False) -> Colormap:
    """Return a colour map of 256 colours by its name; in the dark, one of matplotlib's is the same."""
    if name in OURS:
        colours = LinearSegmentedColormap.from_list(name, OURS[name][dark])(np.arange(256), bytes=True)
        return ListedColormap(colours / 255, name)
    if is_diverging(name):
        return ListedColormap(colormaps[name].resampled(4096)(np.linspace(*ENDS, 256)))
    return colormaps[name]


@cache
def light_to_dark(name: str) -> dict[str, str]:
    """Return, for each colour of one of the course's maps in the light, the colour in the dark."""
    light, dark = (colour_map(name, dark=theme)(np.arange(256)) for theme in (False, True))
    return {to_hex(a): to_hex(b) for a, b in zip(light, dark, strict=True)}
