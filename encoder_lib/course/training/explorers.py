"""The explorer of 08_training: attention maps while they form."""

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View, attention_map
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.course.training.letters import to_ids, to_text
from encoder_lib.course.training.recording import Recording


def training_maps(recording: Recording) -> Explorer:
    """The attention map of each layer after the last step of a training; a slider moves through the earlier steps.

    The description says what the model fills in, how many held-out gaps it fills correctly, and how much attention
    weight they give to the four nearest letters.
    Raises ValueError for a recording of fewer than two measurements, TypeError for anything but a recording.
    """
    expect.instance("recording", recording, Recording, "a Recording")
    steps = recording.steps
    if len(steps) < 2:
        raise ValueError(f"expected a recording of at least two steps, got {len(steps)}: call it during training")
    maps = recording.maps  # (N, layers, T, T)
    layers = range(maps.shape[1])
    letters = list(to_text(to_ids(recording.text)))  # T strings
    measured = zip(steps, recording.filled, recording.accuracies.tolist(), recording.nearest.tolist(), strict=True)
    description = [
        f"After {step} steps: “{filled}”. It fills {percent(accuracy)} of the held-out gaps correctly. To the four "
        f"nearest letters a gap gives {_in_layers(nearest)}."
        for step, filled, accuracy, nearest in measured
    ]

    def show(step: int) -> View:
        panels = (attention_map(maps[:, i], letters, f"Layer {i + 1}") for i in layers)
        return View(*panels, frames="step", description=description)

    step = Range("step", steps[-1], min=steps[0], max=steps[-1], step=recording.every, label="training step")
    return Explorer(show, step, title="Attention maps form", web=Web(heights=(590, 558), levels=4095))


def _in_layers(nearest: list[float]) -> str:
    """The weight in each layer, in words."""
    return " and ".join(f"{percent(weight)} of its weight in layer {i + 1}" for i, weight in enumerate(nearest))
