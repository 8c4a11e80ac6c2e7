"""Where numbers are before and after a cut, and what a grid of tests looks like."""

import numpy as np
import pytest
import torch

from encoder_lib.course.debugging_clinic.drawings import cut_boxes, grid_boxes


@pytest.mark.parametrize("right", [True, False])
def test_every_number_goes_where_the_cut_sends_it(right):
    """Its colour is that of its token; and before its row is filled it is at its place in x."""
    x = torch.arange(1, 31).view(5, 6)
    heads = x.view(5, 2, 3).transpose(0, 1) if right else x.view(2, 5, 3)
    panel = cut_boxes(heads - 1, (5, 6))
    first, last = panel.frame(0), panel.frame(10)
    numbers = {int(label): i for i, label in enumerate(panel.labels[0]) if label.isdecimal()}
    assert sorted(numbers) == list(range(1, 31))
    lefts = sorted({round(float(last[i, 0]), 3) for i in numbers.values()})
    for number, i in numbers.items():
        (h, t, k), row = (heads == number).nonzero()[0].tolist(), (number - 1) // 6
        assert panel.kinds[i] == f"token {row + 1}" and first[i, 1] == pytest.approx(1.05 + row)
        assert last[i, 1] == pytest.approx(1.05 + t) and last[i, 0] == pytest.approx(lefts[3 * h + k], abs=1e-3)


def test_a_row_is_filled_in_each_step():
    panel = cut_boxes(torch.arange(30).view(2, 5, 3), (5, 6))
    moved = [np.any(panel.frame(n) != panel.frame(n + 1), axis=1).sum() for n in range(10)]
    assert moved == [3] * 10


def test_grid_has_a_cell_for_each_test_and_patient():
    """Cells of tests that found something are seen; those of a test that is left out never are."""
    noticed = np.array([[True, True], [False, True]])
    for left_out, expected in (([False, False], 3), ([False, True], 1)):
        panel = grid_boxes(noticed, ["one", "other"], left_out)
        found = [i for i, kind in enumerate(panel.kinds) if kind == "noticed"]
        assert panel.frames == 5 and len(found) == 4
        assert panel.frame(0)[found, 4].sum() == 0 and panel.frame(4)[found, 4].sum() == expected
