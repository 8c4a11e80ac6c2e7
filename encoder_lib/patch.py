"""Change a tensor inside a model: ablate a part, or put another value in its place."""

import difflib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.attention import PROBES, MultiHeadAttention, Probe, key_of, probing
from encoder_lib.recast import share, with_class

Edit = Callable[..., Tensor]
Model = TypeVar("Model", bound=nn.Module)
INSIDE_ATTENTION = ("query", "key", "value", "scores", "weights", "heads")
HOOKS = "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"
PRE_HOOKS = "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs"


def patch(model: Model, edits: Mapping[str, Edit]) -> Model:
    """A copy of the model that shares its parameters and changes the named tensors as they are computed.

        no_layer_2 = patch(encoder, {"layers.1.attention": lambda out, *inputs: 0 * out,
                                     "layers.1.feed_forward": lambda out, *inputs: 0 * out})
        cut = patch(encoder, {"layers.*.attention.weights": lambda weights: weights.index_fill(-1, token, 0.0)})

    Names are those of `trace`, and `*` stands for any one part of a name. An edit of a module's output is called with
    the output and the module's inputs, any other edit with the tensor alone; the computation goes on with what it
    returns. The original model stays as it was, so both can be used side by side, in one thread or in several; a
    training step of one is a training step of the other. `trace` shows the changed tensors.

    Raises: KeyError for a name that the model does not have; TypeError for an edit that is not a function; when the
    model runs, TypeError or ValueError for an edit that does not return a tensor of the same shape and dtype.
    """
    expect.instance("model", model, nn.Module, "a torch module")
    copy = _independent(share(model))
    modules = dict(copy.named_modules())
    for pattern, edit in edits.items():
        if not callable(edit):
            raise TypeError(
                f"{pattern}: expected a function that returns the new tensor, got {expect.short_repr(edit)}"
            )
        for name in _matching(pattern, modules):
            _apply(modules, name, edit)
    return cast(Model, modules[""])


def _independent(copy: Model) -> Model:
    """The copy with hooks of its own, which begin as those of the original."""
    for module in copy.modules():
        own = vars(module)  # setattr would look for parameters first, which takes ten times as long
        own |= {name: OrderedDict(own[name]) for name in (*HOOKS, *PRE_HOOKS)}
        if isinstance(module, _PatchedAttention):
            module.edits = {part: list(edits) for part, edits in module.edits.items()}
    return copy


def _names(modules: Mapping[str, nn.Module]) -> Iterator[str]:
    """The names that `trace` gives to the tensors of these modules."""
    for name, module in modules.items():
        prefix = f"{name}.".removeprefix(".")
        yield from (name or "output", f"{prefix}input")
        if isinstance(module, MultiHeadAttention):
            yield from (prefix + part for part in INSIDE_ATTENTION)


def _matching(pattern: str, modules: Mapping[str, nn.Module]) -> list[str]:
    wanted = re.compile(re.escape(pattern).replace(r"\*", r"[^.]+"))
    names = list(_names(modules))
    if found := [name for name in names if wanted.fullmatch(name)]:
        return found
    near = difflib.get_close_matches(pattern, names, n=3, cutoff=0.3)
    raise KeyError(f"expected names of tensors, as `trace` has them, got {pattern!r}; near it are {near}")


def _apply(modules: dict[str, nn.Module], name: str, edit: Edit) -> None:
    owner, _, part = name.rpartition(".")
    if part in INSIDE_ATTENTION and isinstance(attention := modules[owner], MultiHeadAttention):
        _patched(modules, owner, attention).edits.setdefault(part, []).append(partial(_checked, name, edit))
    elif part == "input":
        modules[owner].register_forward_pre_hook(lambda _, inputs: (_checked(name, edit, inputs[0]), *inputs[1:]))
    else:
        module = modules["" if name == "output" else name]
        module.register_forward_hook(lambda _, inputs, out: _checked(name, edit, out, *inputs))


def _checked(name: str, edit: Edit, x: Tensor, *inputs: Any) -> Tensor:
    """The edited tensor. Raises: TypeError or ValueError unless it is one of the same shape and dtype."""
    new = edit(x, *inputs)
    if not isinstance(new, Tensor):
        raise TypeError(f"{name}: expected a tensor from the edit, got {expect.short_repr(new)}")
    if (new.shape, new.dtype) != (x.shape, x.dtype):
        expected = f"a tensor of shape {tuple(x.shape)} and {x.dtype}"
        raise ValueError(f"{name}: expected {expected} from the edit, got {tuple(new.shape)} and {new.dtype}")
    return new


class _PatchedAttention(MultiHeadAttention):
    """Attention whose inner tensors are changed as they are computed, before a trace sees them."""

    edits: dict[str, list[Callable[[Tensor], Tensor]]]  # by the name of the tensor

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        probe = partial(self._edit, PROBES.get().get(key_of(self)))
        with probing({**PROBES.get(), key_of(self): probe}):
            return super().attend(q, k, v, mask)

    def _edit(self, trace: Probe | None, name: str, x: Tensor) -> Tensor:
        for edit in self.edits.get(name, ()):
            x = edit(x)
        return x if trace is None else trace(name, x)


def _patched(modules: dict[str, nn.Module], name: str, attention: MultiHeadAttention) -> _PatchedAttention:
    """The attention of that name as one that takes edits, in its place in the copy."""
    if isinstance(attention, _PatchedAttention):
        return attention
    new = with_class(attention, _PatchedAttention)
    new.edits = {}
    for module in list(modules.values()):
        for child, old in module._modules.items():
            if old is attention:
                module._modules[child] = new
    modules[name] = new
    return new
