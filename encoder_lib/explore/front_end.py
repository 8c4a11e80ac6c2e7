"""The front-end files beside this one: plain modules for the browser, with nothing to build and nothing to download."""

from pathlib import Path

FOLDER = Path(__file__).parent
STYLE = (FOLDER / "explorer.css").read_text(encoding="utf-8")


def script(name: str) -> str:
    """Return the JavaScript file `name`, with the helpers of `dom.js` before it: a widget's front end is one module."""
    return "\n".join((FOLDER / file).read_text(encoding="utf-8") for file in ("dom.js", name))
