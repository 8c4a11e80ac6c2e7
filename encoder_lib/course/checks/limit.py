"""A limit on how long a learner's function may run, so that a loop without an end costs seconds and not the kernel."""

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class TimeUp(BaseException):
    """Raised inside a function that has run for too long; no `except Exception` of its own catches it."""


def run_within(seconds: float, function: Callable[..., Result], *arguments: object) -> Result:
    """Return function(*arguments), called in this thread. Raises TimeUp when it is not done after `seconds`.

    The limit is raised between two steps of Python, and again until it gets through: a single call that never comes
    back to Python, such as a long sleep, is not cut short.
    """
    caller, done = ctypes.c_ulong(threading.get_ident()), threading.Event()

    def remind() -> None:
        pause = seconds
        while not done.wait(pause):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(caller, ctypes.py_object(TimeUp))
            pause = 0.005

    watch = threading.Thread(target=remind, daemon=True)
    watch.start()
    try:
        try:
            return function(*arguments)
        finally:
            done.set()
    finally:  # comes to its end also when the limit strikes in the line above
        done.set()
        watch.join()
        for _ in range(9):  # a limit that comes too late strikes between these steps, and not in what follows
            pass
