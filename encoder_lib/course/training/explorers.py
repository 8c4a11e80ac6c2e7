"""The explorers of 08_training: a text whose gaps fill up during training, and attention maps while they form."""

import math
from collections.abc import Callable

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range, Rounds, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View, attention_map
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.course.training.card import SPACE, Rival, card_boxes
from encoder_lib.course.training.letters import filled_in, to_ids, to_text
from encoder_lib.course.training.recording import Recording
from encoder_lib.training.tasks import Sample

EXAMPLES = (
    "th_ c_t is sleepi_g on t_e m_t wi__ a m__se",
    "the f_nction ret_rns a _alue of the s_me ty_e",
    "if the a_gument is n_t a li_t an ex_eption is rai_ed",
    "_he _ng_ish l_ng_ag_ ha_ ma_y vo_els",
)

MOST = 100  # rounds that a training goes on


def training_card(
    recording: Recording,
    next_batch: Callable[[], Sample] | None = None,
    text: str = EXAMPLES[0],
    *,
    rival: Rival | None = None,
) -> Explorer:
    """A text with gaps as the model fills them after each measurement of a training, beside its held-out accuracy.

    The slider starts after the last step. With `next_batch`, which draws a batch to train on, a button lets the
    training go on with a copy of the model. What has been trained stays with the recording: a new card of it goes on
    from there. rival: the name and the accuracy, from 0 to 1, of what the model is compared with.
    Raises ValueError for a recording of fewer than two measurements, TypeError for anything but a recording, and for a
    `next_batch` that is not a function.
    """
    _steps(recording)
    expect.instance("next_batch", next_batch, Callable | None, "a function", "; try lambda: batch")
    longer = recording.go_on(next_batch) if next_batch else None
    whole, begun = longer.recording if longer else recording, len(recording.steps)

    def show(step: int, text: str, rounds: int = 0) -> View:
        text = to_text(to_ids(text.strip() or "_"))  # as the model reads it
        if longer:
            longer.train(rounds)
        steps, accuracies = (values[: begun + rounds] for values in (whole.steps, whole.accuracies.tolist()))
        probabilities = whole.probabilities(text)[: begun + rounds]  # (N, T, 27)
        return View(
            card_boxes(text, probabilities, accuracies, steps, rival),
            frames="step",
            description=[
                f"After {step} steps: “{filled_in(text, answers)}”. It fills {percent(accuracy)} of the held-out gaps "
                "correctly."
                for step, answers, accuracy in zip(steps, probabilities.argmax(dim=-1), accuracies, strict=True)
            ],
        )

    first, *_, last = whole.steps
    return Explorer(
        show,
        Range("step", last, min=first, max=last, step=recording.every, label="training step"),
        *([Rounds("rounds", longer.rounds, max=MOST, label="Train on")] if longer else []),
        Text("text", text, label="text, with _ for each gap", max_length=72),
        title="Gaps fill up",
        web=Web(heights=(629, 633, 588), stops={"text": EXAMPLES}),
    )


def training_maps(recording: Recording) -> Explorer:
    """The attention map of each layer after the last step of a training; a slider moves through the earlier steps.

    The description says what the model fills in, how many held-out gaps it fills correctly, and how much attention
    weight they give to the four nearest letters.
    Raises ValueError for a recording of fewer than two measurements, TypeError for anything but a recording.
    """
    steps = _steps(recording)
    maps = recording.maps  # (N, layers, T, T)
    layers = range(maps.shape[1])
    letters = list(to_text(to_ids(recording.text)).replace(" ", SPACE))  # T strings
    queries = ["gap →" if letter == "_" else letter for letter in letters]
    limits = 0.0, math.ceil(20 * maps.max().item()) / 20  # one scale, which ends at the next 5 %
    measured = zip(steps, recording.filled, recording.accuracies.tolist(), recording.nearest.tolist(), strict=True)
    description = [
        f"After {step} steps: “{filled}”. It fills {percent(accuracy)} of the held-out gaps correctly. To the four "
        f"nearest letters a gap gives {_in_layers(nearest)}."
        for step, filled, accuracy, nearest in measured
    ]

    def show(step: int) -> View:
        panels = [attention_map(maps[:, i], letters, f"Layer {i + 1}", limits=limits) for i in layers]
        for panel in panels:
            panel.y_ticks = queries
        return View(*panels, frames="step", description=description)

    step = Range("step", steps[-1], min=steps[0], max=steps[-1], step=recording.every, label="training step")
    return Explorer(show, step, title="Attention maps form", web=Web(heights=(526, 976), levels=4095))


def _steps(recording: Recording) -> list[int]:
    """The measured steps. Raises ValueError for fewer than two, TypeError for anything but a recording."""
    expect.instance("recording", recording, Recording, "a Recording")
    if len(recording.steps) < 2:
        found = len(recording.steps)
        raise ValueError(f"expected a recording of at least two steps, got {found}: call it during training")
    return recording.steps


def _in_layers(nearest: list[float]) -> str:
    """The weight in each layer, in words."""
    return " and ".join(f"{percent(weight)} of its weight in layer {i + 1}" for i, weight in enumerate(nearest))
