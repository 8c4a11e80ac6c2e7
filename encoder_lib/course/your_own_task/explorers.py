"""The explorers of 13_your_own_task: what a classifier says of a sentence, and where its vectors move."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range, Select, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import Heatmap, View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.course.your_own_task.docstrings import LIBRARIES

RECORDED = (  # sentences that can be chosen on the web, where one cannot type
    "Make the picture smaller.",
    "Draw a red line from left to right.",
    "Fill in what is missing.",
    "Give each row a number.",
    "Train the layer a little more.",
    "Show what I typed before.",
    "How do I bake a cake?",
)


def which_library(probabilities: Callable[[str], Tensor], sentence: str) -> Explorer:
    """The probability of each library for a sentence that the reader types, a row for each epoch of a fine-tuning.

    probabilities: sentence -> (epochs, libraries); the first row is from before the fine-tuning.
    """

    def show(sentence: str) -> View:
        rows = probabilities(sentence)
        before, *_, after = (
            ", ".join(f"{name} {percent(p)}" for name, p in zip(LIBRARIES, row, strict=True)) for row in rows.tolist()
        )
        heatmap = Heatmap(
            rows,
            title="Probability of each library",
            x_label="library",
            y_label="epoch",
            x_ticks=list(LIBRARIES),
            y_ticks=[str(epoch) for epoch in range(len(rows))],
        )
        words = f"Before fine-tuning: {before}. After {len(rows) - 1} epochs: {after}."
        return View(heatmap, description=words)

    return Explorer(
        show,
        Text("sentence", sentence, max_length=120, label="your sentence"),
        title="Which library does it sound like?",
        web=Web(heights=(813, 921), stops={"sentence": (sentence, *RECORDED)}),
    )


def text_map(texts: Mapping[str, tuple[Tensor, Tensor]]) -> Explorer:
    """Texts as dots in a plane, before a fine-tuning and after each of its epochs, with the mean of each library.

    The plane is that of the first two principal components of all vectors of all epochs, so that it stays the same.
    texts: name -> vectors of length 1 (epochs, N, D), and labels (N,).
    """
    everything = torch.cat([vectors.flatten(0, 1) for vectors, _ in texts.values()])  # (all, D)
    middle = everything.mean(dim=0)
    axes = torch.linalg.svd(everything - middle, full_matrices=False).Vh[:2]  # (2, D)
    axes = axes * axes.sum(dim=1, keepdim=True).sign()  # or the map might be mirrored on another machine
    x, y = (1.05 * ((everything - middle) @ axes.T).abs().amax(dim=0)).tolist()

    def show(texts_shown: str, epoch: int) -> View:
        vectors, labels = texts[texts_shown]
        points = (vectors - middle) @ axes.T  # (epochs, N, 2)
        libraries = labels.unique()
        means = [points[:, labels == label].mean(dim=1, keepdim=True) for label in libraries]
        names = [list(LIBRARIES)[label] for label in (*libraries, *labels)]
        plane = Plane(
            torch.cat([*means, points], dim=1),  # (epochs, libraries + N, 2)
            [*names[: len(means)], *[""] * len(labels)],
            kinds=names,
            x_limits=(-x, x),
            y_limits=(-y, y),
            title=f"The {texts_shown} texts, and the mean of each library",
            x_label="first principal component",
            y_label="second principal component",
            wide=x / y,
            dots=True,
        )
        return View(plane, frames="epoch", description=[_how_close(v, labels, i) for i, v in enumerate(vectors)])

    return Explorer(
        show,
        Select("texts_shown", next(iter(texts)), options=tuple(texts), label="texts"),
        Range("epoch", 0, min=0, max=len(next(iter(texts.values()))[0]) - 1),
        title="Where the texts are, epoch by epoch",
        web=Web(heights=(691, 710)),
    )


def _how_close(vectors: Tensor, labels: Tensor, epoch: int) -> str:
    """The mean cosine of two texts, in words. Shapes: vectors (N, D) of length 1, labels (N,)."""
    one, other = torch.triu_indices(len(labels), len(labels), 1)  # all pairs
    cosines, same = (vectors @ vectors.T)[one, other], labels[one] == labels[other]
    when = f"After epoch {epoch}" if epoch else "Before the fine-tuning"
    return (
        f"{when}, two texts of the same library have a mean cosine of {cosines[same].mean():.2f}, "
        f"and two texts of different libraries {cosines[~same].mean():.2f}."
    )
