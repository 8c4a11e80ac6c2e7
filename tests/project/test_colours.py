"""Colours contrast with their background and are distinguishable with any colour vision, in plots and explorers.

Contrast is that of WCAG 2.2: 3 to 1 for marks (1.4.11), 4.5 to 1 for words (1.4.3). Colour vision deficiencies are
simulated at full severity (Machado et al., 2009), and distances are Euclidean in CIELAB.
"""

import itertools
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from jupyter_core.paths import jupyter_path
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb, to_rgba, to_rgba_array
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from pictures import DRAWN, WAVE, figure_of, plots
from places import ROOT

from encoder_lib.course import explore
from encoder_lib.course.kit import notebook, palette
from encoder_lib.course.kit.checking.verdict import Verdict
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.colour_maps import OURS, colour_map, is_diverging
from encoder_lib.course.kit.widget import front_end
from encoder_lib.course.kit.widget.plane import WORD_COLOURS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # compiling it, Python warns of the backslashes in its docstrings
    from colorspacious import cspace_convert

VISIONS = {  # as colorspacious names the colours that they see
    "usual": "sRGB1",
    **{
        f"{kind}opia": {"name": "sRGB1+CVD", "cvd_type": f"{kind}omaly", "severity": 100}
        for kind in ("protan", "deuteran", "tritan")
    },
}
LEAST = 20  # distance in CIELAB; about 2 is the least that an eye sees side by side
MARK, WORD = 3.0, 4.5
MEETING = (  # the roles of the palette that are drawn next to one another in the same form; lanes and norms are grey
    ("attention", "forward", "sentence-1", "sentence-2"),
    ("query", "key", "value"),
    ("embedding", "position"),
)


def lab(colours, vision="usual"):
    """CIELAB of colours (…, 3) from 0 to 1, as someone with that vision sees them."""
    seen = cspace_convert(colours, VISIONS[vision], "sRGB1")
    return cspace_convert(np.clip(seen, 0, 1), "sRGB1", "CIELab")


def distance(a, b):
    """The smallest distance of two colours, over all kinds of colour vision."""
    return min(np.linalg.norm(lab(to_rgb(a), vision) - lab(to_rgb(b), vision)) for vision in VISIONS)


def contrast(a, b):
    """The contrast ratio of two colours, from 1 to 21."""
    dark, light = sorted(cspace_convert(to_rgb(colour), "sRGB1", "XYZ1")[1] for colour in (a, b))
    return (light + 0.05) / (dark + 0.05)


def on_white(colour, alpha=None):
    """A colour, transparent or not, as it looks on white."""
    *rgb, opacity = to_rgba(colour, alpha)
    return tuple(opacity * np.array(rgb) + 1 - opacity)


def too_close(marks):
    """The pairs of marks (name, colour, form) that neither colour nor form distinguishes."""
    pairs = itertools.combinations(marks, 2)
    return [(a[0], b[0]) for a, b in pairs if a[2] == b[2] and distance(a[1], b[1]) < LEAST]


def too_pale(marks):
    """The marks without contrast on white."""
    return [name for name, colour, _ in marks if contrast(colour, "white") < MARK]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_contrast_of_known_colours():
    assert contrast("#777777", "white") == pytest.approx(4.48, abs=0.01)


def test_confusable_pairs_and_pale_marks_are_detected():
    assert too_close([("a", "#bf4f3f", "-"), ("b", "#7f7f3f", "-")]) == [("a", "b")]  # one colour without red cones
    assert too_close([("a", "#bf4f3f", "-"), ("b", "#7f7f3f", "--")]) == []
    assert too_pale([("right", "#2ca02c", "-"), ("pale", "#56b4e9", "-")]) == ["pale"]


# Pictures.


def test_palette_is_visible_and_distinguishable():
    """Also where dashes or markers begin anew, and colour alone is left. Only the first of them is blue."""
    for forms in (plots.DASHES, plots.MARKERS):
        marks = [(c, c, form) for c, form in itertools.islice(plots.style.compared(forms), 9)]
        assert too_pale(marks) == [] and too_close(marks) == [] and len(set(forms)) == len(forms)
        assert [mark[0] == palette.LIGHT[palette.FOLLOWED] for mark in marks] == [True] + 8 * [False]
    assert contrast(plots.GREY, "white") >= MARK and contrast(plots.NOT_FINITE, "white") >= MARK


def test_curves_are_distinguishable_in_the_dark():
    dark = [palette.COMPARED[colour] for colour in plots.COLOURS]
    assert min(contrast(colour, palette.DARK["ground"]) for colour in dark) >= MARK
    for forms in (plots.DASHES, plots.MARKERS):
        looks = itertools.islice(plots.style.compared(forms), 9)
        marks = [(colour, palette.COMPARED[colour], form) for colour, form in looks]
        assert too_close(marks) == []


def test_what_is_compared_has_the_hue_of_what_is_followed_or_none():
    """Hues are for roles: beside one, a grey is never taken for a part of the encoder."""
    (followed, *others), (followed_in_the_dark, *others_in_the_dark) = zip(*palette.COMPARED.items(), strict=True)
    assert (followed, followed_in_the_dark) == (palette.LIGHT[palette.FOLLOWED], palette.DARK[palette.FOLLOWED])
    greys = [*others, *others_in_the_dark]
    hues = [theme[role] for theme in (palette.LIGHT, palette.DARK) for group in MEETING for role in group]
    chroma = {colour: np.linalg.norm(lab(to_rgb(colour))[1:]) for colour in (*greys, *hues)}
    assert max(chroma[grey] for grey in greys) < 16 < 20 < min(chroma[hue] for hue in hues)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_both_tones_of_a_mask_differ(theme):
    visible = next(iter(palette.VISIBLE.items()))[theme]
    line, ground, quiet = ([palette.LIGHT, palette.DARK][theme][role] for role in ("line", "ground", "quiet"))
    assert distance(visible, line) >= 0.5 * LEAST, "a × says it too"
    assert distance(visible, ground) >= LEAST and contrast(quiet, line) >= MARK


def test_colours_of_words_can_be_read_in_both_themes():
    """And told apart, where words of one colour belong together; the last colour is that of text."""
    *light, text = WORD_COLOURS
    dark = re.findall(r'dark: "(#\w+)"', (front_end.FOLDER / "plane.js").read_text(encoding="utf-8"))
    assert dark == [*palette.WORDS.values()]
    assert len(dark) == len(light) == 4
    for colours, ink, ground in ((light, text, "#ffffff"), (dark, "#ffffff", "#111111")):
        assert min(contrast(colour, ground) for colour in colours) >= WORD
        assert min(distance(*pair) for pair in itertools.combinations([*colours, ink], 2)) >= LEAST


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_drawings_have_contrast_in_both_themes(theme):
    """Words on their background; edges of parts, lit or not, and what is lit from what is not; in the palette."""
    drawing = (ROOT / "notebooks/pictures/encoder.svg").read_text(encoding="utf-8")
    ground, ink, soft, lit, glow = (
        re.findall(rf"--{name}:(#\w+)", drawing)[theme] for name in ("ground", "ink", "soft", "lit", "glow")
    )
    roles = [palette.LIGHT, palette.DARK][theme]
    edges = [
        re.findall(rf"--{role}:(#\w+)", drawing)[theme] for role in re.findall(r"--lit:var\(--([\w-]+)\)", drawing)
    ]
    assert [lit, *edges] == [roles[r] for r in ["attention", *re.findall(r"--lit:var\(--([\w-]+)\)", drawing)]]
    tints = [tuple(0.18 * np.array(to_rgb(edge)) + 0.82 * np.array(to_rgb(ground))) for edge in (lit, *edges)]
    words = [(ink, ground), (soft, ground), (ink, glow), *((ink, tint) for tint in tints)]
    marks = [(lit, ground), *((edge, ground) for edge in edges)]
    assert [pair for pair in words if contrast(*pair) < WORD] + [pair for pair in marks if contrast(*pair) < MARK] == []
    assert min(distance(edge, ink) for edge in (lit, *edges)) >= LEAST


def test_drawings_have_the_palettes_colours_on_pages():
    css = (ROOT / "site/site.css").read_text(encoding="utf-8")
    found = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)
    assert {role for role, *_ in found} >= {"embedding", "position", "shared", "norm", "forward", "sentence-1", "key"}
    for role, *colours in found:
        role = "attention" if role == "lit" else role
        assert colours == [palette.LIGHT[role], palette.DARK[role]], role


@pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("roles", MEETING, ids="-".join)
def test_roles_that_meet_in_one_place_are_distinguishable(theme, roles):
    marks = [(role, theme[role], "") for role in roles]
    assert too_close(marks) == []


@pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_roles_have_contrast_on_every_ground(theme):
    grounds = [name for name in theme if name in ("ground", "band", "band-lit")]
    roles = {role for role in theme if role not in grounds and not role.startswith("line")}
    assert len(grounds) == 3 and {role for group in MEETING for role in group} < roles
    pale = [
        (role, ground)
        for role in sorted(roles)
        for ground in grounds
        if contrast(theme[role], theme[ground]) < (WORD if role in ("ink", "quiet") else MARK)
    ]
    assert pale == []


def colour_of(artist):
    """The colour of an artist as it looks on white; of what has no edge, that of its face."""
    if hasattr(artist, "get_color"):
        return on_white(artist.get_color(), artist.get_alpha())
    edges, faces = (to_rgba_array(colours) for colours in (artist.get_edgecolor(), artist.get_facecolor()))
    return on_white(edges[0] if len(edges) and edges[0, 3] else faces[0], artist.get_alpha())


def form_of(artist):
    """What distinguishes an artist besides its colour: the kind, the dash, the marker, a width that differs clearly."""
    if hasattr(artist, "get_marker"):
        return "line", artist.get_linestyle(), artist.get_marker(), round(np.log2(artist.get_linewidth()) / 1.5)
    if hasattr(artist, "get_paths") and len(artist.get_paths()):
        return type(artist).__name__, artist.get_paths()[0].vertices.round(3).tobytes()
    return (type(artist).__name__,)


def marks_of(figure):
    """What the legends of a figure name: the name, the colour on white and the form of each; of bars, the first one."""
    handles = {}
    for ax in figure.axes:
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    handles = {label: handle[0] if isinstance(handle, tuple) else handle for label, handle in handles.items()}
    return [(label, colour_of(handle), form_of(handle)) for label, handle in handles.items()]


def test_legend_entries_are_visible_and_distinguishable():
    with plt.rc_context({"figure.max_open_warning": 0}):  # all of them are open at once
        figures = {name: figure_of(name, names="abcdefg") for name in DRAWN}
        figures |= {e.__name__: e()._figure for e in (explore.depth, explore.fit_curve)}
    marks = {name: found for name, figure in figures.items() if (found := marks_of(figure))}
    assert len(marks) == 13, "eleven plots have a legend or name their curves, and these explorers"
    assert [(name, too_pale(found), too_close(found)) for name, found in marks.items()] == [(n, [], []) for n in marks]


def test_cards_are_legible_and_the_lit_arrow_differs():
    ax = plots.plot_cards(["a", "B", "c"], [1, 2, 0], ["b", "C", "a"], only=1)
    cards, arrows = [[p for p in ax.patches if isinstance(p, kind)] for kind in (FancyBboxPatch, FancyArrowPatch)]
    words = [contrast(text.get_color(), cards[0].get_facecolor()) for text in ax.texts]
    colours = [on_white(arrow.get_edgecolor(), arrow.get_alpha()) for arrow in arrows]
    assert len(words) == 9 and min(words) >= WORD
    assert min(contrast(colour, "white") for colour in colours) >= MARK
    assert min(distance(colours[1], colours[other]) for other in (0, 2)) >= LEAST
    assert arrows[1].get_linewidth() > arrows[0].get_linewidth()


@pytest.mark.parametrize("only", [None, [1]], ids=str)
def test_thin_attention_lines_have_contrast(only):
    ax = plots.plot_attention_lines([[0.9, 0.1], [0.05, 0.95]], ["a", "b"], only=only)
    shades = [contrast(on_white(line.get_color(), line.get_alpha()), "white") for line in ax.lines]
    words = [contrast(text.get_color(), "white") for text in ax.texts]
    assert len(shades) == 4 and min(shades) >= MARK and min(words) >= WORD


def test_histogram_bars_are_outlined():
    bars = plots.plot_histogram(WAVE, {}).patches
    assert min(contrast(bar.get_edgecolor(), "white") for bar in bars) >= MARK


def test_lit_cubes_differ_from_others_on_every_face():
    (ax,) = plots.plot_normalisations({"Layer norm": 2}).axes
    (cubes,) = ax.collections
    edges = {contrast(colour, "white") for colour in cubes.get_edgecolor()}
    faces = np.unique(cubes.get_facecolor()[:, :3].round(3), axis=0)
    lit = [face for face in faces if np.ptp(face) > 0.1]
    others = [face for face in faces if np.ptp(face) <= 0.1]
    assert len(lit) == len(others) == 3 and min(edges) >= MARK
    assert min(distance(a, b) for a in lit for b in others) >= LEAST


# Colour maps.


def ordered(name, vision, *, dark=False):
    """Whether lightness changes all the way to one side; in a diverging map, to the middle and back.

    A step back by less than 0.1 is the rounding of colours to 8 bits.
    """
    colours = lab(colour_map(name, dark=dark)(np.arange(256))[:, :3], vision)
    steps = np.diff(colours[:, 0]) * (1 if colours[128, 0] > colours[0, 0] else -1)
    if is_diverging(name):
        far = np.linalg.norm(colours[64] - colours[191]) >= 2 * LEAST  # below and above zero, half-way
        return far and (steps[:126] > -0.1).all() and (steps[129:] < 0.1).all()
    return (steps > -0.1).all() and abs(colours[-1, 0] - colours[0, 0]) > 50


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colour_maps_stay_ordered_with_every_vision(dark):
    assert [(name, vision) for name in OURS for vision in VISIONS if not ordered(name, vision, dark=dark)] == []
    assert not ordered("jet", "usual") and not ordered("RdYlGn", "deuteranopia")  # such maps would be noticed


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_least_colour_of_a_map_is_nearly_that_of_the_page(theme):
    """So near that it recedes, and so far that a cell is seen."""
    ground = [palette.LIGHT, palette.DARK][theme]["ground"]
    least = [colour_map(name, dark=bool(theme))(place)[:3] for name, place in (("sequential", 0), ("diverging", 0.5))]
    assert all(3 < np.linalg.norm(lab(to_rgb(ground)) - lab(colour)) < LEAST / 2 for colour in least)


def test_non_finite_cells_are_striped():
    """No cell with a number has stripes."""
    for value, striped in ((np.nan, True), (1.0, False)):
        ax = plt.figure(dpi=100).add_axes((0, 0, 1, 1))
        plots.plot_heatmap([[value] * 70], limits=(0, 2), colorbar=False, ax=ax)
        between_cells = [lines for lines in ax.collections if isinstance(lines, LineCollection)]
        plt.setp(between_cells, visible=False)
        ax.figure.canvas.draw()
        pixels = np.asarray(ax.figure.canvas.buffer_rgba())[40:-40, 40:-40, :3]  # without the frame and its ticks
        shades, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
        often = shades[counts > counts.sum() / 50] / 255
        assert (distance(often[0], often[-1]) >= LEAST) == striped and (striped or len(shades) == 1)


@pytest.mark.parametrize("name", [*OURS, "viridis"])
def test_text_is_legible_on_every_colour_map_shade_in_both_themes(name):
    inks_in_the_dark = {ink: dark for (_, dark), ink in style.INKS.items()}

    def is_legible(ink, colour):
        dark = style.IN_THE_DARK.get(to_hex(colour), colour)
        return contrast(ink, colour) >= WORD and contrast(inks_in_the_dark[ink], dark) >= WORD

    ax = plots.plot_token_attention(np.linspace(0, 1, 64), ["w"] * 64, chosen=0, cmap=name)
    grounds, inks = [patch.get_facecolor() for patch in ax.patches], [text.get_color() for text in ax.texts]
    assert len(inks) == 2 * len(grounds) == 128
    assert all(is_legible(ink, grounds[i // 2]) for i, ink in enumerate(inks))
    ax = plots.plot_heatmap(np.linspace(-1, 1, 60).reshape(6, 10), cmap=name)
    (image,), inks = ax.images, {text.get_position(): text.get_color() for text in ax.texts}
    assert len(inks) == 60 and len(set(inks.values())) >= 2
    for (column, row), ink in inks.items():
        assert is_legible(ink, image.cmap(image.norm(image.get_array()[row, column])))


# Explorers, questions, verdicts and source code in JupyterLab's themes, and in a page without one.


def variables_of(css):
    """What a style sheet defines for all that follows."""
    return dict(re.findall(r"(--[\w-]+)\s*:\s*([^;}]+)", css))


def theme(name):
    """The variables of one of JupyterLab's themes, and what explorers and questions define on top of it."""
    places = jupyter_path("lab", "themes", "@jupyterlab", f"theme-{name}-extension", "index.css")
    css = [Path(place).read_text() for place in places if Path(place).exists()][:1]
    own = (ROOT / "encoder_lib/course/kit/widget/front_end/explorer.css").read_text().split("}")[0]
    return variables_of("".join(css)) | variables_of(own)


THEMES = {name: theme(name) for name in ("light", "dark", "none")}  # the last has none
assert min(len(THEMES[name]) for name in ("light", "dark")) > 200


ARGUMENT = re.compile(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+")  # of a CSS function: no comma outside of brackets


def computed(value, variables):
    """Red, green, blue and opacity, from 0 to 1, of a CSS colour."""
    function, _, inside = value.strip().partition("(")
    if not inside:
        return np.array(to_rgba(function))
    parts = [part.strip() for part in ARGUMENT.findall(inside.strip()[:-1])]
    if function == "var":
        return computed(variables.get(parts[0]) or ",".join(parts[1:]), variables)
    if function == "rgba":
        return np.array([*(float(part) / 255 for part in parts[:3]), float(parts[3])])
    assert function == "color-mix" and parts[0] == "in srgb" and " 50%" in parts[1], value
    a, b = (computed(part.removesuffix(" 50%"), variables) for part in parts[1:])
    opacity = (a[3] + b[3]) / 2
    return np.array([*(a[3] * a[:3] + b[3] * b[:3]) / 2 / opacity, opacity])


def shown(name, ground, variables):
    """A variable's colour as it looks on another one's, and that one's own."""
    (*front, opacity), (*back, opaque) = (computed(f"var({v})", variables) for v in (name, ground))
    assert opaque == 1
    return tuple(opacity * np.array(front) + (1 - opacity) * np.array(back)), tuple(back)


def test_css_colours_are_computed():
    variables = {"--a": "rgba(0,0,0,.5)", "--b": "var(--c, #fff)", "--d": "color-mix(in srgb, var(--a) 50%, var(--b))"}
    assert computed("var(--x, var(--y, #808080))", variables)[:3] == pytest.approx(128 / 255)
    assert shown("--a", "--b", variables) == ((0.5, 0.5, 0.5), (1, 1, 1))
    assert computed("var(--d)", variables) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0.75])


@pytest.mark.parametrize("variables", THEMES.values(), ids=THEMES)
def test_widgets_and_verdicts_have_contrast_in_theme(variables):
    """And a verdict is recognised by its words, not by its colour."""
    kinds = {f"--code-{i}": f"var(--jp-{value})" for i, value in enumerate(notebook.COLOURS.values())}
    verdicts = [Verdict("add", ("1 + 1",)), Verdict("add", (), "it gives 3", "count again")]
    colours = [re.search(r"#[0-9a-f]{6}", verdict._repr_html_()).group() for verdict in verdicts]
    variables = variables | kinds | {"--right": colours[0], "--not-yet": colours[1]}
    words = ["--ink", "--quiet", "--accent", *kinds]
    for front in (*words, "--edge", "--wrong", "--right", "--not-yet"):
        least = WORD if front in words else MARK
        for ground in ("--ground",) if front in kinds else ("--ground", "--raised"):
            assert contrast(*shown(front, ground, variables)) >= least, (front, ground)
    assert distance(*(computed(f"var({part})", variables)[:3] for part in ("--accent", "--edge"))) >= LEAST
    assert len(set(colours)) == 2
    assert [verdict.lines()[0] for verdict in verdicts] == ["add: right.", "add: not there yet."]
