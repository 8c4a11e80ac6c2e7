"""Learning curves on the card task: with and without a residual connection, with and without a feed-forward network.

Whether a part is *needed* is not decided by one training of 400 steps. So each model is trained for 8,000 steps from
eight seeds, and the accuracy is measured along the way. That takes an hour, which is why the curves are stored
beside this file. `learning_curve` draws any of them again, and `python -m encoder_lib.course.kit.learning_curves`
records them all.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from encoder_lib import expect
from encoder_lib.course.kit import ladder
from encoder_lib.course.kit import progress as progress_bar
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import accuracy, fit

if TYPE_CHECKING:
    import pandas as pd

# All of them have learned positions and one attention head.
MODELS: dict[str, dict[str, Any]] = {
    "attention": {},
    "attention + residual": {"residual": True},
    "attention + feed-forward": {"feed_forward": True},
    "attention + feed-forward + residual": {"feed_forward": True, "residual": True},
}
CONTROLS: dict[str, dict[str, Any]] = {"attention + linear network": {"feed_forward": True, "activation": False}}
SEEDS = range(8)
STEPS = 8000
EVERY = 50
TEST_SEED = 10**6  # of the rows on which every curve is measured
STORED = Path(__file__).with_suffix(".csv")


def learning_curve(model: str, *, steps: int, seed: int = 0, progress: bool = True) -> "pd.DataFrame":
    """Train one of MODELS or CONTROLS as `ladder.train` does, and measure its accuracy along the way.

    The accuracy is measured before the first step and after every 50, on 2,000 rows, the same ones each time.

    Returns: a table with the columns model, seed, step and accuracy, in per cent, like that of `stored_curves`.
    Raises: ValueError for a name that is in neither; KeyboardInterrupt when it is stopped by hand.
    """
    import pandas as pd  # here, so that no first cell waits for it

    settings = {**MODELS, **CONTROLS}
    expect.choice("model", model, tuple(settings))
    with seeded(TEST_SEED):
        test = ladder.deal(2000)
    measured: list[float] = []
    done = 0

    def measure() -> None:
        nonlocal done
        if done % EVERY == 0:
            measured.append(round(100 * accuracy(network, *test), 1))
        done += 1
        bar.update(done > 1)

    with seeded(seed), progress_bar.bar(steps, f"{model}, seed {seed}", shown=progress) as bar:
        parts: dict[str, Any] = {"positions": "learned", "attention": True} | settings[model]
        network = ladder.build_float32(partial(ladder.CardModel, **parts))
        if len(fit(network, lambda: ladder.deal(128), steps=steps, callback=measure)) < steps:
            raise KeyboardInterrupt
    columns = {"model": model, "seed": seed, "step": range(0, steps + 1, EVERY), "accuracy": measured}
    return pd.DataFrame(columns)


def stored_curves(*models: str) -> "pd.DataFrame":
    """The stored curves of the given models, of MODELS or CONTROLS, or of all MODELS.

    Returns: a table with the columns model, seed, step and accuracy, in per cent.
    Raises: ValueError for a name that is in neither.
    """
    import pandas as pd

    for model in models:
        expect.choice("model", model, (*MODELS, *CONTROLS))
    wide = pd.read_csv(STORED)  # a row for each model and seed, a column for each step
    curves = wide.melt(["model", "seed"], var_name="step", value_name="accuracy").astype({"step": int})
    return curves[curves["model"].isin(models or tuple(MODELS))].reset_index(drop=True)


def record() -> None:
    """Train all MODELS and CONTROLS from all SEEDS and store their curves: an hour on one core."""
    import pandas as pd

    torch.set_num_threads(1)
    models = [*MODELS, *CONTROLS]
    curves = pd.concat(learning_curve(model, steps=STEPS, seed=seed) for model in models for seed in SEEDS)
    wide = curves.pivot(index=["model", "seed"], columns="step", values="accuracy")
    wide.loc[models].to_csv(STORED, lineterminator="\n")


if __name__ == "__main__":
    record()
