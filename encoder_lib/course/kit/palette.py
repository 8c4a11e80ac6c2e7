"""The course's colours, a hue for each role, as `front_end/palette.css` defines them for both themes."""

import re
from pathlib import Path

FILE = Path(__file__).parent / "widget" / "front_end" / "palette.css"
DEFINED = re.compile(r"--([\w-]+):\s*light-dark\((#\w{6}),\s*(#\w{6})\)")

LIGHT: dict[str, str] = {}  # "attention": "#…", by the names of the custom properties
DARK: dict[str, str] = {}
for _role, _light, _dark in DEFINED.findall(FILE.read_text(encoding="utf-8")):
    LIGHT[_role], DARK[_role] = _light, _dark

# A hue is a role. Models that are only compared, for instance with and without a part, have none. The one that a figure
# is about gets the blue of the followed token; the others are grey, with different dashes and markers. Light -> dark.
FOLLOWED = "sentence-1"
COMPARED = {LIGHT[FOLLOWED]: DARK[FOLLOWED], "#4c596d": "#aab4c4", "#8b94a2": "#727d8d"}
VISIBLE = {"#f2cbbb": "#6d3d1d"}  # the pale hue of attention, of what a mask lets through

# Further colours for words, at least 4.5 to 1 on their ground: light -> dark, as `front_end/plane.js` has them.
WORDS = {"#1a4fb8": "#6fa8ff", "#b25c00": "#e8bb62", "#008058": "#8cc48f", "#730d62": "#b673b3"}
