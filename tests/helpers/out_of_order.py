"""A reader who goes back in a notebook, or restarts its kernel half-way, after its cells have run."""

import re

from notebook_rules import code_cells, tags

CLINIC = "10_debugging_clinic"


def goes_back(run):
    """All sections, run again from the last to the first: what goes wrong or differs, by the cell.

    A slow cell is left out: what it has made is still there.
    """
    _, *others = sections(run.notebook)
    return wrong_in(run, [cell for section in reversed(others) for cell in section if cell.id not in run.slow])


def restarts_half_way(run, *, cases=False):
    """What goes wrong or differs after a restart, from the middle on: at once, and after the set-up.

    An error that says plainly that a cell further up has not run is not wrong. Nothing is left of what ran before a
    restart, so that the set-up replaces the whole first half. A slow cell is skipped, and cells that need it say so.
    With `cases`, as in the clinic, exercises need nothing but the set-up, and all sections are tried.
    """
    setup, *others = sections(run.notebook)
    middle = len(others) // 2
    run.restart()
    found = without_plain(run, others[middle])
    found |= wrong_in(run, setup)
    if cases:
        return found | without_plain(run, joined(reversed(others))) | wrong_in(run, exercises(run.notebook)[::-1])
    return found | without_plain(run, joined(others[middle:]))


def exercises(notebook):
    """The cells that the reader should write."""
    return [cell for cell in code_cells(notebook) if "exercise" in tags(cell)]


def without_plain(run, cells):
    """What goes wrong in cells, without the errors that name something of a cell above; slow cells are left out."""
    wrong = wrong_in(run, [cell for cell in cells if cell.id not in run.slow])
    return {place: bad for place, bad in wrong.items() if not lacks(bad, run.notebook.cells[:place])}


def wrong_in(run, cells):
    """What goes wrong or differs from what is stored in cells that run again, by the cell's place in the notebook."""
    return {run.notebook.cells.index(cell): bad for cell in cells if (bad := run.again(cell))}


def sections(notebook):
    """The set-up cell, then the code cells between one heading and the next."""
    found = [[]]
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and any(line.startswith("## ") for line in cell.source.splitlines()):
            found.append([])
        elif cell in code_cells(notebook):
            found[-1].append(cell)
    first, *others = found
    return [section for section in ([first[0]], first[1:], *others) if section]


def lacks(error, above):
    """Whether an error says plainly that a cell above has not run: it names something from there."""
    missing = re.fullmatch(r"NameError: name '(\w+)' is not defined", error)
    return missing is not None and any(
        cell.cell_type == "code" and re.search(rf"\b{missing[1]}\b", cell.source) for cell in above
    )


def joined(cells):
    """The cells of several sections, one after the other."""
    return [cell for section in cells for cell in section]
