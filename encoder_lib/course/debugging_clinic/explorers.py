"""The explorers of 10_debugging_clinic: two ways to cut into heads, and which test notices which fault."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.debugging_clinic.drawings import cut_boxes, grid_boxes
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import Web

if TYPE_CHECKING:
    import pandas as pd

LENGTH, HEADS, SIZE = 5, 2, 3  # T, H, K
CUTS = "A: reshape, transpose", "B: reshape alone"
NONE = "none"
MOST = 12


def two_cuts(rows: int = 0, cut: str = CUTS[0]) -> Explorer:
    """Cut the vectors of five tokens into two heads, in a right and in a wrong way, and fill row after row."""

    def show(rows: int, cut: str) -> View:
        heads = _heads(cut)
        tokens = heads.flatten(0, 1) // (HEADS * SIZE)  # (H·T, K)
        own = (tokens == torch.arange(LENGTH).repeat(HEADS)[:, None]).all(dim=1)  # (H·T,)
        return View(
            cut_boxes(heads, (LENGTH, HEADS * SIZE)),
            frames="rows",
            description=[_filled(n, cut, heads, own) for n in range(len(own) + 1)],
        )

    return Explorer(
        show,
        Range("rows", rows, min=0, max=HEADS * LENGTH, label="rows filled"),
        Select("cut", cut, options=CUTS),
        title="Two ways to cut into heads",
        web=Web(heights=(560, 565, 488)),
    )


def _heads(cut: str) -> Tensor:
    """The places in x (T, D) that the numbers of the heads (H, T, K) come from."""
    x = torch.arange(LENGTH * HEADS * SIZE).view(LENGTH, HEADS * SIZE)  # (T, D)
    if cut == CUTS[0]:
        return x.reshape(LENGTH, HEADS, SIZE).transpose(0, 1)
    return x.reshape(HEADS, LENGTH, SIZE)


def _filled(rows: int, cut: str, heads: Tensor, own: Tensor) -> str:
    """Describe the row that was filled last, and how many rows hold a slice of their own token."""
    start = f"Cut {cut[0]}, {rows} of {len(own)} rows filled."
    if not rows:
        return f"{start} Each of the {LENGTH} tokens has {HEADS * SIZE} numbers, which go to {HEADS} heads."
    head, row = divmod(rows - 1, LENGTH)
    places = heads[head, row].tolist()
    token = places[0] // (HEADS * SIZE)
    verdict = "as it should" if own[rows - 1] else f"but this row is for token {row + 1}"
    right = int(own[:rows].sum())
    return (
        f"{start} Row {row + 1} of head {head + 1} holds numbers {places[0] + 1} to {places[-1] + 1} of "
        f"x, which belong to token {token + 1}, {verdict}. So far {right} of {rows} rows hold a slice of their own "
        "token."
    )


def who_notices(noticed: "pd.DataFrame", runs: int = 0, without: str = NONE) -> Explorer:
    """Fill a grid of tests and patients, run by run; one test may be left out.

    noticed: a row of truth values for each patient, a column for each test, as `fault_matrix` returns it.
    Raises TypeError for anything else, ValueError for more rows or columns than the picture has room for.
    """
    expected = (
        f"a table of truth values, a row for each of 1 to {MOST} patients, a column for each of 1 to {MOST} tests"
    )
    if getattr(noticed, "ndim", 0) != 2 or not hasattr(noticed, "dtypes") or any(t.kind != "b" for t in noticed.dtypes):
        raise TypeError(f"noticed: expected {expected}, got {expect.short_repr(noticed)} ({type(noticed).__name__})")
    if not all(1 <= size <= MOST for size in noticed.shape):
        raise ValueError(f"noticed: expected {expected}, got shape {noticed.shape}")
    values, tests = noticed.to_numpy(dtype=bool), [str(name) for name in noticed.columns]
    patients = len(values)

    def show(runs: int, without: str) -> View:
        left_out = [name == without for name in tests]
        kept = values & ~np.array(left_out)
        nobody = [p + 1 for p in range(patients) if not kept[p].any()]
        words = [_run(n, values, tests, without) for n in range(values.size)]
        if nobody:
            names = " and ".join(f"patient {p}" for p in nobody)
            last = f"No test notices {names}."
        else:
            last = "Each patient is noticed by at least one test."
        left = "" if without == NONE else f" without {without}"
        return View(
            grid_boxes(values, tests, left_out),
            frames="runs",
            description=[*words, f"All {values.size} runs of {len(tests)} tests are done{left}. {last}"],
        )

    return Explorer(
        show,
        Range("runs", runs, min=0, max=values.size, label="runs"),
        Select("without", without, options=(NONE, *tests), label="leave out"),
        title="Who notices which fault",
        web=Web(heights=(610, 565, 539)),
    )


def _run(runs: int, noticed: np.ndarray, tests: list[str], without: str) -> str:
    """Describe the last run."""
    left = f" Without {without}." if without != NONE else ""
    if not runs:
        return f"No test has run yet. {len(tests)} tests will visit {len(noticed)} patients.{left}"
    test, patient = divmod(runs - 1, len(noticed))
    if tests[test] == without:
        return f"Run {runs}: {without} is left out."
    found = "notices something in" if noticed[patient, test] else "notices nothing in"
    return f"Run {runs}: {tests[test]} {found} patient {patient + 1}.{left}"
