"""A classifier of sentences from few labels: a head on frozen vectors, and fine-tuning of the last layers.

`fine_tune` trains one classifier. For its learning curve over eight seeds and several numbers of labels, most of ten
minutes, `python -m encoder_lib.course.your_own_task.few_labels` stores the results beside this file.
"""

import copy
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from encoder_lib.course.your_own_task.docstrings import LIBRARIES, docstrings
from encoder_lib.model.masks import lengths_mask
from encoder_lib.pretrained import SentenceEncoder, load_pretrained
from encoder_lib.seeded import seeded

if TYPE_CHECKING:
    import pandas as pd

MOST = {"training": 150, "validation": 80, "test": 80}  # sentences of each library
EPOCHS = {8: 8, 32: 6, 100: 3}  # by the number of labels of each library; chosen before the curves were measured
SEEDS = range(8)
METHODS = {  # how many layers learn, and at which rate; the head's rate is a hundred times as large
    "head alone": (0, 0.0),
    "head alone, trained further": (0, 1e-4),
    "last two layers": (2, 1e-4),
    "ten times the rate": (2, 1e-3),
}
STORED = Path(__file__).with_suffix(".csv")


class Texts(NamedTuple):
    """Sentences and their labels, numbers from 0 to 4 in the order of LIBRARIES."""

    sentences: list[str]
    labels: Tensor  # (N,)


def task(part: str) -> Texts:
    """The sentences of one part of the data that don't name their library, at most MOST from each."""
    rows = []
    for label, library in enumerate(LIBRARIES):
        own = [d.sentence for d in docstrings() if (d.library, d.part) == (library, part) and not d.gives_away]
        rows += [(sentence, label) for sentence in random.Random(0).sample(own, min(MOST[part], len(own)))]
    sentences, labels = zip(*rows, strict=True)
    return Texts([*sentences], torch.tensor(labels))


def draw(labels: Tensor, n: int, seed: int) -> Tensor:
    """Draw `n` items with each label. Shapes: labels (N,) -> indices (n · labels,)."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=generator)
    return torch.cat([order[labels[order] == label][:n] for label in labels.unique()])


def train_head(vectors: Tensor, labels: Tensor, steps: int = 100) -> nn.Linear:
    """Logistic regression: a linear layer from vectors to scores, trained on all of them at once.

    Shapes: vectors (N, D), labels (N,).
    """
    head = nn.Linear(vectors.shape[1], len(LIBRARIES), dtype=vectors.dtype)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.1, weight_decay=0.002)
    for _ in range(steps):
        loss = F.cross_entropy(head(vectors), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return head


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Items of similar length together, so that there is little padding."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    yield from (order[i : i + size] for i in range(0, len(order), size))


@torch.no_grad()
def below(model: SentenceEncoder, sentences: list[str], n_last: int = 2) -> list[Tensor]:
    """The hidden states of each sentence, (T, D), below the last layers: they stay the same while those learn."""
    rows = [torch.tensor(text.ids) for text in model.tokenizer.encode_batch(sentences)]
    found: dict[int, Tensor] = {}
    for batch in batches([len(row) for row in rows], 32):
        lengths = torch.tensor([len(rows[i]) for i in batch])
        x = model.encoder.embedding(pad_sequence([rows[i] for i in batch], batch_first=True))  # (B, T, D)
        for layer in model.encoder.encoder.layers[: len(model.encoder.encoder.layers) - n_last]:
            x = layer(x, lengths_mask(lengths))
        found |= {i: x[j, : lengths[j]].clone() for j, i in enumerate(batch)}
    return [found[i] for i in range(len(rows))]


class Classifier(nn.Module):
    """The last layers of an encoder, the mean over a text's tokens at length 1, and a head with the labels' scores."""

    def __init__(self, layers: Iterable[nn.Module], head: nn.Linear):
        super().__init__()
        self.layers = nn.ModuleList(copy.deepcopy(layer) for layer in layers)
        self.head = copy.deepcopy(head)

    def vectors(self, hidden: list[Tensor]) -> Tensor:
        """Hidden states below the last layers, (T, D) for each of B texts -> (B, D)"""
        lengths = torch.tensor([len(x) for x in hidden])
        mask = lengths_mask(lengths)  # (B, 1, 1, T)
        x = pad_sequence(hidden, batch_first=True)  # (B, T, D)
        for layer in self.layers:
            x = layer(x, mask)
        return F.normalize((x * mask[:, 0, 0, :, None]).sum(dim=1), dim=-1)

    def forward(self, hidden: list[Tensor]) -> Tensor:
        return self.head(self.vectors(hidden))  # (B, labels)

    @torch.no_grad()
    def text_vectors(self, hidden: list[Tensor]) -> Tensor:
        """The vectors of many texts, without gradients. -> (N, D)"""
        parts = [*batches([len(x) for x in hidden], 64)]
        order = torch.tensor([i for part in parts for i in part])
        return torch.cat([self.vectors([hidden[i] for i in part]) for part in parts])[order.argsort()]

    @torch.no_grad()
    def scores(self, hidden: list[Tensor]) -> Tensor:
        """The scores of many texts, without gradients. -> (N, labels)"""
        return self.head(self.text_vectors(hidden))


def fine_tune(
    classifier: Classifier,
    hidden: list[Tensor],
    labels: Tensor,
    *,
    epochs: int,
    lr: float = 1e-4,
) -> Iterator[tuple[Classifier, float]]:
    """Train head and layers together, the layers with a smaller learning rate.

    Gives the classifier after each epoch, and the mean loss of the epoch on the batches that it was trained on.
    """
    classifier.requires_grad_(True)
    optimiser = torch.optim.AdamW([
        {"params": classifier.layers.parameters(), "lr": lr},
        {"params": classifier.head.parameters(), "lr": 100 * lr},
    ])  # fmt: skip
    for _ in range(epochs):
        losses = []
        for batch in torch.randperm(len(labels)).split(16):
            loss = F.cross_entropy(classifier([hidden[i] for i in batch]), labels[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        yield classifier, sum(losses) / len(losses)


def accuracy(scores: Tensor, labels: Tensor) -> float:
    """In per cent. Shapes: scores (N, labels), labels (N,)"""
    return 100 * (scores.argmax(dim=1) == labels).double().mean().item()


def learning_curve(seed: int, epochs: Mapping[int, int] = EPOCHS) -> "pd.DataFrame":
    """Accuracies in per cent of each of METHODS, with the labels that `seed` draws.

    epochs: for each number of labels of a library, how many epochs the fine-tuning takes.
    Returns: a table with the columns labels, seed, method, validation and test.
    """
    import pandas as pd  # here, so that no first cell waits for it

    model, rows = load_pretrained("minilm"), []
    texts = {part: task(part) for part in MOST}
    hidden = {n: {part: below(model, texts[part].sentences, n) for part in MOST} for n, _ in METHODS.values()}
    vectors = model.encode(texts["training"].sentences)
    layers = model.encoder.encoder.layers
    for n in epochs:
        chosen = draw(texts["training"].labels, n, seed)
        labels = texts["training"].labels[chosen]
        head = train_head(vectors[chosen], labels)
        for method, (n_last, lr) in METHODS.items():
            classifier = Classifier(layers[len(layers) - n_last :], head)
            known = [hidden[n_last]["training"][i] for i in chosen]
            with seeded(seed):
                for _ in fine_tune(classifier, known, labels, lr=lr, epochs=epochs[n] if lr else 0):
                    pass
            row = {"labels": n, "seed": seed, "method": method}
            for part in ("validation", "test"):
                row[part] = round(accuracy(classifier.scores(hidden[n_last][part]), texts[part].labels), 1)
            rows.append(row)
    return pd.DataFrame(rows)


def stored_curves() -> "pd.DataFrame":
    """The stored tables of `learning_curve` for all SEEDS."""
    import pandas as pd

    return pd.read_csv(STORED)


def record() -> None:
    """Measure the learning curves of all SEEDS and store them."""
    import pandas as pd

    torch.set_num_threads(1)
    pd.concat(learning_curve(seed) for seed in SEEDS).to_csv(STORED, index=False, lineterminator="\n")


if __name__ == "__main__":
    record()
