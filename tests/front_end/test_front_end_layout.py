"""The layout of panels, a pure function of sizes: whatever they are, plots have room, are aligned and share alike."""

import random

import pytest

pytestmark = pytest.mark.browser
DRAW = random.Random(0)
PLAIN = {"rows": 8, "columns": 8, "columnLabels": 12, "rowLabels": 12, "numbers": 30, "title": 80}
NAMED = {"x": True, "y": True}
GAP, TALLEST, LEAST = 28, 340, 60


def panel(**sizes):
    """The sizes of one panel."""
    return {**PLAIN, "named": NAMED, **sizes}


def any_panel():
    """Sizes as they may come, from one cell to 512 x 512."""
    sizes = {name: round(2 ** DRAW.uniform(0, 9)) for name in ("rows", "columns")}
    labels = {name: DRAW.uniform(0, 96) for name in ("columnLabels", "rowLabels")}
    named = {axis: DRAW.random() < 0.5 for axis in "xy"}
    return {**sizes, **labels, "numbers": DRAW.uniform(5, 60), "title": DRAW.uniform(0, 900), "named": named}


CASES = [([any_panel() for _ in range(DRAW.randint(1, 6))], DRAW.uniform(150, 1400)) for _ in range(300)]


@pytest.fixture(scope="module")
def layouts(modules):
    """The layout of every case."""
    return modules.call("layout.js", "layOut", CASES)


def test_panels_are_aligned(layouts):
    for (panels, _), laid in zip(CASES, layouts, strict=True):
        assert len(laid) == len(panels)
        for shared in ("top", "bottom", "titleLines"):
            assert len({place[shared] for place in laid}) == 1
        assert all(0 < place["height"] <= TALLEST for place in laid)


def test_plots_and_margins_make_up_the_whole(layouts):
    """Labels, names, colour bar and numbers have their room beside the plot and below it."""
    for (panels, _), laid in zip(CASES, layouts, strict=True):
        for sizes, place in zip(panels, laid, strict=True):
            assert place["left"] >= sizes["rowLabels"] + 7
            assert place["size"]["width"] - place["left"] - place["width"] >= sizes["numbers"] + 28
            assert place["size"]["height"] == pytest.approx(place["top"] + place["height"] + place["bottom"])
            slant = 0.7 if place["slanted"] else 0
            assert place["bottom"] >= slant * sizes["columnLabels"] + (15 if sizes["named"]["x"] else 0)
            assert place["titleLines"] * place["size"]["width"] >= sizes["title"]


def test_panels_side_by_side_fit_the_width(modules):
    """Whatever the width, no row of panels is wider, unless a plot has shrunk to the least that it may."""
    counts, widths = (1, 2, 3), range(200, 1400, 50)
    cases = [([panel(columns=DRAW.randint(1, 40)) for _ in range(n)], width) for n in counts for width in widths]
    for (panels, total), laid in zip(cases, modules.call("layout.js", "layOut", cases), strict=True):
        taken = [place["size"]["width"] for place in laid]
        assert all(width <= total + 1e-9 or place["width"] == LEAST for width, place in zip(taken, laid, strict=True))
        if total >= 400 * len(panels):
            assert sum(taken) + GAP * (len(panels) - 1) <= total + 1e-9


def test_four_panels_stand_in_rows_of_one_length(modules):
    """All side by side, two by two, or one below the other."""
    panels = [panel()] * 4
    laid = modules.call("layout.js", "layOut", [(panels, width) for width in range(200, 1400, 20)])
    widths = [places[0]["size"]["width"] for places in laid]
    across = [(total + GAP) // (width + GAP) for total, width in zip(range(200, 1400, 20), widths, strict=True)]
    assert 3 not in across[: across.index(4)] and {1, 2, 4} <= {*across}


def test_a_panel_that_stands_alone_has_all_the_width(modules):
    """And those beside it elsewhere are below it."""
    panels = [panel(rows=96, columns=192, alone=True), panel(rows=13, columns=13, columnLabels=60)]
    ((small, large), (atlas, below)) = modules.call(
        "layout.js", "layOut", [[[{**panels[0], "alone": False}, panels[1]], 700], [panels, 700]]
    )
    assert small["width"] < 300 and atlas["width"] > 560 and atlas["size"]["width"] == pytest.approx(700)
    assert large["height"] <= below["height"] == TALLEST and atlas["bottom"] < below["bottom"]


def test_cells_are_square_where_there_is_room(modules):
    """A panel alone, with room to spare, has square cells, none larger than 72."""
    for rows, columns in [(4, 4), (6, 6), (8, 8), (6, 12), (30, 30)]:
        ((place,),) = modules.call("layout.js", "layOut", [[[panel(rows=rows, columns=columns)], 1300]])
        wide, high = place["width"] / columns, place["height"] / rows
        assert wide == pytest.approx(high) and wide <= 72


def test_neighbours_share_the_height_of_the_tallest(modules):
    """However flat one of them would be alone. Where a phone stacks them, each has the height of its square cells."""
    flat, tall = panel(rows=5, columns=12), panel(rows=8)
    cases = [[[flat, tall], 900], [[tall, flat], 900], [[flat, tall], 350]]
    (first, second, (stacked, below)) = modules.call("layout.js", "layOut", cases)
    assert len({place["height"] for place in first + second}) == 1
    assert stacked["height"] / 5 == pytest.approx(stacked["width"] / 12)
    assert stacked["height"] < below["height"] == pytest.approx(below["width"])


def test_labels_do_not_overlap(layouts):
    """Every 1st, 2nd, 5th, 10th, ... row or column has a label, as many as there is room for."""
    for (panels, _), laid in zip(CASES, layouts, strict=True):
        for sizes, place in zip(panels, laid, strict=True):
            rows, columns = place["every"]["row"], place["every"]["column"]
            assert str(rows).rstrip("0") in "125" and str(columns).rstrip("0") in "125"
            assert rows * place["height"] / sizes["rows"] >= 13 - 1e-9
            room = 15 if place["slanted"] else sizes["columnLabels"] + 6
            assert columns * place["width"] / sizes["columns"] >= room - 1e-9


def test_steps_are_the_smallest_round_ones(modules):
    """1, 2 or 5 times a power of ten, and the one before would be too small."""
    round_ones = [factor * 10**power for power in range(6) for factor in (1, 2, 5)]
    least = [0.0, 0.5, 1.0, 1.0001, 2.0, 9.99, 10.0, 10.01, *(DRAW.uniform(0, 90_000) for _ in range(500)), *round_ones]
    steps = modules.call("ticks.js", "niceStep", [[value] for value in least])
    assert steps == [next(step for step in [*round_ones, 10**6] if step >= value) for value in least]


def test_a_width_is_shared_fairly(modules):
    """None gets more than it wants; all is given while one wants more, and those that do get the same."""
    cases = [[DRAW.uniform(50, 3000), [DRAW.uniform(1, 900) for _ in range(DRAW.randint(1, 6))]] for _ in range(300)]
    for (width, wanted), shares in zip(cases, modules.call("layout.js", "shareOut", cases), strict=True):
        assert len(shares) == len(wanted)
        assert all(share <= want for share, want in zip(shares, wanted, strict=True))
        assert sum(shares) == pytest.approx(min(width, sum(wanted)))
        short = [share for share, want in zip(shares, wanted, strict=True) if share < want]
        assert all(share == pytest.approx(max(shares)) for share in short)
