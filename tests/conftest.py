"""What all tests share: devices, seeds, the browser, and the checks that every module has to pass."""

import gc
import os
import re
import sys
import warnings

import pytest
import torch
from hypothesis import settings
from labserver import BROWSER_ARGS, find_browser
from torch.func import functional_call
from xdist.scheduler import LoadScopeScheduling

from encoder_lib.seeded import seeded

torch.set_num_threads(1)
sys.modules.setdefault("rfc3987_syntax", None)  # jsonschema's grammar of web addresses takes a second, and serves none
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None, max_examples=50)
settings.load_profile("repeatable")

LONGEST = ("course/your_own_task/", "course/training/", "browser/", "training/", "site/test_pages")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


class ByNotebook(LoadScopeScheduling):
    """With several processes (`-n 2`): the tests of a file, or of a notebook in the browser, stay in one of them."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        return file + "".join(re.findall(r"\w+\.ipynb", test))


def pytest_xdist_make_scheduler(config, log):
    """Share the tests out among the processes."""
    return ByNotebook(config, log)


def pytest_ignore_collect(collection_path, config):
    """Where slow tests are left out, files of such tests alone are not even imported."""
    alone = r"(?m)^pytestmark = \[?pytest\.mark\.long\b"
    if "not long" in config.option.markexpr and collection_path.suffix == ".py":
        return bool(re.search(alone, collection_path.read_text(encoding="utf-8"))) or None
    return None


def pytest_collection_modifyitems(items):
    """What takes longest begins first: if it began last, one process would still run when the others have finished.

    Naming these folders first on the command line doesn't help, since pytest runs a folder inside another one with it.
    """
    first = tuple(f"tests/{path}" for path in LONGEST)
    items.sort(key=lambda item: not item.nodeid.startswith(first))


def pytest_collection_finish():
    """What is in memory before the first test stays there: nothing that looks for garbage goes through it again."""
    gc.freeze()


@pytest.fixture(autouse=True)
def seed():
    """Every test draws the same numbers, in whatever order the tests run."""
    with seeded(0):
        yield


@pytest.fixture(params=DEVICES)
def device(request):
    """The CPU, and the GPU where there is one. Draw on the CPU, then move: both get the same numbers."""
    return torch.device(request.param)


@pytest.fixture(autouse=True)
def torch_is_left_as_it_was():
    """Whatever a test sets for the whole of torch does not reach the next one."""
    dtype, threads, gradients = torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled()
    yield
    torch.set_default_dtype(dtype)
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    torch.set_grad_enabled(gradients)


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def default_dtype(request, torch_is_left_as_it_was):
    """What a notebook gets depends on no default: each in turn."""
    torch.set_default_dtype(request.param)


@pytest.fixture
def gradcheck():
    """Compare the gradients of a module's inputs and weights with finite differences."""

    def check(module, *inputs, **fixed):
        weights = {name: w.detach().clone().requires_grad_() for name, w in module.named_parameters()}
        inputs = [x.detach().clone().requires_grad_() for x in inputs]

        def run(*tensors):
            given, values = tensors[: len(inputs)], tensors[len(inputs) :]
            return functional_call(module, dict(zip(weights, values, strict=True)), given, fixed)

        return torch.autograd.gradcheck(run, (*inputs, *weights.values()))

    return check


@pytest.fixture
def compiles():
    """Run a module whole-graph compiled and exported, each once for all sizes, and compare with the plain call."""

    def check(module, draw, dynamic_shapes):
        """`draw(B, T)` gives the inputs, `dynamic_shapes` their dimensions that may change."""
        module.eval()
        torch._dynamo.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own deprecations
            compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="aot_eager")
            exported = torch.export.export(module, draw(3, 5), dynamic_shapes=dynamic_shapes).module()
            for batch, length in ((3, 5), (2, 9), (4, 7), (6, 6)):
                inputs = draw(batch, length)
                expected = module(*inputs)
                torch.testing.assert_close(compiled(*inputs), expected, atol=1e-6, rtol=0)
                torch.testing.assert_close(exported(*inputs), expected, atol=1e-6, rtol=0)
        torch._dynamo.reset()

    return check


@pytest.fixture(scope="session")
def browser():
    """A Chromium without a window, one for each process. Without one the tests are skipped, except in CI: they fail."""
    from playwright.sync_api import sync_playwright  # not needed by most tests

    with sync_playwright() as playwright:
        path = find_browser(playwright)
        if path is None:
            advice = "no Chromium or Chrome here: install one, or run `python -m playwright install chromium`"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
        chromium = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGS)
        yield chromium
        chromium.close()
