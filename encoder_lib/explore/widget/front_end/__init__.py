"""The front-end files beside this one: plain modules for the browser, with nothing to build and nothing to download."""

from pathlib import Path

FOLDER = Path(__file__).parent
STYLE = (FOLDER / "explorer.css").read_text(encoding="utf-8")


def script(*names: str) -> str:
    """Return JavaScript files as one module, a widget's front end: the helpers of `dom.js`, then `names` in order."""
    return "\n".join((FOLDER / file).read_text(encoding="utf-8") for file in ("dom.js", *names))
