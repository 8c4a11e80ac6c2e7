"""The front-end files beside this one: modules for the browser, with nothing to build and nothing to download."""

from pathlib import Path

from encoder_lib.explore.widget.front_end.join import join

FOLDER = Path(__file__).parent
STYLE = (FOLDER / "explorer.css").read_text(encoding="utf-8")


def script(name: str) -> str:
    """Return the front end of a widget as one module: `explorer.js` or `prediction.js` and all that it builds on."""
    return join(FOLDER / name)
