"""What the tests of claims share."""

import pytest


def seeds(*bounds):
    """Parametrise a test by the seeds of range(*bounds): the first in every run, the others in the weekly one."""
    first, *others = range(*bounds)
    return pytest.mark.parametrize("seed", [first, *(pytest.param(seed, marks=pytest.mark.weekly) for seed in others)])
