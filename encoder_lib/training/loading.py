"""The first optimiser of a process, which PyTorch takes seconds to load."""

import signal
import sys
import threading


def load_optimisers() -> None:
    """Load what PyTorch loads at its first optimiser: seconds of imports. An interrupt waits until they are through.

    Half of them would stay loaded, and no optimiser could be made any more in this process.
    """
    if "torch._dynamo" in sys.modules or threading.current_thread() is not threading.main_thread():
        return  # no interrupt reaches another thread
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        import torch._dynamo  # noqa: F401
    finally:
        signal.signal(signal.SIGINT, before)
    for number in interrupts[:1]:
        signal.raise_signal(number)
