"""Load PyTorch's optimisers, which takes seconds the first time in a process."""

import signal
import sys
import threading


def load_optimisers() -> None:
    """Import what PyTorch imports when the first optimiser is made. An interrupt is delivered when that is done.

    An interrupt in the middle would leave half of the modules loaded, and no optimiser could be made any more in this
    process.
    """
    if "torch._dynamo" in sys.modules or threading.current_thread() is not threading.main_thread():
        return  # interrupts reach the main thread only
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        import torch._dynamo  # noqa: F401
    finally:
        signal.signal(signal.SIGINT, before)
    for number in interrupts[:1]:
        signal.raise_signal(number)
