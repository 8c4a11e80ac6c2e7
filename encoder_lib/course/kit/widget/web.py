"""How the web edition shows an explorer, where no kernel answers: from a recording, or computed on the page."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Web:
    """An explorer's page in the web edition.

    heights: how many pixels high it is, at a desk, on a phone, and between the two if its panels stand otherwise there.
    stops: the values of a control that are recorded; of a control that is not named, all values or a few evenly spread.
    together: groups of controls that are recorded in every combination, the other controls as they are at the start;
        a control of no group is one by itself.
    starts: values of several controls that belong together, from each of which the groups are recorded.
    levels: into how many steps, above and below 0, the numbers of the heatmaps are cut.
    shades: how many shades of red, green and blue the images in pictures keep.
    live: the module of the player (site/player) that shows it when MiniLM reads in the browser what is typed there.
    computed: the module of the player that computes it; then no other state is recorded.
    given: what that module has to know of what the explorer was made with: names in the explorer's own function.
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
