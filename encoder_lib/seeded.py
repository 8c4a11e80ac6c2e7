"""Random numbers that come from a seed, and leave those of everybody else where they are."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from encoder_lib import expect


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers from `seed` inside, and outside as if none had been drawn, on every device.

    Raises: TypeError or ValueError for a seed that is not an integer from 0 to 2⁶⁴ − 1.
    """
    seed = expect.seed(seed)
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        if torch.accelerator.is_available():
            torch.manual_seed(seed)
        else:  # the same numbers; for devices that are not there, torch would write down where it was called, each time
            torch.default_generator.manual_seed(seed)
        yield
