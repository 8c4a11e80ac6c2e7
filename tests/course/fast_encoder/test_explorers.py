"""The cost explorer draws what is counted; a softmax in pieces ends the same; packing loses no token."""

import itertools
import re

import pytest
import torch

from encoder_lib.course import explore
from encoder_lib.course.fast_encoder.costs import PARTS, layer_costs
from encoder_lib.course.fast_encoder.drawings import SCORES, VALUES
from encoder_lib.course.fast_encoder.explorers import BYTES, LENGTHS, LIMITS

SETTINGS = list(itertools.product((16, 128, 4096), (1, 64), (64, 384, 1024), BYTES, (0, 25, 75)))


@pytest.fixture(scope="module")
def explorer():
    return explore.cost()


def sides(explorer):
    """The two Axes, each with what it shows, and its lines: those of the parts, T, dots and rings."""
    for ax, quantity in zip(explorer._figure.axes, ("flops", "bytes_moved"), strict=True):
        curves, rest = ax.lines[: len(PARTS)], ax.lines[len(PARTS) :]
        yield quantity, curves, rest[0], rest[1 : 1 + len(PARTS)], rest[1 + len(PARTS) :]


def counted(batch, tokens, width, number):
    return layer_costs(batch, tokens, width, d_ff=4 * width, n_heads=width // 32, number=BYTES[number])


@pytest.mark.parametrize("setting", SETTINGS[::13], ids=str)
def test_curves_dots_and_rings_stand_where_the_counts_are(explorer, setting):
    tokens, batch, width, number, padding = setting
    explorer.set(tokens=tokens, batch=batch, width=width, number=number, padding=padding)
    real = -(-tokens * (100 - padding) // 100)
    for quantity, curves, line, dots, rings in sides(explorer):
        assert list(line.get_xdata()) == [tokens, tokens]
        for part, curve, dot, ring in zip(PARTS, curves, dots, rings, strict=True):
            expected = [getattr(counted(batch, t, width, number)[part], quantity) for t in LENGTHS]
            assert list(curve.get_ydata()) == expected and list(curve.get_xdata()) == list(LENGTHS)
            assert dot.get_color() == ring.get_color() == curve.get_color()
            for mark, t in ((dot, tokens), (ring, real)):
                assert list(mark.get_xdata()) == [tokens]
                assert list(mark.get_ydata()) == [getattr(counted(batch, t, width, number)[part], quantity)]
            assert ring.get_visible() == (padding > 0)


def test_limits_stay_and_hold_every_count(explorer):
    for ax, limits in zip(explorer._figure.axes, LIMITS, strict=True):
        assert ax.get_ylim() == limits
    for tokens, batch, width, number, _ in SETTINGS:
        for cost in counted(batch, tokens, width, number).values():
            for value, (low, high) in zip((cost.flops, cost.bytes_moved), LIMITS, strict=True):
                assert low < value < high


def test_the_words_name_the_counts(explorer):
    explorer.set(tokens=128, batch=8, width=384, number="float32", padding=0)
    costs = counted(8, 128, 384, "float32")
    words = explorer.description
    assert "8 sequences of 128 tokens, width 384, float32." in words
    assert "feed-forward 2.42 GFLOP, attention 201 MFLOP." in words
    for part, found in zip(PARTS, re.findall(r"([\d.]+) ([kMGT])FLOP[,;]", words), strict=False):
        number, letter = found
        assert float(number) == pytest.approx(
            costs[part].flops / {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[letter], rel=5e-3
        )
    assert f"with {costs['attention, explicit'].arithmetic_intensity:.1f} FLOPs for each" in words
    assert "The projections move 14.9 MB, explicit" in words and costs["projections"].bytes_moved == 14_942_208
    explorer.set(batch=1, width=64)
    assert explorer.description.startswith("1 sequence of 128 tokens")


def test_the_words_name_what_padding_wastes(explorer):
    explorer.set(tokens=1024, batch=2, width=64, number="float32", padding=50)
    padded, without = (counted(2, t, 64, "float32") for t in (1024, 512))
    left, whole = (sum(costs[part].flops for part in PARTS[:3]) for costs in (without, padded))
    assert (
        f"With 50 % padding, the unpadded layer does {100 * left / whole:.0f} % of the operations."
        in explorer.description
    )
    assert left / whole < 0.4  # attention falls to a quarter
    explorer.padding = 0
    assert "padding" not in explorer.description


@pytest.mark.parametrize(
    ("balance", "words"),
    [
        (2.4, "arithmetic limits the explicit one and arithmetic limits the fused one."),
        (5.0, "either may limit the explicit one and arithmetic limits the fused one."),
        (10.3, "memory limits the explicit one and arithmetic limits the fused one."),
        (1e4, "memory limits the explicit one and memory limits the fused one."),
    ],
)
def test_what_limits_depends_on_the_machine(balance, words):
    explorer = explore.cost(tokens=512, balance=balance)
    costs = counted(8, 512, 384, "float32")
    assert [round(costs[part].arithmetic_intensity, 1) for part in PARTS[2:]] == [5.1, 128.0]
    assert explorer.description.endswith(words) and f"as long as {balance:.1f} FLOPs" in explorer.description


def test_online_softmax_ends_the_same_for_any_piece():
    """At the outlines."""
    softmax = torch.tensor(SCORES).double().softmax(0) @ torch.tensor(VALUES).double()
    for piece in range(1, 9):
        explorer = explore.online_softmax(seen=8, piece=piece)
        kept = explorer._view.panels[1].frame(8)
        for bar in range(3):
            old, new, ghost = kept[5 * bar : 5 * bar + 3, 3]
            assert old + new == pytest.approx(ghost, rel=1e-6)
        assert explorer.description.endswith(f"the mean {softmax:.1f}.")


def test_online_softmax_says_when_it_corrects():
    explorer = explore.online_softmax(seen=4, piece=2)
    assert "first multiplied by e^(3−5) = 0.135." in explorer.description
    explorer.seen = 6
    assert "nothing was corrected" in explorer.description
    explorer.seen = 5
    assert "1 score of the current piece is held" in explorer.description and "correct" not in explorer.description


@pytest.mark.parametrize("longest", [3, 6, 10])
def test_packing_lays_every_token_end_to_end(longest):
    """In the order of the texts; padding is left out, and lines are where texts meet."""
    explorer = explore.packing(longest=longest)
    (panel,) = explorer._view.panels
    tokens = [i for i, label in enumerate(panel.labels[0]) if len(label) == 1]
    first, last = panel.frame(0), panel.frame(6)
    assert "".join(panel.labels[0][i] for i in tokens) == "abcdefghijklmnop"[: longest + 6]
    assert {round(float(top)) for top in first[tokens, 1]} == {1, 2, 3, 4}
    assert [round(float(left)) for left in last[tokens, 0]] == list(range(longest + 6))
    assert len({float(top) for top in last[tokens, 1]}) == 1
    grey = [i for i, kind in enumerate(panel.kinds) if kind == "grey"]
    assert len(grey) == 3 * longest - 6 and first[grey, 4].all() and not last[grey, 4].any()
    pale = [i for i, kind in enumerate(panel.kinds) if kind.startswith("text") and not panel.labels[0][i]]
    assert len(pale) == longest + 6 and not first[pale, 4].any() and (last[pale, 4] == 0.25).all()
    rules = [i for i, kind in enumerate(panel.kinds) if kind == "rule"]
    assert [round(float(x)) for x in last[rules, 0] + 0.06] == [3, 3 + longest, 4 + longest]
    assert f"{4 * longest} cells. {longest + 6} of them are tokens" in explorer.description
