"""The explorers of 13_your_own_task: what a classifier says of a sentence, and where its vectors move."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range, Select, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import Heatmap, View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.course.your_own_task.docstrings import LIBRARIES

NAMES = list(LIBRARIES)
# What can be chosen on the web, where one cannot type.
RECORDED = "Draw a red line.", "Number the rows.", "Train the layer.", "Show what I typed.", "How do I bake a cake?"


def which_library(probabilities: Callable[[str], Tensor], sentence: str) -> Explorer:
    """The probability of each library for a sentence that the reader types, a column for each epoch of a fine-tuning.

    probabilities: sentence -> (epochs, libraries); the first row is from before the fine-tuning.
    """

    def show(sentence: str) -> View:
        rows = probabilities(sentence)
        epochs, ends = [str(epoch) for epoch in range(len(rows))], rows[[0, -1]].tolist()
        before, after = (", ".join(f"{n} {percent(p)}" for n, p in zip(NAMES, row, strict=True)) for row in ends)
        heatmap = Heatmap(rows.T, title="Probability of each library", x_label="epoch", x_ticks=epochs, y_ticks=NAMES)
        return View(heatmap, description=f"Before fine-tuning: {before}. After {epochs[-1]} epochs: {after}.")

    control = Text("sentence", sentence, max_length=120, label="your sentence")
    web = Web(heights=(683, 550, 638), stops={"sentence": (sentence, *RECORDED)})
    return Explorer(show, control, title="Which library does it sound like?", web=web)


def text_map(texts: Mapping[str, tuple[Tensor, Tensor]]) -> Explorer:
    """Texts as dots in a plane, before a fine-tuning and after each of its epochs, with the mean of each library.

    The plane is that of the first two principal components of all vectors of all epochs, so that it stays the same. A
    component can point either way; pandas is on the right and PyTorch below, so that the map is never mirrored.
    texts: name -> vectors of length 1 (epochs, N, D), and labels (N,).
    """
    everything = torch.cat([vectors.flatten(0, 1) for vectors, _ in texts.values()])  # (all, D)
    label_of_each = torch.cat([labels.repeat(len(vectors)) for vectors, labels in texts.values()])  # (all,)
    middle = everything.mean(dim=0)
    apart = everything - middle
    axes = torch.linalg.svd(apart, full_matrices=False).Vh[:2]  # (2, D)
    pandas, pytorch = (apart[label_of_each == NAMES.index(name)].sum(dim=0) for name in ("pandas", "PyTorch"))  # (D,)
    axes = torch.where((axes * torch.stack([pandas, -pytorch])).sum(dim=1, keepdim=True) < 0, -axes, axes)
    x, y = (1.05 * (apart @ axes.T).abs().amax(dim=0)).tolist()
    plane = partial(Plane, x_limits=(-x, x), y_limits=(-y, y), wide=max(x / y, 1.5), dots=True)
    first, (start, _) = next(iter(texts.items()))

    def show(texts_shown: str, epoch: int) -> View:
        vectors, labels = texts[texts_shown]
        points = (vectors - middle) @ axes.T  # (epochs, N, 2)
        libraries = labels.unique()
        means = [points[:, labels == label].mean(dim=1, keepdim=True) for label in libraries]
        kinds = [NAMES[label] for label in (*libraries, *labels)]
        shown = torch.cat([*means, points], dim=1)  # (epochs, libraries + N, 2)
        names = kinds[: len(means)] + [""] * len(labels)
        title, x_label = f"The {texts_shown} texts, and the mean of each library", "first principal component"
        panel = plane(shown, names, kinds=kinds, title=title, x_label=x_label, y_label="second principal component")
        return View(panel, frames="epoch", description=[_how_close(v, labels, i) for i, v in enumerate(vectors)])

    select = Select("texts_shown", first, options=tuple(texts), label="texts")
    epoch = Range("epoch", 0, min=0, max=len(start) - 1)
    return Explorer(show, select, epoch, title="Where the texts are, epoch by epoch", web=Web(heights=(671, 710)))


def _how_close(vectors: Tensor, labels: Tensor, epoch: int) -> str:
    """The mean cosine of two texts, in words. Shapes: vectors (N, D) of length 1, labels (N,)."""
    one, other = torch.triu_indices(len(labels), len(labels), 1)  # all pairs
    cosines, same = (vectors @ vectors.T)[one, other], labels[one] == labels[other]
    when = f"After epoch {epoch}" if epoch else "Before the fine-tuning"
    return (
        f"{when}, two texts of the same library have a mean cosine of {cosines[same].mean():.2f}, "
        f"and two texts of different libraries {cosines[~same].mean():.2f}."
    )
