"""The course's colours, a hue for each role, as `front_end/palette.css` defines them for both themes."""

import re
from pathlib import Path

FILE = Path(__file__).parent / "widget" / "front_end" / "palette.css"
DEFINED = re.compile(r"--([\w-]+):\s*(?:light-dark\(\s*(#\w{6})\s*,\s*(#\w{6})\s*\)|(#\w{6}))")


def read(css: str) -> tuple[dict[str, str], dict[str, str]]:
    """The colours of the light theme and of the dark one, by the names of the custom properties.

    A name is defined first for the light theme and then for the dark one, or once for both with `light-dark`.
    """
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for name, bright, dim, plain in DEFINED.findall(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        if bright:
            light[name], dark[name] = bright, dim
        else:
            (dark if name in light else light)[name] = plain
    return light, light | dark


LIGHT, DARK = read(FILE.read_text(encoding="utf-8"))
