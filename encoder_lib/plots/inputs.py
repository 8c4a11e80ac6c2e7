"""What came to be drawn, checked: numbers, words, limits and names of colour maps."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

import matplotlib as mpl
import numpy as np
import torch
from numpy.typing import ArrayLike

from encoder_lib import expect
from encoder_lib.plots.style import TICK, readable

DIVERGING = frozenset({"BrBG", "PRGn", "PiYG", "PuOr", "RdBu", "RdGy", "bwr", "coolwarm", "icefire", "seismic", "vlag"})


def as_array(
    values: ArrayLike, *, ndim: Sequence[int] = (2,), name: str = "values", finite: bool = False
) -> np.ndarray:
    """Return `values` (tensor or array, on any device, of any real dtype) as a new float64 array.

    Raises TypeError for values that are not real numbers, ValueError for another number of axes, rows of different
    lengths, an empty axis, or NaN and infinity where only `finite` numbers can be drawn.
    """
    array = numpy_array(name, values)
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


def numpy_array(name: str, values: ArrayLike) -> np.ndarray:
    """Whatever came as an array, of whatever dtype."""
    try:
        if isinstance(values, torch.Tensor):
            values = values.detach().cpu()
            values = (values if values.is_complex() else values.double()).numpy()  # numpy has no bfloat16
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: expected rows of one length, got {expect.shown(values)}") from error
    except (TypeError, NotImplementedError) as error:  # a tensor without numbers, or a sparse one
        raise TypeError(f"{name}: expected real numbers, got {type(values).__name__}: {error}") from error


def finite_numbers(name: str, numbers: Mapping[str, float]) -> list[float]:
    """Finite numbers, each with a name."""
    for key, value in numbers.items():
        if isinstance(value, str | bytes) or (not np.isscalar(value) and getattr(value, "ndim", None) != 0):
            raise TypeError(
                f"{name}: {key}: expected a finite number, got {expect.shown(value)} ({type(value).__name__})"
            )
        if not isfinite(value):
            raise ValueError(f"{name}: {key}: expected a finite number, got {value}; try leaving it out")
    return [float(value) if isinstance(value, torch.Tensor) else value for value in numbers.values()]


def as_labels(labels: Iterable | None, size: int, axis: str) -> list[str] | None:
    """Return `labels` as `size` strings fit to draw; None stays None.

    Raises TypeError for what are no labels, ValueError when the number differs.
    """
    if labels is None:
        return None
    expect.kind(axis, labels, Iterable, f"{size} labels")
    return _as_many(labels, size, axis)


def _as_many(labels: Iterable, size: int, axis: str) -> list[str]:
    names = [readable(label, TICK) for label in labels]
    if len(names) != size:
        raise ValueError(f"expected {size} labels for {axis}, got {len(names)}: give one label for each row or column")
    return names


def as_words(name: str, words: Iterable, size: int) -> list[str]:
    """As `as_labels`, where none is not an answer."""
    expect.kind(name, words, Iterable, f"{size} words")
    return _as_many(words, size, name)


def as_titles(titles: Sequence[str], count: int) -> list[str]:
    """So many titles."""
    expect.kind("titles", titles, tuple | list, f"{count} titles")
    if len(titles) != count:
        raise ValueError(f"titles: expected {count}, got {len(titles)}: {expect.shown(titles)}")
    return list(titles)


def colour_limits(values: np.ndarray, limits: tuple[float, float] | None, cmap: str) -> tuple[float, float]:
    """Return the values that the two ends of the colour map stand for.

    `limits` win when given. Otherwise a diverging map runs symmetrically about zero and any other map from the smallest
    to the largest finite value. Raises TypeError for limits that are no two numbers, ValueError for an unknown colour
    map or given limits that are not finite and increasing.
    """
    colour_map(cmap)
    if limits is not None:
        return two_ends(limits)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if cmap.removesuffix("_r") in DIVERGING:
        bound = max(-low, high) or 1.0
        return -bound, bound
    if low == high:  # one value everywhere: it takes the middle of the map
        margin = max(abs(low), 1.0) / 2
        return low - margin, high + margin
    return low, high


def colour_map(cmap: str) -> mpl.colors.Colormap:
    """Return matplotlib's colour map of that name. Raises ValueError for a name that is none."""
    if not isinstance(cmap, str) or cmap not in mpl.colormaps:
        name = expect.shown(cmap)
        raise ValueError(f"cmap: expected the name of a matplotlib colour map, got {name}: try 'viridis' or 'coolwarm'")
    return mpl.colormaps[cmap]


def two_ends(limits: Iterable[float]) -> tuple[float, float]:
    """Two finite numbers, the second one larger."""
    if isinstance(limits, str | Mapping) or not isinstance(limits, Iterable):
        raise TypeError(
            f"expected limits (low, high) with low < high, got {expect.shown(limits)} ({type(limits).__name__})"
        )
    ends = list(limits)
    wrong = next((end for end in ends if isinstance(end, str | bytes | bool | None)), ...)
    if wrong is not ...:
        raise TypeError(f"expected limits (low, high), two numbers, got {expect.shown(wrong)} among them")
    if len(ends) != 2 or not all(map(isfinite, ends)) or not ends[0] < ends[1]:
        raise ValueError(f"expected limits (low, high) with low < high, got {limits}: leave them out to fit the data")
    return float(ends[0]), float(ends[1])
