"""The explorer of 13_your_own_task: what a classifier says of a sentence while its last layers learn."""

from collections.abc import Sequence

import torch

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import Heatmap, View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.course.your_own_task.docstrings import LIBRARIES
from encoder_lib.course.your_own_task.few_labels import Classifier, below
from encoder_lib.pretrained import SentenceEncoder

RECORDED = (  # sentences that can be chosen on the web, where one cannot type
    "Make the picture smaller.",
    "Draw a red line from left to right.",
    "Fill in what is missing.",
    "Give each row a number.",
    "Train the layer a little more.",
    "Show what I typed before.",
    "How do I bake a cake?",
)


def which_library(model: SentenceEncoder, classifiers: Sequence[Classifier], sentence: str) -> Explorer:
    """The probability of each library for a sentence that the reader types, a row for each epoch of a fine-tuning.

    classifiers: the classifier before the fine-tuning and after each of its epochs, on top of `model`.
    Raises TypeError for a model that is not a SentenceEncoder, ValueError for fewer than two classifiers, and whatever
    the controls raise for invalid values.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    if len(classifiers) < 2:
        raise ValueError(f"expected the classifiers of at least two epochs, got {len(classifiers)}")

    def show(sentence: str) -> View:
        hidden = below(model, [sentence], len(classifiers[0].layers))
        scores = torch.cat([classifier.scores(hidden) for classifier in classifiers])  # (epochs, labels)
        weights = scores.double().softmax(dim=1)
        said = [
            ", ".join(f"{name} {percent(p)}" for name, p in zip(LIBRARIES, row, strict=True))
            for row in weights.tolist()
        ]
        epochs = len(classifiers) - 1
        heatmap = Heatmap(
            weights,
            title="Probability of each library",
            x_label="library",
            y_label="epoch",
            x_ticks=list(LIBRARIES),
            y_ticks=[str(epoch) for epoch in range(epochs + 1)],
        )
        words = f"Before fine-tuning: {said[0]}. After {epochs} epoch{'s'[: epochs != 1]}: {said[-1]}."
        return View(heatmap, description=words)

    return Explorer(
        show,
        Text("sentence", sentence, max_length=120, label="your sentence"),
        title="Which library does it sound like?",
        web=Web(heights=(813, 921), stops={"sentence": (sentence, *RECORDED)}),
    )
