"""Drawings in words, boxes and arrows, as SVG: they stand in the prose, and the encoder's in every notebook.

There is one layout, 410 units wide, in three rows: legible on a phone, small on a page. A drawing is light or dark as
the page that shows it, and brings its own ground, so that it is legible where that fails; what is lit is bold and
filled as well as coloured. The notebooks show it as a file, `![alt](pictures/heads.svg)`: JupyterLab shows a picture
in the prose, and its alt text, before a notebook is trusted or has run, and takes the SVG itself out of the prose and
out of untrusted outputs. The files in `notebooks/pictures` are what these functions give; `make notebooks` writes them.
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


def _cells(x: float, y: float, *kinds: str) -> str:
    """A row of numbers from `x` on, one square each, with its middle at the height `y`."""
    places = [f'x="{x + 20 * i:g}" y="{y - 9:g}" width="20" height="18"' for i in range(len(kinds))]
    return "".join(f'<rect class="{kind}" {place}/>' for kind, place in zip(kinds, places, strict=True))


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


def _drawing(height: float, alt: str, *content: str) -> str:
    """A drawing with the alt text that says in words what it shows."""
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 410 {height:g}" width="450"'
    named = f' role="img" aria-label="{html.escape(alt)}"><style>{STYLE}</style>'
    ground = f'<rect class="ground" width="410" height="{height:g}" rx="8"/>'
    return "\n".join([begin, named, ground, *content, "</svg>"]) + "\n"


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
    return _drawing(
        282,
        f"The encoder{said}. A text becomes tokens, T ids, and T × D numbers from the embedding table, plus positions. "
        "N blocks of attention, add, norm, feed-forward, add, norm keep that shape. The vectors' mean, D numbers, "
        "goes into a cosine.",
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
    )


def draw_attention() -> str:
    """Draw one attention, from the vectors x to the output, with the shapes of what passes on."""
    q, k, v, middle = 28, 88, 156, 58  # the heights
    made = [
        _arrow((38, k), (48, k), (48, y), (89, y), shape=f"W_{letter}", at=(68, y - 6)) + _box(90, y, 66, words)
        for y, letter, words in ((q, "Q", "queries"), (k, "K", "keys"), (v, "V", "values"))
    ]
    return _drawing(
        184,
        "Attention, from left to right. Three matrices make queries, keys and values of x, T × D: T × K each. Queries "
        "and keys give the scores, T × T; the softmax makes each row of them weights; with these the values are added "
        "up to the output, T × K.",
        _box(6, k, 32, "x") + _text(22, k + 32, "T × D", "soft"),
        *made,
        _arrow((156, q), (180, q), (180, middle - 8), (203, middle - 8), shape="T × K", at=(176, q - 8)),
        _arrow((156, k), (180, k), (180, middle + 8), (203, middle + 8), shape="T × K", at=(176, k + 15)),
        _box(204, middle, 74, "scores", "q · k / √K", height=42),
        _arrow((278, middle), (339, middle), shape="T × T") + _text(308, middle + 15, "softmax", "soft"),
        _box(340, middle, 64, "weights") + _arrow((372, middle + 17), (372, v - 18), shape="T × T", at=(350, 110)),
        _arrow((156, v), (339, v), shape="T × K") + _box(340, v, 64, "output"),
    )


def draw_heads() -> str:
    """Draw how two heads share a vector of eight numbers: cut, attended apart, put side by side, mixed."""
    first, second = ["box"] * 4, ["second"] * 4
    heads = "".join(
        _arrow((x, 33), (x, 44), (middle, 44), (middle, 58)) + _cells(middle - 40, 68, *kinds)
        + _arrow((middle, 77), (middle, 94)) + _box(middle - 70, 112, 140, f"attention of head {number}")
        + _arrow((middle, 129), (middle, 146)) + _cells(middle - 40, 156, *kinds)
        + _arrow((middle, 165), (middle, 178), (x, 178), (x, 190))
        for number, x, middle, kinds in ((1, 165, 95, first), (2, 245, 315, second))
    )  # fmt: skip
    return _drawing(
        270,
        "Two heads share a vector of D = 8 numbers. A query, like key and value, is cut into 2 slices of K = 4. Each "
        "head attends with its own slice and gives 4 numbers; side by side they are 8 again, and W_O mixes them.",
        _text(62, 28, "query, key, value", "soft") + _cells(125, 24, *first, *second) + _text(330, 28, "D = 8", "soft"),
        heads + _text(205, 72, "K = 4", "soft") + _text(205, 160, "K = 4", "soft"),
        _text(62, 204, "side by side", "soft") + _cells(125, 200, *first, *second) + _text(330, 204, "D = 8", "soft"),
        _arrow((205, 209), (205, 236), shape="W_O", at=(224, 227)),
        _text(62, 250, "output", "soft") + _cells(125, 246, *["box"] * 8) + _text(330, 250, "D = 8", "soft"),
    )


def notebook_drawings() -> dict[str, str]:
    """The drawings in the notebooks, by the names of their files; one named as a notebook lights what links to it."""
    notebooks = {name: [part for part in LINKS if LINKS[part] == name] for name in LINKS.values()}
    drawn = {name: draw_encoder(*lit) for name, lit in notebooks.items()}
    return {"encoder": draw_encoder(), **drawn, "attention": draw_attention(), "heads": draw_heads()}
