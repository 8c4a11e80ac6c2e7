"""What came to be drawn, brought into one form, whatever it was."""

import numpy as np
import pytest
import torch

from encoder_lib.course.kit.plots.inputs import as_array, as_labels, as_words, colour_limits


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2]],
        np.array([[1, 2]], dtype=np.int8),
        torch.tensor([[1.0, 2.0]], dtype=torch.bfloat16, requires_grad=True),
        torch.tensor([[1, 2]]),
    ],
    ids=["lists", "array", "bfloat16", "integers"],
)
def test_numbers_become_a_new_float64_array(values):
    array = as_array(values)
    assert array.dtype == np.float64 and array.tolist() == [[1, 2]]
    array[:] = 7
    assert as_array(values).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("values", "options", "error", "words"),
    [
        ([1, 2], {}, ValueError, r"values: expected 2 axes, got shape \(2,\)"),
        ([1, 2], {"ndim": (2, 3)}, ValueError, "expected 2 or 3 axes"),
        ([[]], {}, ValueError, "at least one row and one column"),
        ([["a"]], {"name": "table"}, TypeError, "table: expected real numbers"),
        ([[None]], {}, TypeError, "real numbers"),
        (torch.zeros(1, 1) * 1j, {}, TypeError, "real numbers"),
        ([[np.nan]], {"finite": True}, ValueError, "expected finite numbers, got nan"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(values, options, error, words):
    with pytest.raises(error, match=words):
        as_array(values, **options)


def test_labels_are_texts_one_for_each_row():
    assert as_labels(None, 3, "rows") is None
    assert as_labels([1, None], 2, "rows") == ["1", "None"]
    assert as_words("ab\n", 3, "words") == ["a", "b", " "]
    for as_strings in (as_labels, as_words):
        with pytest.raises(ValueError, match="expected 2 labels for rows, got 1"):
            as_strings(["a"], 2, "rows")


@pytest.mark.parametrize(
    ("values", "limits", "cmap", "ends"),
    [
        ([1.0, 3.0, np.inf], None, "sequential", (1, 3)),
        ([-1.0, 3.0], None, "diverging", (-3, 3)),
        ([-4.0, 3.0], None, "PuOr_r", (-4, 4)),
        ([0.0], None, "RdBu", (-1, 1)),
        ([4.0], None, "viridis", (2, 6)),
        ([-1e-9], None, "viridis", (-0.5 - 1e-9, 0.5 - 1e-9)),
        ([np.nan], None, "viridis", (0, 1)),
        ([1.0, 3.0], (0, 9), "coolwarm", (0, 9)),
    ],
)
def test_the_ends_of_a_colour_map_fit_the_numbers(values, limits, cmap, ends):
    assert colour_limits(np.array(values), limits, cmap) == pytest.approx(ends)
