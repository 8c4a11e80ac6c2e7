"""The explorer of 03_layer_norm."""

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from encoder_lib.course.kit.plots import COLOURS, figure_size
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.norm import LayerNorm, RMSNorm

WIDTH = 16
METHODS = {"layer norm": LayerNorm, "RMS norm": RMSNorm}
REACH = 10  # how far both axes reach; no setting puts a component beyond it
NARROWEST = 0.1  # bars are as wide as for this standard deviation where it is smaller, so that they can be seen


def normalise(
    method: str = "layer norm",
    mean: float = 2.0,
    spread: float = 0.5,
    outlier: float = 0.0,
    gain: float = 1.0,
    bias: float = 0.0,
    eps: float = 1e-5,
) -> Explorer:
    """One token's vector before and after a norm: what is kept, and what is lost.

    mean, spread: the mean and the standard deviation of the token's 16 components. outlier: what is added to one of
    them. gain, bias: the norm's learned parameters, here equal for all 16. The methods are those of `METHODS`.
    """
    controls = (
        Select("method", method, options=tuple(METHODS)),
        Range("mean", mean, min=-5, max=5, step=0.5, label="mean of the token"),
        Range("spread", spread, min=1e-4, max=1.5, step=None, log=True, label="standard deviation"),
        Range("outlier", outlier, min=0, max=5, step=0.5, label="one component is larger by"),
        Range("gain", gain, min=0, max=2, step=0.1, label="gain (weight)"),
        Range("bias", bias, min=-2, max=2, step=0.1),
        Range("eps", eps, min=1e-12, max=1, step=None, log=True, label="ε (epsilon)"),
    )
    shape = _shape()  # (D,) with mean 0 and standard deviation 1
    figure, axes = plt.subplots(2, 1, figsize=figure_size(1, 4.6), sharex=True, layout="constrained")
    before = _Panel(axes[0], "Before: what the norm gets")
    after = _Panel(axes[1], "After: what the norm gives")

    def show(method: str, mean: float, spread: float, outlier: float, gain: float, bias: float, eps: float) -> str:
        token = mean + spread * shape  # (D,)
        token[WIDTH // 2] += outlier
        y = normalised(token, method, gain=gain, bias=bias, eps=eps)  # (D,)
        before.update(token)
        after.update(y)
        (old_mean, old_std), (new_mean, new_std) = moments(token), moments(y)
        return (
            f"{method[0].upper()}{method[1:]}: the mean went from {_plain(old_mean)} to {_plain(new_mean)}, the "
            f"standard deviation from {old_std:.4g} to {new_std:.4g}."
        )

    web = Web(heights=(820, 1040), computed="normalise")
    return Explorer(show, *controls, title="One token, before and after", figure=figure, web=web)


def normalised(x: Tensor, method: str, *, gain: float, bias: float, eps: float) -> Tensor:
    """Normalise a token (D,), float64, by one of `METHODS`, with one gain and one bias for all its components."""
    norm = METHODS[method](x.shape[-1], eps=eps).to(x)
    with torch.no_grad():
        return norm(x[None])[0] * gain + bias


def moments(x: Tensor) -> tuple[float, float]:
    """The mean and the standard deviation (divided by D, not D − 1) of a vector (D,)."""
    return x.mean().item(), x.std(correction=0).item()


class _Panel:
    """A histogram of a token's components, each also a tick below it; lines show the mean and one deviation around it.

    Its bars are half a standard deviation wide, so that a shifted or stretched token keeps its histogram.
    """

    def __init__(self, ax: Axes, title: str):
        self.bars = ax.stairs(np.zeros(1), [-REACH, REACH], fill=True, color=COLOURS[0])
        self.ticks = ax.plot([], [], "|", color="black", markersize=9)[0]
        self.centre = ax.axvline(0, color=COLOURS[1], linewidth=2)
        self.span = ax.plot([], [], color=COLOURS[1], linewidth=5, solid_capstyle="butt")[0]
        self.text = ax.text(0.985, 0.93, "", transform=ax.transAxes, ha="right", va="top", family="monospace")
        ax.set_title(title, loc="left")
        ax.set(xlim=(-REACH, REACH), ylim=(-2.4, WIDTH + 1), yticks=[0, 8, 16], ylabel="how many")

    def update(self, x: Tensor) -> None:
        mean, std = moments(x)
        edges = mean + max(std, NARROWEST) * np.arange(-4, 4.5, 0.5)  # which no component exceeds: √15 < 4
        self.bars.set_data(np.histogram(x.numpy(), edges)[0], edges)
        self.ticks.set_data(x.numpy(), np.full(len(x), -1.1))
        self.centre.set_xdata([mean, mean])
        self.span.set_data([mean - std, mean + std], [0, 0])
        self.text.set_text(f"mean {_plain(mean):>7}\nstandard deviation {std:7.4f}")


def _shape() -> Tensor:
    """Quantiles of the exponential distribution (D,), at mean 0 and standard deviation 1: a long tail to the right."""
    x = -torch.log1p(-(torch.arange(WIDTH, dtype=torch.float64) + 0.5) / WIDTH)
    return (x - x.mean()) / x.std(correction=0)


def _plain(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}"  # no minus before a zero
