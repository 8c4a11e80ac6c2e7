"""The result that a prediction reveals: a picture, a table, a number, a tensor or a text, prepared for the page."""

import html
import math
import sys
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit import plots
from encoder_lib.course.kit.notebook import columns_of_text, in_cells, table_html, tidy

ROWS, COLUMNS = 60, 20  # the largest table that is shown
LINES, LETTERS = 40, 4000  # the longest text that is shown
WORDS = "white-space:pre-wrap;overflow-wrap:anywhere"
EXPECTED = "a picture, an Axes, a Figure, a pandas DataFrame, a number, a tensor or a text"


@dataclass(frozen=True)
class Result:
    """A result: `spec` for the page, and `html` for readers without a kernel."""

    spec: dict[str, Any]
    html: str


def as_result(result: Any, finding: str) -> Result:
    """Prepare a picture, an Axes, a Figure, a DataFrame, a number, a tensor or a text for the reveal.

    A picture gets the finding as its alt text. Raises TypeError for anything else, and ValueError for more
    than one can read on a page.
    """
    if isinstance(result, Axes | Figure):
        result = plots.show(result, alt=finding)
    if isinstance(result, plots.Picture):
        return _picture(plots.Picture(result.svg, plots.readable(finding, 2000)))
    if _is_table(result):
        return _table(result)
    return _text(_in_words(result))


def _picture(picture: plots.Picture) -> Result:
    return Result({"kind": "picture", "svg": picture.svg}, picture._repr_mimebundle_()["text/html"])


def _is_table(value: Any) -> bool:
    pandas = sys.modules.get("pandas")  # already loaded if there is a table; nobody else should wait for it
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _table(frame: Any) -> Result:
    rows, columns = frame.shape
    if not 1 <= rows <= ROWS or not 1 <= columns <= COLUMNS:
        most, came = f"a table of 1 to {ROWS} rows and {COLUMNS} columns", f"a DataFrame of {rows} and {columns}"
        raise ValueError(f"result of show: expected {most}, got {came}: show the part that matters")
    head, body = in_cells(frame)
    head, *body = [[plots.readable(cell, LETTERS) for cell in row] for row in (head, *body)]
    spec = {"kind": "table", "head": head, "body": body, "texts": columns_of_text(body)}
    return Result(spec, table_html(head, body))


def _text(text: str) -> Result:
    lines = [plots.readable(line, LETTERS) for line in text.expandtabs(4).strip("\n").split("\n")]
    if not text.strip() or len(lines) > LINES or len(text) > LETTERS:
        most = f"a text of 1 to {LINES} lines and {LETTERS} characters"
        raise ValueError(f"result of show: expected {most}, got {len(text)}: {expect.short_repr(text)}")
    text = "\n".join(lines)
    return Result(
        {"kind": "text", "text": text},
        f'<pre style="{WORDS}">{html.escape(text)}</pre>',
    )


def _in_words(value: Any) -> str:
    if isinstance(value, Tensor) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Real):
        return plain(value)
    if isinstance(value, Tensor):
        return repr(tidy(value))
    expect.instance("result of show", value, str, EXPECTED, "; try a function that ends in `return result`")
    return value


def plain(number: Real) -> str:
    """Write a number without an exponent: with four decimals, or with two significant digits if it is below 0.001."""
    if isinstance(number, Integral):
        return str(int(number))
    value = float(number)
    if not math.isfinite(value):
        return str(value)
    text = f"{Decimal(f'{value:.1e}' if abs(value) < 0.001 else repr(round(value, 4))):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
