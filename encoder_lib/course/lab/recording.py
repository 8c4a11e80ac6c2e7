"""What a model attends to while it learns, and how much of it goes to where the answer stands."""

import torch
from torch import Tensor, nn

from encoder_lib.trace import trace
from encoder_lib.training.tasks import Sample, Task


def right_map(source: Tensor) -> Tensor:
    """The attention map that looks at the answers: 1 at the token that holds it; NaN in rows that ask nothing.

    Shapes: source (…, T) -> (…, T, T).
    """
    places = torch.arange(source.shape[-1], device=source.device)
    looks = (source[..., None] == places).to(torch.get_default_dtype())  # (…, T, T)
    return looks.masked_fill((source < 0)[..., None], torch.nan)


def weight_on(source: Tensor, weights: Tensor) -> Tensor:
    """How much weight each head gives to the token that holds the answer, averaged over all tokens that ask.

    Shapes: source (B, T), weights (B, H, T, T) -> (H,).
    """
    places = source.clamp(min=0).to(weights.device)[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
    there = weights.gather(3, places)[..., 0].transpose(1, 2)  # (B, T, H)
    return there[source >= 0].mean(dim=0)


class Recording:
    """The attention maps of a model in training, and how right its answers were: give it to `fit` as `callback`.

    One recording is for one training: a second one would go on counting where the first ended. It looks before the
    first step and after each `every` steps, at all sequences of `sample`; of the first `keep` of
    them it keeps the maps.

    steps: N numbers. accuracies: (N,), the share of right answers. weights: (N, layers, H), the mean weight on the
    token that holds the answer. maps: (N, layers, H, keep, T, T). right: (keep, T, T), see `right_map`.
    sequences: those that are kept, in symbols; labels: the same, with each token's place before it.
    """

    def __init__(self, model: nn.Module, task: Task, sample: Sample, *, every: int = 1, keep: int = 6):
        self.model, self.sample, self.every, self.keep = model, sample, every, keep
        self.sequences = [task.read(ids) for ids in sample.ids[:keep]]
        self.labels = [[f"{place} {symbol}" for place, symbol in enumerate(row)] for row in self.sequences]
        self.right = right_map(sample.source[:keep])  # (keep, T, T)
        self._calls = 0
        self.steps: list[int] = []
        self._accuracies: list[Tensor] = []
        self._weights: list[Tensor] = []
        self._maps: list[Tensor] = []

    def __call__(self) -> None:
        if self._calls % self.every == 0:
            self._look()
            self.steps.append(self._calls)
        self._calls += 1

    @torch.no_grad()
    def _look(self) -> None:
        mode, device = self.model.training, next(self.model.parameters()).device
        self.model.eval()
        with trace(self.model) as t:
            answers = self.model(self.sample.ids.to(device)).argmax(-1).cpu()  # (B, T)
        self.model.train(mode)
        layers = [x.cpu().double() for name, x in t.items() if name.endswith("attention.weights")]  # (B, H, T, T) each
        asked = self.sample.source >= 0  # (B, T)
        self._accuracies.append((answers == self.sample.targets)[asked].double().mean())
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
