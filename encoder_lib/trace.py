"""Look inside: every intermediate tensor of one real forward pass, by name."""

import difflib
import inspect
from collections.abc import Iterator, Mapping
from functools import partial

from torch import Tensor, nn

from encoder_lib.model.attention import MultiHeadAttention
from encoder_lib.model.norm import LayerNorm, RMSNorm
from encoder_lib.model.positional import RotaryPositionalEncoding


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
        if not isinstance(model, nn.Module):
            raise TypeError(f"model: expected a torch module, got {type(model).__name__}")
        self.model = model

    def __enter__(self) -> Trace:
        modules = dict(self.model.named_modules())
        self.watched = [m for m in modules.values() if isinstance(m, MultiHeadAttention)]
        if any(attention.record is not None for attention in self.watched):
            raise RuntimeError("this model is being traced already: leave the other `with trace(...)` block first")
        kept = Trace()
        tensors = kept._tensors

        def begin(module: nn.Module, args: tuple, kwargs: dict) -> None:
            tensors.clear()
            keep_input("input", module, inspect.signature(module.forward).bind(*args, **kwargs).args)

        def keep_input(name: str, module: nn.Module, args: tuple) -> None:
            if args and isinstance(args[0], Tensor):
                tensors[name] = args[0]

        def keep_output(name: str, module: nn.Module, args: tuple, output: object) -> None:
            if isinstance(output, Tensor):
                tensors.pop(name, None)  # its place is where it was computed last
                tensors[name] = output

        def keep_inside(prefix: str, **inside: Tensor) -> None:
            tensors.update({prefix + name: x for name, x in inside.items()})

        self.hooks = [self.model.register_forward_pre_hook(begin, with_kwargs=True)]
        for name, module in modules.items():
            if isinstance(module, LayerNorm | RMSNorm) and name:
                self.hooks.append(module.register_forward_pre_hook(partial(keep_input, f"{name}.input")))
            if isinstance(module, MultiHeadAttention):
                module.record = partial(keep_inside, f"{name}." if name else "")
            if not name or not isinstance(module, nn.Dropout | nn.Identity | RotaryPositionalEncoding):
                self.hooks.append(module.register_forward_hook(partial(keep_output, name or "output")))
        return kept

    def __exit__(self, *_: object) -> None:
        for hook in self.hooks:
            hook.remove()
        for attention in self.watched:
            attention.record = None
