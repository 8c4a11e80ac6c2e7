"""How the web edition shows an explorer without a kernel: from a recording, or computed on the page."""

from dataclasses import dataclass, field

# above the picture that stands in a notebook as long as its cell has not run
RUN = '<p style="margin:2px 0 8px;font-size:13px;opacity:0.8">Run this cell, then you can move it.</p>'


@dataclass(frozen=True)
class Web:
    """How one explorer is shown in the web edition.

    heights: its height in pixels on a desktop, on a phone, and in between if its panels are arranged differently there.
    stops: the values of a control that are recorded; for a control that is not named, all values or a few evenly
    spaced. together: groups of controls that are recorded in every combination, with the other controls at their start
    values;
        a control in no group is a group by itself.
    starts: combinations of values of several controls; the groups are recorded starting from each of them.
    levels: the number of steps, above and below 0, to which the numbers of the heatmaps are rounded.
    shades: the number of shades of red, green and blue that images in pictures keep.
    live: the module of the player (site/player) that shows it when MiniLM runs in the browser on what the reader types.
    computed: the module of the player that computes it; then only the start state is recorded.
    given: the local variables of the explorer's function that this module needs.
    """

    heights: tuple[int, ...]
    stops: dict[str, tuple] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()
    starts: tuple[dict, ...] = ()
    levels: int = 32767
    shades: int = 8
    live: str = ""
    computed: str = ""
    given: tuple[str, ...] = ()
