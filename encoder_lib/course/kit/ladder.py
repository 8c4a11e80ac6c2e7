"""One task for the whole course, and a model that grows by a part at a time: what does each part buy?

Eight cards lie in a row. Each shows a letter, small or capital, and an arrow to another card. The answer at each card
is the letter that it points at; if the card itself shows a capital, that letter with its case swapped.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from encoder_lib import expect
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
N_CARDS = 8  # in a row, so an arrow is one of eight places
D_MODEL = 64
D_FF = 128
N_TEST = 4000  # fresh rows that a model is tried on


def deal(n_rows: int, *, hops: int = 1, swap: bool = True) -> tuple[Tensor, Tensor]:
    """Rows of cards, and the answer at each card. No arrow points at its own card.

        card = 8 · letter + arrow        answer = the letter pointed at, its case swapped at a capital

    `hops` says how often the arrow is followed: with 2, the letter is that of the card that the next card points at.
    Without `swap` the letter is taken as it is, also at a capital.

    Shapes: -> cards (N, 8) of ids below 64, answers (N, 8) of letters' numbers below 8.
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
    """The letter fetched, its case swapped where the card's own letter is a capital; of two numbers, or two tensors."""
    return fetched ^ (own & 1)  # aAbBcCdD: a capital's number is odd, and one more than its small letter's


def deal_two_questions(n_rows: int) -> tuple[Tensor, Tensor]:
    """Rows of cards with two questions at each: the letter that it points at, and the letter on its left.

    Case is left alone. The card furthest left has the one furthest right beside it, as if the row were a ring.

    Shapes: -> cards (N, 8), answers (N, 8, 2).
    """
    cards, _ = deal(n_rows)
    letters, arrows = cards // N_CARDS, cards % N_CARDS  # (N, 8) each
    return cards, torch.stack([letters.gather(1, arrows), letters.roll(1, dims=1)], dim=-1)


def read_cards(cards: Tensor) -> tuple[list[str], list[int]]:
    """What one row of cards shows: the letters, and the places that the arrows point at, counted from 0.

    Shapes: cards (T,).
    """
    return spell(cards // N_CARDS), (cards % N_CARDS).tolist()


def name_cards(cards: Tensor) -> list[str]:
    """A name for each card of a row, its letter and where it points: "C → 1". Shapes: cards (T,)."""
    letters, arrows = read_cards(cards)
    return [f"{letter} → {arrow}" for letter, arrow in zip(letters, arrows, strict=True)]


def spell(answers: Tensor) -> list[str]:
    """The letters that stand for numbers from 0 to 7. Shapes: answers (T,)."""
    return [LETTERS[i] for i in answers.tolist()]


class CardLayer(nn.Module):
    """One layer of the model, of whatever parts are asked for.

        x = norm(x + attention(x)), then norm(x + feed_forward(x))        without `residual`: norm(part(x))

    A part that is left out takes its norm with it. residual: around both parts, or around the one that it names;
    another name is refused.

    Shapes: (B, T, D) -> (B, T, D).
    """

    def __init__(
        self, *, attention: bool, feed_forward: bool, residual: bool | str, norm: bool, n_heads: int, root: bool
    ):
        super().__init__()
        if isinstance(residual, str):
            expect.choice("residual", residual, ("attention", "feed_forward"))
        kind = MultiHeadAttention if root else UnscaledAttention
        self.attention = kind(D_MODEL, n_heads) if attention else None
        self.norm1 = LayerNorm(D_MODEL) if norm and attention else nn.Identity()
        self.feed_forward = FeedForward(D_MODEL, D_FF) if feed_forward else None
        self.norm2 = LayerNorm(D_MODEL) if norm and feed_forward else nn.Identity()
        self.residual = residual

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.attention is not None:
            fetched = self.attention(x, x, x, mask)  # (B, T, D)
            x = self.norm1(x + fetched if self.residual in (True, "attention") else fetched)
        if self.feed_forward is not None:
            made = self.feed_forward(x)  # (B, T, D)
            x = self.norm2(x + made if self.residual in (True, "feed_forward") else made)
        return x


class CardModel(nn.Module):
    """The model that climbs: an embedding, a last linear map that answers, and between them the parts asked for.

    positions: added to the embedding, "none", "learned" or "sinusoidal". attention, feed_forward, residual, norm: what
    each of the `n_layers` layers has. root: scores are divided by √K. n_questions: asked at each card. loudness: what
    the embeddings are multiplied with.

    Shapes: cards (B, T) -> scores of the 8 letters (B, T, 8); with two questions (B, T, 2, 8).
    """

    def __init__(
        self,
        *,
        positions: str = "none",
        attention: bool = False,
        feed_forward: bool = False,
        residual: bool | str = False,
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
        parts |= {"norm": norm, "n_heads": n_heads, "root": root}
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
    """What a rung adds to the model, what a card then knows, and the share of right answers that this allows."""

    settings: dict[str, Any]
    knows: str
    at_most: float


class Rung(NamedTuple):
    """A model's name, its share of right answers, the most that is possible, what a card knows in it, and the model."""

    name: str
    right: float
    at_most: float
    knows: str
    model: nn.Module | None


def most_possible(clue: Callable[[int, int], object]) -> float:
    """The share of right answers of whoever knows nothing but clue(own letter, letter pointed at).

    Of the 64 pairs of letters all are equally likely, so they are counted: for each clue, its commonest answer is the
    best guess.
    """
    answers: dict[object, Counter] = defaultdict(Counter)
    for own, fetched in product(range(N_LETTERS), repeat=2):
        answers[clue(own, fetched)][_answer(own, fetched)] += 1
    return sum(max(counts.values()) for counts in answers.values()) / N_LETTERS**2


ITS_OWN = most_possible(lambda own, fetched: own)
FETCHED = most_possible(lambda own, fetched: fetched)
BOTH = most_possible(lambda own, fetched: (own, fetched))
PARTS = {
    "a guess": Part({}, "nothing", most_possible(lambda own, fetched: None)),
    "embedding": Part({}, "its own card", ITS_OWN),
    "positions": Part({"positions": "learned"}, "its own card and place", ITS_OWN),
    "attention": Part({"attention": True}, "the letter pointed at", FETCHED),
    # a card that also looks at itself a little has some of its own letter in the mean, which a bend can find there
    "feed-forward": Part({"feed_forward": True}, "that letter, hardly its own", BOTH),
    "residual": Part({"residual": True}, "that letter and its own", BOTH),
}


def train(
    build: Callable[[], nn.Module],
    *,
    deal: Callable[[int], tuple[Tensor, Tensor]] = deal,
    steps: int = 400,
    seed: int = 0,
    callback: Callable[[], None] | None = None,
) -> tuple[nn.Module, Tensor]:
    """Build a model, train it on cards that it never sees twice, and try it on fresh ones.

    In float32, whatever the default is, on batches of 128 rows, with Adam at a learning rate of 0.003. All that is
    drawn comes from the seed.

    Shapes: -> the model, and its share of right answers: (), or (questions,) where `deal` asks several.
    Raises: KeyboardInterrupt when it is stopped by hand, since half a training says nothing of a model.
    """
    default = torch.get_default_dtype()
    with seeded(seed):
        torch.set_default_dtype(torch.float32)  # weights drawn in float64 would be other ones
        try:
            model = build().float()
        finally:
            torch.set_default_dtype(default)
        if len(fit(model, lambda: deal(128), steps=steps, callback=callback)) < steps:
            raise KeyboardInterrupt
        cards, answers = deal(N_TEST)
        with torch.no_grad():
            right = model(cards).argmax(-1) == answers  # (N, 8) or (N, 8, questions)
    return model, right.double().mean(dim=(0, 1))


def climb(top: str, *, steps: int = 400, seed: int = 0, progress: bool = True) -> list[Rung]:
    """Train the models of all rungs up to `top`, each from the same seed, and try them on fresh cards.

    The rungs are those of PARTS, in order; each model has its own part and those of all rungs below.
    """
    names = list(PARTS)[: list(PARTS).index(top) + 1]
    rungs: list[Rung] = []
    settings: dict[str, Any] = {}
    with progress_bar.bar((steps + 1) * (len(names) - 1), "Climbing", shown=progress) as bar:
        for name in names:
            settings |= PARTS[name].settings
            if name == "a guess":
                model, right = None, _share_of_guesses(seed)
            else:
                model, right = train(partial(CardModel, **settings), steps=steps, seed=seed, callback=bar.update)
            rungs.append(Rung(name, float(right), PARTS[name].at_most, PARTS[name].knows, model))
    return rungs


def _share_of_guesses(seed: int) -> Tensor:
    """How often a letter drawn at random is right."""
    with seeded(seed):
        _, answers = deal(N_TEST)
        return (torch.randint(N_LETTERS, answers.shape) == answers).double().mean()


def table(rungs: Sequence[Rung]) -> "pd.DataFrame":
    """The rungs as a table: what each model knows, its share of right answers, and the best guess from that."""
    import pandas as pd  # here, so that no first cell waits for it

    columns = {
        "a card knows": [rung.knows for rung in rungs],
        "right": [_percent(rung.right) for rung in rungs],
        "best guess from that": [_percent(rung.at_most) for rung in rungs],
    }
    return pd.DataFrame(columns, index=[rung.name if i < 2 else f"+ {rung.name}" for i, rung in enumerate(rungs)])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


@torch.no_grad()
def weights(model: CardModel, cards: Tensor, *, layer: int = 0) -> Tensor:
    """Who looks at whom in one layer of the model, 0 the first. Shapes: cards (B, T) -> (B, H, T, T)."""
    with trace(model) as t:
        model(cards)
    return t[f"layers.{layer}.attention.weights"]


def at_the_arrow(weights: Tensor, cards: Tensor) -> Tensor:
    """The weight that each card gives to the card that its arrow points at.

    Shapes: weights (B, H, 8, 8), cards (B, 8) -> (B, H, 8).
    """
    arrows = (cards % N_CARDS)[:, None, :, None].expand(-1, weights.shape[1], -1, -1)  # (B, H, 8, 1)
    return weights.gather(-1, arrows)[..., 0]  # (B, H, 8)
