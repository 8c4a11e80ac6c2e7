"""The front-end files in this folder: modules for the browser, which need no build step and no download."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default )", re.MULTILINE)


def style(*names: str) -> str:
    """Return these style sheets as one."""
    return "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in names)


STYLE = style("palette.css", "explorer.css")


def script(entry: str) -> str:
    """Return the front end of a widget, `explorer.js` or `prediction.js`, as a single module, as anywidget expects.

    The modules that it imports come first, each after those it imports itself, and without their import and export
    lines. They share one scope, so two modules of a widget must not define the same name at their top level.
    """
    sources: dict[str, str] = {}

    def collect(name: str) -> None:
        if name not in sources:
            source = (FOLDER / name).read_text(encoding="utf-8")
            for other in IMPORT.findall(source):
                collect(other)
            sources[name] = EXPORT.sub("", IMPORT.sub("", source))

    collect(entry)
    return "\n".join(sources.values())
