"""Record, during training, what a model attends to and how much of its attention falls on the answer's position."""

import torch
from torch import Tensor, nn

from encoder_lib.trace import trace
from encoder_lib.training.evaluating import evaluating
from encoder_lib.training.tasks import Sample, Task


def right_map(source: Tensor) -> Tensor:
    """The ideal attention map: weight 1 on the token that holds the answer; NaN in the rows of tokens without one.

    Shapes: source (…, T) -> (…, T, T).
    """
    positions = torch.arange(source.shape[-1], device=source.device)
    weights = (source[..., None] == positions).to(torch.get_default_dtype())  # (…, T, T)
    return weights.masked_fill((source < 0)[..., None], torch.nan)


def weight_on(source: Tensor, weights: Tensor) -> Tensor:
    """The attention weight of each head on the token that holds the answer, averaged over all tokens that have one.

    Shapes: source (B, T), weights (B, H, T, T) -> (H,).
    """
    answers = source.clamp(min=0).to(weights.device)[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
    on_answer = weights.gather(3, answers)[..., 0].transpose(1, 2)  # (B, T, H)
    return on_answer[source >= 0].mean(dim=0)


class Recording:
    """Record the attention maps and the accuracy of a model during training: pass it to `fit` as `callback`.

    It measures on all sequences of `sample`, in eval mode, before the first step and after every `every` steps, and
    keeps the maps of the first `keep` sequences. Use a new recording for each training, because the counts of steps
    go on where the last training ended.

    steps: N numbers. accuracies: (N,). weights: (N, layers, H), the mean attention weight on the token that holds the
    answer. maps: (N, layers, H, keep, T, T). right: (keep, T, T), see `right_map`. sequences: the kept sequences as
    symbols; labels: the same, each symbol with its position in front.
    """

    def __init__(self, model: nn.Module, task: Task, sample: Sample, *, every: int = 1, keep: int = 6):
        self.model, self.sample, self.every, self.keep = model, sample, every, keep
        self.sequences = [task.read(ids) for ids in sample.ids[:keep]]
        self.labels = [[f"{position} {symbol}" for position, symbol in enumerate(row)] for row in self.sequences]
        self.right = right_map(sample.source[:keep])  # (keep, T, T)
        self._calls = 0
        self.steps: list[int] = []
        self._accuracies: list[Tensor] = []
        self._weights: list[Tensor] = []
        self._maps: list[Tensor] = []

    def __call__(self) -> None:
        if self._calls % self.every == 0:
            self._measure()
            self.steps.append(self._calls)
        self._calls += 1

    @torch.no_grad()
    def _measure(self) -> None:
        device = next(self.model.parameters()).device
        with evaluating(self.model), trace(self.model) as t:
            answers = self.model(self.sample.ids.to(device)).argmax(-1).cpu()  # (B, T)
        layers = [x.cpu().double() for name, x in t.items() if name.endswith("attention.weights")]  # (B, H, T, T) each
        counted = self.sample.source >= 0  # (B, T)
        self._accuracies.append((answers == self.sample.targets)[counted].double().mean())
        self._weights.append(torch.stack([weight_on(self.sample.source, x) for x in layers]))  # (layers, H)
        self._maps.append(torch.stack([x[: self.keep].transpose(0, 1) for x in layers]))  # (layers, H, keep, T, T)

    @property
    def accuracies(self) -> Tensor:
        return torch.stack(self._accuracies)

    @property
    def weights(self) -> Tensor:
        return torch.stack(self._weights)

    @property
    def maps(self) -> Tensor:
        return torch.stack(self._maps)
