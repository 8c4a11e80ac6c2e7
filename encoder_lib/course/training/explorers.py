"""The live picture of 08_training: an attention map while it forms."""

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View, attention_map
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.course.training.recording import Recording


def training_maps(recording: Recording, *, sequence: int = 1, layer: int = 1, head: int = 1) -> Explorer:
    """What a model looked at, from its first step to its last, and beside it the map that looks at the answers.

    The front end steps through the training by itself. Sequences, layers and heads count from 1; layer and head can be
    chosen where there are several.
    Raises ValueError for a recording of fewer than two looks, TypeError for what is no recording.
    """
    expect.instance("recording", recording, Recording, "a Recording")
    steps, right = recording.steps, recording.right
    if len(steps) < 2:
        raise ValueError(f"expected a recording of at least two looks, got {len(steps)}: train the model with it first")
    maps = recording.maps  # (N, layers, H, sequences, T, T)
    _, n_layers, n_heads, n_sequences, _, _ = maps.shape
    many = n_layers * n_heads > 1
    correct = recording.accuracies.tolist()

    def show(step: int, sequence: int, layer: int = 1, head: int = 1) -> View:
        weights = maps[:, layer - 1, head - 1, sequence - 1]  # (N, T, T)
        wanted, symbols = right[sequence - 1], recording.sequences[sequence - 1]  # (T, T), T strings
        labels = recording.labels[sequence - 1]  # a symbol comes more than once, and a place does not
        asks = ~wanted.isnan().any(dim=1)  # (T,)
        there = (weights * wanted.nan_to_num()).sum(dim=(1, 2)) / asks.sum()  # (N,)
        which = f"layer {layer}, head {head}" if many else "the head"
        return View(
            attention_map(weights, labels, f"What {which} looks at"),
            attention_map(wanted, labels, "Where the answers stand", missing="asks nothing"),
            frames="step",
            description=[
                f"After {n} steps {percent(share)} of the answers to all sequences are right. "
                f"In “{' '.join(symbols)}”, {which} gives {percent(weight)} of its weight to the token that holds "
                "the answer."
                for n, share, weight in zip(steps, correct, there.tolist(), strict=True)
            ],
        )

    controls = [
        Range("step", steps[0], min=steps[0], max=steps[-1], step=recording.every, label="training step"),
        Range("sequence", sequence, min=1, max=n_sequences),
    ]
    controls += [
        Range(name, value, min=1, max=most)
        for name, value, most in (("layer", layer, n_layers), ("head", head, n_heads))
        if most > 1
    ]
    title = f"{'Maps form' if many else 'A map forms'} while the model learns"
    web = Web(heights=(590, 630), together=(("sequence", "layer", "head"),), levels=4095)
    return Explorer(show, *controls, title=title, web=web)
