"""Learning curves on the card task: two encoder layers with and without norms, on embeddings at two scales.

Training them takes a few minutes, so the curves are stored beside this file. `learning_curve` draws any of them again,
and `python -m encoder_lib.course.encoder_block.two_scales` records them all.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from encoder_lib import expect
from encoder_lib.course.kit import ladder
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import accuracy

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
EVERY = 50
TEST_SEED = 10**6  # of the rows on which every curve is measured
STORED = Path(__file__).with_suffix(".csv")


def build(model: str) -> ladder.CardModel:
    """One of MODELS, untrained: two encoder layers with one head, a feed-forward network and residual connections.

    Raises: ValueError for a name that is not in MODELS.
    """
    expect.choice("model", model, tuple(MODELS))
    parts: dict[str, Any] = {"attention": True, "feed_forward": True, "residual": True, "n_layers": 2}
    return ladder.CardModel(positions="learned", **parts, **MODELS[model])


def learning_curve(model: str, *, steps: int, seed: int = 0) -> "pd.DataFrame":
    """Train one of MODELS with `ladder.train`, and measure its accuracy before the first step and after every 50.

    The accuracy is measured on 2,000 rows, the same ones each time.

    Returns: a table with the columns model, seed, step and accuracy, in per cent, like that of `stored_curves`.
    Raises: ValueError for a name that is not in MODELS; KeyboardInterrupt when it is stopped by hand.
    """
    import pandas as pd  # here, so that no first cell waits for it

    with seeded(TEST_SEED):
        test = ladder.deal(2000)
    built: list[ladder.CardModel] = []
    measured: list[float] = []
    done = 0

    def keep() -> ladder.CardModel:
        built.append(build(model))
        return built[0]

    def measure() -> None:
        nonlocal done
        if done % EVERY == 0:
            measured.append(round(100 * accuracy(built[0], *test), 1))
        done += 1

    ladder.train(keep, steps=steps, seed=seed, callback=measure)
    columns = {"model": model, "seed": seed, "step": range(0, steps + 1, EVERY), "accuracy": measured}
    return pd.DataFrame(columns)


def stored_curves() -> "pd.DataFrame":
    """The stored curves of all MODELS: a table with the columns model, seed, step and accuracy, in per cent."""
    import pandas as pd

    wide = pd.read_csv(STORED)  # a row for each model and seed, a column for each step
    return wide.melt(["model", "seed"], var_name="step", value_name="accuracy").astype({"step": int})


def record() -> None:
    """Train all MODELS from all SEEDS and store their curves: a few minutes on one core."""
    import pandas as pd

    torch.set_num_threads(1)
    curves = pd.concat(learning_curve(model, steps=STEPS, seed=seed) for model in MODELS for seed in SEEDS)
    wide = curves.pivot(index=["model", "seed"], columns="step", values="accuracy")
    wide.loc[list(MODELS)].to_csv(STORED, lineterminator="\n")


if __name__ == "__main__":
    record()
