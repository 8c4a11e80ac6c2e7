"""The explorers of 13_your_own_task: what a classifier says of a sentence, and where its vectors move."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range, Select, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.plane import Plane
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


def text_map(classifiers: Sequence[Classifier], texts: Mapping[str, tuple[list[Tensor], Tensor]]) -> Explorer:
    """Texts as dots in a plane, before a fine-tuning and after each of its epochs, with the mean of each library.

    The plane is that of the first two principal components of all vectors of all epochs, so that it stays the same.
    texts: name -> hidden states below the classifiers' layers, (T, D) for each of N texts, and labels (N,).
    Raises ValueError for fewer than two classifiers, or no texts.
    """
    if len(classifiers) < 2 or not texts:
        raise ValueError(f"expected at least two classifiers and some texts, got {len(classifiers)} and {len(texts)}")
    vectors = {
        name: torch.stack([each.text_vectors(hidden) for each in classifiers]).double()  # (epochs, N, D)
        for name, (hidden, _) in texts.items()
    }
    everything = torch.cat([each.flatten(0, 1) for each in vectors.values()])  # (all, D)
    middle = everything.mean(dim=0)
    axes = torch.linalg.svd(everything - middle, full_matrices=False).Vh[:2]  # (2, D)
    axes = axes * axes.sum(dim=1, keepdim=True).sign()  # or the map might be mirrored on another machine
    points = {name: (each - middle) @ axes.T for name, each in vectors.items()}  # (epochs, N, 2)
    limits = [1.05 * max(p[..., i].abs().max().item() for p in points.values()) for i in (0, 1)]

    def show(texts_shown: str, epoch: int) -> View:
        labels = texts[texts_shown][1]
        names = list(LIBRARIES)
        kinds = labels.unique().tolist()
        means = torch.stack([points[texts_shown][:, labels == kind].mean(dim=1) for kind in kinds], dim=1)
        plane = Plane(
            torch.cat([means, points[texts_shown]], dim=1),  # (epochs, labels + N, 2)
            [names[kind] for kind in kinds] + [""] * len(labels),
            kinds=[names[kind] for kind in (*kinds, *labels.tolist())],
            x_limits=(-limits[0], limits[0]),
            y_limits=(-limits[1], limits[1]),
            title=f"The {texts_shown} texts, and the mean of each library",
            x_label="first principal component",
            y_label="second principal component",
            wide=limits[0] / limits[1],
            dots=True,
        )
        return View(
            plane, frames="epoch", description=[_how_close(v, labels, i) for i, v in enumerate(vectors[texts_shown])]
        )

    return Explorer(
        show,
        Select("texts_shown", next(iter(texts)), options=tuple(texts), label="texts"),
        Range("epoch", 0, min=0, max=len(classifiers) - 1),
        title="Where the texts are, epoch by epoch",
        web=Web(heights=(691, 710)),
    )


def _how_close(vectors: Tensor, labels: Tensor, epoch: int) -> str:
    """The mean cosine of two texts, in words. Shapes: vectors (N, D) of length 1, labels (N,)."""
    cosines, same = vectors @ vectors.T, labels[:, None] == labels
    other = ~torch.eye(len(labels), dtype=torch.bool)
    when = f"After epoch {epoch}" if epoch else "Before the fine-tuning"
    within, between = cosines[same & other].mean(), cosines[~same].mean()
    return (
        f"{when}, two texts of the same library have a mean cosine of {within:.2f}, "
        f"and two texts of different libraries {between:.2f}."
    )
