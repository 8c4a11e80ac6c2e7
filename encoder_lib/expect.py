"""What the layers ask of their arguments, each question in one place.

Every error says what was expected, what came, and what to try. Nothing here computes anything: the model files read
the same with these calls covered by a thumb.
"""

import math
import operator

import torch
from torch import Tensor


def integer(name: str, value, *, least: int) -> int:
    """A whole number of at least `least`; bools and floats are refused with TypeError, smaller ones with ValueError."""
    if torch.compiler.is_compiling():  # a symbolic size must stay one
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r} ({type(value).__name__})") from None
    if number < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {number}")
    return number


def sizes(**values) -> None:
    """Each value is an integer of at least 1."""
    for name, value in values.items():
        integer(name, value, least=1)


def flags(**values) -> None:
    """Each value is True or False, and nothing that merely counts as one of them."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}: expected True or False, got {value!r} ({type(value).__name__})")


def number(name: str, value) -> float:
    """A finite real number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name}: expected a number, got {value!r} ({type(value).__name__})")
    if not -math.inf < value < math.inf:
        raise ValueError(f"{name}: expected a finite number, got {value}")
    return value


def probability(name: str, value) -> None:
    """A number from 0 to 1, as dropout takes it."""
    if not 0 <= number(name, value) <= 1:
        raise ValueError(f"{name}: expected a probability from 0 to 1, got {value}")


def positive(name: str, value) -> None:
    """A finite number above 0."""
    if number(name, value) <= 0:
        raise ValueError(f"{name}: expected a number above 0, got {value}")


def choice(name: str, value, choices, hint: str = "") -> None:
    """One of the named choices."""
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r}{hint}")


def even(name: str, value: int) -> None:
    """An even size: sine and cosine come in pairs."""
    if value % 2:
        raise ValueError(f"{name}: expected an even number (one sine and one cosine a pair), got {value}")


def tensor(name: str, x) -> None:
    """A torch tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: expected a tensor, got {type(x).__name__}; try torch.tensor(...)")


def vectors(x, width: int | None = None, *, name: str = "x", like: Tensor | None = None, batched: bool = False) -> None:
    """Floating-point vectors (…, T, width), `batched` as (B, T, width), in the dtype of the weights `like`."""
    tensor(name, x)
    if not x.is_floating_point():
        raise TypeError(
            f"{name}: expected floating-point vectors, got {x.dtype}; token ids go through an embedding first"
        )
    if batched and x.ndim != 3:
        raise ValueError(f"{name}: expected 3 dimensions (B, T, D), got {x.ndim} in shape {tuple(x.shape)}")
    if x.ndim < 2 or (width is not None and x.shape[-1] != width):
        wanted = "(…, T, width)" if width is None else f"(…, T, {width})"
        raise ValueError(f"{name}: expected vectors in shape {wanted}, got {tuple(x.shape)}")
    if like is not None and x.dtype != like.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(f"{name}: expected {like.dtype} like the weights, got {x.dtype}; try .to({like.dtype})")


def token_ids(ids, vocab_size: int | None = None, *, name: str = "ids") -> None:
    """Integer ids; with `vocab_size`, each of them from 0 to vocab_size − 1 (not read while torch compiles)."""
    tensor(name, ids)
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name}: expected integer token ids (torch.int64), got {ids.dtype}; try .long()")
    if ids.ndim == 0:
        raise ValueError(f"{name}: expected at least one dimension, (T,) or (B, T), got a single number; try ids[None]")
    if vocab_size is None or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    low, high = ids.min().item(), ids.max().item()
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise IndexError(
            f"token id {wrong} is not in the table: vocab_size={vocab_size} takes ids 0 … {vocab_size - 1}"
        )


def boolean_mask(mask, shape, *, name: str = "mask") -> None:
    """A boolean mask that spreads over `shape` without making it larger."""
    tensor(name, mask)
    if mask.dtype != torch.bool:
        raise TypeError(f"{name}: expected dtype bool with True = may attend, got {mask.dtype}; try mask.bool()")
    spreads = mask.ndim <= len(shape) and all(
        m in (1, s) for m, s in zip(reversed(mask.shape), reversed(shape), strict=False)
    )
    if not spreads:
        raise ValueError(f"mask shape: expected one that broadcasts to {tuple(shape)}, got {tuple(mask.shape)}")


def layer_mask(mask, batch: int, n_heads: int, q_len: int, k_len: int) -> Tensor | None:
    """The mask of a layer in 4 dimensions, each of (B, H, query, key) as given or 1; it may come as (query, key).

    A square mask over as many rows as the batch has could be (query, key) or, by mistake, (B, T): it is refused.
    """
    if mask is None:
        return None
    tensor("mask", mask)
    if mask.ndim == 2:
        boolean_mask(mask, (q_len, k_len))
        if batch > 1 and batch == mask.shape[0] == mask.shape[1]:
            raise ValueError(
                f"mask shape {tuple(mask.shape)} is ambiguous, since B = T = {batch}: expected 4 dimensions; try "
                "mask[None, None] if it is (query, key), mask[:, None, None, :] if it is (B, T) and marks padding"
            )
        return mask[None, None]  # (1, 1, q, k)
    if mask.ndim != 4:
        raise ValueError(
            f"mask shape: expected (query, key) or (B, H, query, key), got {tuple(mask.shape)}; "
            "for one mask a sequence, (B, query, key), try mask[:, None]"
        )
    boolean_mask(mask, (batch, n_heads, q_len, k_len))
    return mask


def same_length(key: Tensor, value: Tensor) -> None:
    """As many values as keys."""
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"value: expected as many values as keys, {key.shape[-2]}, got {value.shape[-2]}")
