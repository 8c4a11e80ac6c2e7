"""Checks of the exercises of 08_training."""

from collections.abc import Callable
from functools import partial
from itertools import count

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.checks import parts
from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.seeded import seeded
from encoder_lib.training.tasks import IGNORE_INDEX


def check_cross_entropy(attempt: Callable) -> Verdict:
    """cross_entropy(scores, targets): the mean surprise at the right classes, where the target is not −100.

    scores (N, C), targets (N,).
    """

    def scores(*rows: list[float]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    cases = [
        Case("one token, two equal scores", (scores([0.0, 0.0]), torch.tensor([1]))),
        Case("one token, three classes", (scores([1.0, 0.0, -1.0]), torch.tensor([2]))),
        Case("two tokens", (scores([2.0, 0.0], [0.0, 1.0]), torch.tensor([0, 0]))),
        Case(
            "two tokens, of which one asks",
            (scores([2.0, 0.0], [0.0, 1.0]), torch.tensor([0, IGNORE_INDEX])),
            "Leave the tokens with target −100 out before anything else: neither their surprise nor their number may "
            "count.",
        ),
        Case("as many tokens as classes", (numbers(3, 3), torch.tensor([2, 0, 2]))),
        Case("more classes than tokens", (3 * numbers(2, 7), torch.tensor([6, 1]))),
        Case("more tokens than classes, half of them ask", (numbers(6, 2), torch.tensor([-100, 1, -100, 0, -100, 1]))),
    ]
    hints = (
        "Turn each token's scores into probabilities first: a softmax over the classes, once.",
        "Of each token you need one probability alone: that of its target, p[torch.arange(N), targets].",
        "The surprise is minus the natural logarithm of that probability; then the mean over the tokens that ask.",
    )
    return examine("cross_entropy", attempt, F.cross_entropy, cases, hints)


def check_learn(attempt: Callable) -> Verdict:
    """learn(model, draw, steps, lr): train with Adam on a new batch in every step, and give back each step's loss.

    draw() -> ids and targets (B, T), −100 where nothing is asked; model(ids) -> scores (B, T, C).
    """

    def losses_and_after(learn: Callable, shape: tuple[int, int, int], steps: int, lr: float) -> object:
        """What is given back, and behind it the loss that the model then has on a batch of its own. -> (steps + 1,)"""
        n_ids, rows, tokens = shape
        batches = (_questions(n_ids, rows, tokens, seed) for seed in count(1))
        model = _tagger(n_ids)
        losses = learn(model, lambda: next(batches), steps, lr)
        if losses is ... or (losses is None and _same_parameters(model, _tagger(n_ids))):
            return losses
        if not isinstance(losses, list | tuple | Tensor):
            raise TypeError(f"expected a list with the loss of each step, got {type(losses).__name__}")
        ids, targets = _questions(n_ids, rows, tokens, 0)
        after = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        return torch.stack([torch.as_tensor(loss).detach().double() for loss in [*losses, after]])

    cases = [
        Case(
            "the loss of one step that hardly moves anything, and the loss after it",
            ((3, 1, 4), 1, 1e-12),
            "The loss is a mean over the tokens that ask, those whose target is not −100, of scores as they come out "
            "of the model. Note loss.item() before the step changes anything. And is lr handed on? With 1e-12 the loss "
            "after the step is nearly the same.",
        ),
        Case(
            "the loss of one step, and the loss after it",
            ((3, 1, 4), 1, 0.1),
            "The loss is right; what comes after it is not. Is there a backward, then a step, of an Adam that has got "
            "model.parameters() and lr?",
        ),
        Case(
            "the losses of two steps on two different batches, and the loss after them",
            ((3, 1, 4), 2, 0.1),
            "One step works. What is left over from the first when the second comes: its gradients, its batch, its "
            "optimiser?",
        ),
        Case("several rows in a batch", ((4, 3, 5), 2, 0.1)),
        Case("a smaller learning rate", ((4, 3, 5), 3, 0.01)),
        Case("as many tokens as classes", ((4, 2, 4), 3, 0.1)),
        Case("ten steps", ((5, 2, 6), 10, 0.05)),
    ]
    hints = (
        "Before the loop an optimiser: torch.optim.Adam gets model.parameters() and lr. Each step draws its own batch, "
        "once: ids, targets = draw().",
        "Gradients must be there when the step is taken, and gone before the next ones are computed.",
    )
    torch.optim.Adam([torch.zeros(1)])  # the first one loads a large part of torch, which is no fault of the attempt's
    tried = partial(losses_and_after, attempt) if callable(attempt) else attempt
    return examine("learn", tried, partial(losses_and_after, parts.learn), cases, hints)


def _tagger(n_ids: int) -> nn.Sequential:
    """An embedding and a linear layer, the same whenever it is made. (B, T) -> scores (B, T, C)"""
    with seeded(0):
        return nn.Sequential(nn.Embedding(n_ids, 3), nn.Linear(3, n_ids)).double()


def _questions(n_ids: int, rows: int, tokens: int, seed: int) -> tuple[Tensor, Tensor]:
    """Random ids, and at every token but each third one the question which id comes next in number. (B, T) each"""
    with seeded(seed):
        ids = torch.randint(n_ids, (rows, tokens))
    return ids, ((ids + 1) % n_ids).masked_fill(torch.arange(tokens) % 3 == seed % 3, IGNORE_INDEX)


def _same_parameters(model: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def check_forbid(attempt: Callable) -> Verdict:
    """forbid(place): where a token may look, if it may not look at one place. place (B, T) -> booleans (B, 1, T, T).

    A place of −100 forbids nothing.
    """

    def reference(place: Tensor) -> Tensor:
        return (torch.arange(place.shape[-1]) != place[..., None])[:, None]

    cases = [
        Case(
            "one row of two tokens, each of which may not look at the other",
            (torch.tensor([[1, 0]]),),
            "True means: may be looked at. One row of two tokens gives (1, 1, 2, 2): rows, room for heads, tokens that "
            "look, tokens that are looked at.",
        ),
        Case(
            "three tokens that may not look at the first one",
            (torch.tensor([[0, 0, 0]]),),
            "Are the last two dimensions exchanged? The token that looks comes first, and the one that it looks at "
            "second.",
        ),
        Case("each token may not look at the one before it", (torch.tensor([[3, 0, 1, 2]]),)),
        Case(
            "a token that may look anywhere",
            (torch.tensor([[2, IGNORE_INDEX, 0]]),),
            "−100 is no place: where it stands, all of the row is True.",
        ),
        Case(
            "two rows",
            (torch.tensor([[1, 2, 0], [2, 0, 1]]),),
            "Each row of the batch has places of its own, and its mask has nothing to do with the other rows.",
        ),
        Case("as many rows as tokens", (torch.tensor([[0, 1, 2], [1, 1, 1], [2, IGNORE_INDEX, 0]]),)),
        Case("nothing forbidden at all", (torch.full((2, 3), IGNORE_INDEX),)),
    ]
    hints = (
        "Number the places that can be looked at: torch.arange(T). Which of them is not the forbidden one?",
        "place[..., None] is (B, T, 1). Compared with the numbers of all places, (T,), it gives (B, T, T).",
        "The heads stand between batch and tokens. A dimension of 1 serves all of them: mask[:, None].",
    )
    return examine("forbid", attempt, reference, cases, hints)
