"""An interrupt while PyTorch loads its optimisers does no damage."""

import subprocess
import sys

import pytest

from encoder_lib.course.kit.progress import LOADING

INTERRUPTED = """
import signal, sys, threading, time

import torch

from encoder_lib.course.kit import ladder

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process of a shell ignores interrupts

def interrupt():
    while "sympy" not in sys.modules:
        time.sleep(0.001)
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    ladder.climb("embedding")
except KeyboardInterrupt:
    torch.optim.Adam([torch.zeros(1)]).step()
else:
    sys.exit("not interrupted")
"""


@pytest.mark.long
def test_an_interrupt_during_loading_leaves_optimisers_usable():
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and LOADING in done.stderr, done.stderr
