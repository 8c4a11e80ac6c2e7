"""What is recorded of an explorer is what the player shows: the same numbers, words and controls in every state."""

import gzip
import io
import json
import math
import random
from functools import partial

import nbformat
import numpy as np
import pytest
from explorers import EXPLORERS
from matplotlib.figure import Figure
from PIL import Image
from places import NOTEBOOKS
from record import Arrays, record, states_of, stops_of
from record_all import Recorder, needed

from encoder_lib.course import explore
from encoder_lib.course.explore import Checkbox, Explorer, Heatmap, Range, Select, Text, View
from encoder_lib.course.kit.widget.controls import Rounds
from encoder_lib.course.kit.widget.web import Web

TYPED = (
    "the dog bites the man",
    "",
    "one",
    "你好 Straße antidisestablishmentarianism A b c d e f g h i j",
    "strasse a",
)
FRAMED = {"similarity", "training_maps"}  # which are recorded as they are, whatever is in them


# Go through all states; gives for each the controls, the numbers, the words and the picture.
PLAY = """async (name) => {
  const { fetchRecording } = await import('/player/recording.js'), { RecordedModel } = await import('/player/model.js');
  const recording = await fetchRecording(name), model = new RecordedModel(recording), all = [];
  for (let state = 0; state < recording.header.states.length; state++) {
    await model.go(state);
    const data = model.get('_data');
    all.push({
      values: Object.fromEntries(recording.header.names.map((name) => [name, model.get(name)])),
      numbers: data ? new Float32Array(data.buffer) : [], picture: new Uint8Array(model.get('_picture').buffer),
      words: model.get('_descriptions'), panels: model.get('_panels'), limits: model.get('_limits'),
    });
  }
  return all;
}"""


recorded = partial(Web, heights=(100, 100))


def played(player, explorer):
    """All states of an explorer as the player shows them."""
    page, folder = player
    name = f"{len([*folder.glob('*.recording')])}.recording"  # each its own, as a browser remembers what it has fetched
    (folder / name).write_bytes(record(explorer))
    return page.evaluate(PLAY, name)


@pytest.mark.browser
@pytest.mark.parametrize(
    "name",
    ["look_up", "head_slices", "similarity", "word_arrows", "clocks", "two_hands", "fold", "valley", "one_row"],
)
def test_every_state_is_played_as_it_was_shown(player, name):
    """Numbers to a 30,000th of the largest one, NaN and 0 exactly; words, names of axes and controls word for word."""
    explorer = EXPLORERS[name]()
    states, shown = states_of(explorer), played(player, explorer)
    assert len(shown) == len(states)
    for values, state in zip(states, shown, strict=True):
        explorer.set(**values)
        assert (state["values"], state["words"]) == (explorer.values, explorer._descriptions)
        assert (state["panels"], state["limits"]) == (json.loads(json.dumps(explorer._panels)), explorer._limits)
        expected, start = np.frombuffer(explorer._data, np.float32), 0
        for panel in explorer._view.panels:
            one = expected[start : start + panel.values.size]
            got = np.array(state["numbers"][start : start + panel.values.size], dtype=np.float32)
            np.testing.assert_allclose(got, one, atol=np.nanmax(np.abs(one)) / 30_000 + 1e-9)
            assert not got[one == 0].any()
            start += panel.values.size


@pytest.mark.browser
def test_a_recording_is_played_by_the_button(player):
    """From its first frame to its last, without a kernel."""
    page, folder = player
    (folder / "similarity.recording").write_bytes(record(EXPLORERS["similarity"]()))
    page.evaluate("""async () => {
      const { fetchRecording } = await import('/player/recording.js');
      const { RecordedModel } = await import('/player/model.js');
      window.model = new RecordedModel(await fetchRecording('/similarity.recording'));
      model.go(0);
      window.seen = [];
      model.on('change:step', () => seen.push(model.get('step')));
      (await import('/player/explorer.js')).default.render({ model, el: document.body });
    }""")
    page.get_by_role("button", name="Play: step").click()
    page.wait_for_function("() => seen.at(-1) === 4")
    page.get_by_role("button", name="Play: step").wait_for()
    assert page.evaluate("() => seen") == [0, 1, 2, 3, 4]
    assert page.locator(".explorer-frame").text_content() == "step 4" and page.locator(".explorer-error").is_hidden()
    page.evaluate("() => document.body.replaceChildren()")


@pytest.mark.browser
def test_a_tile_of_a_recording_opens(player):
    """By Enter on the last one: both of its controls move, and the large picture names it."""
    page, folder = player
    (folder / "atlas.recording").write_bytes(record(EXPLORERS["heads atlas=True"]()))
    page.evaluate("""async () => {
      const { fetchRecording } = await import('/player/recording.js');
      const { RecordedModel } = await import('/player/model.js');
      window.model = new RecordedModel(await fetchRecording('/atlas.recording'));
      model.go(0);
      (await import('/player/explorer.js')).default.render({ model, el: document.body });
    }""")
    atlas = page.locator("canvas.explorer-picks")
    atlas.press("Control+End")
    atlas.press("Enter")
    assert page.evaluate("() => [model.get('layer'), model.get('head')]") == [6, 12]
    assert page.locator("figcaption").last.text_content().startswith("Layer 6, head 12")
    page.evaluate("() => document.body.replaceChildren()")


# What the browser makes of a picture: its height and width, and red, green, blue and opacity of its pixels.
PAINT = """async (svg) => {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'}));
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight), pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  return [canvas.height, canvas.width, pen.getImageData(0, 0, canvas.width, canvas.height).data];
}"""


def pictures(player, explorer):
    """Each state's picture as Python draws it, and as the browser paints what is played: (height, width, 3) each."""
    for values, state in zip(states_of(explorer), played(player, explorer), strict=True):
        explorer.set(**values)
        drawn = np.asarray(Image.open(io.BytesIO(explorer._picture)).convert("RGB")).astype(int)
        high, wide, pixels = player[0].evaluate(PAINT, bytes(state["picture"]).decode())
        yield drawn, np.reshape(pixels, (high, wide, 4))[..., :3]


def hand():
    """An explorer with a figure, in which one line moves."""
    figure = Figure((7, 2), dpi=100)
    (line,) = figure.add_axes((0.1, 0.2, 0.8, 0.7), title="The hand of a clock").plot([0, 0], [-1, 1], marker="o")

    def show(position):
        line.set_xdata([0, math.sin(position)])
        return f"position {position}"

    return Explorer(show, Range("position", 50, min=0, max=100), title="A hand", figure=figure)


@pytest.mark.browser
def test_every_picture_is_played_as_it_was_drawn(player):
    """In its size, and nearer to what Python has drawn of its own state than of any other; letters may differ."""
    explorer = hand()
    explorer.web = recorded(stops={"position": (0, 50)})
    pairs = list(pictures(player, explorer))
    for place, (own, painted) in enumerate(pairs):
        assert painted.shape == own.shape
        errors = [np.abs(painted - drawn).mean() for drawn, _ in pairs]
        assert np.argmin(errors) == place and errors[place] < 5


@pytest.mark.browser
def test_the_squares_of_a_picture_have_nearly_their_colours(player):
    """Black and white stay, and no colour moves by more than half a shade."""
    rows = np.array([[[0.0, 0.3, 0.77, 1.0]], [[0.5, np.nan, 0.2, 0.9]]])
    figure = Figure((2, 1), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.axis("off")
    image = ax.imshow(rows[0], "coolwarm", vmin=0, vmax=1, aspect="auto", interpolation="nearest")

    def show(row):
        image.set_data(rows[row])
        return f"row {row}"

    explorer = Explorer(show, Range("row", 0, min=0, max=1), title="Squares", figure=figure, web=recorded())
    for drawn, painted in pictures(player, explorer):
        middles = (slice(50, 51), slice(25, 200, 50))
        assert np.abs(painted[middles] - drawn[middles]).max() <= 255 / (explorer.web.shades - 1) / 2 + 1
        assert (painted[middles][drawn[middles].sum(-1) == 765] == 255).all()


COMPUTED = ["attend", "attend masks=False", "cost", "normalise", "one_query", "paint_mask", "positional"]
COMPUTE = """async ([name, states]) => {
  const { fetchRecording } = await import('/player/recording.js');
  const { computedModel } = await import('/player/computed.js');
  const model = await computedModel((await fetchRecording(name)).header, () => 700);
  return states.map((values) => {
    for (const [control, value] of Object.entries(values)) model.set(control, value);
    const data = model.get('_data');
    return {
      words: model.get('_descriptions'), panels: model.get('_panels'), limits: model.get('_limits'),
      numbers: data ? new Float32Array(data.buffer) : [], tokens: model.get('_tokens'),
    };
  });
}"""


def some_states(explorer, count):
    """The values at the start, and some drawn at random from all that the controls take."""
    draw = random.Random(0)

    def value(control):
        if not isinstance(control, Range):
            return draw.choice(getattr(control, "options", TYPED if isinstance(control, Text) else (False, True)))
        low, high, share = control.min, control.max, draw.random()
        return control.check(low * (high / low) ** share if control.log else low + (high - low) * share)

    others = [{name: value(control) for name, control in explorer._by_name.items()} for _ in range(count)]
    return [explorer.values, *others]


@pytest.mark.browser
@pytest.mark.parametrize("name", COMPUTED)
def test_the_page_computes_what_python_computes(player, name):
    """Word for word, and each number of a heatmap to a millionth, wherever the controls are."""
    explorer, (page, folder) = EXPLORERS[name](), player
    (folder / f"{name}.recording").write_bytes(record(explorer))
    states = some_states(explorer, 10)
    for values, shown in zip(states, page.evaluate(COMPUTE, [f"{name}.recording", states]), strict=True):
        explorer.set(**values)
        assert shown["words"] == explorer._descriptions, values
        if explorer._view:
            assert shown["panels"] == json.loads(json.dumps(explorer._panels)) and shown["tokens"] == explorer._tokens
            np.testing.assert_allclose(shown["limits"], explorer._limits)
            expected = np.frombuffer(explorer._data, np.float32)
            np.testing.assert_allclose(np.array(shown["numbers"], np.float32), expected, rtol=1e-5, atol=1e-6)


def test_cells_that_no_explorer_or_picture_needs_are_left_out():
    """What gives a name, or may change the object behind it, is needed; what draws or trains beside it is not.

    Nor is what gives a name that is given anew before it is read.
    """
    setup, old, table, change, training, read, drawing, explorer, curve, picture, after = (
        "from encoder_lib.course.kit.notebook import setup\nimport torch\nsetup()",
        "rows = [3, 4]",
        "table = torch.rand(3, 4)\nrows = list(table)",
        "rows.append(table[0])",
        "def train(steps):\n    return torch.rand(steps)\n\n\nlosses = train(400)\nprint(max(losses))",
        "with open('words') as file:\n    words = file.read()",
        "height = 3\ntorch.rand(height)",
        "explore.similarity(rows, words=[word for word in words])",
        "curve = torch.rand(3)",
        "show(plot_lines({'curve': curve}), alt='One curve.')",
        "rows = None",
    )
    cells = [setup, old, table, change, training, read, drawing, explorer, curve, picture, after]
    stored = {picture: [nbformat.v4.new_output("display_data", {"text/html": '<img class="figure" alt="One curve.">'})]}
    found = needed([nbformat.v4.new_code_cell(source, outputs=stored.get(source, [])) for source in cells])
    assert [cell.source for cell in found] == [setup, table, change, read, explorer, curve, picture]


@pytest.mark.long
def test_web_settings_name_existing_controls_and_values():
    """And what the page computes is compared with Python above."""
    explorers = {name: make() for name, make in EXPLORERS.items()}
    assert [name for name, explorer in sorted(explorers.items()) if explorer.web.computed] == COMPUTED
    for name, explorer in explorers.items():
        web = explorer.web
        assert len(web.heights) in (2, 3)
        named = {*web.stops, *(control for group in web.together for control in group)}
        assert named <= {*explorer._by_name} or name in FRAMED, name
        for control in explorer._by_name.values() if not web.computed else ():
            stops = stops_of(control, web) if control.name != explorer._frames else [control.value]
            assert control.value in stops and len(set(stops)) == len(stops), (name, control.name)
            if isinstance(control, Range) and control.name != explorer._frames:
                assert stops[0] == control.min and stops[-1] == control.max


def test_what_goes_on_with_a_kernel_alone_is_not_recorded():
    show = lambda a, rounds: View(Heatmap([[a + rounds]]), description=f"{a}.")  # noqa: E731
    controls = Range("a", 0, min=0, max=2), Rounds("rounds", 1, max=3)
    explorer = Explorer(show, *controls, title="On", web=recorded())
    header = gzip.decompress(record(explorer))[4:].decode(errors="ignore")
    header, _ = json.JSONDecoder().raw_decode(header)
    assert (header["names"], header["start"], len(header["states"])) == (["a"], {"a": 0}, 3)
    assert [control["name"] for control in header["controls"]] == ["a"] and explorer.rounds == 1


def test_related_values_are_recorded_together_and_per_group():
    pairs = {"first": "a cat", "second": "the cat"}, {"first": "a b", "second": "a"}
    start = {"first": "one", "second": "two"}
    explorer = Explorer(
        lambda first, second: View(Heatmap([[len(first), len(second)]]), description="lengths"),
        *(Text(name, text, max_length=9) for name, text in start.items()),
        title="Two texts",
        web=recorded(starts=pairs),
    )
    assert states_of(explorer) == [start, *pairs]


def test_stops_are_spread_evenly_where_none_are_named():
    web = recorded()
    assert stops_of(Range("n", 3, min=1, max=5), web) == [1, 2, 3, 4, 5]
    assert stops_of(Range("n", 7, min=0, max=80), web) == [0, 7, 10, 20, 30, 40, 50, 60, 70, 80]
    assert stops_of(Select("o", "b", options=("a", "b")), web) == ["a", "b"]
    assert stops_of(Checkbox("c", True), web) == [False, True]
    assert stops_of(Text("t", "x"), recorded(stops={"t": ("y", "x", "z")})) == ["x", "y", "z"]
    with pytest.raises(ValueError, match=r"n: expected stops .* name them in Web"):
        stops_of(Text("n", "x"), web)


def two(a, b, c):
    """A view that depends on three controls."""
    return View(Heatmap([[a, b], [c, 0.0]]), description=f"{a} {b} {c}")


def three_controls():
    """An explorer whose first two controls are recorded together."""
    controls = (Range(name, 0, min=0, max=2) for name in "abc")
    return Explorer(two, *controls, title="Three", web=recorded(together=(("a", "b"),)))


def test_controls_go_together_as_web_says():
    """The start first; groups in all combinations, the others one at a time."""
    explorer = Explorer(
        two, *(Range(name, 0, min=0, max=2) for name in "abc"), title="Three", web=recorded(together=(("a", "b"),))
    )
    states = [tuple(state.values()) for state in states_of(explorer)]
    assert states[0] == (0, 0, 0) and len(states) == len(set(states)) == 9 + 2
    assert set(states) == {(a, b, 0) for a in range(3) for b in range(3)} | {(0, 0, c) for c in range(3)}
    explorer.web = recorded(stops={"a": (2,)}, together=(("a", "b", "c"),))
    everything = states_of(explorer)
    assert len(everything) == 2 * 3 * 3


@pytest.mark.browser
def test_a_control_that_moves_along_is_named(player):
    """Where not all is recorded together; and no longer once another one moves alone."""
    page, folder = player
    explorer = Explorer(
        two, *(Range(name, 0, min=0, max=2) for name in "abc"), title="Three", web=recorded(together=(("a", "b"),))
    )
    (folder / "along.recording").write_bytes(record(explorer))
    script = """async () => {
      const { fetchRecording } = await import('/player/recording.js');
      const { RecordedModel } = await import('/player/model.js');
      const model = new RecordedModel(await fetchRecording('/along.recording'));
      await model.go(0);
      return [['a', 2], ['b', 1], ['c', 2], ['c', 1]].map(([name, value]) => {
        model.set(name, value);
        return model.get('_moved');
      });
    }"""
    assert page.evaluate(script) == ["", "", "“a” and “b”", ""]


def test_recording_leaves_an_explorer_unchanged():
    explorer = explore.look_up(first=1)
    explorer.web, before = recorded(), explorer.values
    record(explorer)
    assert explorer.values == before


def test_a_corner_and_an_equal_array_are_stored_once():
    large = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
    arrays = Arrays(1000)
    places = [arrays.add(large[:10, :20]), arrays.add(large), arrays.add(large.copy()), arrays.add(large[1:])]
    index, codes = arrays.packed()
    assert places == [0, 1, 1, 2]
    assert len(codes) == 2 * (large.size + large[1:].size)
    assert index[0][:4] == [index[1][0], 10, 20, 30]


def test_an_infinite_number_is_refused():
    with pytest.raises(ValueError, match=r"expected finite numbers or NaN .* got an infinite one: choose other stops"):
        Arrays(10).add(np.array([[np.inf]], np.float32))


def test_only_differences_between_pictures_are_stored():
    explorer = hand()
    sizes = []
    for positions in ((50,), (20, 40, 50, 60, 70, 80)):
        explorer.web = recorded(stops={"position": positions})
        sizes.append(len(record(explorer)))
    few, many = sizes
    assert few < many < 2 * few


def test_a_failing_recorder_leaves_no_digest(tmp_path):
    with pytest.raises(RuntimeError, match="no cell"), Recorder(NOTEBOOKS[0], tmp_path):
        raise RuntimeError("no cell")
    assert not list(tmp_path.iterdir())
