"""What the tests of experiments share."""

import pytest
import torch


@pytest.fixture
def nothing_drawn():
    """The caller's random numbers are where they were."""
    before = torch.get_rng_state()
    yield
    assert torch.equal(torch.get_rng_state(), before)
