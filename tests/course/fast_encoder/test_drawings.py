"""What is kept of a row of scores after each piece of them."""

import pytest
import torch

from encoder_lib.course.fast_encoder.drawings import SCORES, VALUES, read


@pytest.mark.parametrize("piece", range(1, 9))
def test_pieces_that_are_complete_give_their_softmax(piece):
    """The last piece may be shorter; the scores of a piece that is not complete do not count."""
    for seen in range(9):
        state = read(seen, piece)
        scores, values = (torch.tensor(numbers[: state.done]).double() for numbers in (SCORES, VALUES))
        assert state.done == (8 if seen == 8 else seen // piece * piece)
        if state.done:
            assert state.largest == scores.max()
            assert state.total == pytest.approx((scores - scores.max()).exp().sum().item())
            assert state.summed / state.total == pytest.approx((scores.softmax(0) @ values).item())


def test_old_part_is_corrected_by_one_factor():
    """By e^(3−5) for the second piece of two; and a piece without a larger score corrects nothing."""
    before, after, third = (read(seen, 2) for seen in (2, 4, 6))
    assert after.factor_in_words == "e^(3−5) = 0.135"
    assert after.old_total / before.total == pytest.approx(0.1353, abs=1e-4)
    assert after.old_summed / before.summed == pytest.approx(0.1353, abs=1e-4)
    assert third.old_total == after.total
