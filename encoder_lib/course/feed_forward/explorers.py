"""The explorer of 05_feed_forward."""

from collections import Counter

from matplotlib.figure import Figure

from encoder_lib.course.feed_forward.curves import (
    CURVES,
    MAX_UNITS,
    MIN_SLOPE_CHANGE,
    breakpoints,
    decompose,
    grid,
    orthogonal_least_squares,
    unit_contributions,
)
from encoder_lib.course.feed_forward.plots import plot_fit
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.feed_forward import FeedForward

NAMES = {"ReLU": "relu", "GELU": "gelu"}
TITLES = "The curve, its fit, and the corners of the units", "What each unit adds to the fit"


def fit_curve(width: int = 4, unit: int = 1, activation: str = "ReLU", curve: str = "wave") -> Explorer:
    """Fit a curve with a network of `width` hidden units, and show the units one by one. All fits are computed here.

    If there is no such `unit`, the last one is shown, and the description says so.
    """
    controls = (
        Range("width", width, min=1, max=MAX_UNITS, label="hidden units n"),
        Range("unit", unit, min=1, max=MAX_UNITS, label="show unit"),
        Select("activation", activation, options=tuple(NAMES)),
        Select("curve", curve, options=tuple(CURVES)),
    )
    grown = {
        (name, label): orthogonal_least_squares(name, MAX_UNITS, activation=a)
        for name in CURVES
        for label, a in NAMES.items()
    }

    def draw(width: int, unit: int, activation: str, curve: str, figure: Figure | None = None) -> Figure:
        network = grown[curve, activation][width - 1]
        return plot_fit(**decompose(network, curve), unit=min(unit, width) - 1, titles=TITLES, figure=figure)

    figure = draw(width, unit, activation, curve)

    def show(width: int, unit: int, activation: str, curve: str) -> str:
        draw(width, unit, activation, curve, figure)
        network = grown[curve, activation][width - 1]
        missed = (network(grid()) - CURVES[curve](grid())).abs()  # (P, 1)
        root = missed.square().mean().sqrt()
        fit = f"the fit misses the {curve} by {root:.3f} (root mean square) and by {missed.max():.2f} at most"
        return f"{width} {activation} unit{'s'[: width > 1]}: {fit}. {_words(network, unit)}"

    web = Web(
        heights=(620, 790),
        stops={"width": (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32), "unit": (1, 2, 3, 4, 8, 16, 32)},
        together=(("width", "activation", "curve"), ("width", "unit")),
    )
    return Explorer(show, *controls, title="Fit a curve with hidden units", figure=figure, web=web)


def _words(network: FeedForward, unit: int) -> str:
    """Describe how many corners the fit has, and what the chosen unit does."""
    where, part = breakpoints(network), unit_contributions(network, grid())  # (F,), (P, F)
    sharpness = network.linear2.weight[0] * network.linear1.weight[:, 0].abs()  # (F,)
    jumps: Counter[float] = (
        Counter()
    )  # position -> change of the slope there; two units may have their corner at the same position
    for place, jump in zip(where.tolist(), sharpness.tolist(), strict=True):
        jumps[round(place, 3)] += jump
    count = sum(abs(jump) > MIN_SLOPE_CHANGE and abs(place) < 1 for place, jump in jumps.items())
    corners = f"It has {count} corner{'s'[: count != 1]}" if network.activation == "relu" else "It has no corners"
    shown = min(unit, len(where))
    corner = "corner" if network.activation == "relu" else "bend"
    who = f"unit {unit}" if shown == unit else f"there is no unit {unit}; the last one, unit {shown},"
    low, high = (value.item() + 0.0 for value in part[:, shown - 1].aminmax())
    return f"{corners}; {who} has its {corner} at x = {where[shown - 1]:.2f} and adds between {low:.2f} and {high:.2f}."
