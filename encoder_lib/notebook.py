"""What every notebook does first, and how it shows the library's own source."""

import html
import inspect
import textwrap
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython import get_ipython
from IPython.lib.pretty import RepresentationPrinter
from pygments.lexers import PythonLexer
from pygments.token import Token
from torch import Tensor

from encoder_lib import expect
from encoder_lib.plots.style import STYLE

# kinds of words in a program, and the variables of JupyterLab's themes that colour them; its own colour of comments
# is too pale on a dark ground
COLOURS = {
    Token.Keyword: "mirror-editor-keyword-color, #008000",
    Token.Operator.Word: "mirror-editor-keyword-color, #008000",
    Token.Literal.String: "mirror-editor-string-color, #ba2121",
    Token.Literal.Number: "mirror-editor-number-color, #008800",
    Token.Comment: "content-font-color2, #616161",
    Token.Name.Class: "mirror-editor-def-color, #0000cc",
    Token.Name.Function: "mirror-editor-def-color, #0000cc",
}
WRAPPED = "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;font-size:0.87em"


def setup(seed: int = 0, *, device: str | torch.device | None = None) -> torch.device:
    """Make a notebook's numbers the same on every machine, and return the device to run on.

    The device is CUDA when there is one, else the CPU; any other, Apple's "mps" for instance, is used when asked for by
    name. Random numbers start from `seed`. Tensors are float64 unless said otherwise (float32 on MPS, which has no
    wider type), torch works on one thread, and a tensor at the end of a cell shows four decimals.

    Raises: TypeError or ValueError for a seed that is not an integer from 0 to 2³² − 1, as NumPy takes it; ValueError
    when the device asked for is unknown or not there.
    """
    seed = expect.seed(seed, seeds=2**32)
    device = expect.device("cuda" if device is None and torch.cuda.is_available() else device)
    torch.manual_seed(seed)
    np.random.seed(seed)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32 if device.type == "mps" else torch.float64)
    torch.set_printoptions(precision=4, sci_mode=False)
    plt.style.use(STYLE)
    if shell := get_ipython():
        shell.display_formatter.formatters["text/plain"].for_type(Tensor, _print_tidily)
    return device


def tidy(x: Tensor) -> Tensor:
    """`x` as it is shown: on the CPU, without its graph, rounded to four decimals, with no minus before a zero.

    Raises: TypeError for what is no tensor.
    """
    expect.tensor("x", x)
    x = x.detach().cpu()
    return x.round(decimals=4) + 0.0 if x.is_floating_point() else x


def _print_tidily(x: Tensor, printer: RepresentationPrinter, cycle: bool) -> None:
    printer.text(repr(tidy(x)))


class Source:
    """Python source as a cell's output: coloured by JupyterLab's theme, and wrapped where it is wide."""

    def __init__(self, text: str):
        expect.text("text", text)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        pieces = "".join(_coloured(kind, piece) for kind, piece in PythonLexer().get_tokens(self.text))
        return f'<pre style="{WRAPPED}">{pieces}</pre>'


def _coloured(kind: tuple, piece: str) -> str:
    colour = next((colour for token, colour in COLOURS.items() if kind in token), None)
    text = html.escape(piece, quote=False)
    return text if colour is None else f'<span style="color:var(--jp-{colour})">{text}</span>'


def complaint(function: Callable, *arguments: object) -> str:
    """What `function` says when it refuses its arguments: the kind of error and its words.

    Raises: AssertionError when it takes them; TypeError for what is no function.
    """
    expect.function("function", function)
    try:
        function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"expected {function} to refuse its arguments, but it took them")


def show_source(thing: Callable) -> Source:
    """Show the source of a class, function or method of the library: the code that the tests test.

    Raises: TypeError for anything that has no Python source.
    """
    try:
        source = inspect.getsource(thing)
    except (TypeError, OSError) as error:
        wanted = "a class, function or method written in Python"
        raise TypeError(f"thing: expected {wanted}, got {expect.shown(thing)} ({type(thing).__name__})") from error
    return Source(textwrap.dedent(source).strip())
