"""What the layers ask of their arguments, each question in one place.

Every error says what was expected, what came, and what to try. A few of these functions hand back what they checked,
in the form that the model uses.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

MOST = 100  # characters of a value in a message
SEEDS = 2**64  # how many torch tells apart


def shown(value: Any) -> str:
    """A value as it is written, cut to a hundred characters; it may be anything."""
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits, or an object that cannot say what it is
        text = f"one of {value.bit_length()} bits" if isinstance(value, int) else "one that cannot be written"
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def whole(name: str, value: Any) -> int:
    """A whole number; bools, floats and tensors get TypeError."""
    try:
        if isinstance(value, bool | np.bool_ | Tensor):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {shown(value)} ({type(value).__name__})") from None


def integer(name: str, value: Any, *, least: int) -> int:
    """A whole number of at least `least`; bools, floats and tensors get TypeError, smaller numbers ValueError."""
    if torch.compiler.is_compiling():  # a symbolic size must stay one
        return value
    number = whole(name, value)
    if number < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {shown(number)}")
    return number


def seed(value: Any, *, seeds: int = SEEDS) -> int:
    """A seed for random numbers: an integer from 0 to below `seeds`."""
    number = integer("seed", value, least=0)
    if number >= seeds:
        raise ValueError(f"seed: expected an integer below {seeds}, got {shown(number)}; try 0")
    return number


def index(name: str, value: Any, length: int, what: str, *, from_end: bool = False) -> int:
    """The place of one of `length` things, counted from 0; with `from_end` −1 is the last, as lists have it."""
    number = whole(name, value)
    if not (-length if from_end else 0) <= number < length:
        raise IndexError(f"{name}: expected {what} from 0 to {length - 1}, got {shown(number)}")
    return number


def kind(name: str, value: Any, wanted: Any, words: str, hint: str = "") -> None:
    """A value of a type, or of one of several, told in words."""
    if not isinstance(value, wanted):
        raise TypeError(f"{name}: expected {words}, got {shown(value)} ({type(value).__name__}){hint}")


def text(name: str, value: Any) -> None:
    """A text."""
    kind(name, value, str, "a text")


def texts(name: str, values: Any) -> list[str]:
    """Several texts; one alone is refused, since its letters would be taken for texts."""
    if isinstance(values, str):
        raise TypeError(f"{name}: expected a list of texts, got one; try [text]")
    if isinstance(values, Tensor | bytes):
        raise TypeError(f"{name}: expected a list of texts, got {type(values).__name__}")
    kind(name, values, Iterable, "a list of texts")
    values = list(values)
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name}: for each text expected a str, got {type(value).__name__}")
    return values


def function(name: str, value: Any, hint: str = "") -> None:
    """Something that can be called."""
    kind(name, value, Callable, "a function", hint)


def path(value: Any) -> Path:
    """The path of a file, as text or as a Path."""
    kind("path", value, str | Path, "a path", "; try 'model.safetensors'")
    if "\0" in str(value):
        raise ValueError(
            f"path: expected the name of a file, got {shown(str(value))}, which has a zero byte; leave it out"
        )
    return Path(value)


def module(name: str, value: Any) -> None:
    """A torch module."""
    if not isinstance(value, nn.Module):
        raise TypeError(f"{name}: expected a torch module, got {shown(value)} ({type(value).__name__})")


def mapping(name: str, value: Any, what: str, example: str) -> None:
    """Names with what belongs to them, `what` in words, and at least one."""
    kind(name, value, Mapping, "a dictionary", f"; try {example}")
    if not value:
        raise ValueError(f"{name}: expected at least one {what}, got none; try {example}")


def sizes(**values: Any) -> None:
    """Each value is an integer of at least 1."""
    for name, value in values.items():
        integer(name, value, least=1)


def counts(**values: Any) -> None:
    """Each value is an integer of at least 0."""
    for name, value in values.items():
        integer(name, value, least=0)


def flags(**values: Any) -> None:
    """Each value is True or False, and nothing that merely counts as one of them."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}: expected True or False, got {shown(value)} ({type(value).__name__})")


def number(name: str, value: Any) -> float:
    """A finite real number."""
    if torch.compiler.is_compiling():
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number, got {shown(value)} ({type(value).__name__})")
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        finite = False
    if not finite:
        raise ValueError(f"{name}: expected a finite number, got {shown(value)}")
    return float(value)


def probability(name: str, value: Any) -> None:
    """A number from 0 to 1, as dropout takes it."""
    if not 0 <= number(name, value) <= 1:
        raise ValueError(f"{name}: expected a probability from 0 to 1, got {value}")


def positive(name: str, value: Any) -> None:
    """A finite number above 0."""
    if number(name, value) <= 0:
        raise ValueError(f"{name}: expected a number above 0, got {value}")


def not_negative(name: str, value: Any) -> None:
    """A finite number of at least 0."""
    if number(name, value) < 0:
        raise ValueError(f"{name}: expected a number of at least 0, got {value}")


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
        raise TypeError(f"{problem} ({type(value).__name__})") from error
    except (RuntimeError, AssertionError) as error:
        raise ValueError(problem) from error


def tensor(name: str, x: Any) -> None:
    """A torch tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: expected a tensor, got {type(x).__name__}; try torch.tensor(...)")


def matrix(name: str, x: Any, rows: int | None = None) -> None:
    """Floating-point numbers (N, width), and N as told."""
    tensor(name, x)
    if not x.is_floating_point():
        raise TypeError(f"{name}: expected floating-point numbers, got {x.dtype}; try .float()")
    if x.ndim != 2 or x.shape[0] != (len(x) if rows is None else rows):
        raise ValueError(f"{name}: expected shape ({'N' if rows is None else rows}, width), got {tuple(x.shape)}")


def booleans(name: str, x: Any, length: int) -> None:
    """Booleans (N,)."""
    tensor(name, x)
    if x.dtype != torch.bool:
        raise TypeError(f"{name}: expected booleans, got {x.dtype}; try .bool()")
    if x.shape != (length,):
        raise ValueError(f"{name}: expected shape ({length},), got {tuple(x.shape)}")


def vectors(
    x: Any, width: int | None = None, *, name: str = "x", like: Tensor | None = None, batched: bool = False
) -> None:
    """Floating-point vectors (…, T, width), `batched` as (B, T, width), in the dtype of the weights `like`."""
    tensor(name, x)
    if not x.is_floating_point():
        raise TypeError(
            f"{name}: expected floating-point vectors, got {x.dtype}; token ids go through an embedding first"
        )
    if batched and x.ndim != 3:
        raise ValueError(f"{name}: expected 3 dimensions (B, T, D), got {x.ndim} in shape {tuple(x.shape)}")
    if x.ndim < 2 or (x.shape[-1] == 0 if width is None else x.shape[-1] != width):
        wanted = "(…, T, width) with a width of at least 1" if width is None else f"(…, T, {width})"
        raise ValueError(f"{name}: expected vectors in shape {wanted}, got {tuple(x.shape)}")
    if like is not None and x.dtype != like.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(f"{name}: expected {like.dtype} like the weights, got {x.dtype}; try .to({like.dtype})")


def token_ids(ids: Any, vocab_size: int | None = None, *, name: str = "ids", batched: bool = False) -> None:
    """Integer ids, `batched` as (B, T); with `vocab_size`, each below it and from 0 (not read while torch compiles)."""
    tensor(name, ids)
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name}: expected integers (torch.int64 or torch.int32), got {ids.dtype}; try .long()")
    if ids.ndim == 0:
        raise ValueError(f"{name}: expected at least one dimension, got a single number; try {name}[None]")
    if batched and ids.ndim != 2:
        hint = f"; try {name}[None] for one sequence" if ids.ndim == 1 else ""
        raise ValueError(f"{name}: expected shape (B, T), got {tuple(ids.shape)}{hint}")
    if vocab_size is None or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    low, high = ids.min().item(), ids.max().item()
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise IndexError(
            f"token id {wrong} is not in the table: vocab_size={vocab_size} takes ids 0 … {vocab_size - 1}"
        )


def lengths(x: Any, max_len: Any) -> int:
    """Lengths (B,) from 0 to max_len, or to the longest of them; returns that bound (not read while torch compiles)."""
    token_ids(x, name="lengths")
    if x.ndim != 1:
        raise ValueError(f"lengths: expected shape (B,), got {tuple(x.shape)}")
    bound = None if max_len is None else integer("max_len", max_len, least=0)
    if torch.compiler.is_compiling() and bound is not None:
        return bound
    low, high = (x.min().item(), x.max().item()) if x.numel() else (0, 0)
    bound = max(high, 0) if bound is None else bound
    if low < 0 or high > bound:
        raise ValueError(f"lengths: expected 0 … {bound}, got {low if low < 0 else high}")
    return bound


def _spreads(x: Tensor, shape: Any) -> bool:
    """Whether x broadcasts to `shape` without making it larger."""
    last = shape[len(shape) - x.ndim :]
    return x.ndim <= len(shape) and all(m in (1, s) for m, s in zip(x.shape, last, strict=True))


def scores(x: Any, mask: Any = None) -> None:
    """Floating-point scores (…, k), and a boolean mask that spreads over them."""
    tensor("scores", x)
    if not x.is_floating_point():
        raise TypeError(f"scores: expected floating-point numbers, got {x.dtype}; try .float()")
    if x.ndim == 0:
        raise ValueError("scores: expected shape (…, k), got a single number; try scores[None]")
    if mask is not None:
        boolean_mask(mask, x.shape)


def heads(d_model: int, n_heads: int) -> None:
    """Sizes of at least 1, and a width that the heads can share."""
    sizes(d_model=d_model, n_heads=n_heads)
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model}: expected a size divisible by n_heads={n_heads}")


def queries_and_keys(query: Any, key: Any, bias: Any = None, scale: Any = None) -> tuple[int, ...]:
    """Queries and keys of one width and batch, a bias for their scores, a finite scale. Returns the scores' shape."""
    vectors(query, name="query")
    vectors(key, query.shape[-1], name="key", like=query)
    scores = (*same_batch(query=query.shape, key=key.shape), query.shape[-2], key.shape[-2])  # (…, q, k)
    if scale is not None:
        number("scale", scale)
    if bias is not None:
        score_bias(bias, query, scores)
    return scores


def queries_keys_values(query: Any, key: Any, value: Any, bias: Any = None, scale: Any = None) -> None:
    """As `queries_and_keys`, and a value for each key."""
    scores = queries_and_keys(query, key, bias, scale)
    vectors(value, name="value", like=query)
    same_length(key, value)
    same_batch(weights=scores, value=value.shape)


def positioned(x: Any, width: int, offset: Any, *, like: Tensor | None = None, max_len: int | None = None) -> None:
    """Vectors (…, T, width) whose first stands at position `offset`, and whose last is below `max_len`."""
    vectors(x, width, like=like)
    end = integer("offset", offset, least=0) + x.shape[-2]
    if max_len is not None and end > max_len:
        raise ValueError(f"expected at most max_len={max_len} positions, got {end}; try a larger max_len")


def score_bias(bias: Any, like: Tensor, shape: Any) -> None:
    """A bias that can be added to scores of a shape: the dtype of the queries `like`, and a shape that broadcasts."""
    tensor("bias", bias)
    if bias.dtype != like.dtype and not torch.is_autocast_enabled(like.device.type):
        hint = "; a boolean mask goes in as `mask`" if bias.dtype == torch.bool else f"; try .to({like.dtype})"
        raise TypeError(f"bias: expected {like.dtype} like the scores, got {bias.dtype}{hint}")
    if not _spreads(bias, shape):
        raise ValueError(f"bias shape: expected one that broadcasts to {tuple(shape)}, got {tuple(bias.shape)}")


def boolean_mask(mask: Any, shape: Any) -> None:
    """A boolean mask that spreads over `shape` without making it larger."""
    tensor("mask", mask)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: expected dtype bool with True = may attend, got {mask.dtype}; try mask.bool()")
    if not _spreads(mask, shape):
        raise ValueError(f"mask shape: expected one that broadcasts to {tuple(shape)}, got {tuple(mask.shape)}")


def layer_mask(mask: Any, batch: int, n_heads: int, q_len: int, k_len: int) -> None:
    """The mask of a layer: None, (query, key), or 4 dimensions, each of (B, H, query, key) as given or 1.

    With as many queries as sequences, a mask of that many rows could be (query, key) or, by mistake, (B, T): refused.
    """
    if mask is None:
        return
    tensor("mask", mask)
    if mask.ndim == 2:
        hint = "try mask[None, None] if it is (query, key), mask[:, None, None, :] if it is (B, T) and marks padding"
        if mask.dtype == torch.bool and mask.shape == (batch, k_len) and batch not in (1, q_len):
            raise ValueError(f"mask shape: expected (query, key) = {(q_len, k_len)}, got {tuple(mask.shape)}; {hint}")
        boolean_mask(mask, (q_len, k_len))
        if batch > 1 and batch == mask.shape[0]:
            raise ValueError(
                f"mask shape {tuple(mask.shape)} is ambiguous with {batch} sequences and {q_len} queries: "
                f"expected 4 dimensions; {hint}"
            )
    elif mask.ndim != 4:
        raise ValueError(
            f"mask shape: expected (query, key) or (B, H, query, key), got {tuple(mask.shape)}; "
            "for one mask a sequence, (B, query, key), try mask[:, None]"
        )
    else:
        boolean_mask(mask, (batch, n_heads, q_len, k_len))


def ids_and_mask(ids: Any, mask: Any, n_heads: int) -> None:
    """Ids (B, T), and None or the mask of a layer for them."""
    token_ids(ids, batched=True)
    batch, length = ids.shape
    layer_mask(mask, batch, n_heads, length, length)


def untraced(record: Any) -> None:
    """No trace reads along: a packed strip goes through attention in pieces, and it would keep the last."""
    if record is not None:
        raise RuntimeError(
            "trace: expected a padded batch (x, mask), got a packed strip; unpack it, or leave the trace"
        )


def batch_of(name: str, x: Tensor, batch: int, length: int) -> None:
    """A tensor (B, T, …) of so many sequences, each of at least `length` tokens."""
    if x.shape[0] != batch or x.shape[1] < length:
        raise ValueError(f"{name}: expected {batch} sequences of at least {length} tokens, got shape {tuple(x.shape)}")


def packed_strip(x: Tensor, tokens: int) -> None:
    """A strip (1, N, …) of N tokens."""
    if x.shape[:2] != (1, tokens):
        raise ValueError(
            f"expected a packed strip of {tokens} tokens, (1, {tokens}, …), got {tuple(x.shape)}; make it with pack(x)"
        )


def real_numbers(name: str, values: Any) -> Tensor:
    """Real numbers, in a tensor, an array or lists of them, as float64 on the CPU."""
    try:
        x = values.detach().cpu() if isinstance(values, Tensor) else torch.as_tensor(values, dtype=torch.float64)
        if x.is_complex():
            raise TypeError(f"they are {x.dtype}")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        got = f"{shown(values)} ({type(values).__name__})"
        raise TypeError(f"{name}: expected real numbers, got {got}; try a list of numbers") from error
    return x.double()


def same_batch(**shapes: Any) -> torch.Size:
    """The batch that the sizes before the last two broadcast to, of tensors with these shapes."""
    try:
        return torch.broadcast_shapes(*(shape[:-2] for shape in shapes.values()))
    except RuntimeError:
        got = ", ".join(f"{name} {tuple(shape)}" for name, shape in shapes.items())
        raise ValueError(f"expected the same batch sizes, got {got}") from None


def attended(query: Any, key: Any, value: Any, d_model: int, *, like: Tensor) -> None:
    """Queries (B, q, D), and keys and values (B, k, D), of one batch and in the dtype of the weights `like`."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        vectors(x, d_model, name=name, like=like, batched=True)
    if not query.shape[0] == key.shape[0] == value.shape[0]:
        shapes = tuple(query.shape), tuple(key.shape), tuple(value.shape)
        raise ValueError("expected the same batch size in query, key and value, got {}, {} and {}".format(*shapes))
    same_length(key, value)


def same_length(key: Tensor, value: Tensor) -> None:
    """As many values as keys."""
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"value: expected as many values as keys, {key.shape[-2]}, got {value.shape[-2]}")
