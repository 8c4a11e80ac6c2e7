"""Colours stand out from their ground and are told apart, with any colour vision, in pictures and in explorers.

Contrast is that of WCAG 2.2: 3 to 1 for marks (1.4.11), 4.5 to 1 for words (1.4.3). Colour vision is simulated with the
matrices of Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency"
(IEEE TVCG 15, 2009), at severity 1.0, on linear RGB. Distances are those of CIELAB (CIE 1976, white D65).
"""

import io
import itertools
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from few import first_few
from jupyter_core.paths import jupyter_path
from matplotlib import colormaps
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from PIL import Image
from places import ROOT

from encoder_lib import explore, notebook, plots, sinusoidal_table
from encoder_lib.checks.verdict import Verdict
from encoder_lib.lab.measure import Profile

VISIONS = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
APART = 20  # in CIELAB; about 2 is the least that an eye sees side by side
MARK, WORD = 3.0, 4.5


def linear(colours):
    """Linear RGB of colours (…, 3) from 0 to 1."""
    colours = np.asarray(colours, dtype=float)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def lab(colours, vision="usual"):
    """CIELAB of colours (…, 3), as someone with that vision sees them."""
    seen = np.clip(linear(colours) @ VISIONS[vision].T, 0, 1)
    xyz = seen @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def distance(a, b):
    """The smallest distance of two colours, over all kinds of colour vision."""
    return min(np.linalg.norm(lab(to_rgb(a), vision) - lab(to_rgb(b), vision)) for vision in VISIONS)


def contrast(a, b):
    """The contrast ratio of two colours, from 1 to 21."""
    dark, light = sorted(float(linear(to_rgb(colour)) @ TO_XYZ[1]) for colour in (a, b))
    return (light + 0.05) / (dark + 0.05)


def on_white(colour, alpha=None):
    """A colour, transparent or not, as it looks on white."""
    *rgb, opacity = to_rgba(colour, alpha)
    return tuple(opacity * np.array(rgb) + 1 - opacity)


def too_close(marks):
    """The pairs of marks (name, colour, form) that neither colour nor form tells apart."""
    pairs = itertools.combinations(marks, 2)
    return [(a[0], b[0]) for a, b in pairs if a[2] == b[2] and distance(a[1], b[1]) < APART]


def too_pale(marks):
    """The marks that do not stand out from white."""
    return [name for name, colour, _ in marks if contrast(colour, "white") < MARK]


# The measures themselves, on colours whose numbers are known.


def test_the_measures_agree_with_known_colours():
    assert contrast("black", "white") == pytest.approx(21)
    assert contrast("#777777", "white") == pytest.approx(4.48, abs=0.01)
    assert lab((1, 1, 1)) == pytest.approx([100, 0, 0], abs=0.01)
    assert lab((1, 0, 0)) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    assert lab((0, 0, 1)) == pytest.approx([32.30, 79.19, -107.86], abs=0.02)


@pytest.mark.parametrize("vision", VISIONS)
def test_every_vision_sees_greys_as_they_are(vision):
    greys = np.linspace(0, 1, 11)[:, None].repeat(3, axis=1)
    assert lab(greys, vision) == pytest.approx(lab(greys), abs=0.01)


def test_pairs_that_are_confused_are_noticed():
    red_and_green = [("wrong", "#d62728", "-"), ("right", "#2ca02c", "-")]
    assert np.linalg.norm(lab(to_rgb("#d62728")) - lab(to_rgb("#2ca02c"))) > 100
    assert too_close([("a", "#bf4f3f", "-"), ("b", "#7f7f3f", "-")]) == [("a", "b")]  # one colour without red cones
    assert too_close([("a", "#bf4f3f", "-"), ("b", "#7f7f3f", "--")]) == []
    assert too_pale([*red_and_green, ("pale", "#56b4e9", "-")]) == ["pale"]


# Pictures.


def test_the_palette_stands_out_and_is_told_apart():
    """Also where dashes or markers begin anew, and colour alone is left."""
    for forms in (plots.DASHES, "osD^vP"):
        marks = [(c, c, form) for c, form in zip(plots.COLOURS, itertools.cycle(forms), strict=False)]
        assert too_pale(marks) == [] and too_close(marks) == []
    assert contrast(plots.GREY, "white") >= MARK and contrast(plots.NOT_FINITE, "white") >= MARK


WAVE = np.sin(np.linspace(0, 6, 30))


def lines(count):
    return plots.plot_lines({str(i): WAVE + i for i in range(count)}).figure


def profiles():
    ramp = torch.linspace(1, 2, 6)
    stacks = {f"stack {i}": Profile(gradient=ramp[1:], size=ramp, similarity=ramp / 2) for i in range(5)}
    return plots.plot_profiles(stacks)


def words():
    vectors = np.random.default_rng(0).normal(size=(6, 2))
    return plots.plot_word_vectors(vectors, list("abcdef"), [f"kind {i}" for i in range(6)]).figure


def mean():
    points = [[0, 0], [1, 0], [0.5, 1]]
    return plots.plot_weighted_mean(points, [0.7, 0.1, 0.2], list("abc"), others=np.full((4, 2), 0.4)).figure


def fit():
    units = np.maximum(WAVE[:, None] - [-0.5, 0, 0.5], 0)
    return plots.plot_fit(np.arange(30), WAVE, units, 0.1, breakpoints=[3, 4], unit=1)


def dots():
    kinds = [f"kind {i}" for i in range(6)]
    return plots.plot_dots({"a": dict(zip(kinds, range(6), strict=True)), "b": dict.fromkeys(kinds, 1.0)}).figure


FIGURES = {
    "lines": lambda: lines(7),
    "profiles": profiles,
    "words": words,
    "mean": mean,
    "fit": fit,
    "dots": dots,
    "ladder": lambda: plots.plot_ladder([("a guess", 0.12, 0.125), ("residual", 0.98, 1.0)]).figure,
    "clocks": lambda: plots.plot_clocks([1.0, 0.0], [0.0, 1.0]).figure,
    "spread": lambda: plots.plot_histogram(WAVE, {"mean": 0.0, "median": 0.1, "mode": 0.2, "zero": 0.3}).figure,
    "the explorer of norms": lambda: explore.normalise()._figure,
    "the explorer of depth": lambda: explore.depth()._figure,
    "the explorer of curves": lambda: explore.fit_curve()._figure,
}


def colour_of(artist):
    """The colour of an artist as it looks on white; of what has no edge, that of its face."""
    for name in ("get_color", "get_edgecolor", "get_facecolor"):
        if hasattr(artist, name):
            colour = np.atleast_1d(getattr(artist, name)())
            colour = colour[0] if np.ndim(colour) == 2 else getattr(artist, name)()
            if name == "get_edgecolor" and to_rgba(colour)[3] == 0:
                continue
            return on_white(colour, artist.get_alpha())
    raise TypeError(f"expected an artist with a colour, got {artist}")


def form_of(artist):
    """What tells an artist apart besides its colour: the kind, the dash, the marker, a width that differs clearly."""
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


@pytest.mark.parametrize("name", FIGURES)
def test_what_a_legend_names_stands_out_and_is_told_apart(name):
    figure = FIGURES[name]()
    marks = marks_of(figure)
    plt.close("all")
    assert marks
    assert too_pale(marks) == []
    assert too_close(marks) == []


def test_lines_without_dashes_would_be_noticed():
    figure = plots.plot_lines(
        {"a": WAVE, "b": -WAVE}, styles={"a": {"color": "#bf4f3f"}, "b": {"color": "#7f7f3f", "linestyle": "-"}}
    ).figure
    marks = marks_of(figure)
    plt.close("all")
    assert too_close(marks) == [("a", "b")]


def test_cards_and_their_answers_are_legible_and_the_lit_arrow_is_told_from_the_others():
    ax = plots.plot_cards(["a", "B", "c"], [1, 2, 0], ["b", "C", "a"], only=1)
    cards, arrows = [[p for p in ax.patches if isinstance(p, kind)] for kind in (FancyBboxPatch, FancyArrowPatch)]
    words = [contrast(text.get_color(), cards[0].get_facecolor()) for text in ax.texts]
    colours = [on_white(arrow.get_edgecolor(), arrow.get_alpha()) for arrow in arrows]
    plt.close("all")
    assert len(words) == 9 and min(words) >= WORD
    assert min(contrast(colour, "white") for colour in colours) >= MARK
    assert min(distance(colours[1], colours[other]) for other in (0, 2)) >= APART
    assert arrows[1].get_linewidth() > arrows[0].get_linewidth()


def test_lines_of_attention_stand_out_however_thin():
    ax = plots.plot_attention_lines([[0.9, 0.1], [0.05, 0.95]], ["a", "b"])
    shades = [contrast(on_white(line.get_color(), line.get_alpha()), "white") for line in ax.lines]
    words = [contrast(text.get_color(), "white") for text in ax.texts]
    plt.close("all")
    assert len(shades) == 4 and min(shades) >= MARK and min(words) >= WORD


def test_bars_of_a_histogram_are_outlined():
    ax = plots.plot_histogram(WAVE, {})
    outlines = {contrast(bar.get_edgecolor(), "white") for bar in ax.patches}
    plt.close("all")
    assert min(outlines) >= MARK


def test_the_bars_and_ticks_of_a_token_are_told_apart():
    """In the explorer of norms: the histogram, the ticks below it, the mean with a deviation around it."""
    for ax in explore.normalise()._figure.axes:
        (bars,), (ticks, centre, span, *_) = ax.patches, ax.lines
        colours = [on_white(bars.get_facecolor()), *(on_white(line.get_color()) for line in (ticks, centre))]
        assert on_white(span.get_color()) == on_white(centre.get_color())
        assert too_pale([(str(c), c, "") for c in colours]) == too_close([(str(c), c, "") for c in colours]) == []


def test_lit_cubes_are_told_from_the_others_on_every_face():
    ax = plots.plot_normalisation_axes(2)
    (cubes,) = ax.collections
    edges = {contrast(colour, "white") for colour in cubes.get_edgecolor()}
    faces = np.unique(cubes.get_facecolor()[:, :3].round(3), axis=0)
    plt.close("all")
    lit = [face for face in faces if np.ptp(face) > 0.1]
    others = [face for face in faces if np.ptp(face) <= 0.1]
    assert len(lit) == len(others) == 3 and min(edges) >= MARK
    assert min(distance(a, b) for a in lit for b in others) >= APART


def test_the_names_of_a_layers_parts_are_legible_lit_and_unlit():
    for lit in ("", *plots.BLOCK_PARTS):
        ax = plots.plot_residual_stream(lit=lit)
        for patch in ax.patches:
            assert contrast(patch.get_edgecolor(), "white") >= MARK
            assert contrast("black", patch.get_facecolor()) >= WORD
        colours = {patch.get_gid(): patch.get_facecolor() for patch in ax.patches}
        dim = [colour for gid, colour in colours.items() if gid != lit]
        assert not lit or min(distance(colours[lit], colour) for colour in dim) >= APART
        assert {text.get_color() for text in ax.texts} == {"black"}
        plt.close("all")


# Colour maps.


def maps_in_use():
    """The names of all colour maps that the library and the notebooks ask for."""
    sources = [*ROOT.glob("encoder_lib/**/*.py"), *ROOT.glob("notebooks/*.ipynb")]
    text = "\n".join(path.read_text() for path in sources)
    named = re.findall(r'cmap(?:: str)?\s*=\s*\\?"(\w+)', text) + re.findall(r'"cmap": \\?"(\w+)', text)
    return sorted(set(named))


def test_the_maps_in_use_are_found():
    assert {"viridis", "coolwarm"} <= set(maps_in_use())


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("name", maps_in_use())
def test_maps_keep_their_order_with_every_vision(name, vision):
    """Lightness rises all the way; in a diverging map it rises to the middle and falls after it."""
    colours = lab(colormaps[name](np.arange(256))[:, :3], vision)
    steps = np.diff(colours[:, 0])
    if name in plots.DIVERGING:
        assert (steps[:126] > 0).all() and (steps[129:] < 0).all()
        assert np.linalg.norm(colours[64] - colours[191]) >= 2 * APART  # below and above zero, half-way
    else:
        assert (steps > 0).all() and colours[-1, 0] - colours[0, 0] > 60


@pytest.mark.parametrize("name", ["jet", "Spectral", "RdYlGn"])
def test_maps_that_lose_their_order_would_be_noticed(name):
    halves = []
    for vision in VISIONS:
        colours = lab(colormaps[name](np.arange(256))[:, :3], vision)
        steps = np.diff(colours[:, 0])
        ordered = (steps[:126] > 0).all() and (steps[129:] < 0).all()
        halves.append(ordered and np.linalg.norm(colours[64] - colours[191]) >= 2 * APART)
    assert not all(halves)


def test_what_is_not_finite_is_striped():
    """Some see the middle of viridis as the grey of NaN; no cell with a number has stripes."""
    assert min(distance(plots.NOT_FINITE, colour) for colour in colormaps["viridis"](np.arange(256))[:, :3]) < 5
    ax = plots.plot_heatmap(
        [[np.nan] * 31 + [1.0] * 31], limits=(0, 2), colorbar=False, ax=plt.figure(dpi=100).add_axes((0, 0, 1, 1))
    )
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3]
    plt.close("all")
    inner, middle = pixels[40:-40], pixels.shape[1] // 2  # without the frame and its ticks
    halves = inner[:, 40 : middle - 9], inner[:, middle + 9 : -40]
    left, right = (np.unique(half.reshape(-1, 3), axis=0, return_counts=True) for half in halves)
    assert len(right[0]) == 1
    shades, counts = left
    often = shades[counts > counts.sum() / 50] / 255
    assert np.ptp(often, axis=1).max() == 0 and distance(often[0], often[-1]) >= APART


def test_words_are_legible_on_every_shade_of_the_maps():
    for name in maps_in_use():
        shades = np.linspace(0, 1, 64)
        ax = plots.plot_token_attention(shades, ["w"] * 64, chosen=0, cmap=name)
        grounds = [patch.get_facecolor() for patch in ax.patches]
        inks = [text.get_color() for text in ax.texts]
        plt.close("all")
        assert len(inks) == 2 * len(grounds) == 128
        assert min(contrast(ink, grounds[i // 2]) for i, ink in enumerate(inks)) >= WORD


def test_numbers_are_legible_in_every_cell():
    for name in maps_in_use():
        ax = plots.plot_heatmap(np.linspace(-1, 1, 60).reshape(6, 10), cmap=name)
        (image,), grounds = ax.images, {}
        for (row, column), value in np.ndenumerate(image.get_array()):
            grounds[column, row] = image.cmap(image.norm(value))
        inks = {text.get_position(): text.get_color() for text in ax.texts}
        plt.close("all")
        assert inks.keys() == grounds.keys() and len(set(inks.values())) == 2
        assert min(contrast(inks[place], grounds[place]) for place in grounds) >= WORD


# Stored pictures.


def both_maps():
    """Both colour maps, with their colour bars and letters."""
    figure, axes = plt.subplots(1, 2, figsize=plots.figure_size(2), layout="constrained")
    values = np.linspace(-1, 1, 400).reshape(20, 20)
    for ax, name in zip(axes, ("viridis", "coolwarm"), strict=True):
        plots.plot_heatmap(values, title="Letters", x_label="looked at", y_label="looks", cmap=name, ax=ax)
    return figure


def waves():
    """Thousands of colours: thin lines over each other beside a map of fine stripes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=plots.figure_size(2), layout="constrained")
    table = sinusoidal_table(64, 128)
    plots.plot_heatmap(table, title="Stripes", cmap="coolwarm", ax=left)
    plots.plot_lines({f"dimension {i}": table[:, i] for i in (0, 16, 32, 64)}, title="Waves", ax=right)
    return figure


def noise():
    """Every pixel of another colour."""
    figure = plt.figure(figsize=(2, 2))
    figure.add_axes((0, 0, 1, 1)).imshow(np.random.default_rng(0).random((200, 200, 3)))
    return figure


STORED = {"both maps": both_maps, "waves": waves, "noise": noise} | FIGURES


@pytest.mark.parametrize("name", first_few(STORED, few=4))
def test_stored_pictures_keep_their_colours(name, monkeypatch):
    """No channel of any pixel is off by more than 8 of 255."""
    drawn = []
    compact = plots.compact
    monkeypatch.setattr(plots.picture, "compact", lambda image: drawn.append(image.convert("RGB")) or compact(image))
    picture = plots.show(STORED[name](), alt="A picture.")
    plt.close("all")
    stored = Image.open(io.BytesIO(picture.png)).convert("RGB")
    assert np.abs(np.asarray(drawn[0], int) - np.asarray(stored, int)).max() <= 8


def test_a_palette_is_kept_where_it_does_and_left_where_it_does_not():
    modes = []
    for name in ("both maps", "noise"):
        modes.append(Image.open(io.BytesIO(plots.show(STORED[name](), alt="A picture.").png)).mode)
        plt.close("all")
    assert modes == ["P", "RGB"]


def test_explorers_store_their_colours_too():
    explorer = explore.normalise()
    live, still = (Image.open(io.BytesIO(png)).convert("RGB") for png in (explorer._picture, explorer._static().png))
    assert np.abs(np.asarray(live, int) - np.asarray(still, int)).max() <= 8


# Explorers, questions, verdicts and source code in JupyterLab's themes, and in a page without one.


def theme(name):
    """The variables of one of JupyterLab's themes."""
    places = jupyter_path("lab", "themes", "@jupyterlab", f"theme-{name}-extension", "index.css")
    css = next(Path(place) for place in places if Path(place).exists()).read_text()
    return dict(re.findall(r"(--jp-[\w-]+)\s*:\s*([^;}]+)", css))


THEMES = {"light": theme("light"), "dark": theme("dark"), "none": {}}


def own_variables():
    """What explorers and questions define for themselves."""
    css = (ROOT / "encoder_lib/explore/widget/front_end/explorer.css").read_text()
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", css.split("}")[0]))


def split(text):
    """The arguments of a CSS function, cut at the commas outside of brackets."""
    return [part.strip() for part in re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", text)]


def computed(value, variables):
    """Red, green, blue and opacity, from 0 to 1, of a CSS colour."""
    function, _, inside = value.strip().partition("(")
    if not inside:
        return np.array(to_rgba(function))
    parts = split(inside.strip()[:-1])
    if function == "var":
        return computed(variables.get(parts[0]) or ",".join(parts[1:]), variables)
    if function == "rgba":
        return np.array([*(float(part) / 255 for part in parts[:3]), float(parts[3])])
    assert function == "color-mix" and parts[0] == "in srgb", value
    first, share = parts[1].rsplit(" ", 1)
    (a, b), share = (computed(part, variables) for part in (first, parts[2])), float(share.rstrip("%")) / 100
    opacity = share * a[3] + (1 - share) * b[3]
    return np.array([*(share * a[3] * a[:3] + (1 - share) * b[3] * b[:3]) / opacity, opacity])


def shown(name, ground, variables):
    """A variable's colour as it looks on another one's."""
    (*front, opacity), back = (computed(f"var({v})", variables) for v in (name, ground))
    assert back[3] == 1
    return tuple(opacity * np.array(front) + (1 - opacity) * back[:3])


def test_css_colours_are_computed():
    variables = {"--a": "rgba(0,0,0,.5)", "--b": "var(--c, #fff)", "--d": "color-mix(in srgb, var(--a) 50%, var(--b))"}
    assert computed("var(--b)", variables).tolist() == [1, 1, 1, 1]
    assert computed("var(--x, var(--y, #808080))", variables)[:3] == pytest.approx(128 / 255)
    assert shown("--a", "--b", variables) == pytest.approx((0.5, 0.5, 0.5))
    assert computed("var(--d)", variables) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0.75])


@pytest.mark.parametrize("name", THEMES)
def test_explorers_and_questions_stand_out_in(name):
    variables = THEMES[name] | own_variables()
    for front, ground, least in [
        ("--ink", "--ground", WORD),
        ("--ink", "--raised", WORD),
        ("--quiet", "--ground", WORD),
        ("--accent", "--ground", WORD),  # the words on buttons; the focus ring and the sliders too
        ("--edge", "--ground", MARK),
        ("--edge", "--raised", MARK),
        ("--wrong", "--ground", MARK),
        ("--wrong", "--raised", MARK),
    ]:
        back = tuple(computed(f"var({ground})", variables)[:3])
        assert contrast(shown(front, ground, variables), back) >= least, (front, ground)
    filled, rest = (shown(part, "--ground", variables) for part in ("--accent", "--edge"))
    assert distance(filled, rest) >= APART


@pytest.mark.parametrize("name", THEMES)
def test_source_code_is_legible_in(name):
    variables = THEMES[name] | {"--page": THEMES[name].get("--jp-layout-color0", "white")}
    page = tuple(computed("var(--page)", variables)[:3])
    for value in notebook.COLOURS.values():
        variables["--kind"] = f"var(--jp-{value})"
        assert contrast(shown("--kind", "--page", variables), page) >= WORD, value


@pytest.mark.parametrize("name", THEMES)
def test_verdicts_stand_out_in(name):
    """And a verdict is told by its words, not by its colour."""
    page = tuple(computed(THEMES[name].get("--jp-layout-color0", "white"), THEMES[name])[:3])
    verdicts = [Verdict("add", ("1 + 1",)), Verdict("add", (), "it gives 3", "count again")]
    colours = [re.search(r"#[0-9a-f]{6}", verdict._repr_html_()).group() for verdict in verdicts]
    assert all(contrast(colour, page) >= MARK for colour in colours) and len(set(colours)) == 2
    assert [verdict.lines()[0] for verdict in verdicts] == ["add: right.", "add: not there yet."]
