"""The encoder in words, boxes and arrows, as SVG: it stands in every notebook, with its own part lit.

There is one layout, 410 units wide, in three rows: legible on a phone, small on a page. A drawing is light or dark as
the page that shows it, and brings its own ground, so that it is legible where that fails; what is lit is bold and
filled as well as coloured. The notebooks show it as a file, `![alt](pictures/encoder.svg)`: JupyterLab shows a picture
in the prose, and its alt text, before a notebook is trusted or has run, and takes the SVG itself out of the prose and
out of untrusted outputs. `make notebooks` writes the files; the other drawings there are drawn by hand in its style.
"""

import html
import re

LINKS = {  # part -> the notebook about it; a web page that holds the drawing itself follows it, a picture cannot
    "tokens": "01_embedding", "embedding": "01_embedding", "position": "02_positional_encoding",
    "attention": "04_attention", "add": "06_encoder_block", "norm": "03_layer_norm", "feed_forward": "05_feed_forward",
    "block": "06_encoder_block", "stack": "07_encoder_stack",
    "vectors": "09_pretrained", "mean": "09_pretrained", "cosine": "09_pretrained",
}  # fmt: skip
THEMES = {  # what a colour is for -> its value in the light theme and in the dark one
    "ground": ("#ffffff", "#1c1f24"), "ink": ("#1f2328", "#e6e8eb"), "soft": ("#59636e", "#a8b0ba"),
    "lit": ("#b84e00", "#ff9a4d"), "glow": ("#ffe3cc", "#5a2f0a"),
}  # fmt: skip
LIGHT, DARK = (";".join(f"--{name}:{both[i]}" for name, both in THEMES.items()) for i in (0, 1))
STYLE = (
    f".drawing{{{LIGHT};font:13px Arial,Helvetica,sans-serif;text-anchor:middle}}"
    f"@media(prefers-color-scheme:dark){{.drawing{{{DARK}}}}}"
    ".drawing text{fill:var(--ink);stroke:none}.drawing .soft{fill:var(--soft);font-size:12px;font-style:italic}"
    ".drawing :is(rect,circle,path){fill:none;stroke:var(--soft);stroke-width:1.3}"
    ".drawing .box{fill:var(--ground);stroke:var(--ink)}"
    ".drawing .ground{fill:var(--ground);fill-opacity:.9;stroke:none}"
    ".drawing .second{fill:var(--glow);stroke:var(--ink)}"
    ".drawing .lit :is(rect,circle,path){fill:var(--glow);stroke:var(--lit);stroke-width:3}"
    ".drawing .lit text{font-weight:bold}"
)


def _text(x: float, y: float, words: str, kind: str = "word") -> str:
    lowered = re.sub(r"_(\w)", r'<tspan dy="3" font-size="9">\1</tspan>', html.escape(words))
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{lowered}</text>'


def _box(x: float, y: float, width: float, *lines: str, height: float = 34) -> str:
    """A box from `x` on, with its middle at the height `y`, and lines of text in it."""
    rows = (_text(x + width / 2, y + 4.5 + 16 * (i - (len(lines) - 1) / 2), line) for i, line in enumerate(lines))
    shape = f'<rect class="box" x="{x:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" rx="6"/>'
    return shape + "".join(rows)


def _plus(x: float, y: float) -> str:
    return f'<circle class="box" cx="{x:g}" cy="{y:g}" r="9"/>' + _text(x, y + 4.5, "+")


def _arrow(*points: tuple[float, float], shape: str = "", at: tuple[float, float] | None = None) -> str:
    """A line through points with a head at its end, and the shape that passes, above the last piece or at a place."""
    (x, y), (end_x, end_y) = points[-2:]
    sign = 4 if end_x + end_y > x + y else -4
    head = f"m{-sign} -4l{sign} 4l{-sign} 4" if end_y == y else f"m-4 {-sign}l4 {sign}l4 {-sign}"
    label_x, label_y = at or ((x + end_x) / 2, y - 6)
    line = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="{line}{head}"/>' + (_text(label_x, label_y, shape, "soft") if shape else "")


def draw_encoder(*lit: str) -> str:
    """Draw the encoder, from a text to a cosine, with the shapes of what passes on; parts that are named are lit.

    Each part is a group with its name as `data-part`, which has the class `lit` or not; "add" and "norm" stand twice.
    """

    def part(name: str, *shapes: str) -> str:
        state = ' class="lit"' if name in lit else ""
        return f'<a href="{LINKS[name]}.ipynb"><g data-part="{name}"{state}>{"".join(shapes)}</g></a>'

    first, second, last = 58, 156, 254  # the heights of the rows
    copies = "".join(f'<rect x="{18 + d}" y="{108 + d}" width="371" height="86" rx="10"/>' for d in (8, 4))
    frame = '<rect class="box" x="18" y="108" width="371" height="86" rx="10" stroke-dasharray="5 4"/>'
    said = f", with {', '.join(name.replace('_', '-') for name in lit)} lit" if lit else ""
    alt = (
        f"The encoder{said}. A text becomes tokens, T ids, and T × D numbers from the embedding table, plus positions. "
        "N blocks of attention, add, norm, feed-forward, add, norm keep that shape. The vectors' mean, D numbers, "
        "goes into a cosine."
    )
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 410 282" width="450"',
        f' role="img" aria-label="{html.escape(alt)}"><style>{STYLE}</style>',
        '<rect class="ground" width="410" height="282" rx="8"/>',
        part("tokens", _box(8, first, 42, "text"), _box(63, first, 60, "tokens"), _box(136, first, 32, "ids")),
        _arrow((50, first), (62, first)) + _arrow((123, first), (135, first)),
        _arrow((168, first), (191, first), shape="T"),
        part("embedding", _box(194, first, 88, "embedding", "table"))
        + _arrow((282, first), (341, first), shape="T × D"),
        part("position", _box(311, 20, 82, "positions", height=26), _plus(352, first)),
        _arrow((352, 33), (352, first - 10)),
        part("stack", copies, _text(356, 216, "N times")),
        part("block", frame, _text(66, 189, "one block")),
        _arrow((352, first + 9), (352, 97), (8, 97), (8, second), (37, second), shape="T × D", at=(190, 92)),
        _arrow((28, second), (28, 122), (140, 122), (140, second - 10)),
        _arrow((215, second), (215, 122), (316, 122), (316, second - 10)),
        part("attention", _box(38, second, 80, "attention")) + _arrow((118, second), (130, second)),
        part("add", _plus(140, second)) + _arrow((149, second), (160, second)),
        part("norm", _box(161, second, 47, "norm")) + _arrow((208, second), (226, second)),
        part("feed_forward", _box(227, second, 67, "feed-", "forward")) + _arrow((294, second), (306, second)),
        part("add", _plus(316, second)) + _arrow((325, second), (335, second)),
        part("norm", _box(336, second, 47, "norm")),
        _arrow((383, second), (402, second), (402, 220), (8, 220), (8, last), (25, last), shape="T × D", at=(190, 215)),
        part("vectors", _box(26, last, 62, "vectors")) + _arrow((88, last), (115, last)),
        part("mean", _box(116, last, 52, "mean")) + _arrow((168, last), (203, last), shape="D"),
        part("cosine", _box(204, last, 60, "cosine")),
        _text(332, last - 4, "T tokens,", "soft") + _text(332, last + 12, "D numbers in each", "soft"),
        "</svg>\n",
    )
    return "\n".join(drawn)


def notebook_drawings() -> dict[str, str]:
    """The encoder by the names of its files; one that is named as a notebook lights what links to it."""
    notebooks = {name: [part for part in LINKS if LINKS[part] == name] for name in LINKS.values()}
    return {"encoder": draw_encoder(), **{name: draw_encoder(*lit) for name, lit in notebooks.items()}}
