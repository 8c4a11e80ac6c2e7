"""Learning curves on the card task: with and without a residual connection, with and without a feed-forward network.

Whether a part is *needed* is not decided by one training of 400 steps. So each model is trained for 8,000 steps from
eight seeds, and the accuracy is measured along the way. That takes an hour, which is why the curves are stored
beside this file. `learning_curve` draws any of them again, and `python -m encoder_lib.course.kit.learning_curves`
records them all.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

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
    settings = {**MODELS, **CONTROLS}
    expect.choice("model", model, tuple(settings))
    parts: dict[str, Any] = {"positions": "learned", "attention": True} | settings[model]
    return measured(model, partial(ladder.CardModel, **parts), steps=steps, seed=seed, progress=progress)


def measured(
    name: str, build: Callable[[], nn.Module], *, steps: int, seed: int, progress: bool = False
) -> "pd.DataFrame":
    """Train what `build` returns, and measure its accuracy along the way, as `learning_curve` does for its models."""
    import pandas as pd  # here, so that no first cell waits for it

    with seeded(TEST_SEED):
        test = ladder.deal(2000)
    accuracies: list[float] = []
    done = 0

    def measure() -> None:
        nonlocal done
        if done % EVERY == 0:
            accuracies.append(round(100 * accuracy(network, *test), 1))
        done += 1
        bar.update(done > 1)

    with seeded(seed), progress_bar.bar(steps, f"{name}, seed {seed}", shown=progress) as bar:
        network = ladder.build_float32(build)
        if len(fit(network, lambda: ladder.deal(128), steps=steps, callback=measure)) < steps:
            raise KeyboardInterrupt
    columns = {"model": name, "seed": seed, "step": range(0, steps + 1, EVERY), "accuracy": accuracies}
    return pd.DataFrame(columns)


def stored_curves(*models: str) -> "pd.DataFrame":
    """The stored curves of the given models, of MODELS or CONTROLS, or of all MODELS.

    Returns: a table with the columns model, seed, step and accuracy, in per cent.
    Raises: ValueError for a name that is in neither.
    """
    for model in models:
        expect.choice("model", model, (*MODELS, *CONTROLS))
    curves = read(STORED)
    return curves[curves["model"].isin(models or tuple(MODELS))].reset_index(drop=True)


def read(path: Path) -> "pd.DataFrame":
    """The curves of a file that `write` has written: a table with the columns model, seed, step and accuracy."""
    import pandas as pd

    wide = pd.read_csv(path)  # a row for each model and seed, a column for each step
    return wide.melt(["model", "seed"], var_name="step", value_name="accuracy").astype({"step": int})


def write(path: Path, curve: Callable[..., "pd.DataFrame"], models: Iterable[str], steps: int, seeds: range) -> None:
    """Draw the curves of all models from all seeds with `curve(model, steps=…, seed=…)`, and store them."""
    import pandas as pd

    torch.set_num_threads(1)
    models = [*models]
    curves = pd.concat(curve(model, steps=steps, seed=seed) for model in models for seed in seeds)
    wide = curves.pivot(index=["model", "seed"], columns="step", values="accuracy")
    wide.loc[models].to_csv(path, lineterminator="\n")


if __name__ == "__main__":
    write(STORED, learning_curve, [*MODELS, *CONTROLS], STEPS, SEEDS)
