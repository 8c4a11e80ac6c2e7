"""The front-end files beside this one: modules for the browser, with nothing to build and nothing to download."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
STYLE = (FOLDER / "explorer.css").read_text(encoding="utf-8")
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default )", re.MULTILINE)


def script(entry: str) -> str:
    """Return the front end of a widget, `explorer.js` or `prediction.js`, as one module, which is what anywidget takes.

    The modules that it builds on come first, each after its own, without their lines that import and export. They share
    one scope, so that no two modules of a widget may give one name at their top level to two things.
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
