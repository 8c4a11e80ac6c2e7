"""The card task, which runs through the whole course, and a model that grows one part at a time.

Eight cards lie in a row. Each shows a letter, lowercase or uppercase, and an arrow to another card. The answer at each
card is the letter it points at, with its case swapped if the card's own letter is uppercase.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from encoder_lib.course.kit import progress as progress_bar
from encoder_lib.course.kit.unscaled import UnscaledAttention
from encoder_lib.model.attention import MultiHeadAttention
from encoder_lib.model.embedding import TransformerEmbedding
from encoder_lib.model.feed_forward import FeedForward
from encoder_lib.model.norm import LayerNorm
from encoder_lib.seeded import seeded
from encoder_lib.trace import trace
from encoder_lib.training.fit import fit

if TYPE_CHECKING:
    import pandas as pd

LETTERS = "aAbBcCdD"
N_LETTERS = len(LETTERS)
N_CARDS = 8  # in a row, so an arrow points at one of eight positions
D_MODEL = 64
D_FF = 128
N_TEST = 4000  # new rows, on which the accuracy is measured


def deal(n_rows: int, *, hops: int = 1, swap: bool = True) -> tuple[Tensor, Tensor]:
    """Draw rows of cards, and the answer at each card. No arrow points at its own card.

        card = 8 · letter + arrow        answer = the letter pointed at, its case swapped at an uppercase card

    hops: how often the arrow is followed. With 2, the answer is the letter of the card that the next card points at.
    swap: whether an uppercase card swaps the case of its answer.

    Shapes: -> cards (N, 8), ids below 64; answers (N, 8), indices into LETTERS.
    """
    letters = torch.randint(N_LETTERS, (n_rows, N_CARDS))  # (N, 8)
    step = torch.randint(1, N_CARDS, (n_rows, N_CARDS))  # (N, 8), never 0
    arrows = (torch.arange(N_CARDS) + step) % N_CARDS  # (N, 8)
    ends = torch.arange(N_CARDS).expand_as(arrows)
    for _ in range(hops):
        ends = arrows.gather(1, ends)
    fetched = letters.gather(1, ends)  # (N, 8)
    return N_CARDS * letters + arrows, _answer(letters, fetched) if swap else fetched


def _answer(own: Any, fetched: Any) -> Any:
    """The letter pointed at, its case swapped if the card's own letter is uppercase; of integers or tensors."""
    return fetched ^ (own & 1)  # aAbBcCdD: an uppercase letter has an odd index, one above its lowercase letter's


def deal_two_questions(n_rows: int) -> tuple[Tensor, Tensor]:
    """Draw rows of cards with two questions at each: which letter it points at, and which letter is on its left.

    No case is swapped. The left neighbour of the first card is the last card, as if the row were a ring.

    Shapes: -> cards (N, 8), answers (N, 8, 2).
    """
    cards, _ = deal(n_rows)
    letters, arrows = cards // N_CARDS, cards % N_CARDS  # (N, 8) each
    return cards, torch.stack([letters.gather(1, arrows), letters.roll(1, dims=1)], dim=-1)


def read_cards(cards: Tensor) -> tuple[list[str], list[int]]:
    """The letters on one row of cards, and the positions that their arrows point at, counted from 0.

    Shapes: cards (T,).
    """
    return spell(cards // N_CARDS), (cards % N_CARDS).tolist()


def name_cards(cards: Tensor) -> list[str]:
    """A name for each card of a row, made of its letter and its arrow: "C → 1". Shapes: cards (T,)."""
    letters, arrows = read_cards(cards)
    return [f"{letter} → {arrow}" for letter, arrow in zip(letters, arrows, strict=True)]


def spell(answers: Tensor) -> list[str]:
    """The letters with the given indices, 0 to 7. Shapes: answers (T,)."""
    return [LETTERS[i] for i in answers.tolist()]


class CardLayer(nn.Module):
    """One encoder layer of the model, made of the parts asked for.

        x = norm(x + attention(x)), then norm(x + feed_forward(x))        without `residual`: norm(part(x))

    A part that is left out takes its norm with it.

    Shapes: (B, T, D) -> (B, T, D).
    """

    def __init__(
        self,
        *,
        attention: bool,
        feed_forward: bool,
        activation: bool,
        residual: bool,
        norm: bool,
        n_heads: int,
        root: bool,
    ):
        super().__init__()
        kind = MultiHeadAttention if root else UnscaledAttention
        self.attention = kind(D_MODEL, n_heads) if attention else None
        self.norm1 = LayerNorm(D_MODEL) if norm and attention else nn.Identity()
        two_matrices = FeedForward if activation else _without_activation
        self.feed_forward = two_matrices(D_MODEL, D_FF) if feed_forward else None
        self.norm2 = LayerNorm(D_MODEL) if norm and feed_forward else nn.Identity()
        self.residual = residual

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.attention is not None:
            fetched = self.attention(x, x, x, mask)  # (B, T, D)
            x = self.norm1(x + fetched if self.residual else fetched)
        if self.feed_forward is not None:
            made = self.feed_forward(x)  # (B, T, D)
            x = self.norm2(x + made if self.residual else made)
        return x


def _without_activation(d_model: int, d_ff: int) -> nn.Module:
    """The feed-forward network without its activation function: two linear layers in a row, which are one."""
    return nn.Sequential(nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))


class CardModel(nn.Module):
    """The model of the ladder: an embedding, the parts asked for, and a linear layer that answers.

    positions: the positional encoding added to the embedding, "none", "learned" or "sinusoidal". attention,
    feed_forward, residual, norm: what each of the `n_layers` encoder layers has. activation: whether the feed-forward
    network has its activation function. root: whether attention scores are divided by √K. n_questions: how many are
    asked at each card. loudness: a factor on all embeddings.

    Shapes: cards (B, T) -> scores of the 8 letters (B, T, 8); with two questions (B, T, 2, 8).
    """

    def __init__(
        self,
        *,
        positions: str = "none",
        attention: bool = False,
        feed_forward: bool = False,
        activation: bool = True,
        residual: bool = False,
        norm: bool = False,
        n_layers: int = 1,
        n_heads: int = 1,
        root: bool = True,
        n_questions: int = 1,
        loudness: float = 1.0,
    ):
        super().__init__()
        self.embedding = TransformerEmbedding(N_LETTERS * N_CARDS, D_MODEL, positional=positions, max_len=N_CARDS)
        self.loudness = loudness
        parts: dict[str, Any] = {"attention": attention, "feed_forward": feed_forward, "residual": residual}
        parts |= {"activation": activation, "norm": norm, "n_heads": n_heads, "root": root}
        self.layers = nn.ModuleList(CardLayer(**parts) for _ in range(n_layers))
        self.answer = nn.Linear(D_MODEL, n_questions * N_LETTERS)
        self.n_questions = n_questions

    def forward(self, cards: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.loudness * self.embedding(cards)  # (B, T, D)
        for layer in self.layers:
            x = layer(x, mask)
        scores = self.answer(x)  # (B, T, questions · 8)
        return scores if self.n_questions == 1 else scores.unflatten(-1, (self.n_questions, N_LETTERS))


class Part(NamedTuple):
    """What a rung adds to the model, what a card's output then depends on, and the upper bound that follows."""

    settings: dict[str, Any]
    depends_on: str
    at_most: float


class Rung(NamedTuple):
    """A model's name and accuracy, an upper bound on it, what a card's output depends on, and the model."""

    name: str
    accuracy: float
    at_most: float
    depends_on: str
    model: nn.Module | None


def upper_bound(clue: Callable[[int, int], object]) -> float:
    """The best accuracy of any model whose answer depends on nothing but clue(own letter, letter pointed at).

    The 64 pairs of letters are equally likely, so they can be counted: the best such model gives, for each value of the
    clue, the answer that is most frequent there.
    """
    answers: dict[object, Counter] = defaultdict(Counter)
    for own, fetched in product(range(N_LETTERS), repeat=2):
        answers[clue(own, fetched)][_answer(own, fetched)] += 1
    return sum(max(counts.values()) for counts in answers.values()) / N_LETTERS**2


ITS_OWN = upper_bound(lambda own, fetched: own)
FETCHED = upper_bound(lambda own, fetched: fetched)
BOTH = upper_bound(lambda own, fetched: (own, fetched))
# With attention a card's output depends on every card, so that nothing but 100 % bounds the accuracy: how much of it is
# reached, and how soon, is a matter of training (learning_curves.py).
PARTS = {
    "chance": Part({}, "nothing", upper_bound(lambda own, fetched: None)),
    "embedding": Part({}, "its own card", ITS_OWN),
    "positions": Part({"positions": "learned"}, "its own card and position", ITS_OWN),
    "attention": Part({"attention": True}, "all cards", BOTH),
    "feed-forward": Part({"feed_forward": True}, "all cards", BOTH),
    "residual": Part({"residual": True}, "all cards", BOTH),
}


def train(
    build: Callable[[], nn.Module],
    *,
    deal: Callable[[int], tuple[Tensor, Tensor]] = deal,
    steps: int = 400,
    seed: int = 0,
    callback: Callable[[], None] | None = None,
) -> tuple[nn.Module, Tensor]:
    """Build a model, train it on rows that are drawn anew for each step, and measure its accuracy on new ones.

    It trains in float32, whatever the default dtype is, on batches of 128 rows, with Adam at a learning rate of 0.003.
    All random numbers come from the seed.

    Shapes: -> the model, and its accuracy: (), or (questions,) if `deal` asks several.
    Raises: KeyboardInterrupt when it is stopped by hand, because half a training says nothing about a model.
    """
    with seeded(seed):
        model = build_float32(build)
        if len(fit(model, lambda: deal(128), steps=steps, callback=callback)) < steps:
            raise KeyboardInterrupt
        cards, answers = deal(N_TEST)
        with torch.no_grad():
            right = model(cards).argmax(-1) == answers  # (N, 8) or (N, 8, questions)
    return model, right.double().mean(dim=(0, 1))


def build_float32(build: Callable[[], nn.Module]) -> nn.Module:
    """Build a model in float32, whatever the default dtype is: in float64 its initial parameters would be others."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        return build().float()
    finally:
        torch.set_default_dtype(default)


def climb(top: str, *, steps: int = 400, seed: int = 0, progress: bool = True) -> list[Rung]:
    """Train the models of all rungs up to `top`, each from the same seed, and measure their accuracy on new cards.

    The rungs are the keys of PARTS, in order. Each model has the part of its rung and the parts of all rungs below.
    """
    names = list(PARTS)[: list(PARTS).index(top) + 1]
    rungs: list[Rung] = []
    settings: dict[str, Any] = {}
    with progress_bar.bar((steps + 1) * (len(names) - 1), "Climbing", shown=progress) as bar:
        for name in names:
            settings |= PARTS[name].settings
            if name == "chance":
                model, accuracy = None, _accuracy_of_guesses(seed)
            else:
                model, accuracy = train(partial(CardModel, **settings), steps=steps, seed=seed, callback=bar.update)
            rungs.append(Rung(name, float(accuracy), PARTS[name].at_most, PARTS[name].depends_on, model))
    return rungs


def _accuracy_of_guesses(seed: int) -> Tensor:
    """How often a letter drawn at random is correct."""
    with seeded(seed):
        _, answers = deal(N_TEST)
        return (torch.randint(N_LETTERS, answers.shape) == answers).double().mean()


def table(rungs: Sequence[Rung]) -> "pd.DataFrame":
    """The rungs as a table: what a card's output depends on, the accuracy, and the upper bound that follows."""
    import pandas as pd  # here, so that no first cell waits for it

    columns = {
        "depends on": [rung.depends_on for rung in rungs],
        "accuracy": [_percent(rung.accuracy) for rung in rungs],
        "upper bound": [_percent(rung.at_most) for rung in rungs],
    }
    return pd.DataFrame(columns, index=[rung.name if i < 2 else f"+ {rung.name}" for i, rung in enumerate(rungs)])


def _percent(accuracy: float) -> str:
    return f"{100 * accuracy:.1f} %"


@torch.no_grad()
def weights(model: CardModel, cards: Tensor, *, layer: int = 0) -> Tensor:
    """The attention weights of one layer of the model, counted from 0. Shapes: cards (B, T) -> (B, H, T, T)."""
    with trace(model) as t:
        model(cards)
    return t[f"layers.{layer}.attention.weights"]


def at_the_arrow(weights: Tensor, cards: Tensor) -> Tensor:
    """The attention weight of each card on the card that its arrow points at.

    Shapes: weights (B, H, 8, 8), cards (B, 8) -> (B, H, 8).
    """
    arrows = (cards % N_CARDS)[:, None, :, None].expand(-1, weights.shape[1], -1, -1)  # (B, H, 8, 1)
    return weights.gather(-1, arrows)[..., 0]  # (B, H, 8)
