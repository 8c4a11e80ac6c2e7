"""A limit on how long a learner's function may run, so that a loop without an end costs seconds and not the kernel."""

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
TICK = 0.01  # seconds from one look at the function to the next


class TimeUp(BaseException):
    """Raised inside a function that has run for too long; no `except Exception` of its own catches it."""


def run_within(seconds: float, function: Callable[..., Result], *arguments: object) -> Result:
    """Return function(*arguments), called in this thread. Raises TimeUp when it is not done after `seconds`.

    The limit is raised between two steps of Python, and again until it gets through: a single call that never comes
    back to Python, such as a long sleep, is not cut short. An import takes no time of the function's, and is never
    interrupted: what it has half loaded would stay broken. (PyTorch loads its compiler at the first optimiser.)
    """
    caller, begun, done = threading.get_ident(), False, threading.Event()

    def remind() -> None:
        left = seconds
        while not done.wait(TICK):
            if not begun or _imports(caller):  # a machine may be busy while the thread starts
                continue
            left -= TICK
            if left < TICK / 2:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(caller), ctypes.py_object(TimeUp))

    watch = threading.Thread(target=remind, daemon=True)
    watch.start()
    try:
        begun = True
        try:
            return function(*arguments)
        finally:
            done.set()
    finally:  # comes to its end also when the limit strikes in the line above
        done.set()
        watch.join()
        for _ in range(9):  # a limit that comes too late strikes between these steps, and not in what follows
            pass


def _imports(thread: int) -> bool:
    """Whether a thread is in the middle of an import."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None
