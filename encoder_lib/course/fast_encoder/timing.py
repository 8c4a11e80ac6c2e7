"""Measure computations: their time, in turns with others, and their peak memory."""

import platform
import re
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from encoder_lib.model.attention import attention
from encoder_lib.model.encoder import EncoderLayer

MIN_SECONDS = 0.005  # that a function is given in a round, at least
BUDGET = 2.0  # seconds that it is given in all, but for the first round


@torch.no_grad()
def benchmark(functions: Mapping[str, Callable[[], object]], *, rounds: int = 7) -> dict[str, float]:
    """The seconds that one call of each function takes: the median of some rounds, in which they take turns.

    Each is called twice before the first round, and in a round as often as a few milliseconds need. The rounds end
    early when all functions together have had more than two seconds for each of them, but not before the first.

    On one thread of a CPU it is the time that the processor spent in this process, so that other programs hardly
    count; with more threads, or a GPU in use, the time on the clock, until the GPU has finished.
    """
    first = {name: _seconds(function) for name, function in functions.items()}  # to warm up
    again = {name: _seconds(function) for name, function in functions.items()}
    calls = {name: max(1, round(MIN_SECONDS / max(again[name], 1e-9))) for name in functions}
    seen: dict[str, list[float]] = {name: [] for name in functions}
    spent = sum(first.values()) + sum(again.values())
    for past in range(rounds):
        if past and spent >= BUDGET * len(functions):
            break
        for name, function in functions.items():
            seen[name].append(_seconds(function, calls[name]))
            spent += seen[name][-1] * calls[name]
    return {name: median(times) for name, times in seen.items()}


def _now() -> float:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def _seconds(function: Callable[[], object], calls: int = 1) -> float:
    """The mean time of some calls in a row."""
    start = _now()
    for _ in range(calls):
        function()
    return (_now() - start) / calls


def layer_parts(layer: EncoderLayer, x: Tensor) -> dict[str, Callable[[], list[Tensor]]]:
    """What a layer does with x, taken apart: functions that each do one part of it, on tensors of the right shapes.

        projections   queries, keys, values and the last map of attention
        attention     scores, softmax and weighted mean, each written down
        feed-forward  both maps and the activation
        norms, sums   two of each

    Shapes: x (B, T, D).
    """
    a = layer.attention
    with torch.no_grad():
        q, k, v = (  # (B, H, T, K) each
            part(x).unflatten(-1, (a.n_heads, a.d_head)).transpose(1, 2) for part in (a.q_proj, a.k_proj, a.v_proj)
        )
    return {
        "projections": lambda: [part(x) for part in (a.q_proj, a.k_proj, a.v_proj, a.out_proj)],
        "attention": lambda: [attention(q, k, v)[0]],
        "feed-forward": lambda: [layer.feed_forward(x)],
        "norms, sums": lambda: [layer.norm1(x + x), layer.norm2(x + x)],
    }


def machine() -> str:
    """The processor, and the versions of what computes on it, in words: a time means little without them."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace") if info.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", lines, flags=re.MULTILINE)
    name = found[1] if found else platform.processor() or platform.machine() or "an unknown processor"
    threads = torch.get_num_threads()
    return f"{' '.join(name.split())}, {threads} thread{'s'[: threads != 1]}, torch {torch.__version__}"


@torch.no_grad()
def peak_bytes(function: Callable[[], object]) -> int:
    """The largest number of bytes that new tensors take up at any one time while a function runs, including its result.

    Memory that a single torch operation allocates and frees internally is not counted.
    """
    with _Held() as held:
        function()
    return held.most


class _Held(TorchDispatchMode):
    """Counts the bytes of all tensors returned by operations, from their creation until they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known = WeakIdKeyDictionary()  # storages, because views take no memory of their own

    def __torch_dispatch__(
        self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        for x in tree_leaves((args, kwargs or {})):
            if isinstance(x, Tensor):
                self.known.setdefault(x.untyped_storage())  # it existed before
        out = func(*args, **(kwargs or {}))
        for x in tree_leaves(out):
            if isinstance(x, Tensor) and x.untyped_storage() not in self.known:
                self._keep(x.untyped_storage())
        return out

    def _keep(self, storage: torch.UntypedStorage) -> None:
        self.known[storage] = None
        self.now += storage.nbytes()
        self.most = max(self.most, self.now)
        weakref.finalize(storage, self._drop, storage.nbytes())

    def _drop(self, size: int) -> None:
        self.now -= size
