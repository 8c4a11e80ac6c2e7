"""Look inside: every intermediate tensor of one real forward pass, by name."""

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from encoder_lib import expect
from encoder_lib.model.attention import PROBES, MultiHeadAttention, Probe, key_of, probing
from encoder_lib.model.norm import LayerNorm, RMSNorm
from encoder_lib.model.positional import RotaryPositionalEncoding

UNRECORDED = nn.Dropout | nn.Identity | RotaryPositionalEncoding  # their outputs have no name of their own


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
    """Within the `with` block, record the outputs of the modules of `model`, and the tensors inside attention.

        with trace(encoder) as t:
            encoder(x)
        t["layers.0.attention.weights"]                # (B, H, T, T)

    Names follow the modules: "layers.0.attention" is the output of that attention. There are also `input` (the first
    tensor that the model was given), `output` (what it returned), "….norm1.input" (what a norm was given: in a
    post-norm layer, the sum of residual path and branch), and for each attention "….query", "….key", "….value",
    "….scores", "….weights" and "….heads". The tensors are those of the pass itself, not copies, and stay attached to
    the autograd graph. Each call of `model` starts afresh.

    A trace records the calls of its own thread, also those of copies that share the model's parameters, as in `fast`
    and `encode`. Other threads may run or trace the same model at the same time, and traces may be nested.

    Raises: TypeError when `model` is not a torch module, or is compiled.
    """

    def __init__(self, model: nn.Module):
        expect.instance("model", model, nn.Module, "a torch module")
        if any(hasattr(m, "_orig_mod") or m._compiled_call_impl is not None for m in model.modules()):
            hint = "a compiled model runs as one piece; try the model as it was before torch.compile"
            raise TypeError(f"model: expected one that runs module by module, got a compiled one: {hint}")
        self.model = model
        self._blocks: list[AbstractContextManager[Trace]] = []

    def __enter__(self) -> Trace:
        self._blocks.append(_recording(self.model))
        return self._blocks[-1].__enter__()

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().__exit__(*error)  # type: ignore[arg-type]


@contextmanager
def _recording(model: nn.Module) -> Iterator[Trace]:
    trace = Trace()
    tensors = trace._tensors
    names = {key_of(module): name for name, module in model.named_modules()}
    me = id(trace)

    def record(name: str, tensor: object) -> None:
        if isinstance(tensor, Tensor):
            tensors.pop(name, None)  # re-inserted, so that the order follows the last call
            tensors[name] = tensor

    # torch registers a hook first and notes a moment later that it takes keyword arguments; meanwhile another thread
    # may call it without them.
    def begin(module: nn.Module, args: tuple, *kwargs: dict) -> None:
        if key_of(module) in names and me in PROBES.get():  # neither an independent copy nor another thread
            tensors.clear()
            record("input", _first_tensor(module, args, *kwargs))

    def end(module: nn.Module, args: tuple, *kwargs_and_output: Any) -> None:
        *kwargs, output = kwargs_and_output
        name = names.get(key_of(module))
        if name is None or me not in PROBES.get():
            return
        if name and isinstance(module, LayerNorm | RMSNorm):
            record(f"{name}.input", _first_tensor(module, args, *kwargs))
        record(name or "output", output)

    with ExitStack() as exits:
        hooks = [model.register_forward_pre_hook(begin, with_kwargs=True)]
        probes = {**PROBES.get(), me: lambda name, x: x}
        for name, module in model.named_modules():
            if module is model or not isinstance(module, UNRECORDED):
                hooks.append(module.register_forward_hook(end, with_kwargs=True))
            if isinstance(module, MultiHeadAttention):
                probes[key_of(module)] = _probe(name, record, probes.get(key_of(module)))
        for hook in hooks:
            exits.callback(hook.remove)
        exits.enter_context(probing(probes))
        yield trace


def _probe(name: str, record: Callable[[str, Tensor], None], outer: Probe | None) -> Probe:
    """Record a tensor inside the attention `name`, after the trace around this one, if any, has seen it."""
    prefix = f"{name}.".removeprefix(".")

    def probe(part: str, x: Tensor) -> Tensor:
        x = x if outer is None else outer(part, x)
        record(prefix + part, x)
        return x

    return probe


def _first_tensor(module: nn.Module, args: tuple, kwargs: dict) -> Tensor | None:
    """The first of the call's tensors, in the order in which `forward` names its parameters."""
    arguments = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    return next((x for x in tree_leaves(list(arguments.values())) if isinstance(x, Tensor)), None)
