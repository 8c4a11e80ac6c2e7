"""Draw random numbers from a seed, and restore the generators afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from encoder_lib import expect


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from `seed` in a block, then restore its generators, on the CPU and all accelerators.

    Raises: TypeError or ValueError for a seed that is not an integer from 0 to 2⁶⁴ − 1.
    """
    seed = expect.seed(seed)
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        with torch.random.fork_rng(devices=[]):
            # not torch.manual_seed: for absent devices it queues a lazy call with a traceback, each time
            torch.default_generator.manual_seed(seed)
            yield
    else:
        with torch.random.fork_rng(range(torch.accelerator.device_count()), device_type=accelerator.type):
            torch.manual_seed(seed)
            yield
