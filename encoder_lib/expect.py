"""What the layers ask of their arguments, each question in one place.

Every error says what was expected, what came, and what to try. A few of these functions hand back what they checked,
in the form that the model uses.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

MOST = 100  # characters of a value in a message
SEEDS = 2**64  # how many torch tells apart


def shown(value: Any) -> str:
    """A value as it is written, cut to a hundred characters; it may be anything."""
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits, or an object that cannot say what it is
        text = f"one of {value.bit_length()} bits" if isinstance(value, int) else "one that cannot be written"
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def integer(name: str, value: Any, *, least: int) -> int:
    """A whole number of at least `least`; bools, floats and tensors get TypeError, smaller numbers ValueError."""
    if torch.compiler.is_compiling():  # a symbolic size must stay one
        return value
    try:
        if isinstance(value, bool | np.bool_ | Tensor):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {shown(value)} ({type(value).__name__})") from None
    if number < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {shown(number)}")
    return number


def seed(value: Any, *, seeds: int = SEEDS) -> int:
    """A seed for random numbers: an integer from 0 to below `seeds`."""
    number = integer("seed", value, least=0)
    if number >= seeds:
        raise ValueError(f"seed: expected an integer below {seeds}, got {shown(number)}; try 0")
    return number


def kind(name: str, value: Any, wanted: Any, words: str, hint: str = "") -> None:
    """A value of a type, or of one of several, told in words."""
    if not isinstance(value, wanted):
        raise TypeError(f"{name}: expected {words}, got {shown(value)} ({type(value).__name__}){hint}")


def texts(name: str, values: Any) -> list[str]:
    """A list of strings, from any iterable that gives them in order, one text at a time.

    Refused are iterables that would give something else without a word: one string (its characters), a mapping (its
    keys), a set (no order), a table or an array with several dimensions (its column names or rows).
    """
    problem = f"{name}: expected a list of strings, got"
    if isinstance(values, str):
        raise TypeError(f"{problem} one string; try [text]")
    if isinstance(values, Mapping):
        hint = "try list(mapping.values()) if each value is a text, or the list under one of its keys"
        raise TypeError(f"{problem} a mapping, {shown(values)}; {hint}")
    if isinstance(values, set | frozenset):
        raise TypeError(f"{problem} a set, which has no order; try sorted(texts)")
    if (n_dims := getattr(values, "ndim", 1)) != 1:
        raise TypeError(f"{problem} a {type(values).__name__} with {n_dims} dimensions; try one of its columns")
    if isinstance(values, bytes | Tensor) or not isinstance(values, Iterable):
        raise TypeError(f"{problem} {type(values).__name__}")
    values = list(values)
    for i, value in enumerate(values):
        kind(f"{name}[{i}]", value, str, "a string")
    return values


def sizes(**values: Any) -> None:
    """Each value is an integer of at least 1."""
    for name, value in values.items():
        integer(name, value, least=1)


def flags(**values: Any) -> None:
    """Each value is True or False, and nothing that merely counts as one of them."""
    for name, value in values.items():
        kind(name, value, bool, "True or False")


def number(name: str, value: Any, words: str = "a finite number", fits: Callable[[Any], bool] = math.isfinite) -> None:
    """A finite real number that `fits`, told in words."""
    if torch.compiler.is_compiling():
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number, got {shown(value)} ({type(value).__name__})")
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        finite = False
    if not (finite and fits(value)):
        raise ValueError(f"{name}: expected {words}, got {shown(value)}")


def probability(name: str, value: Any) -> None:
    """A number from 0 to 1, as dropout takes it."""
    number(name, value, "a probability from 0 to 1", lambda p: 0 <= p <= 1)


def positive(name: str, value: Any) -> None:
    """A finite number above 0."""
    number(name, value, "a number above 0", lambda x: x > 0)


def not_negative(name: str, value: Any) -> None:
    """A finite number of at least 0."""
    number(name, value, "a number of at least 0", lambda x: x >= 0)


def choice(name: str, value: Any, choices: Any, hint: str = "") -> None:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {shown(value)}{hint}")


def even(name: str, value: int) -> None:
    """An even size of at least 2: sine and cosine come in pairs."""
    if integer(name, value, least=1) % 2:
        raise ValueError(f"{name}: expected an even number (one sine and one cosine a pair), got {value}")


def float_dtype(dtype: Any) -> None:
    """A dtype of floating-point numbers, or None."""
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype: expected a floating-point dtype such as torch.float32, got {shown(dtype)}")


def device(value: Any) -> torch.device:
    """A device that this machine has; torch's default one for None."""
    problem = f"device: expected one that this machine has, such as 'cpu', got {shown(value)}"
    try:
        return torch.empty(0, device=value).device
    except TypeError as error:
        raise TypeError(problem) from error
    except (RuntimeError, AssertionError) as error:
        raise ValueError(problem) from error


def tensor(name: str, x: Any) -> None:
    """A torch tensor."""
    kind(name, x, Tensor, "a tensor", "; try torch.tensor(...)")


def vectors(
    x: Any, width: int | None = None, *, name: str = "x", like: Tensor | None = None, batched: bool = False
) -> None:
    """Floating-point vectors (…, T, width), `batched` as (B, T, width), in dtype and width like the weights `like`."""
    tensor(name, x)
    if not x.is_floating_point():
        hint = "token ids go through an embedding first"
        raise TypeError(f"{name}: expected floating-point vectors, got {x.dtype}; {hint}")
    if batched and x.ndim != 3:
        raise ValueError(f"{name}: expected 3 dimensions (B, T, D), got {x.ndim} in shape {tuple(x.shape)}")
    width = like.shape[-1] if width is None and like is not None else width
    if x.ndim < 2 or (x.shape[-1] == 0 if width is None else x.shape[-1] != width):
        wanted = "(…, T, width) with a width of at least 1" if width is None else f"(…, T, {width})"
        raise ValueError(f"{name}: expected vectors in shape {wanted}, got {tuple(x.shape)}")
    if like is not None:
        same_dtype(name, x, like)


def token_ids(ids: Any, vocab_size: int | None = None, *, name: str = "ids", batched: bool = False) -> None:
    """Integer ids, `batched` as (B, T); with `vocab_size`, each below it and from 0 (not read while torch compiles)."""
    tensor(name, ids)
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name}: expected integers (torch.int64 or torch.int32), got {ids.dtype}; try .long()")
    if ids.ndim == 0 or (batched and ids.ndim != 2):
        wanted = "(B, T)" if batched else "(…, T)"
        raise ValueError(f"{name}: expected shape {wanted}, got {tuple(ids.shape)}; try {name}[None] for one sequence")
    if vocab_size is None or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    low, high = ids.min().item(), ids.max().item()
    if low < 0 or high >= vocab_size:
        wrong, known = low if low < 0 else high, f"vocab_size={vocab_size} takes ids 0 … {vocab_size - 1}"
        raise IndexError(f"token id {wrong} is not in the table: {known}")


def lengths(x: Any, max_len: Any) -> int:
    """Lengths (B,) from 0 to max_len, or to the longest of them; returns that bound (not read while torch compiles)."""
    token_ids(x, name="lengths")
    if x.ndim != 1:
        raise ValueError(f"lengths: expected shape (B,), got {tuple(x.shape)}")
    if max_len is not None and torch.compiler.is_compiling():
        return max_len
    low, high = (x.min().item(), x.max().item()) if x.numel() else (0, 0)
    bound = max(high, 0) if max_len is None else integer("max_len", max_len, least=0)
    if low < 0 or high > bound:
        raise ValueError(f"lengths: expected 0 … {bound}, got {low if low < 0 else high}")
    return bound


def spreads(name: str, x: Tensor, shape: Any, hint: str = "") -> None:
    """A tensor that broadcasts to `shape` without making it larger."""
    last = shape[len(shape) - x.ndim :]
    if x.ndim > len(shape) or any(m not in (1, s) for m, s in zip(x.shape, last, strict=True)):
        got = f"{tuple(shape)}, got {tuple(x.shape)}"
        raise ValueError(f"{name} shape: expected one that broadcasts to {got}{hint}")


def scores(x: Any, mask: Any = None) -> None:
    """Floating-point scores (…, k), and a boolean mask that spreads over them."""
    tensor("scores", x)
    if not x.is_floating_point() or x.ndim == 0:
        raise TypeError(f"scores: expected floating-point numbers (…, k), got {x.dtype} in shape {tuple(x.shape)}")
    if mask is not None:
        boolean_mask(mask, x.shape)


def heads(d_model: int, n_heads: int) -> None:
    """Sizes of at least 1, and a width that the heads can share."""
    sizes(d_model=d_model, n_heads=n_heads)
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model}: expected a size divisible by n_heads={n_heads}")


def queries_and_keys(query: Any, key: Any, bias: Any = None, scale: Any = None) -> None:
    """Queries and keys of one width, dtype and batch; a bias in that dtype that spreads over their scores; a scale."""
    vectors(query, name="query")
    vectors(key, query.shape[-1], name="key", like=query)
    batch = same_batch(query=query, key=key)
    if scale is not None:
        number("scale", scale)
    if bias is not None:
        tensor("bias", bias)
        same_dtype("bias", bias, query, "; a boolean mask goes in as `mask`" if bias.dtype == torch.bool else "")
        spreads("bias", bias, (*batch, query.shape[-2], key.shape[-2]))


def values(value: Any, weights: Tensor) -> None:
    """A value (…, k, V) for each key of the weights (…, q, k)."""
    vectors(value, name="value")
    same_dtype("value", value, weights)
    if value.shape[-2] != weights.shape[-1]:
        raise ValueError(f"value: expected as many values as keys, {weights.shape[-1]}, got {value.shape[-2]}")
    same_batch(weights=weights, value=value)


def positioned(x: Any, *, like: Tensor) -> None:
    """Vectors (…, T, width), at most as many as the table `like` (max_len, width) has rows."""
    vectors(x, like=like)
    if x.shape[-2] > len(like):
        raise ValueError(f"expected at most max_len={len(like)} positions, got {x.shape[-2]}; try a larger max_len")


def same_dtype(name: str, x: Tensor, like: Tensor, hint: str = "") -> None:
    """The dtype of `like`, unless torch is about to choose one by itself."""
    if x.dtype != like.dtype and not torch.is_autocast_enabled(x.device.type):
        hint = hint or f"; try .to({like.dtype})"
        raise TypeError(f"{name}: expected {like.dtype} like the weights, got {x.dtype}{hint}")


def boolean_mask(mask: Any, shape: Any, hint: str = "") -> None:
    """A boolean mask that spreads over `shape`."""
    tensor("mask", mask)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: expected dtype bool with True = may attend, got {mask.dtype}; try mask.bool()")
    spreads("mask", mask, shape, hint)


def layer_mask(mask: Any, batch: int, n_heads: int, q_len: int, k_len: int) -> None:
    """The mask of a layer: None, (query, key), or 4 dimensions, each of (B, H, query, key) as given or 1.

    With as many queries as sequences, a mask of that many rows could be (query, key) or, by mistake, (B, T): refused.
    """
    if mask is None:
        return
    tensor("mask", mask)
    if mask.ndim not in (2, 4):
        wanted = "(query, key) or (B, H, query, key)"
        hint = "for one mask a sequence, (B, query, key), try mask[:, None]"
        raise ValueError(f"mask shape: expected {wanted}, got {tuple(mask.shape)}; {hint}")
    hint = "; try mask[None, None] if it is (query, key), mask[:, None, None, :] if it is (B, T) and marks padding"
    boolean_mask(mask, (batch, n_heads, q_len, k_len)[-mask.ndim :], hint if mask.ndim == 2 else "")
    if mask.ndim == 2 and batch > 1 and batch == mask.shape[0]:
        also = f"is ambiguous with {batch} sequences and {q_len} queries: expected 4 dimensions"
        raise ValueError(f"mask shape {tuple(mask.shape)} {also}{hint}")


def ids_and_mask(ids: Any, mask: Any, n_heads: int) -> None:
    """Ids (B, T), and None or the mask of a layer for them."""
    token_ids(ids, batched=True)
    layer_mask(mask, ids.shape[0], n_heads, ids.shape[1], ids.shape[1])


def batch_of(name: str, x: Tensor, batch: int, length: int) -> None:
    """A tensor (B, T, …) of so many sequences, each of at least `length` tokens."""
    if x.shape[0] != batch or x.shape[1] < length:
        raise ValueError(f"{name}: expected {batch} sequences of at least {length} tokens, got shape {tuple(x.shape)}")


def same_batch(**tensors: Tensor) -> torch.Size:
    """The batch that the sizes before the last two of these tensors broadcast to."""
    try:
        # not torch.broadcast_shapes, which loads a second's worth of torch at its first call
        return torch.broadcast_tensors(*(x[..., :0, :0] for x in tensors.values()))[0].shape[:-2]
    except RuntimeError:
        got = ", ".join(f"{name} {tuple(x.shape)}" for name, x in tensors.items())
        raise ValueError(f"expected the same batch sizes, got {got}") from None


def attended(query: Any, key: Any, value: Any, mask: Any, n_heads: int, *, like: Tensor) -> None:
    """Queries (B, q, D), keys and values (B, k, D), in width and dtype of the weights `like`, and a layer's mask."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        vectors(x, name=name, like=like, batched=True)
    if query.shape[0] != key.shape[0] or key.shape != value.shape:
        got = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        raise ValueError(f"expected the same batch size, and as many values as keys, got {got}")
    layer_mask(mask, query.shape[0], n_heads, query.shape[1], key.shape[1])
