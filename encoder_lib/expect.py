"""Argument checks: every error says what was expected, what was given, and what to try."""

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

MAX_CHARS = 100  # characters of a value in a message
SEEDS = 2**64  # that torch distinguishes

# Any value


def short_repr(value: Any) -> str:
    """The repr of any value, cut to a hundred characters."""
    try:
        text = repr(value)
    except Exception:  # an integer with thousands of digits, or an object whose repr fails
        text = object.__repr__(value)
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


def instance(name: str, value: Any, wanted: Any, words: str, hint: str = "") -> None:
    """An instance of `wanted`, a type or several; `words` describe it in the message."""
    if not isinstance(value, wanted):
        raise TypeError(f"{name}: expected {words}, got {short_repr(value)} ({type(value).__name__}){hint}")


def integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """An integer from `least` to `most`: TypeError for bools, floats and tensors, ValueError for numbers outside."""
    if torch.compiler.is_compiling():  # a symbolic size must stay symbolic
        return value
    try:
        if isinstance(value, bool | np.bool_ | Tensor):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {short_repr(value)} ({type(value).__name__})") from None
    if number < least or (most is not None and number > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}: expected an integer {bounds}, got {short_repr(number)}")
    return number


def seed(value: Any, *, seeds: int = SEEDS) -> int:
    """A seed for random numbers: an integer from 0 to below `seeds`."""
    return integer("seed", value, least=0, most=seeds - 1)


def sizes(**values: Any) -> None:
    """Each value is an integer of at least 1."""
    for name, value in values.items():
        integer(name, value, least=1)


def even(name: str, value: int) -> None:
    """An even size of at least 2: sine and cosine come in pairs."""
    if integer(name, value, least=1) % 2:
        raise ValueError(f"{name}: expected an even number (one sine and one cosine a pair), got {value}")


def heads(d_model: int, n_heads: int) -> None:
    """A width that is divisible by the number of heads."""
    sizes(d_model=d_model, n_heads=n_heads)
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model}: expected a size divisible by n_heads={n_heads}")


def flags(**values: Any) -> None:
    """Each value is True or False, and not merely truthy or falsy."""
    for name, value in values.items():
        instance(name, value, bool, "True or False")


def number(name: str, value: Any, bounds: str = "", fits: Callable[[Any], bool] = lambda x: True) -> None:
    """A finite real number for which `fits` holds; `bounds` describe it in the message."""
    if torch.compiler.is_compiling():
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number, got {short_repr(value)} ({type(value).__name__})")
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        finite = False
    if not (finite and fits(value)):
        raise ValueError(f"{name}: expected a finite number{bounds}, got {short_repr(value)}")


def probability(name: str, value: Any) -> None:
    """A number from 0 to 1, as dropout takes it."""
    number(name, value, " from 0 to 1", lambda p: 0 <= p <= 1)


def positive(name: str, value: Any) -> None:
    """A finite number above 0."""
    number(name, value, " above 0", lambda x: x > 0)


def not_negative(name: str, value: Any) -> None:
    """A finite number of at least 0."""
    number(name, value, " of at least 0", lambda x: x >= 0)


def choice(name: str, value: Any, choices: Any, hint: str = "") -> None:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {short_repr(value)}{hint}")


def texts(name: str, values: Any) -> list[str]:
    """A list of strings, from any iterable that gives them in order, one text at a time.

    Refused are iterables that would silently give something else: one string (its characters), a mapping (its keys), a
    set (no order), a table or an array with several dimensions (its column names or rows).
    """
    if isinstance(values, str):
        got = "one string; try [text]"
    elif isinstance(values, Mapping):
        got = f"a mapping, {short_repr(values)}; try list(mapping.values()), or the list under one of its keys"
    elif isinstance(values, set | frozenset):
        got = "a set, which has no order; try sorted(texts)"
    elif (n_dims := getattr(values, "ndim", 1)) != 1:
        got = f"a {type(values).__name__} with {n_dims} dimensions; try one of its columns"
    elif isinstance(values, bytes | Tensor) or not isinstance(values, Iterable):
        got = type(values).__name__
    else:
        values = list(values)
        for i, value in enumerate(values):
            instance(f"{name}[{i}]", value, str, "a string")
        return values
    raise TypeError(f"{name}: expected a list of strings, got {got}")


def float_dtype(dtype: Any) -> None:
    """A dtype of floating-point numbers, or None."""
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype: expected a floating-point dtype such as torch.float32, got {short_repr(dtype)}")


def device(value: Any) -> torch.device:
    """A device of this machine; torch's default device for None."""
    try:
        return torch.empty(0, device=value).device
    except (TypeError, RuntimeError, AssertionError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"device: expected one of this machine's, such as 'cpu', got {short_repr(value)}") from error


# Tensors


def tensor(name: str, x: Any) -> None:
    """A torch tensor."""
    instance(name, x, Tensor, "a tensor", "; try torch.tensor(...)")


def same_dtype(name: str, x: Tensor, like: Tensor, hint: str = "") -> None:
    """The dtype of `like`, unless autocast chooses one."""
    if x.dtype != like.dtype and not torch.is_autocast_enabled(x.device.type):
        hint = hint or f"; try .to({like.dtype})"
        raise TypeError(f"{name}: expected {like.dtype} like the weights, got {x.dtype}{hint}")


def vectors(
    x: Any, width: int | None = None, *, name: str = "x", like: Tensor | None = None, batched: bool = False
) -> None:
    """Floating-point vectors (…, T, width), `batched` as (B, T, width), in dtype and width like the weights `like`."""
    tensor(name, x)
    if not x.is_floating_point():
        hint = "token ids go through an embedding first"
        raise TypeError(f"{name}: expected floating-point vectors, got {x.dtype}; {hint}")
    width = like.shape[-1] if width is None and like is not None else width
    wrong_shape = x.ndim != 3 if batched else x.ndim < 2
    if wrong_shape or (x.shape[-1] == 0 if width is None else x.shape[-1] != width):
        wanted = f"({'B' if batched else '…'}, T, {'D ≥ 1' if width is None else width})"
        raise ValueError(f"{name}: expected vectors in shape {wanted}, got {tuple(x.shape)}")
    if like is not None:
        same_dtype(name, x, like)


def token_ids(ids: Any, vocab_size: int | None = None, *, name: str = "ids", batched: bool = False) -> None:
    """Integer ids, `batched` as (B, T); with `vocab_size`, each from 0 to below it. See `value_range`."""
    tensor(name, ids)
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name}: expected integers (torch.int64 or torch.int32), got {ids.dtype}; try .long()")
    if ids.ndim == 0 or (batched and ids.ndim != 2):
        wanted = "(B, T)" if batched else "(…, T)"
        raise ValueError(f"{name}: expected shape {wanted}, got {tuple(ids.shape)}; try {name}[None] for one sequence")
    if vocab_size is None or (found := value_range(ids)) is None:
        return
    low, high = found
    if low < 0 or high >= vocab_size:
        known = f"vocab_size={vocab_size} takes ids 0 … {vocab_size - 1}"
        raise IndexError(f"token id {low if low < 0 else high} is not in the table: {known}")


def value_range(x: Tensor) -> tuple[int, int] | None:
    """The smallest and the largest of some integers, or None where there are none, or none that can be read.

    The values cannot be read while torch compiles or captures a CUDA graph, nor from meta, fake and vmapped tensors.
    Reading them waits for the device once.
    """
    capturing = x.is_cuda and torch.cuda.is_current_stream_capturing()
    if x.numel() == 0 or torch.compiler.is_compiling() or capturing or x.is_meta:
        return None
    try:
        low, high = torch.stack([x.min(), x.max()]).tolist()
    except RuntimeError:  # what vmapped and fake tensors say
        return None
    return low, high


def lengths(x: Any, max_len: Any) -> int:
    """Lengths (B,) from 0 to max_len, or to the longest of them; returns that bound. See `value_range`."""
    token_ids(x, name="lengths")
    if x.ndim != 1:
        raise ValueError(f"lengths: expected shape (B,), got {tuple(x.shape)}")
    if max_len is None:
        bound = max(x.max().item(), 0) if x.numel() else 0
    else:
        bound = integer("max_len", max_len, least=0)
    low, high = value_range(x) or (0, bound)
    if low < 0 or high > bound:
        raise ValueError(f"lengths: expected 0 … {bound}, got {low if low < 0 else high}")
    return bound


def check_batch(name: str, x: Tensor, batch: int, length: int) -> None:
    """A tensor (B, T, …) of `batch` sequences with at least `length` tokens each."""
    if x.shape[0] != batch or x.shape[1] < length:
        raise ValueError(f"{name}: expected {batch} sequences of at least {length} tokens, got shape {tuple(x.shape)}")


def weight_of(module: Any) -> Tensor | None:
    """The weight of a linear layer, for its dtype; None where the layer has none in floating point (LoRA, int8)."""
    weight = getattr(module, "weight", None)
    return weight if isinstance(weight, Tensor) and weight.is_floating_point() else None


def is_plain(x: Tensor) -> bool:
    """Whether x is an ordinary tensor: no subclass, such as a fake one, and not inside torch.compile or torch.func."""
    if torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack() is not None:
        return False
    return type(x) in (Tensor, torch.nn.Parameter)


# Attention


def queries_and_keys(query: Any, key: Any, bias: Any = None, scale: Any = None) -> None:
    """Queries and keys of one width, dtype and batch; a bias in that dtype that broadcasts to the scores; a scale."""
    vectors(query, name="query")
    vectors(key, query.shape[-1], name="key", like=query)
    batch = same_batch(query=query, key=key)
    if scale is not None:
        number("scale", scale)
    if bias is not None:
        tensor("bias", bias)
        same_dtype("bias", bias, query, "; a boolean mask goes in as `mask`" if bias.dtype == torch.bool else "")
        broadcastable("bias", bias, (*batch, query.shape[-2], key.shape[-2]))


def scores(x: Any, mask: Any = None) -> None:
    """Floating-point scores (…, k), and a boolean mask that broadcasts to them."""
    tensor("scores", x)
    if not x.is_floating_point() or x.ndim == 0:
        raise TypeError(f"scores: expected floating-point numbers (…, k), got {x.dtype} in shape {tuple(x.shape)}")
    if mask is not None:
        boolean_mask(mask, x.shape)


def values(value: Any, weights: Tensor) -> None:
    """A value (…, k, V) for each key of the weights (…, q, k)."""
    vectors(value, name="value")
    same_dtype("value", value, weights)
    if value.shape[-2] != weights.shape[-1]:
        raise ValueError(f"value: expected as many values as keys, {weights.shape[-1]}, got {value.shape[-2]}")
    same_batch(weights=weights, value=value)


def same_batch(**tensors: Tensor) -> torch.Size:
    """The shape to which all dimensions before the last two of these tensors broadcast."""
    try:
        # not torch.broadcast_shapes, whose first call imports parts of torch for a second
        return torch.broadcast_tensors(*(x[..., :0, :0] for x in tensors.values()))[0].shape[:-2]
    except RuntimeError:
        got = ", ".join(f"{name} {tuple(x.shape)}" for name, x in tensors.items())
        raise ValueError(f"expected the same batch sizes, got {got}") from None


def broadcastable(name: str, x: Tensor, shape: Any, hint: str = "") -> None:
    """A tensor that broadcasts to `shape` without enlarging it."""
    last = shape[len(shape) - x.ndim :]
    if x.ndim > len(shape) or any(m not in (1, s) for m, s in zip(x.shape, last, strict=True)):
        got = f"{tuple(shape)}, got {tuple(x.shape)}"
        raise ValueError(f"{name} shape: expected one that broadcasts to {got}{hint}")


def boolean_mask(mask: Any, shape: Any, hint: str = "") -> None:
    """A boolean mask that broadcasts to `shape`."""
    tensor("mask", mask)
    if mask.dtype != torch.bool:
        both = "mask.bool() for a mask of 1 (may attend) and 0"
        hint_dtype = f"mask == 0 for a mask of 0 (may attend) and −inf, {both}" if mask.is_floating_point() else both
        raise TypeError(f"mask: expected dtype bool with True = may attend, got {mask.dtype}; try {hint_dtype}")
    broadcastable("mask", mask, shape, hint)


def layer_mask(mask: Any, batch: int, n_heads: int, q_len: int, k_len: int) -> None:
    """The mask of a layer: None, (query, key), or 4 dimensions, each of (B, H, query, key) as given or 1."""
    if mask is None:
        return
    tensor("mask", mask)
    if mask.ndim not in (2, 4):
        wanted = "(query, key) or (B, H, query, key)"
        hint = "for one mask per sequence, (B, query, key), try mask[:, None]"
        raise ValueError(f"mask shape: expected {wanted}, got {tuple(mask.shape)}; {hint}")
    hint = "; two dimensions are (query, key): for padding (B, T) try mask[:, None, None, :]" if mask.ndim == 2 else ""
    boolean_mask(mask, (batch, n_heads, q_len, k_len)[-mask.ndim :], hint)


def check_attention_inputs(
    query: Any, key: Any, value: Any, mask: Any, d_model: int, n_heads: int, *, like: Tensor | None
) -> None:
    """Queries (B, q, D), keys and values (B, k, D), in the dtype of the parameter `like`, and the mask of a layer."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        vectors(x, d_model, name=name, like=like, batched=True)
    if query.shape[0] != key.shape[0] or key.shape != value.shape:
        got = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        raise ValueError(f"expected the same batch size, and as many values as keys, got {got}")
    layer_mask(mask, query.shape[0], n_heads, query.shape[1], key.shape[1])
