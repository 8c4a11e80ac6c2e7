"""What every notebook does first, how it shows numbers with their names, and the library's own source."""

import html
import importlib.util
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython import get_ipython
from IPython.lib.pretty import RepresentationPrinter
from pygments.lexers import PythonLexer
from pygments.token import Token
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.plots.style import STYLE

if TYPE_CHECKING:
    import pandas as pd

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
        for module in ("pandas.core.frame", "pandas"):  # where pandas keeps it, before version 3 and from then on
            shell.display_formatter.formatters["text/html"].for_type_by_name(module, "DataFrame", _without_empty_header)
    return device


def missing(*packages: str) -> bool:
    """Whether one of the packages that a cell compares with is not there; says which, and how to install it.

    packages: the names that they are imported by.
    """
    absent = " ".join(name for name in packages if importlib.util.find_spec(name) is None)
    if absent:
        print(f"Left out, not installed here: {absent}. To compare, run %pip install {absent}, then this cell again.")
    return bool(absent)


def tidy(x: Tensor) -> Tensor:
    """`x` as it is shown: on the CPU, without its graph, rounded to four decimals, with no minus before a zero."""
    x = x.detach().cpu()
    return x.round(decimals=4) + 0.0 if x.is_floating_point() else x


def _print_tidily(x: Tensor, printer: RepresentationPrinter, cycle: bool) -> None:
    printer.text(repr(tidy(x)))


def _without_empty_header(frame: "pd.DataFrame") -> str:
    """The corner above the rows' names heads nothing: a plain cell, so that no screen reader announces a header."""
    return frame._repr_html_().replace("<th></th>", "<td></td>", 1)


class Source:
    """Python source as a cell's output: coloured by JupyterLab's theme, and wrapped where it is wide."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        pieces = "".join(_highlight(kind, piece) for kind, piece in PythonLexer().get_tokens(self.text))
        return f'<pre style="{WRAPPED}">{pieces}</pre>'


def _highlight(kind: tuple, piece: str) -> str:
    colour = next((colour for token, colour in COLOURS.items() if kind in token), None)
    text = html.escape(piece, quote=False)
    return text if colour is None else f'<span style="color:var(--jp-{colour})">{text}</span>'


def error_message(function: Callable, *arguments: object) -> str:
    """What `function` says when it refuses its arguments: the kind of error and its words.

    Raises: AssertionError when it takes them; TypeError for what is no function.
    """
    expect.instance("function", function, Callable, "a function")
    try:
        function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"expected {function} to refuse its arguments, but it took them")


def show_source(*things: Callable) -> Source:
    """Show the source of classes, functions or methods of the library, one after the other: the code that is tested.

    Raises: TypeError for anything that has no Python source.
    """
    try:
        return Source("\n\n".join(textwrap.dedent(inspect.getsource(thing)).strip() for thing in things))
    except (TypeError, OSError) as error:
        raise TypeError(f"things: expected what is written in Python, got {expect.short_repr(things)}") from error


def table(columns: Mapping[str, object], rows: Iterable[str] | None = None, *, decimals: int = 2) -> "pd.DataFrame":
    """Columns with their names, as a table: numbers rounded to `decimals` places, with no minus before a zero.

    columns: name -> a tensor or array (n,), or a list of n numbers, texts or shapes. rows: a name for each row, or a
    dictionary whose keys are these names; the rows are numbered from 0 when None. Integers, truth values, texts and
    shapes stay as they are. Every cell is a text: pandas would round a column of numbers by rules of its own.

    Raises: TypeError for columns whose names or cells are neither, or decimals that are no integer; ValueError for no
    rows, lengths that differ, a tensor that is not (n,), names that don't match the rows, decimals below 0.
    """
    expect.instance("columns", columns, Mapping, "a dictionary", "; try {'score': scores}")
    expect.texts("columns", list(columns))
    expect.integer("decimals", decimals, least=0)
    cells = {name: _cells(name, column, decimals) for name, column in columns.items()}
    lengths = {name: len(column) for name, column in cells.items()}
    n_rows = min(lengths.values(), default=0)
    if n_rows == 0 or n_rows < max(lengths.values()):
        raise ValueError(f"columns: expected as many rows in each, and at least one, got {lengths}")
    rows = list(rows) if isinstance(rows, Mapping) else rows
    names = list(range(n_rows)) if rows is None else expect.texts("rows", rows)
    if len(names) != n_rows:
        raise ValueError(f"rows: expected {n_rows} names, one for each row, got {len(names)}")
    import pandas as pd  # here, since it takes half a second that the first cell of a notebook need not wait for

    pd.set_option("display.max_colwidth", None)  # a long sentence is shown to its end
    return pd.DataFrame(cells, index=names)


def _cells(name: str, column: Any, decimals: int) -> list[str]:
    """One column's cells, as texts."""
    if isinstance(column, Tensor | np.ndarray):
        if column.ndim != 1:
            hint = "try one column for each, [:, i]"
            raise ValueError(f"{name}: expected a tensor (n,), got {tuple(column.shape)}; {hint}")
        column = column.tolist()
    expect.instance(name, column, list | tuple | range, "a tensor (n,) or a list")
    return [_cell(name, x, decimals) for x in column]


def _cell(name: str, x: object, decimals: int) -> str:
    if isinstance(x, Tensor | np.ndarray | np.generic):
        x = x.tolist()  # of shape (): Python's own number
    if isinstance(x, str | bool | int):
        return str(x)
    if isinstance(x, float):
        return f"{round(x, decimals) + 0.0:.{decimals}f}"
    if isinstance(x, tuple) and all(type(size) is int for size in x):  # a tensor's shape, or the tuple of it
        return str(tuple(x))
    raise TypeError(f"{name}: expected numbers or texts, got {expect.short_repr(x)} ({type(x).__name__})")
