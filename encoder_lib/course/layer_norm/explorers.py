"""The explorer of 03_layer_norm."""

import torch
from torch import Tensor

from encoder_lib.course.kit.widget.bars import Bars
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.norm import LayerNorm, RMSNorm

METHODS = {"layer norm": LayerNorm, "RMS norm": RMSNorm}
TOKEN = (3.0, 5.0, 9.0, 5.0, 3.0, 5.0)  # (D,), as in the notebook
MOVED = 2  # the dimension whose number, gain and bias can be changed
TITLES = {
    "layer norm": (
        "The token x",
        "Minus the mean μ, so that they average 0",
        "Divided by √(σ² + ε), so that their size no longer counts",
        "Times the gain γ, which is learned",
        "Plus the bias β, which is learned too",
    ),
    "RMS norm": (
        "The token x",
        "No mean is subtracted",
        "Divided by √(RMS² + ε), so that their size no longer counts",
        "Times the gain γ, which is learned",
        "Plus the bias β, which is learned too",
    ),
}


def normalise(
    method: str = "layer norm",
    step: int = 4,
    third: float = TOKEN[MOVED],
    add: float = 0.0,
    factor: float = 1.0,
    gain: float = 2.0,
    bias: float = -1.0,
    eps: float = 1e-5,
) -> Explorer:
    """One token of six numbers as bars, on its way through the steps of a norm.

    third: the third number. factor, add: all numbers are multiplied by `factor`, and then `add` is added to each.
    gain, bias: the norm's learned parameters of the third dimension; those of the others are 1 and 0.
    The methods are those of `METHODS`.
    """
    controls = (
        Range("step", step, min=0, max=4),
        Select("method", method, options=tuple(METHODS)),
        Range("third", third, min=0, max=10, step=0.5, label="third number"),
        Range("factor", factor, min=1e-4, max=2, step=None, log=True, label="all × a factor"),
        Range("add", add, min=-5, max=5, step=0.5, label="then add to each"),
        Range("gain", gain, min=0, max=3, step=0.1, label="third gain γ"),
        Range("bias", bias, min=-2, max=2, step=0.1, label="third bias β"),
        Range("eps", eps, min=1e-12, max=1, step=None, log=True, label="ε (epsilon)"),
    )
    names = [f"x{'₁₂₃₄₅₆'[i]}" for i in range(len(TOKEN))]
    kinds = ["moved" if i == MOVED else "" for i in range(len(TOKEN))]

    def show(
        method: str, step: int, third: float, factor: float, add: float, gain: float, bias: float, eps: float
    ) -> View:
        x = torch.tensor(TOKEN, dtype=torch.float64)  # (D,)
        x[MOVED] = third
        x = x * factor + add
        y = stations(x, method, gain=gain, bias=bias, eps=eps)  # (5, D)
        titles = TITLES[method]
        return View(
            Bars(y, names, kinds=kinds, limits=(-5, 13), titles=titles, outlines=x),
            frames="step",
            description=[_words(x, now, n, titles[n]) for n, now in enumerate(y)],
        )

    web = Web(heights=(738, 1022), computed="normalise")
    return Explorer(show, *controls, title="One token, step by step through a norm", web=web)


def stations(x: Tensor, method: str, *, gain: float, bias: float, eps: float) -> Tensor:
    """The token (D,) and what each step of a norm makes of it: (5, D). Gain and bias are those of one dimension."""
    norm = METHODS[method](len(x), eps=eps).to(x)
    gains, biases = torch.ones_like(x), torch.zeros_like(x)
    gains[MOVED], biases[MOVED] = gain, bias
    with torch.no_grad():
        normalised = norm(x[None])[0]
    centred = x - x.mean() if method == "layer norm" else x
    return torch.stack([x, centred, normalised, normalised * gains, normalised * gains + biases])


def _words(x: Tensor, now: Tensor, step: int, title: str) -> str:
    """What a step has made of the token."""
    token = ", ".join(f"{number:.4g}" for number in x.tolist())
    numbers = ", ".join(_plain(number) for number in now.tolist())
    made = f"the token {token} has become {numbers}" if step else f"the six numbers are {token}"
    mean, deviation = _plain(now.mean().item()), now.std(correction=0).item()
    return f"Step {step}, {title[0].lower()}{title[1:]}: {made}. Mean {mean}, standard deviation {deviation:.4g}."


def _plain(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}"  # no minus before a zero
