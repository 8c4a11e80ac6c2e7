"""The font of all figures: Source Sans in the letters and signs that the course uses, under a name of its own."""

import base64
import io
from functools import lru_cache
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from matplotlib.font_manager import fontManager

FAMILY = "Course Sans"
FILES = {400: "CourseSans-Regular.ttf", 700: "CourseSans-Bold.ttf"}  # by their weights

for _name in FILES.values():
    fontManager.addfont(Path(__file__).parent / _name)


@lru_cache(maxsize=64)
def embedded(weight: int, letters: str) -> str:
    """Return a CSS rule that holds these letters of the font in one weight, and no others."""
    font = TTFont(Path(__file__).parent / FILES[weight], recalcTimestamp=False)
    chosen = Subsetter(Options(name_IDs=[], notdef_outline=False, layout_features=[]))
    chosen.populate(text=letters)
    chosen.subset(font)
    font.flavor, file = "woff", io.BytesIO()
    font.save(file)
    data = base64.b64encode(file.getvalue()).decode()
    return f"@font-face{{font-family:{FAMILY};font-weight:{weight};src:url(data:font/woff;base64,{data})}}"
