"""Set up a notebook, show numbers in tables, and show the library's own source."""

import html
import importlib.util
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from encoder_lib.course.kit.widget.front_end import style

if TYPE_CHECKING:
    import pandas as pd

# kinds of tokens in a program, and the variables of JupyterLab's themes for their colours; its colour for comments is
# too pale on a dark background
COLOURS = {
    Token.Keyword: "mirror-editor-keyword-color, #008000",
    Token.Operator.Word: "mirror-editor-keyword-color, #008000",
    Token.Literal.String: "mirror-editor-string-color, #ba2121",
    Token.Literal.Number: "mirror-editor-number-color, #008800",
    Token.Comment: "content-font-color2, #616161",
    Token.Name.Class: "mirror-editor-def-color, #0000cc",
    Token.Name.Function: "mirror-editor-def-color, #0000cc",
}
SHEETS = ("folds.css", "tables.css", "notebook.css")
NUMBER = re.compile(r"-?(\d[\d.,]*(e[-+]?\d+)?|inf|nan)( ?%)?")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
MONO = "font-family:var(--jp-code-font-family,monospace)"
WRAPPED = f"{MONO};white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;font-size:0.87em"


def setup(seed: int = 0, *, device: str | torch.device | None = None) -> torch.device:
    """Make a notebook's numbers the same on every machine, and return the device to run on.

    The device is CUDA if there is one, else the CPU. Any other device, for instance Apple's "mps", is used if it is
    asked for by name. Random numbers start from `seed`. Tensors are float64 unless said otherwise (float32 on MPS,
    which has no wider type), torch works on one thread, and a tensor at the end of a cell shows four decimals. The page
    gets a style sheet for its tables, its edges, and the folds in its prose.

    Raises: TypeError or ValueError for a seed that is not an integer from 0 to 2³² − 1, as NumPy takes it; ValueError
    if the device asked for is unknown or not available.
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
        for module in ("pandas.core.frame", "pandas"):  # its module before pandas 3 and since then
            shell.display_formatter.formatters["text/html"].for_type_by_name(module, "DataFrame", table_on_page)
        shell.display_pub.publish({"text/html": _sheet()})
    return device


def _sheet() -> str:
    """The page's style sheet on one line, because every notebook stores it."""
    return f'<style class="course-style">{" ".join(COMMENT.sub("", style(*SHEETS)).split())}</style>'


def missing(*packages: str) -> bool:
    """Whether one of the packages that a cell compares with is missing; prints which, and how to install it.

    packages: the names under which they are imported.
    """
    absent = " ".join(name for name in packages if importlib.util.find_spec(name) is None)
    if absent:
        print(f"Left out, not installed here: {absent}. To compare, run %pip install {absent}, then this cell again.")
    return bool(absent)


def tidy(x: Tensor) -> Tensor:
    """`x` as it is shown: on the CPU, detached, rounded to four decimals, without a minus sign before zero."""
    x = x.detach().cpu()
    return x.round(decimals=4) + 0.0 if x.is_floating_point() else x


def _print_tidily(x: Tensor, printer: RepresentationPrinter, cycle: bool) -> None:
    printer.text(repr(tidy(x)))


def table_on_page(frame: "pd.DataFrame") -> str:
    """A DataFrame as HTML. If it is empty, long, or has an index of several levels, pandas formats it."""
    plain = frame.index.nlevels == frame.columns.nlevels == 1
    if not (plain and 0 < len(frame) <= 60 and 0 < len(frame.columns) <= 20):
        return frame._repr_html_()
    return table_html(*in_cells(frame))


def in_cells(frame: "pd.DataFrame") -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table as text, formatted as pandas does; each row begins with its name."""
    written = [frame.iloc[:, place].to_string(index=False, header=False).split("\n") for place in range(frame.shape[1])]
    body = [[str(name), *(column[row].strip() for column in written)] for row, name in enumerate(frame.index)]
    return [str(frame.index.name or ""), *map(str, frame.columns)], body


def columns_of_text(body: Sequence[Sequence[str]]) -> list[int]:
    """The numbers of the columns that hold anything but numbers; column 0, the rows' names, is left out."""
    columns = list(zip(*body, strict=True))
    return [place for place in range(1, len(columns)) if not all(map(NUMBER.fullmatch, columns[place]))]


def table_html(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table with a class for columns of text. An empty header is a plain cell, as screen readers would read it."""
    texts = columns_of_text(body)

    def row(cells: Sequence[str], scopes: Sequence[str]) -> str:
        made = []
        for place, (text, scope) in enumerate(zip(cells, scopes, strict=True)):
            name = f'th scope="{scope}"' if scope and text else "td"
            kind = ' class="text"' if place in texts else ""
            made.append(f"<{name}{kind}>{html.escape(text)}</{name[:2]}>")
        return f"<tr>{''.join(made)}</tr>"

    rows = "".join(row(cells, ["row"] + [""] * (len(head) - 1)) for cells in body)
    columns = row(head, ["col"] * len(head))
    return f'<table class="dataframe"><thead>{columns}</thead><tbody>{rows}</tbody></table>'


class Source:
    """Python source as a cell's output, coloured by JupyterLab's theme, with long lines wrapped."""

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


def show_source(*things: Callable) -> Source:
    """Show the source of classes, functions or methods of the library, one after the other.

    Raises: TypeError for anything that has no Python source.
    """
    try:
        return Source("\n\n".join(textwrap.dedent(inspect.getsource(thing)).strip() for thing in things))
    except (TypeError, OSError) as error:
        raise TypeError(f"things: expected what is written in Python, got {expect.short_repr(things)}") from error


def table(columns: Mapping[str, object], rows: Iterable[str] | None = None, *, decimals: int = 2) -> "pd.DataFrame":
    """Show named columns as a table, with numbers rounded to `decimals` places and without a minus sign before zero.

    columns: name -> a tensor or array (n,), or a list of n numbers, texts or shapes. rows: a name for each row, or a
    dictionary whose keys are these names; the rows are numbered from 0 when None. Integers, booleans, texts and
    shapes are shown as they are. Every cell is text, because pandas would round a column of numbers by its own rules.

    Raises: TypeError for columns whose names or cells are neither, or decimals that are not an integer; ValueError for
    no rows, columns of different lengths, a tensor that is not (n,), names that don't match the rows, decimals below 0.
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
    import pandas as pd  # here, because it takes half a second, which the first cell of a notebook should not wait for

    pd.set_option("display.max_colwidth", None)  # so that long sentences are not cut off
    return pd.DataFrame(cells, index=names)


def _cells(name: str, column: Any, decimals: int) -> list[str]:
    """The cells of one column, as texts."""
    if isinstance(column, Tensor | np.ndarray):
        if column.ndim != 1:
            hint = "try one column for each, [:, i]"
            raise ValueError(f"{name}: expected a tensor (n,), got {tuple(column.shape)}; {hint}")
        column = column.tolist()
    expect.instance(name, column, list | tuple | range, "a tensor (n,) or a list")
    return [_cell(name, x, decimals) for x in column]


def _cell(name: str, x: object, decimals: int) -> str:
    if isinstance(x, Tensor | np.ndarray | np.generic):
        x = x.tolist()  # of shape (): a Python number
    if isinstance(x, str | bool | int):
        return str(x)
    if isinstance(x, float):
        return f"{round(x, decimals) + 0.0:.{decimals}f}"
    if isinstance(x, tuple) and all(type(size) is int for size in x):  # a shape
        return str(tuple(x))
    raise TypeError(f"{name}: expected numbers or texts, got {expect.short_repr(x)} ({type(x).__name__})")
