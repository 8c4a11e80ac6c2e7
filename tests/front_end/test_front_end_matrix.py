"""What a panel shows of the numbers that came: frames, labels, words, and the way among the cells."""

import random

import numpy as np
import pytest

from encoder_lib.course.explore import Explorer, Heatmap, Range, View

pytestmark = pytest.mark.browser
DRAW = np.random.default_rng(0)
FRAMES = Range("frame", 0, min=0, max=4)
SPEC = {"rows": 17, "columns": 5}


def stacked():
    """A view of three panels: frames one after another, a window on a tall matrix, and one of a single frame."""
    panels = [
        Heatmap(DRAW.normal(size=(5, 3, 4)), title="stack {frame}", y_label="word", missing="hidden"),
        Heatmap(DRAW.normal(size=(10, 2)), window=6, y_ticks=[f"row {i}" for i in range(10)], x_label="column"),
        Heatmap(DRAW.normal(size=(2, 7)), x_ticks=list("abcdefg")),
    ]
    return View(*panels, description="Panels.", frames="frame")


def cut(modules, explorer, frame, script):
    """Run a script on the matrices that the front end cuts out for one frame."""
    argument = [explorer._panels, explorer._limits, list(explorer._data), frame]
    cutting = f"""(modules, [specs, limits, data, frame]) => {{
      const floats = new Float32Array(bytes(data).buffer);
      const matrices = modules.matrix.cutOut(specs, specs.map(() => null), limits, floats, frame);
      return ({script})(modules, matrices);
    }}"""
    return modules.run(cutting, argument)


@pytest.mark.parametrize("frame", [0, 2, 4])
def test_each_frame_is_the_one_that_python_has(modules, frame):
    """Number by number, for every kind of panel; the labels of a window move with its rows, and others stay."""
    view = stacked()
    explorer = Explorer(lambda **_: view, FRAMES, title="Frames")
    script = """({ ticks }, matrices) => matrices.map((matrix) => [[...matrix.values], ['y', 'x'].map((axis) =>
      Array.from({ length: 2 }, (_, i) => ticks.labelOf(matrix, axis, i)))])"""
    rows = [f"row {frame}", f"row {frame + 1}"]
    titles = [f"stack {frame + 1}", "", ""]
    assert cut(modules, explorer, frame, "(_, matrices) => matrices.map(({ title }) => title)") == titles
    labels = [[["0", "1"], ["0", "1"]], [rows, ["0", "1"]], [["0", "1"], ["a", "b"]]]
    for panel, named, (values, got) in zip(view.panels, labels, cut(modules, explorer, frame, script), strict=True):
        shown = panel.frame(frame)
        assert np.array_equal(np.array(values, dtype=np.float32).reshape(shown.shape), shown) and got == named


def test_a_cell_is_read_with_the_names_of_its_axes(modules):
    """And NaN by its meaning."""
    values = np.array([[0.125, np.nan], [np.inf, -2.0]])
    panel = Heatmap(values, y_label="from", x_ticks=["a", "b"], missing="hidden")
    explorer = Explorer(lambda: View(panel, description="Cells."), title="Cells")
    script = "({ matrix }, [m]) => [[0, 0], [0, 1], [1, 0], [1, 1]].map((cell) => matrix.reading(m, cell))"
    expected = ["from 0, column a: 0.125", "from 0, column b: hidden", "from 1, column a: +∞", "from 1, column b: −2"]
    assert cut(modules, explorer, 0, script) == expected


def test_labels_keep_their_spacing_and_follow_their_rows(modules):
    """The same rows keep their labels when others leave at the top; a tile is named in its middle."""
    calls = [[20, 5, None, shift] for shift in range(12)]
    for shift, places in zip(range(12), modules.call("ticks.js", "labelled", calls), strict=True):
        assert places == [i for i in range(20) if (i + shift) % 5 == 0]
    assert modules.call("ticks.js", "labelled", [[12, 1, 4], [12, 5, 4], [3, 1, 1], [0, 1, None]]) == [
        [2, 6, 10],
        [2, 6, 10],
        [0, 1, 2],
        [],
    ]


def test_a_point_is_in_the_cell_drawn_there(modules):
    """Both ends of every cell; none beside the plot."""
    layout = {"left": 30.5, "top": 6, "width": 210.25, "height": 97.5}
    wide, high = layout["width"] / SPEC["columns"], layout["height"] / SPEC["rows"]
    cells = [(row, column) for row in range(SPEC["rows"]) for column in range(SPEC["columns"])]
    for share in (0.001, 0.5, 0.999):
        calls = [
            [SPEC, layout, {"offsetX": 30.5 + (column + share) * wide, "offsetY": 6 + (row + share) * high}]
            for row, column in cells
        ]
        assert modules.call("matrix.js", "cellAt", calls) == [list(cell) for cell in cells]
    beside = [(30, 50), (241, 50), (100, 5.9), (100, 103.6), (0, 0)]
    calls = [[SPEC, layout, {"offsetX": x, "offsetY": y}] for x, y in beside]
    assert modules.call("matrix.js", "cellAt", calls) == [None] * len(beside)


def test_arrow_keys_move_between_cells_and_stop_at_edges(modules):
    """Every key, from every kind of cell, with and without Control; the first press shows the first cell."""
    page = 2  # an eighth of 17 rows
    ways = {
        "ArrowUp": (-1, 0), "ArrowDown": (1, 0), "ArrowLeft": (0, -1), "ArrowRight": (0, 1),
        "PageUp": (-page, 0), "PageDown": (page, 0), "Home": (0, -4), "End": (0, 4),
    }  # fmt: skip
    draw = random.Random(0)
    for key, (down, right) in ways.items():
        for ctrl in (False, True):
            cells = [(draw.randrange(17), draw.randrange(5)) for _ in range(20)] + [(0, 0), (16, 4)]
            far = 16 * (1 if key == "End" else -1) if ctrl and key in ("Home", "End") else down
            expected = [[min(max(row + far, 0), 16), min(max(column + right, 0), 4)] for row, column in cells]
            press = {"key": key, "ctrlKey": ctrl}
            assert modules.call("matrix.js", "nextCell", [[SPEC, list(cell), press] for cell in cells]) == expected
            assert modules.call("matrix.js", "nextCell", [[SPEC, None, press]]) == [[0, 0]]
    others = ["a", "Escape", "Tab", "toString", "constructor"]
    calls = [[SPEC, [1, 1], {"key": key, "ctrlKey": False}] for key in others]
    assert modules.call("matrix.js", "nextCell", calls) == [None] * len(others)
