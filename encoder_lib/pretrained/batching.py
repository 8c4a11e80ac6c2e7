"""Texts of all lengths, packed so that hardly anything is computed in vain, and spread over the cores."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch


def bucket_by_length(lengths: list[int], batch_tokens: int) -> list[list[int]]:
    """The numbers of the texts, longest first, in batches of at most `batch_tokens` tokens with the padding.

    A batch has at least one text, and none shorter than three quarters of its longest.
    """
    batches: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[batches[-1][0]] if batches else 0
        if not batches or lengths[i] < 0.75 * longest or (len(batches[-1]) + 1) * longest > batch_tokens:
            batches.append([])
        batches[-1].append(i)
    return batches


@contextmanager
def parallel_map(jobs: int, device: torch.device) -> Iterator[Callable]:
    """A `map` whose jobs run on all of torch's threads, one thread a job while there are more jobs than threads."""
    threads = torch.get_num_threads()
    workers = min(threads, jobs) if device.type == "cpu" else 1
    if workers < 2:
        yield map
        return
    pool = ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(threads // workers,))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)  # a reader who interrupts waits for one batch only
        torch.set_num_threads(threads)
