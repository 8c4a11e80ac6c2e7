"""The inputs of plots in one form: numbers, labels, and the ends of the colour map."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.colour_maps import is_diverging


def as_array(
    values: ArrayLike, *, ndim: Sequence[int] = (2,), name: str = "values", finite: bool = False
) -> np.ndarray:
    """Return `values` (tensor or array, on any device, of any real dtype) as a new float64 array.

    Raises TypeError for values that are not real numbers; ValueError for another number of axes, an empty axis, or NaN
    or infinity if `finite` numbers are required.
    """
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = (values if values.is_complex() else values.double()).numpy()  # numpy has no bfloat16
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        kind = f"{type(values).__name__} of dtype {array.dtype}"
        raise TypeError(f"{name}: expected real numbers, got {kind}: pass a tensor or array of numbers")
    if array.ndim not in ndim:
        expected = " or ".join(map(str, ndim))
        raise ValueError(
            f"{name}: expected {expected} axes, got shape {array.shape}: pick one matrix, for example values[0]"
        )
    if 0 in array.shape:
        raise ValueError(
            f"{name}: expected at least one row and one column, got shape {array.shape}: pass at least one token"
        )
    array = np.array(array, dtype=np.float64)
    if finite and not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{name}: expected finite numbers, got {wrong} (NaN or infinity); try leaving it out")
    return array


def as_words(labels: Iterable, size: int, name: str, limit: int = style.TICK) -> list[str]:
    """Return `labels` as `size` strings of at most `limit` letters. Raises ValueError if there are more or fewer."""
    words = [style.readable(label, limit) for label in labels]
    if len(words) != size:
        raise ValueError(f"expected {size} labels for {name}, got {len(words)}: give one label for each row or column")
    return words


def as_labels(labels: Iterable | None, size: int, name: str) -> list[str] | None:
    """As `as_words`; None stays None."""
    return None if labels is None else as_words(labels, size, name)


def colour_limits(values: np.ndarray, limits: tuple[float, float] | None, cmap: str) -> tuple[float, float]:
    """Return the values at the two ends of a colour map.

    These are `limits` if given. Otherwise a diverging map is symmetric about zero, and any other map runs from the
    smallest to the largest finite value.
    """
    if limits is not None:
        low, high = limits
        return float(low), float(high)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if is_diverging(cmap):
        bound = max(-low, high) or 1.0
        return -bound, bound
    if low == high:  # a single value gets the middle of the map
        margin = max(abs(low), 1.0) / 2
        return low - margin, high + margin
    return low, high
