"""A finished picture as the output of a cell, with alt text that survives wherever the notebook is read."""

import base64
import html
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import count
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from encoder_lib.course.kit.palette import COMPARED, DARK, LIGHT, VISIBLE, WORDS
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.colour_maps import OURS, light_to_dark
from encoder_lib.course.kit.plots.fonts import FAMILY, embedded
from encoder_lib.course.kit.plots.names import place_all_names

# Text stays text, and names are the same in each run.
AGAIN: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "course"}
UNDATED = dict.fromkeys(("Creator", "Date", "Format", "Type"))
SVG = "data:image/svg+xml;base64,"
SHARP = 192  # pixels per inch of what is stored as pixels: two for each pixel of the page
PAPER = {"light": "#ffffff", "dark": "#111111"}  # JupyterLab's own; elsewhere a picture stays readable on it
HALO = ".halo text{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"  # see `style.HALO`
# Every colour that changes with the theme; black is what a cell draws without asking for a colour.
IN_THE_DARK = {LIGHT[role]: DARK[role] for role in LIGHT} | COMPARED | VISIBLE | WORDS | {"#000000": DARK["ink"]}
IN_THE_DARK |= style.IN_THE_DARK | {ink: dark for (light, dark), ink in style.INKS.items() if light != dark}
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
IMAGE = re.compile(r'<image[^>]* href="data:image/png;base64,([^"]*)"[^>]*/>')
ONE_OF_TWO = ".dark{display:none}@media(prefers-color-scheme:dark){.light{display:none}.dark{display:inline}}"
VIEW = re.compile(r'<svg [^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>')
EXACT_OR_LONG = re.compile(r">[^<]+<|(?:scale|matrix)\([^)]*\)|base64,[^\"']*|-?\d*\.\d{3,}(?:e-\d+)?")


@dataclass(frozen=True)
class Picture:
    """A finished picture: an SVG that follows the theme of its page, and an alt text that says what it shows."""

    svg: str
    alt: str

    def __repr__(self) -> str:
        return f"<picture: {self.alt}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a notebook the picture as an image with its alt text, and as text."""
        data = base64.b64encode(self.svg.encode()).decode()
        alt = html.escape(self.alt, quote=True)
        image = f'<img alt="{alt}" src="{SVG}{data}" class="figure" style="max-width:100%">'
        return {"text/html": image, "text/plain": repr(self)}


def show(picture: Axes | Figure, *, alt: str) -> Picture:
    """Render a figure, or the figure of an Axes, once, close it, and return it with its alt text as a cell output."""
    figure = picture if isinstance(picture, Figure) else picture.figure.get_figure(root=True)
    _close_gaps(figure)
    place_all_names(figure)
    file = io.StringIO()
    with mpl.rc_context(AGAIN):
        figure.savefig(
            file,
            format="svg",
            dpi=SHARP,
            bbox_inches="tight",
            pad_inches=style.MARGIN,
            facecolor="none",
            metadata=UNDATED,
        )
    plt.close(figure)  # otherwise the notebook would draw it a second time
    return Picture(themed(file.getvalue()), style.readable(alt, 2000))


def _close_gaps(figure: Figure) -> None:
    """Move plots of fixed proportions closer together where the layout gave them more room than they need."""
    plots = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    engine = figure.get_layout_engine()
    fixed = all(ax.get_aspect() != "auto" or ax.get_box_aspect() is not None for ax in plots)
    fixed = fixed and not figure.get_supxlabel() and not figure.get_supylabel()  # they would stay behind
    if fixed and len({ax.get_gridspec() for ax in plots}) == 1 and isinstance(engine, ConstrainedLayoutEngine):
        figure.set_layout_engine("compressed", **engine.get())


def themed(svg: str) -> str:
    """Return matplotlib's SVG in the palette's colours for both themes, with its font, and without what isn't needed.

    A colour of `IN_THE_DARK` becomes a variable, so that it changes with the theme; every other colour stays. What has
    no fill is black, because matplotlib leaves that out.
    """
    _, wide, high, body = VIEW.split(svg)  # in points; 72 of them are 96 pixels
    body, rules = _with_classes(_short(body))
    body, pairs = IMAGE.subn(_in_both_themes, body)
    found = dict.fromkeys(colour for colour in COLOUR.findall(rules + body) if colour in IN_THE_DARK)
    used = {colour: f"--{_letters(i)}" for i, colour in enumerate(found)}
    rules, body = (
        COLOUR.sub(lambda colour: f"var({used[colour[0]]})" if colour[0] in used else colour[0], text)
        for text in (rules + ONE_OF_TWO * bool(pairs), body)
    )
    light = "".join(f"{name}:{colour};" for colour, name in used.items()) + f"--ink:{LIGHT['ink']};"
    dark = "".join(f"{name}:{IN_THE_DARK[colour]};" for colour, name in used.items()) + f"--ink:{DARK['ink']};"
    sheet = (
        f"svg{{{light}--paper:{PAPER['light']};background:var(--paper);font-family:{FAMILY},sans-serif;fill:var(--ink)}}"
        f"@media(prefers-color-scheme:dark){{svg{{{dark}--paper:{PAPER['dark']}}}}}"
        f"*{{stroke-linejoin:round}}{HALO}{rules}{_fonts(body, rules)}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{float(wide) * 4 / 3:.0f}" height="{float(high) * 4 / 3:.0f}" '
        f'viewBox="0 0 {wide} {high}"><style>{sheet}</style>{body}'
    )


def _in_both_themes(tag: re.Match[str]) -> str:
    """An image of colours that change with the theme as two images, of which the theme shows one; any other stays."""
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(tag[1]))).convert("RGBA"))  # (H, W, 4)
    colours, indices = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    light = [to_hex(colour / 255) for colour in colours]
    opaque = colours[:, 3] > 0
    maps = [pairs for pairs in map(light_to_dark, OURS) if pairs.keys() >= {*np.array(light)[opaque]}]
    if len(colours) > 256 or not maps:
        return tag[0]
    dark = [maps[0].get(colour, colour) for colour in light]
    indices = indices.reshape(pixels.shape[:2])
    images = {theme: _png(indices, chosen, opaque) for theme, chosen in (("light", light), ("dark", dark))}
    return "".join(f'<g class="{theme}">{tag[0].replace(tag[1], png)}</g>' for theme, png in images.items())


def _png(indices: np.ndarray, colours: list[str], opaque: np.ndarray) -> str:
    """An image of these colours, some of them transparent, as PNG in base64. indices: of the pixels' colours."""
    image, file = Image.fromarray(indices.astype(np.uint8)), io.BytesIO()
    image.putpalette([round(255 * part) for colour in colours for part in to_rgb(colour)])
    image.save(file, "png", optimize=True, transparency=bytes(255 * opaque.astype(np.uint8)))
    return base64.b64encode(file.getvalue()).decode()


def _short(svg: str) -> str:
    """Leave out comments, names that nothing refers to, and digits that nobody sees; what is written stays as it is."""
    svg = re.sub(r"(?s)<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", svg)
    svg = re.sub(r"(?<=base64,)[^\"]*", lambda data: "".join(data[0].split()), svg)
    svg = re.sub(r"\s+", " ", svg).replace("> <", "><").replace(' "', '"').replace("xlink:href", "href")
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"( ?font-family: )'Course Sans'[^;\"]*;?", "", svg)
    svg = re.sub(r'style="([^"]*)"', lambda look: look[0].replace(": ", ":").replace("; ", ";"), svg)
    svg = EXACT_OR_LONG.sub(lambda x: x[0] if x[0][0] in ">smb" else f"{round(float(x[0]), 2) + 0.0:g}", svg)
    svg = re.sub(r'(?<= d=")[^"]*', lambda path: _short_path(path[0]), svg)
    svg = re.sub(r' id="halo"', ' class="halo"', svg)
    used = dict.fromkeys(re.findall(r'(?:href="|url\()#([\w-]+)', svg))
    names = dict(zip(used, map(_letters, count()), strict=False))
    svg = re.sub(r' id="([^"]*)"', lambda name: f' id="{names[name[1]]}"' if name[1] in names else "", svg)
    svg = re.sub(r'((?:href="|url\()#)([\w-]+)', lambda name: name[1] + names[name[2]], svg)
    return _ungrouped(svg.replace("<defs></defs>", ""))


def _short_path(path: str) -> str:
    """The same path, with its horizontal and vertical lines written as H and V."""
    short, x, y = "", "", ""
    for step in re.findall(r"[A-DF-Za-df-z][^A-DF-Za-df-z]*", path):
        numbers = step[1:].split()
        if step[0] == "L" and numbers[0] == x:
            short += f"V{numbers[1]}"
        elif step[0] == "L" and numbers[1] == y:
            short += f"H{numbers[0]}"
        else:
            short += step[0] + " ".join(numbers)
        x, y = numbers[-2:] or ("", "")
    return short


def _ungrouped(svg: str) -> str:
    """The same SVG without the groups that have no attribute."""
    kept: list[bool] = []

    def tag(found: re.Match[str]) -> str:
        if found[0] == "</g>":
            return "</g>" if kept.pop() else ""
        kept.append(found[0] != "<g>")
        return found[0] if kept[-1] else ""

    return re.sub(r"</?g\b[^>]*>", tag, re.sub("<g[^>]*/>", "", svg))


def _with_classes(svg: str) -> tuple[str, str]:
    """Replace each style that occurs more than once by a class. Returns the SVG and the rules of its classes."""
    looks = Counter(re.findall(r'style="([^"]*)"', svg))
    names = {look: _letters(i) for i, look in enumerate(look for look, times in looks.items() if times > 1)}
    svg = re.sub(r'style="([^"]*)"', lambda look: f'class="{names[look[1]]}"' if look[1] in names else look[0], svg)
    return svg, "".join(f".{name}{{{look}}}" for look, name in names.items())


def _fonts(body: str, rules: str) -> str:
    """The font in the letters that the text of an SVG needs, in each of its weights."""
    bold = {f'class="{name}"' for name, look in re.findall(r"\.(\w+){([^}]*)}", rules) if "font-weight:700" in look}
    letters: dict[int, set[str]] = {400: set(), 700: set()}
    for look, text in re.findall(r"<text ([^>]*)>([^<]*)", body):
        weight = 700 if "font-weight:700" in look or any(name in look for name in bold) else 400
        letters[weight] |= set(html.unescape(text))
    return "".join(embedded(weight, "".join(sorted(used))) for weight, used in letters.items() if used)


def _letters(number: int) -> str:
    """A short name for each number."""
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(97 + number % 26)
