"""The explorers of 01_embedding: the rows that ids read, and how alike the words of a table are."""

import torch
from explorers import EXPLORERS

from encoder_lib.course import explore


def test_look_up_shows_the_rows_that_the_ids_name():
    explorer = explore.look_up(first=1, second=4, third=1)
    one_hot, table, out = (torch.tensor(panel.frame(0)) for panel in explorer._view.panels)
    assert one_hot.argmax(dim=1).tolist() == [1, 4, 1]
    assert table.isnan().any(dim=1).tolist() == [True, False, True, True, False, True]
    assert torch.equal(out, table[[1, 4, 1]])
    assert [panel["missing"] for panel in explorer._panels] == ["NaN", "not read", "NaN"]
    assert "rows 1 and 4 are read" in explorer.description and "first and third" in explorer.description


def test_similarity_steps_through_cosines_in_the_front_end():
    explorer = EXPLORERS["similarity"]()
    (panel,) = explorer._view.panels
    assert panel.frames == 5 and explorer._frames == "step"
    assert (abs(panel.frame(3).diagonal() - 1) < 1e-6).all()
