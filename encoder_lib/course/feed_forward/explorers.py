"""The explorers of 05_feed_forward."""

from collections import Counter

import torch
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
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.feed_forward import FeedForward

CARDS = {"a → b": (0.0, 0.0), "a → B": (0.0, 1.0), "A → b": (1.0, 0.0), "A → B": (1.0, 1.0)}  # own, fetched
FOLDING = (1.5, -1.0), (-1.0, 1.5)  # (D, F): 1.5 own - fetched, and 1.5 fetched - own
THRESHOLD = 1.25  # of the sum of both activations, on the line that separates the cards
LINES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the grid
NAMES = {"ReLU": "relu", "GELU": "gelu"}
TITLES = "The curve and its fit", "What each unit adds to the fit"


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
        heights=(620, 1186),
        stops={"width": (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32), "unit": (1, 2, 3, 4, 8, 16, 32)},
        together=(("width", "activation", "curve"), ("width", "unit")),
    )
    return Explorer(show, *controls, title="Fit a curve with hidden units", figure=figure, web=web)


def fold(stage: float = 2.0) -> Explorer:
    """The four cards of the exclusive or as points in a plane, on their way through a hidden layer of two units.

    At stage 0 the plane is that of the inputs, at 1 that of the pre-activations, at 2 that of the activations. In
    between, points move straight from one to the next.
    """
    along = torch.linspace(0, 1, 25, dtype=torch.float64)  # a line of the grid
    across = [torch.full_like(along, place) for place in LINES]
    lines = [torch.stack(pair, dim=1) for place in across for pair in ((place, along), (along, place))]  # (25, D) each
    cards = torch.tensor(list(CARDS.values()), dtype=torch.float64)
    inputs = torch.cat([cards, *lines])  # (P, D)
    s = inputs @ torch.tensor(FOLDING, dtype=torch.float64)  # (P, F)
    shares = torch.linspace(0, 1, 21, dtype=torch.float64)[:, None, None]
    moved = torch.cat([inputs.lerp(s, shares), s.lerp(s.clamp(min=0), shares[1:])])  # (41, P, F)
    cut = torch.tensor([[-0.7, THRESHOLD + 0.7], [THRESHOLD + 0.7, -0.7]], dtype=torch.float64)
    points = torch.cat([moved, cut.expand(len(moved), 2, 2)], dim=1)  # (41, P + 2, F)
    unnamed = points.shape[1] - len(CARDS)

    def show(stage: float) -> View:
        return View(
            Plane(
                points,
                [*CARDS, *[""] * unnamed],
                kinds=["0", "1", "1", "0", *["0"] * unnamed],
                paths=torch.arange(len(CARDS), len(inputs)).view(-1, len(along)).tolist(),
                cut=(len(inputs), len(inputs) + 1),
                x_limits=(-1.35, 1.95),
                y_limits=(-1.35, 1.95),
                title="Does a line separate the two colours?",
                x_label="own, then unit 1",
                y_label="fetched, then unit 2",
                wide=2.0,
            ),
            frames="stage",
            description=[_fold_words(0.05 * n, frame[2], frame[3]) for n, frame in enumerate(moved)],
        )

    control = Range("stage", stage, min=0, max=2, step=0.05, label="stage")
    return Explorer(
        show, control, title="Inputs (0), pre-activations (1), activations (2)", web=Web(heights=(600, 640))
    )


def _fold_words(stage: float, one: torch.Tensor, both: torch.Tensor) -> str:
    """Where the cards A → b and A → B (F,) are at a stage, and whether a line separates the cards."""
    at, also = (f"({x + 0.0:.2f}, {y + 0.0:.2f})" for x, y in (one.tolist(), both.tolist()))
    total = one.sum().item()  # of the coordinates of A → b, and by symmetry of a → B
    verdict = "No line separates A → b and a → B from the other two cards"
    if stage > 1 and total > THRESHOLD + 1e-6:
        verdict = "The dashed line separates A → b and a → B from the other two cards"
    elif stage > 1 and total > both.sum().item() + 1e-6:
        verdict = "A line could separate A → b and a → B from the other two cards, but not the dashed one yet"
    return f"Stage {f'{stage:.2f}'.removesuffix('.00')}: A → b is at {at}, A → B at {also}. {verdict}."


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
