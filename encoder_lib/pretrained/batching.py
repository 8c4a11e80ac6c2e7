"""Texts of all lengths: read in windows, bucketed by length to minimise padding, and spread over the cores."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import accumulate
from typing import TypeVar

import torch

Item = TypeVar("Item")

# The maximum of one window: the tokenizer needs some 200 bytes for each token until its ids have been copied.
WINDOW_TEXTS, WINDOW_CHARACTERS = 4096, 2**20
STARTING = threading.Lock()


def split_into_windows(texts: list[str]) -> Iterator[range]:
    """Consecutive indices of the texts that are tokenised together.

    A window has at most WINDOW_TEXTS texts and, unless it is one text alone, WINDOW_CHARACTERS characters.
    """
    ends = [0, *accumulate(map(len, texts))]  # ends[i]: characters before text i
    start = 0
    for i in range(1, len(texts)):
        if i - start == WINDOW_TEXTS or ends[i + 1] - ends[start] > WINDOW_CHARACTERS:
            yield range(start, i)
            start = i
    if texts:
        yield range(start, len(texts))


def bucket_by_length(lengths: list[int], batch_tokens: int) -> list[list[int]]:
    """The indices of the texts, longest first, in batches of at most `batch_tokens` tokens including the padding.

    A batch has at least one text, and none shorter than three quarters of its longest.
    """
    batches: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[batches[-1][0]] if batches else 0
        if not batches or lengths[i] < 0.75 * longest or (len(batches[-1]) + 1) * longest > batch_tokens:
            batches.append([])
        batches[-1].append(i)
    return batches


def one_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items, where the next one is made before the last one is handed out, so that its work has begun."""
    made: deque[Item] = deque()
    for item in items:
        made.append(item)
        if len(made) > 1:
            yield made.popleft()
    yield from made


@contextmanager
def parallel_map(jobs: int, device: torch.device) -> Iterator[Callable]:
    """A `map` that spreads its jobs over all of torch's threads, as one worker for each thread or, if fewer, each job.

    The workers run under the caller's autocast. The number of threads stays what it was for every other thread.
    """
    threads = torch.get_num_threads()
    workers = min(threads, jobs) if device.type == "cpu" else 1
    if workers < 2:
        yield map
        return
    pool = ThreadPoolExecutor(workers)
    try:
        _start_workers(pool, workers, threads // workers)
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)  # after an interrupt only the batches that have begun are computed


def _start_workers(pool: ThreadPoolExecutor, workers: int, threads: int) -> None:
    """Start all workers of the pool, with so many torch threads each and with the caller's autocast.

    `torch.set_num_threads` writes two numbers: the calling thread's own, which nobody else sees, and the process's,
    with which new threads start. So each worker sets its own, and then a new thread, whose own number doesn't matter,
    puts the process's number back. The lock keeps a second call from reading the process's number in between.
    """
    ready = threading.Barrier(workers + 1)
    enabled, cached = torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()
    dtype = torch.get_autocast_dtype("cpu")

    def start() -> None:
        torch.get_num_threads()  # the first call of a thread takes over the process's number
        torch.set_num_threads(threads)
        torch.set_autocast_enabled("cpu", enabled)
        torch.set_autocast_dtype("cpu", dtype)
        torch.set_autocast_cache_enabled(cached)
        ready.wait()  # keeps this worker busy, so that the next `start` gets a worker of its own

    with STARTING, ThreadPoolExecutor(1) as new_thread:
        process_threads = new_thread.submit(torch.get_num_threads).result()
        try:
            for _ in range(workers):
                pool.submit(start)
            ready.wait()
        except BaseException:
            ready.abort()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            new_thread.submit(torch.set_num_threads, process_threads).result()
