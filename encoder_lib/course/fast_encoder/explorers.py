"""The explorers of 11_fast_encoder: what a layer costs, the softmax of pieces, and a packed sequence."""

from math import ceil

from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator

from encoder_lib import expect
from encoder_lib.course.fast_encoder.costs import PARTS, Cost, layer_costs
from encoder_lib.course.fast_encoder.drawings import SCORES, Running, packing_boxes, read, running_boxes
from encoder_lib.course.kit.plots import GREY, plot_panels
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import View
from encoder_lib.course.kit.widget.web import Web

LEAST, MOST = 16, 4096  # tokens
LENGTHS = tuple(2**power for power in range(4, 13))
HEAD = 32  # width of a head, as in MiniLM
BYTES = {"float64": 8, "float32": 4, "bfloat16": 2}
TOSS_UP = 2.0  # the smallest distance from the balance, as a factor, that counts
LIMITS = (1e4, 1e13), (5e3, 1e13)  # of FLOPs and of bytes, wide enough for all values of the controls


def _draw() -> Figure:
    """Draw FLOPs and bytes of each part of a layer against T, side by side."""
    flops, moved = _lines(8, 384, "float32")
    panels = {"Operations: both attentions do the same": flops, "Bytes: explicit attention moves more": moved}
    figure = plot_panels(panels, share_y=False, x=LENGTHS, x_label="tokens T", x_scale="log", y_scale="log")
    for ax, limits, label in zip(figure.axes, LIMITS, ("FLOPs of one layer", "bytes"), strict=True):
        ax.set(ylim=limits, xlim=(LEAST / 1.3, MOST * 1.3), ylabel=label)
        ax.set_xticks(LENGTHS[::2], LENGTHS[::2])
        ax.yaxis.set(major_locator=LogLocator(numticks=5), major_formatter=LogFormatterSciNotation())
    return figure


def _costs(batch: int, tokens: int, width: int, number: str) -> dict[str, Cost]:
    return layer_costs(batch, tokens, width, d_ff=4 * width, n_heads=width // HEAD, number=BYTES[number])


def _lines(batch: int, width: int, number: str) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """FLOPs and bytes of each part, at every number of tokens."""
    every = [_costs(batch, tokens, width, number) for tokens in LENGTHS]
    quantities = ("flops", "bytes_moved")
    flops, moved = ({part: [getattr(c[part], q) for c in every] for part in PARTS} for q in quantities)
    return flops, moved


def cost(
    tokens: int = 128,
    batch: int = 8,
    width: int = 384,
    number: str = "float32",
    padding: int = 0,
    *,
    balance: float = 10.0,
) -> Explorer:
    """Count what one encoder layer computes and moves, against T; dots mark the chosen T, open dots T without padding.

    padding: the percentage of padding in each sequence. balance: the number of operations that the machine does in the
    time in which it moves one byte.
    """
    expect.positive("balance", balance)
    controls = (
        Range("tokens", tokens, min=LEAST, max=MOST, step=16, log=True, label="tokens T"),
        Range("batch", batch, min=1, max=64, label="sequences B"),
        Range("width", width, min=64, max=1024, step=64, label="width D"),
        Select("number", number, options=tuple(BYTES), label="numbers"),
        Range("padding", padding, min=0, max=75, step=5, label="padding, %"),
    )
    figure = _draw()
    marks = []
    for ax in figure.axes:
        line = ax.axvline(LEAST, color=GREY, zorder=0)
        dots = [ax.plot([], [], "o", color=curve.get_color())[0] for curve in ax.lines[: len(PARTS)]]
        rings = [ax.plot([], [], "o", mfc="white", color=dot.get_color())[0] for dot in dots]
        marks.append((line, dots, rings))

    def show(tokens: int, batch: int, width: int, number: str, padding: int) -> str:
        real = max(1, ceil(tokens * (100 - padding) / 100))
        padded, without = _costs(batch, tokens, width, number), _costs(batch, real, width, number)
        sides = zip(figure.axes, _lines(batch, width, number), ("flops", "bytes_moved"), marks, strict=True)
        for ax, lines, quantity, (line, dots, rings) in sides:
            line.set_xdata([tokens, tokens])
            for i, part in enumerate(PARTS):
                ax.lines[i].set_ydata(lines[part])
                dots[i].set_data([tokens], [getattr(padded[part], quantity)])
                rings[i].set_data([tokens], [getattr(without[part], quantity)])
                rings[i].set_visible(padding > 0)
        return _words(tokens, batch, width, number, padded, balance) + _waste(padding, padded, without)

    web = Web(heights=(640, 1160), computed="cost", given=("balance",))
    return Explorer(show, *controls, title="What does a layer cost?", figure=figure, web=web)


def _words(tokens: int, batch: int, width: int, number: str, costs: dict[str, Cost], balance: float) -> str:
    """Describe sizes, operations, bytes, and which of the two limits."""
    projections, network, explicit, fused = (costs[part] for part in PARTS)
    sequences = f"{batch} sequence{'s'[: batch != 1]} of {tokens} tokens, width {width}, {number}"
    operations = (
        f"Projections {_short(projections.flops)}FLOP, feed-forward {_short(network.flops)}FLOP, "
        f"attention {_short(explicit.flops)}FLOP"
    )
    moved = (
        f"The projections move {_short(projections.bytes_moved)}B, explicit attention {_short(explicit.bytes_moved)}B "
        f"with {explicit.arithmetic_intensity:.1f} FLOPs for each, "
        f"fused {_short(fused.bytes_moved)}B with {fused.arithmetic_intensity:.1f}"
    )
    limits = (
        f"where a byte takes as long as {balance:.1f} FLOPs, {_limit(explicit, balance)} the explicit one and "
        f"{_limit(fused, balance)} the fused one"
    )
    return f"{sequences}. {operations}. {moved}: {limits}."


def _limit(cost: Cost, balance: float) -> str:
    """Which side limits a part; within a factor of TOSS_UP of the balance, either may."""
    ratio = cost.arithmetic_intensity / balance
    if ratio < 1 / TOSS_UP:
        return "memory limits"
    return "arithmetic limits" if ratio > TOSS_UP else "either may limit"


def _waste(padding: int, padded: dict[str, Cost], without: dict[str, Cost]) -> str:
    """Describe how many of the operations are left without padding."""
    if not padding:
        return ""
    left, whole = (sum(costs[part].flops for part in PARTS[:3]) for costs in (without, padded))
    return f" With {padding} % padding, the unpadded layer does {100 * left / whole:.0f} % of the operations."


def _short(number: float) -> str:
    """Write a large number with at most three digits and a letter for its size: 1.2 G."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:.0f} "


def online_softmax(seen: int = 2, piece: int = 2) -> Explorer:
    """One query goes through eight keys: what it keeps after each piece of them, and what this leads to in the end."""

    def show(seen: int, piece: int) -> View:
        states = [read(n, piece) for n in range(len(SCORES) + 1)]
        return View(
            *running_boxes(states, piece),
            frames="seen",
            description=[_kept(n, piece, state) for n, state in enumerate(states)],
        )

    return Explorer(
        show,
        Range("seen", seen, min=0, max=len(SCORES), label="keys read"),
        Range("piece", piece, min=1, max=len(SCORES), label="keys in a piece"),
        title="Online softmax, piece by piece",
        web=Web(heights=(530, 878, 1069)),
    )


def _kept(seen: int, piece: int, state: Running) -> str:
    """Describe what is held and what is kept after so many keys."""
    held = seen - state.done
    start = f"{seen} of {len(SCORES)} keys read, in pieces of {piece}."
    waiting = (
        f" {held} score{'s'[: held != 1]} of the current piece {'are' if held != 1 else 'is'} held." if held else ""
    )
    if not state.done:
        return f"{start}{waiting} Nothing is kept yet."
    kept = (
        f" Kept after {state.done} key{'s'[: state.done != 1]}: the largest score, {state.largest:.0f}, "
        f"the total, {state.total:.4f}, and the weighted sum, {state.summed:.1f}."
    )
    mean = f" Divided, they give the mean {state.summed / state.total:.1f}."
    return f"{start}{waiting}{kept}{'' if held else _corrected(state)}{mean}"


def _corrected(state: Running) -> str:
    if state.before is None:
        return " This was the first piece, so there was nothing to correct."
    if state.before == state.largest:
        return " The last piece brought no larger score, so nothing was corrected."
    return (
        f" The last piece brought a larger score, so the old total and the old sum were first multiplied by "
        f"{state.factor_in_words}."
    )


def packing(step: int = 6, longest: int = 6) -> Explorer:
    """Four texts in a padded batch, whose real tokens glide into one packed sequence."""

    def show(step: int, longest: int) -> View:
        lengths = (3, longest, 1, 2)
        real, cells = sum(lengths), len(lengths) * longest
        padded = (
            f"The padded batch of 4 texts has 4 × {longest} = {cells} cells. {real} of them are tokens and "
            f"{cells - real} are padding."
        )
        packed = f"{padded} The packed sequence"
        return View(
            packing_boxes(lengths),
            frames="step",
            description=[
                padded,
                f"{padded} The padding is left out.",
                *(f"{packed} has {sum(lengths[:n])} tokens so far, of {n} text{'s'[: n != 1]}." for n in (1, 2, 3)),
                f"{packed} has {real} tokens, of 4 texts.",
                f"{packed} has {real} tokens. Three lines mark where two texts meet.",
            ],
        )

    return Explorer(
        show,
        Range("step", step, min=0, max=6),
        Range("longest", longest, min=3, max=10, label="tokens of the longest text"),
        title="From a padded batch to a packed sequence",
        web=Web(heights=(640, 599, 583)),
    )
