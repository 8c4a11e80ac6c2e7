"""Record, during training, what a model attends to and how well it fills the gaps of held-out text."""

import copy
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call

from encoder_lib.course.training.letters import GAP, fill, to_ids
from encoder_lib.trace import trace
from encoder_lib.training.evaluating import evaluating
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import Sample

NEAR = 2  # how many letters on each side of a gap count as its nearest


def weight_on_nearest(ids: Tensor, weights: Tensor) -> Tensor:
    """The attention weight that a gap gives to the four nearest letters, averaged over the heads and all gaps.

    Shapes: ids (B, T), weights (B, H, T, T) -> ().
    """
    position = torch.arange(ids.shape[1])
    distance = (position - position[:, None]).abs()  # (T, T)
    near = (distance <= NEAR) & (distance > 0)  # (T, T)
    return (weights.mean(dim=1) * near).sum(dim=-1)[ids == GAP].mean()


class Recording:
    """Record a model while it learns to fill gaps: call it before every step, and once more after the last one.

    At the first call and at every `every`-th call after it, it measures in eval mode how many gaps of `sample` the
    model fills correctly and how much attention weight they give to the four nearest letters, and keeps the attention
    maps of `text` and a copy of the parameters. Use a new recording for each training, because the counts of steps go
    on where the last one ended.

    steps: N numbers. accuracies: (N,), each from 0 to 1. nearest: (N, layers), see `weight_on_nearest`.
    maps: (N, layers, T, T), each the mean of a layer's heads. filled: N texts, as `letters.fill` gives them.
    """

    def __init__(self, model: nn.Module, sample: Sample, text: str, *, every: int = 25):
        self.model, self.sample, self.text, self.every = model, sample, text, every
        self._calls = 0
        self.steps: list[int] = []
        self.filled: list[str] = []
        self._accuracies: list[Tensor] = []
        self._nearest: list[Tensor] = []
        self._maps: list[Tensor] = []
        self._states: list[dict[str, Tensor]] = []
        self._answers: tuple[str, list[Tensor]] = "", []  # to the text that was asked last, by the first states
        self._longer: Longer | None = None

    def __call__(self) -> None:
        if self._calls % self.every == 0:
            self.measure(self._calls)
        self._calls += 1

    @torch.no_grad()
    def measure(self, step: int) -> None:
        """Measure the model as it is after so many steps."""
        ids, targets, _ = self.sample
        self.steps.append(step)
        with evaluating(self.model):
            with trace(self.model) as t:
                answers = self.model(ids).argmax(dim=-1)  # (B, T)
            self._nearest.append(torch.stack([weight_on_nearest(ids, x) for x in _attention(t)]).double())
            with trace(self.model) as t:
                self.model(to_ids(self.text)[None])
            self._maps.append(torch.stack([x[0].mean(dim=0) for x in _attention(t)]).double())
            self.filled.append(fill(self.model, self.text))
        self._states.append({name: tensor.clone() for name, tensor in self.model.state_dict().items()})
        self._accuracies.append((answers == targets)[ids == GAP].double().mean())

    @torch.no_grad()
    def probabilities(self, text: str) -> Tensor:
        """What the model would have answered to a text of T letters at each of the N measurements, (N, T, 27)."""
        ids = to_ids(text)[None]
        known = self._answers[1] if self._answers[0] == text else []
        with evaluating(self.model):
            new = [functional_call(self.model, state, (ids,))[0] for state in self._states[len(known) :]]
        self._answers = text, [*known, *new]
        return torch.stack(self._answers[1]).softmax(dim=-1)

    def go_on(self, next_batch: Callable[[], Sample]) -> "Longer":
        """The same training, to go on with; what has been trained before is kept."""
        if self._longer is None or self._longer.begun != len(self.steps):
            self._longer = Longer(self, next_batch)
        self._longer.next_batch = next_batch
        return self._longer

    @property
    def accuracies(self) -> Tensor:
        return torch.stack(self._accuracies)

    @property
    def nearest(self) -> Tensor:
        return torch.stack(self._nearest)

    @property
    def maps(self) -> Tensor:
        return torch.stack(self._maps)


def _attention(t: Mapping[str, Tensor]) -> list[Tensor]:
    """The attention weights of each layer, (B, H, T, T)."""
    return [x for name, x in t.items() if name.endswith("attention.weights")]


class Longer:
    """A recorded training that goes on with a copy of its model; the model and its recording stay as they are.

    next_batch: draws a batch to train on. Its random numbers are a sequence of their own, so that the same rounds give
    the same model, whatever else the notebook draws meanwhile.
    """

    def __init__(self, recording: Recording, next_batch: Callable[[], Sample]):
        self.recording = copy.deepcopy(recording)
        self.next_batch, self.begun = next_batch, len(recording.steps)
        self._optimiser = torch.optim.Adam(self.recording.model.parameters(), lr=0.003)
        self._random = torch.Generator().manual_seed(0).get_state()

    @property
    def rounds(self) -> int:
        """How many rounds it has gone on so far."""
        return len(self.recording.steps) - self.begun

    def train(self, rounds: int) -> None:
        """Go on until there have been so many rounds, each of as many steps as lie between two measurements."""
        model, every = self.recording.model, self.recording.every
        while self.rounds < rounds:
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(self._random)
                fit(model, lambda: self.next_batch()[:2], steps=every, optimiser=self._optimiser)
                self._random = torch.get_rng_state()
            self.recording.measure(self.recording.steps[-1] + every)
