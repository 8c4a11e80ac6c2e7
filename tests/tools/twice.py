"""A pytest plugin beside nbval: a quick cell runs again at once on four threads, and shows what is stored once more.

    PYTHONPATH=tests/tools pytest -p twice --nbval ... notebooks

A reader runs a cell twice, and a reader's torch may have threads: neither may change what a notebook shows. A cell that
takes its time, a training most often, runs once. So the second time is compared with what is stored as the first is,
but for the hint of an exercise, which gets stronger with each try. The course's own trainings take fewer steps.
"""

import time
from copy import deepcopy

import pytest
from hurried import HURRIED
from nbval.plugin import IPyNbCell

QUICK, THREADS = 2, 4  # seconds; what torch takes the second time
TORCH = "__import__('torch').set_num_threads({})"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a cell, and once more if it was quick."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    if item.cell_num == 0:
        execute(item.parent.kernel, HURRIED)
    begun, stored = time.perf_counter(), deepcopy(item.cell.outputs)
    result = yield
    if time.perf_counter() - begun < QUICK:
        item.cell.outputs = stored  # nbval has put pieces of it together
        if "exercise" in item.cell.metadata.get("tags", []):
            item.options["check"] = False
        execute(item.parent.kernel, TORCH.format(THREADS))
        try:
            item.runtest()
        finally:
            execute(item.parent.kernel, TORCH.format(1))
    return result


def execute(kernel, code):
    """Run code in a kernel that is not in the notebook."""
    reply = kernel.execute_cell_input(code, allow_stdin=False)
    kernel.await_reply(reply, timeout=60)
    kernel.await_idle(reply, timeout=60)
