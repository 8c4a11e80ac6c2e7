"""What every notebook does first, and how it shows the library's own source."""

import inspect
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython import get_ipython
from IPython.display import Markdown
from torch import Tensor

from encoder_lib import expect

STYLE = {
    "figure.figsize": (7.0, 3.6),
    "figure.dpi": 100,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def setup(seed: int = 0, *, device: str | torch.device | None = None) -> torch.device:
    """Make a notebook's numbers the same on every machine, and return the device to run on.

    The device is CUDA when there is one, else the CPU; any other, Apple's "mps" for instance, is used when asked for by
    name. Random numbers start from `seed`. Tensors are float64 unless said otherwise (float32 on MPS, which has no
    wider type), torch works on one thread, and a tensor at the end of a cell shows four decimals.

    Raises: ValueError when the device asked for is unknown or not there.
    """
    device = expect.device("cuda" if device is None and torch.cuda.is_available() else device)
    torch.manual_seed(seed)
    np.random.seed(seed)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32 if device.type == "mps" else torch.float64)
    torch.set_printoptions(precision=4, sci_mode=False)
    plt.rcParams.update(STYLE)
    if shell := get_ipython():
        shell.display_formatter.formatters["text/plain"].for_type(Tensor, _print_tidily)
    return device


def tidy(x: Tensor) -> Tensor:
    """`x` as it is shown: on the CPU, without its graph, rounded to four decimals, with no minus before a zero."""
    x = x.detach().cpu()
    return x.round(decimals=4) + 0.0 if x.is_floating_point() else x


def _print_tidily(x: Tensor, printer, cycle) -> None:
    printer.text(repr(tidy(x)))


def show_source(thing) -> Markdown:
    """Show the source of a class, function or method of the library: the code that the tests test.

    Raises: TypeError for anything that has no Python source.
    """
    try:
        source = inspect.getsource(thing)
    except (TypeError, OSError) as error:
        raise TypeError(f"expected a class, function or method written in Python, got {thing!r}") from error
    return Markdown(f"```python\n{textwrap.dedent(source).strip()}\n```")
