"""A sandbox for a learner's code: settings that it changes are restored, and its output is collected."""

import builtins
import io
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch
from IPython import get_ipython

from encoder_lib.course.kit.checking.limit import raise_in

MAX_CHARACTERS = 4000  # characters kept of what is printed


class InputAsked(BaseException):
    """Raised by input() inside a check, where nobody could answer. No `except Exception` catches it."""


class Setting(NamedTuple):
    """A global setting: how to read it, and how to set it to what was read."""

    read: Callable[[], Any]
    write: Callable[[Any], Any]


def _default_device() -> torch.device | None:
    device = torch.get_default_device()
    return None if device.type == "cpu" else device


SETTINGS = {
    "default dtype": Setting(torch.get_default_dtype, torch.set_default_dtype),
    "default device": Setting(_default_device, torch.set_default_device),
    "number of threads": Setting(torch.get_num_threads, torch.set_num_threads),
    "print options": Setting(lambda: vars(torch._tensor_str.PRINT_OPTS).copy(), lambda x: torch.set_printoptions(**x)),
    "deterministic algorithms": Setting(
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda x: torch.use_deterministic_algorithms(x[0], warn_only=x[1]),
    ),
    "anomaly mode": Setting(
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda x: torch.set_anomaly_enabled(*x),
    ),
    "matrix product precision": Setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "NumPy's print options": Setting(np.get_printoptions, lambda x: np.set_printoptions(**x)),
    "NumPy's floating-point errors": Setting(np.geterr, lambda x: np.seterr(**x)),
    "recursion limit": Setting(sys.getrecursionlimit, sys.setrecursionlimit),
}
RANDOM_STATES = {
    "Python's random numbers": Setting(random.getstate, random.setstate),
    "NumPy's random numbers": Setting(np.random.get_state, np.random.set_state),
}


@contextmanager
def restored_settings() -> Iterator[None]:
    """Restore global settings of torch, NumPy and Python afterwards, and enable gradients inside the block.

    `sandbox` also takes care of random states and of what is printed.
    """
    before = {name: setting.read() for name, setting in SETTINGS.items()}
    try:
        with torch.inference_mode(False):  # enables gradients, and restores afterwards whether they were enabled
            yield
    finally:
        for name, setting in SETTINGS.items():
            if (
                setting.read() != before[name]
            ):  # some are slow to set, because they start threads or load torch's compiler
                setting.write(before[name])


class Printed(io.TextIOBase):
    """A stream that keeps the beginning of what is written to it, counts the lines, and remembers which threads write.

    It also replaces IPython's publisher, which `display` and pictures use.
    """

    def __init__(self) -> None:
        self.kept, self.n_lines = "", 0
        self.writers: set[int] = set()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.kept += text[: MAX_CHARACTERS - len(self.kept)]
        self.n_lines += text.count("\n")
        self.writers.add(threading.get_ident())
        return len(text)

    def publish(self, data: dict[str, Any], *_: object, **__: object) -> None:
        self.write(f"{data.get('text/plain', '')}\n")

    def clear_output(self, wait: bool = False) -> None:
        """Do nothing: what was printed is kept."""

    def stop_other_writers(self) -> None:
        """End the threads that have printed and are still running; otherwise they would go on printing on the page."""
        for thread in self.writers - {threading.get_ident()}:
            raise_in(thread, SystemExit)


def _refuse_input(*_: object, **__: object) -> NoReturn:
    raise InputAsked


@contextmanager
def sandbox() -> Iterator[Printed]:
    """Run a learner's code in a block: restore everything that it changes globally, and collect what it prints.

    Yields the stream that collects what is printed or displayed. `input()` raises InputAsked. Python's and NumPy's
    random numbers start from 0; torch's random state is left to the caller.
    """
    printed, shell = Printed(), get_ipython()
    streams, ask, publisher = (sys.stdin, sys.stdout, sys.stderr), builtins.input, getattr(shell, "display_pub", None)
    before = {name: state.read() for name, state in RANDOM_STATES.items()}
    with warnings.catch_warnings(), restored_settings():
        random.seed(0)
        np.random.seed(0)
        sys.stdin, sys.stdout, sys.stderr = io.StringIO(), printed, printed
        builtins.input = _refuse_input
        if shell:
            shell.display_pub = printed
        try:
            yield printed
        finally:
            printed.stop_other_writers()
            builtins.input = ask
            sys.stdin, sys.stdout, sys.stderr = streams
            if shell:
                shell.display_pub = publisher
            for name, state in RANDOM_STATES.items():
                state.write(before[name])
