"""A result beside what was expected and their difference, as small heatmaps for a verdict."""

import html
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from encoder_lib.course.kit.plots.colour_maps import DIVERGING, OURS

ROWS, COLUMNS = 12, 16  # of the largest tensor that is shown
WRITTEN = 8  # columns up to which the cells hold their numbers
COLD, WARM = OURS[DIVERGING][0][1], OURS[DIVERGING][0][-2]  # of negative and positive numbers, as in heatmaps
STRONGEST = 55  # percent of colour, on the page's ground, on which its text keeps a contrast of 4.5 to 1
NAN = "repeating-linear-gradient(45deg,#8f8f8f66 0 2px,transparent 2px 5px)"
CODE = "var(--jp-code-font-family,monospace)"


@dataclass(frozen=True)
class Comparison:
    """A wrong result, what was expected, and the words that say how they differ."""

    problem: str
    got: Tensor
    expected: Tensor

    @property
    def fits(self) -> bool:
        """Whether both are of one shape and kind, hold several numbers, and few enough to be seen one by one."""
        shape, masks = self.expected.shape, [x.dtype == torch.bool for x in (self.got, self.expected)]
        if self.got.shape != shape or self.got.is_complex() or masks[0] != masks[1] or self.expected.numel() < 2:
            return False
        return shape[-1] <= COLUMNS and self.expected.numel() <= ROWS * shape[-1]

    def to_html(self) -> str:
        """Three heatmaps side by side; a row holds the last axis, and all other axes are listed from top to bottom."""
        tensors = (self.got, self.expected)
        got, expected = (x.detach().cpu().double().reshape(-1, x.shape[-1]) for x in tensors)
        written = "{:.0f}" if self.expected.dtype == torch.bool else "{:.2f}"
        strongest = _largest(torch.cat([got, expected]))
        difference = got - expected
        tables = [
            _heatmap("yours", got, strongest, written),
            _heatmap("expected", expected, strongest, written),
            _heatmap("difference", difference, _largest(difference), written),
        ]
        return f'<div style="display:flex;flex-wrap:wrap;gap:6px 24px;margin:8px 0">{"".join(tables)}</div>'


def _largest(x: Tensor) -> float:
    """The largest absolute value among the finite numbers."""
    return float(x.nan_to_num(0, 0, 0).abs().max())


def _heatmap(name: str, x: Tensor, strongest: float, written: str) -> str:
    rows = "".join(
        f'<tr style="background:none">{"".join(_cell(value, strongest, written, len(row)) for value in row)}</tr>'
        for row in x.tolist()
    )
    size = f"{len(x)} row{'s' * (len(x) != 1)} of {x.shape[1]} number{'s' * (x.shape[1] != 1)}"
    said = html.escape(f"{name}: {size}, {_range(x, written)}")
    return (
        f'<table role="img" aria-label="{said}" style="width:auto;margin:0;border-collapse:separate;border-spacing:1px;'
        f'font:11px/1.6 {CODE}"><caption style="text-align:left;font:inherit">{name}</caption>{rows}</table>'
    )


def _range(x: Tensor, written: str) -> str:
    finite = x[x.isfinite()]
    if not len(finite):
        return "none of them finite"
    low, high = (_in_words(float(end), written) for end in (finite.min(), finite.max()))
    return f"all {low}" if low == high else f"from {low} to {high}"


def _cell(value: float, strongest: float, written: str, columns: int) -> str:
    share = min(1.0, abs(value) / strongest) if strongest else 0.0  # an infinite number is as strong as the largest
    most = 100 if columns > WRITTEN else STRONGEST
    colour = f"color-mix(in srgb,{WARM if value > 0 else COLD} {most * share:.0f}%,transparent)"
    ground = NAN if math.isnan(value) else colour
    if columns > WRITTEN:
        return f'<td style="background:{ground};padding:0;width:15px;height:15px"></td>'
    text = _in_words(value, written)
    return f'<td style="background:{ground};padding:0 5px;text-align:right">{text}</td>'


def _in_words(value: float, written: str) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return written.format(round(value, 2) + 0.0).replace("-", "−")
