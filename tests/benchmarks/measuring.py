"""Times, memory and the ceiling: what the benchmarks measure with."""

import ctypes
import gc
import os
import re
import time
from pathlib import Path

import pytest
import torch

from encoder_lib.course.kit.measure import layer_flops
from encoder_lib.fast import HAS_ONEDNN, onednn_linear

SIDE = 2048  # of the matrices whose product is the ceiling
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.fixture(scope="module", autouse=True)
def all_cores():
    """Every subject may use the whole machine."""
    torch.set_num_threads(THREADS)
    yield
    torch.set_num_threads(1)


def seconds(work):
    """What one run of `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(works, rounds):
    """Name -> the (seconds, processor seconds) of each run; all run in turns, none for the first time."""
    runs = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            spent = time.process_time()
            runs[name].append((seconds(work), time.process_time() - spent))
    return runs


def take_turns(works, *, budget=6.0, least=3, most=40):
    """Name -> the times of its runs: each runs once unmeasured, then all in turns, `budget` seconds in all."""
    for work in works.values():  # the first run also compiles and fills caches
        work()
    once = sum(seconds(work) for work in works.values())
    rounds = max(least, min(most, round(budget / once)))
    times = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    return times


def matmul_works():
    """Library -> a product of two large matrices; torch's own choice first."""
    a, b = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    works = {"MKL" if torch.backends.mkl.is_available() else "BLAS": lambda: a @ b}
    return works if not HAS_ONEDNN else works | {"oneDNN": lambda: onednn_linear(a, b)}


def matmul_peaks():
    """Library -> the most floating-point operations a second that it reaches in a product of large matrices."""
    return {name: 2 * SIDE**3 / min(runs) for name, runs in take_turns(matmul_works(), budget=2, least=8).items()}


def operations(lengths, layers, d_model, d_ff):
    """Multiplications and additions of a forward pass over sequences of these lengths, without padding."""
    return layers * sum(sum(layer_flops(int(length), d_model, d_ff)) for length in lengths)


def peak_memory(work):
    """The bytes that a second run of `work` needs on top of what is there before it (Linux; elsewhere None)."""
    reset, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    if not reset.exists():
        return None
    work()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    try:
        reset.write_text("5")  # the high-water mark falls to what is in memory now
    except OSError:
        return None

    def read(field):
        return 1024 * int(re.search(rf"{field}:\s+(\d+) kB", status.read_text())[1])

    before = read("VmRSS")
    work()
    return max(0, read("VmHWM") - before)


def processor():
    """The name of this machine's processor, the instructions that torch takes there, and its number of cores."""
    info = Path("/proc/cpuinfo")
    instructions = torch.backends.cpu.get_cpu_capability()
    name = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return f"{name[1].strip() if name else 'unknown processor'} ({instructions}), {THREADS} cores"
