"""Look inside: every intermediate tensor of one real forward pass, by name."""

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.attention import FusedAttention, MultiHeadAttention, attention_scores, masked_softmax
from encoder_lib.model.norm import LayerNorm, RMSNorm
from encoder_lib.model.positional import RotaryPositionalEncoding

QUIET = nn.Dropout | nn.Identity | RotaryPositionalEncoding | FusedAttention  # what they put out has no name of its own


class Trace(Mapping):
    """The tensors of a forward pass in the order in which they were computed: `trace["layers.0.attention.weights"]`.

    Printing it lists every name with its shape. A wrong name raises KeyError with the nearest right ones.
    """

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        try:
            return self._tensors[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._tensors, n=3, cutoff=0.3)
            advice = f"; near it are {near}" if near else "; has the model run inside the `with` block?"
            raise KeyError(f"expected a name of the trace, got {name!r}{advice}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        width = max(map(len, self._tensors), default=0)
        return "\n".join(f"{name:<{width}}  {tuple(x.shape)}" for name, x in self._tensors.items()) or "an empty trace"


class WrittenOut(nn.Module):
    """Attention step by step in the place of the fused one: the same numbers, each tensor handed to `keep` by name."""

    def __init__(self, fused: nn.Module, keep: Callable[..., None]):
        super().__init__()
        self.fused, self.keep = cast(FusedAttention, fused), keep

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = attention_scores(q, k, bias=self.fused.bias(q, k))  # (B, H, q, k)
        weights = masked_softmax(scores, mask)  # (B, H, q, k)
        heads = F.dropout(weights, self.fused.dropout, self.fused.training) @ v  # (B, H, q, K)
        self.keep(query=q, key=k, value=v, scores=scores, weights=weights, heads=heads)
        return heads

    def __reduce__(self) -> str | tuple:
        return self.fused.__reduce_ex__(4)  # a copy is not traced


class trace:
    """Within the `with` block, record what the modules of `model` put out, and what attention does inside.

        with trace(encoder) as t:
            encoder(x)
        t["layers.0.attention.weights"]                # (B, H, T, T)

    Names follow the modules: "layers.0.attention" is the output of that attention. Besides there are `input` (what the
    model was given), `output` (what it gave back), "….norm1.input" (what a norm was given: in a post-norm layer the sum
    of residual path and branch), and of each attention "….query", "….key", "….value", "….scores", "….weights" and
    "….heads". The tensors are those of the pass itself, not copies, and keep their gradients' graph. Each call of
    `model` starts afresh.

    Raises: TypeError when `model` is not a torch module; RuntimeError when its attention is being traced already.
    """

    def __init__(self, model: nn.Module):
        expect.kind("model", model, nn.Module, "a torch module")
        self.model = model

    def __enter__(self) -> Trace:
        names = {module: name for name, module in self.model.named_modules()}  # a copy's modules have no name here
        if any(isinstance(module, WrittenOut) for module in names):
            raise RuntimeError("this model is being traced already: leave the other `with trace(...)` block first")
        kept = Trace()
        tensors = kept._tensors

        def begin(module: nn.Module, args: tuple, kwargs: dict) -> None:
            if module is self.model:
                tensors.clear()
                keep("input", inspect.signature(module.forward).bind(*args, **kwargs).args[0])

        def end(module: nn.Module, args: tuple, output: object) -> None:
            name = names.get(module)
            if name and isinstance(module, LayerNorm | RMSNorm):
                keep(f"{name}.input", args[0])
            if name is not None:
                keep(name or "output", output)

        def keep(name: str, tensor: object) -> None:
            if isinstance(tensor, Tensor):
                tensors.pop(name, None)  # its place is where it was computed last
                tensors[name] = tensor

        def keep_inside(prefix: str, **inside: Tensor) -> None:
            tensors.update({prefix + name: x for name, x in inside.items()})

        self.hooks = [self.model.register_forward_pre_hook(begin, with_kwargs=True)]
        self.hooks += [m.register_forward_hook(end) for m in names if m is self.model or not isinstance(m, QUIET)]
        self.attentions = [module for module in names if isinstance(module, MultiHeadAttention)]
        for attention in self.attentions:
            prefix = f"{names[attention]}.".removeprefix(".")
            attention.fused = WrittenOut(attention.get_submodule("fused"), partial(keep_inside, prefix))
        return kept

    def __exit__(self, *_: object) -> None:
        for hook in self.hooks:
            hook.remove()
        for attention in self.attentions:
            attention.fused = attention.get_submodule("fused.fused")
