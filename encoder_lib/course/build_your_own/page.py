"""A page to print."""

import html
from collections.abc import Mapping
from pathlib import Path

from encoder_lib.course.build_your_own.own import BROKEN, CHECKS, LENT, OWN, Workshop


class Page:
    """A page to print: what was built, and what was measured with it. It certifies nothing."""

    def __init__(self, workshop: Workshop, measured: Mapping[str, str], *, name: str = ""):
        """measured: what was asked -> the answer, in the order of the page. name: whose encoder it is."""
        self.workshop, self.measured, self.name = workshop, dict(measured), name

    def rows(self) -> list[tuple[str, str]]:
        """What stands on the page: each line's name and value."""
        words = {OWN: "own", BROKEN: "own, and broken", LENT: "lent by the library"}
        return [*((part, words[whose]) for part, whose in self.workshop.whose.items()), *self.measured.items()]

    def __repr__(self) -> str:
        return "\n".join([self._title(), *(f"{name}: {value}" for name, value in self.rows())])

    def _title(self) -> str:
        whose = f" by {self.name}" if self.name else ""
        return f"A Transformer encoder{whose}: {len(self.workshop.own)} of {len(CHECKS)} parts written by hand"

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
            for name, value in self.rows()
        )
        kind = 'class="mathjax_ignore tex2jax_ignore"'  # a dollar sign of the reader's starts no formula
        return f"<div {kind}><p><strong>{html.escape(self._title())}</strong></p><table>{rows}</table></div>"

    def save(self, path: str | Path) -> None:
        """Write the page as a file that a browser opens and prints.

        Raises: FileExistsError when there is one of that name already.
        """
        path = Path(path)
        if path.exists():
            raise FileExistsError(f"path: expected a name that is free, got {path.name!r}, which is there; try another")
        head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(self._title())}</title>'
        style = "body{font-family:sans-serif;max-width:42em;margin:3em auto} th,td{padding:.2em;text-align:left}"
        path.write_text(f"{head}<style>{style}</style>{self._repr_html_()}</html>\n", encoding="utf-8")
