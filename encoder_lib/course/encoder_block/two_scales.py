"""Learning curves on the card task: two encoder layers with and without norms, on embeddings at two scales.

Training them takes a few minutes, so the curves are stored beside this file. `learning_curve` draws any of them again,
and `python -m encoder_lib.course.encoder_block.two_scales` records them all.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encoder_lib import expect
from encoder_lib.course.kit import ladder, learning_curves

if TYPE_CHECKING:
    import pandas as pd

MODELS: dict[str, dict[str, Any]] = {
    "no norms": {},
    "norms": {"norm": True},
    "× 10, no norms": {"loudness": 10},
    "× 10, norms": {"loudness": 10, "norm": True},
}
SEEDS = range(4)
STEPS = 1600
STORED = Path(__file__).with_suffix(".csv")


def build(model: str) -> ladder.CardModel:
    """One of MODELS, untrained: two encoder layers with one head, a feed-forward network and residual connections.

    Raises: ValueError for a name that is not in MODELS.
    """
    expect.choice("model", model, tuple(MODELS))
    parts: dict[str, Any] = {"attention": True, "feed_forward": True, "residual": True, "n_layers": 2}
    return ladder.CardModel(positions="learned", **parts, **MODELS[model])


def learning_curve(model: str, *, steps: int, seed: int) -> "pd.DataFrame":
    """Train one of MODELS with `ladder.train`, and measure its accuracy before the first step and after every 50.

    Returns: a table with the columns model, seed, step and accuracy, in per cent, like that of `stored_curves`.
    Raises: ValueError for a name that is not in MODELS; KeyboardInterrupt when it is stopped by hand.
    """
    return learning_curves.measured(model, partial(build, model), steps=steps, seed=seed)


def stored_curves() -> "pd.DataFrame":
    """The stored curves of all MODELS: a table with the columns model, seed, step and accuracy, in per cent."""
    return learning_curves.read(STORED)


if __name__ == "__main__":
    learning_curves.write(STORED, learning_curve, MODELS, STEPS, SEEDS)
