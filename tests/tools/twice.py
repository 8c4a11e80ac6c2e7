"""A pytest plugin beside nbval: a quick cell runs again at once on four threads, and shows what is stored once more.

    PYTHONPATH=tests/tools pytest -p twice --nbval ... notebooks

A reader runs a cell twice, and a reader's torch may have threads: neither may change what a notebook shows. A cell that
takes its time, a training most often, runs once. So the second time is compared with what is stored as the first is,
but for the hint of an exercise, which gets stronger with each try.
"""

import time
from copy import deepcopy

import pytest
from nbval.plugin import IPyNbCell

QUICK, THREADS = 2, 4  # seconds; what torch takes the second time


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a cell, and once more if it was quick."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    begun, stored = time.perf_counter(), deepcopy(item.cell.outputs)
    result = yield
    if time.perf_counter() - begun < QUICK:
        item.cell.outputs = stored  # nbval has put pieces of it together
        if "exercise" in item.cell.metadata.get("tags", []):
            item.options["check"] = False
        set_threads(item.parent.kernel, THREADS)
        try:
            item.runtest()
        finally:
            set_threads(item.parent.kernel, 1)
    return result


def set_threads(kernel, count):
    """Tell torch in a kernel how many threads to take."""
    reply = kernel.execute_cell_input(f"__import__('torch').set_num_threads({count})", allow_stdin=False)
    kernel.await_reply(reply, timeout=60)
    kernel.await_idle(reply, timeout=60)
