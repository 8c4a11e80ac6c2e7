"""A limit on how long a learner's function may run, so that an endless loop costs seconds and not the kernel."""

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")
TICK = 0.01  # seconds between two checks of the time
WAITING = 6  # wall time that a function may take, as a multiple of the limit
SIGNAL = getattr(
    signal, "SIGURG", None
)  # ignored by default, so that a late signal does no harm; Windows does not have it


class TimeUp(BaseException):
    """Raised inside a function that has run for too long; no `except Exception` of its own catches it."""


def run_within(seconds: float, function: Callable[..., Result], *arguments: object) -> Result:
    """Return function(*arguments), called in this thread. Raises TimeUp if it takes longer than the limit.

    The limit is `seconds` of the process's processor time, so that quick code also passes on a busy machine, and six
    times as many seconds of wall time, so that a sleep or a deadlock ends as well. TimeUp is raised between two steps
    of Python, again and again until it gets through. In the main thread it also wakes a call that waits, such as
    `time.sleep`, `lock.acquire` or `subprocess.run` (not on Windows); a long call into C code is not cut short. Imports
    are not counted and never interrupted, since a half-loaded module would stay broken. (PyTorch loads its compiler at
    the first optimiser.)
    """
    begun, done = False, threading.Event()
    with _interruption() as interrupt:
        caller = threading.get_ident()

        def watch() -> None:
            processor, clock = time.process_time(), time.monotonic()
            spent = waited = 0.0
            while not done.wait(TICK):
                last = processor, clock
                processor, clock = time.process_time(), time.monotonic()
                if not begun or _imports(sys._current_frames().get(caller)):  # the thread may start late
                    continue
                spent, waited = spent + processor - last[0], waited + clock - last[1]
                if spent >= seconds or waited >= WAITING * seconds:
                    interrupt()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            begun = True
            try:
                return function(*arguments)
            finally:
                done.set()
        finally:  # also reached if TimeUp arrives on the line above
            done.set()
            watcher.join()
            for _ in range(9):  # a late TimeUp arrives between these steps, and not in what follows
                pass


def raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an error in the thread with this identifier, at its next step of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


@contextmanager
def _interruption() -> Iterator[Callable[[], None]]:
    """Yield a function that raises TimeUp in this thread when another thread calls it.

    In the main thread it uses a signal, which wakes calls that wait; elsewhere, and on Windows, the error comes at the
    next step of Python.
    """
    caller, number = threading.get_ident(), SIGNAL
    if number is None or threading.current_thread() is not threading.main_thread():
        yield lambda: raise_in(caller, TimeUp)
        return

    def handle(*_: object) -> None:
        raise TimeUp

    before = signal.signal(number, handle)
    try:
        yield lambda: signal.pthread_kill(caller, number)
    finally:
        signal.signal(number, before)


def _imports(frame: FrameType | None) -> bool:
    """Whether a thread at this frame is in the middle of an import."""
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None
