"""A pytest plugin beside nbval: each quick cell runs a second time at once, on four threads.

    PYTHONPATH=tests/tools pytest -p rerun_cells --nbval ... notebooks

Readers run cells twice, and their torch may have more threads: neither may change what a notebook shows. So the second
run, too, is compared with what is stored, but for the hint of an exercise, which gets stronger with each try. A cell
that takes its time, most often a training, runs once, and the course's own trainings take fewer steps.
"""

import time
from copy import deepcopy

import pytest
from fast_training import FAST_TRAINING
from nbval.plugin import IPyNbCell

QUICK, THREADS = 2, 4  # seconds; the threads of the second run
SET_THREADS = "__import__('torch').set_num_threads({})"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a cell, and once more if it was quick."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    if item.cell_num == 0:
        execute(item.parent.kernel, FAST_TRAINING)
    begun, stored = time.perf_counter(), deepcopy(item.cell.outputs)
    result = yield
    if time.perf_counter() - begun < QUICK:
        item.cell.outputs = stored  # nbval has merged the pieces of a stream
        if "exercise" in item.cell.metadata.get("tags", []):
            item.options["check"] = False
        execute(item.parent.kernel, SET_THREADS.format(THREADS))
        try:
            item.runtest()
        finally:
            execute(item.parent.kernel, SET_THREADS.format(1))
    return result


def execute(kernel, code):
    """Run code in a kernel that is not in the notebook."""
    reply = kernel.execute_cell_input(code, allow_stdin=False)
    kernel.await_reply(reply, timeout=60)
    kernel.await_idle(reply, timeout=60)
