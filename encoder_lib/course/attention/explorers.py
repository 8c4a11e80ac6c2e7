"""The explorers of 04_attention."""

import math
import zlib
from collections.abc import Sequence
from functools import lru_cache, partial

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from encoder_lib.course.kit.plots import as_array, percent, readable
from encoder_lib.course.kit.widget.boxes import Boxes
from encoder_lib.course.kit.widget.controls import Checkbox, Control, Range, Select, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import Heatmap, View, attention_map
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.model.attention import MultiHeadAttention, attention_scores, masked_softmax
from encoder_lib.model.masks import causal_mask, lengths_mask
from encoder_lib.trace import trace

MOST_WORDS, LONGEST_WORD = 12, 16  # words of a sentence, characters of a word
WIDEST, VALUES = 512, 8  # numbers of a query or key, and of a value
SILENT = ("no word", "the first word", "the second word", "the third word", "the last word")
PADDED = 2  # words at the end that the padding mask masks out
SIGNED = partial(Heatmap, cmap="diverging", limits=(-3, 3))


def attend(sentence: str = "the dog bites the man", *, similarity: float = 0.0, masks: bool = True) -> Explorer:
    """Attention of a sentence that the reader types: scores, weights and output side by side, for random vectors.

    A word's query, key and value are drawn at random, the same ones on every machine and at every position; the control
    `similarity` rotates the keys towards the queries. Without `masks` the controls of the masks are left out.
    """

    def show(
        sentence: str,
        similarity: float,
        temperature: float,
        d_head: int,
        scaled: bool,
        padding: bool = False,
        causal: bool = False,
        silent: str = SILENT[0],
    ) -> View:
        words = [readable(word, LONGEST_WORD) for word in sentence.split()[:MOST_WORDS]] or ["(nothing)"]
        query, key, value = _vectors(words, similarity, d_head)  # (T, K), (T, K), (T, V)
        scores = attention_scores(query, key, scale=(d_head**-0.5 if scaled else 1) / temperature)  # (T, T)
        mask = _mask(len(words), padding, causal, silent)  # (T, T)
        weights = masked_softmax(scores, mask)  # (T, T)
        shown = attention_map(weights, words, "Weights: softmax of each row")
        return View(
            attention_map(
                scores.masked_fill(~mask, torch.nan),
                words,
                "Scores: query · key / √K" if scaled else "Scores: query · key",
                missing="masked",
                cmap="diverging",
                limits=_limits(scores[mask]),
            ),
            shown,
            SIGNED(
                weights @ value,
                title="Output: weighted means",
                x_label="value dimension",
                y_label="query",
                y_ticks=words,
            ),
            tokens=shown,
            description=_words(words, scores[mask], weights, mask),
        )

    web = Web(heights=(820, 1851, 1165) if masks else (710, 1548, 1000), computed="attend")
    controls: list[Control] = [
        Text("sentence", sentence, max_length=100, label="your sentence"),
        Range("similarity", similarity, min=0, max=1, step=0.05, label="query/key similarity"),
        Range("temperature", 1.0, min=0.1, max=10, step=None, log=True),
        Range("d_head", 16, min=2, max=WIDEST, log=True, label="width K of queries and keys"),
        Checkbox("scaled", True, label="divide by √K"),
    ]
    if masks:
        controls += [
            Checkbox("padding", False, label=f"padding mask (last {PADDED} words)"),
            Checkbox("causal", False, label="causal mask (no later words)"),
            Select("silent", SILENT[0], options=SILENT, label="mask out everything in the row of"),
        ]
    return Explorer(show, *controls, title="Attention, word by word" + (", with masks" if masks else ""), web=web)


@lru_cache(maxsize=1024)
def _drawn(word: str) -> Tensor:
    """Random numbers (2, 512 + 8) that belong to a word, whether it is written in uppercase or lowercase."""
    seed = torch.Generator().manual_seed(zlib.crc32(word.casefold().encode()))
    return torch.randn(2, WIDEST + VALUES, generator=seed, dtype=torch.float64)


def _vectors(words: list[str], similarity: float, d_head: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (T, K), keys (T, K) and values (T, V) of the words; a wider query begins with the narrower one."""
    query, other = torch.stack([_drawn(word) for word in words], dim=1)  # (T, 512 + 8) each
    key = similarity * query + math.sqrt(1 - similarity**2) * other  # (T, 512 + 8), as long as the queries
    return query[:, :d_head], key[:, :d_head], query[:, WIDEST:]


def _mask(length: int, padding: bool, causal: bool, silent: str) -> Tensor:
    """Which word may attend to which (T, T); at least one word is not padding."""
    mask = torch.ones(length, length, dtype=torch.bool)
    if padding:
        mask = mask & lengths_mask(torch.tensor([max(1, length - PADDED)]), length)[0, 0]  # (1, T) on (T, T)
    if causal:
        mask = mask & causal_mask(length)
    if row := SILENT.index(silent):
        mask[length - 1 if silent == SILENT[-1] else min(row, length) - 1] = False
    return mask


def _limits(scores: Tensor) -> tuple[float, float]:
    """The round number (1, 2 or 5, times a power of ten) that no score exceeds, below and above zero."""
    largest = max(scores.abs().max().item() if scores.numel() else 0.0, 0.1)
    power = 10.0 ** math.floor(math.log10(largest))
    bound = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= largest)
    return -bound, bound


def _words(words: list[str], scores: Tensor, weights: Tensor, mask: Tensor) -> str:
    attending = mask.any(dim=-1)  # (T,)
    silent = [f"“{word}”" for word, attends in zip(words, attending.tolist(), strict=True) if not attends]
    nothing = f" {silent[0]} may attend to nothing: its weights and its output are 0." if silent else ""
    if not attending.any():
        return f"There is nothing to see.{nothing}"
    most = weights[attending].amax(dim=-1).mean().item()
    i, j = divmod(int(weights.argmax()), len(words))
    hidden = (~mask[attending]).sum().item()
    masked = f" {hidden} of the {attending.sum().item() * len(words)} weights are masked out." if hidden else ""
    return (
        f"Scores from {scores.min():.2f} to {scores.max():.2f}, with variance {scores.var(correction=0):.2f}. On "
        f"average, a word's largest weight is {percent(most)}; equal weights would be {percent(1 / len(words))} each. "
        f"The largest weight of all: “{words[i]}” attends to “{words[j]}”, {percent(weights[i, j].item())}."
        f"{masked}{nothing}"
    )


NTH = ("1st", "2nd")
LEAST, REACH, ROOM = -1.5, 3.0, 0.3  # the numbers that a query or key may have, and how much farther the plane reaches
WORD, SCORE, BAR, SHARE = 2.0, 2.2, 4.0, 1.6  # widths of a row's parts
HIGH, STEP, SLIM = 1.3, 1.6, 0.42  # height of a row, its distance from the next, and how much of it a bar takes


def one_query(words: Sequence[str], query: ArrayLike, keys: ArrayLike, values: ArrayLike) -> Explorer:
    """One query (2,) and the keys (N, 2) as arrows to drag: weights and the weighted mean of `values` (N, 2) follow.

    Raises ValueError for other shapes, and for numbers of the query or of a key below −1.5 or above 3.
    """
    words = [readable(word, LONGEST_WORD) for word in words]
    count = len(words)
    wanted = {"query": (2,), "keys": (count, 2), "values": (count, 2)}
    given = {}
    for name, numbers in (("query", query), ("keys", keys), ("values", values)):
        given[name] = as_array(numbers, ndim=(1, 2), name=name, finite=True)
        if given[name].shape != wanted[name]:
            raise ValueError(f"{name}: expected shape {wanted[name]}, got {given[name].shape}")
    points = given["values"].tolist()
    arrows = ["query", *(f"key_{i}" for i in range(1, count + 1))]
    names = [f"{arrow}_{axis}" for arrow in arrows for axis in "xy"]

    def show(**places: float) -> View:
        query, *keys = torch.tensor([places[name] for name in names], dtype=torch.float64).view(-1, 2)
        scores = attention_scores(query[None], torch.stack(keys))  # (1, N)
        weights = masked_softmax(scores)  # (1, N)
        output = (weights @ torch.tensor(points, dtype=torch.float64))[0].tolist()
        plane = Plane(
            torch.stack([*keys, query]),
            [*words, "query"],
            title="Drag query and keys",
            kinds=[*words, "query"],
            x_limits=(LEAST - ROOM, REACH + ROOM),
            y_limits=(LEAST - ROOM, REACH + ROOM),
            x_label="1st number",
            y_label="2nd number",
            arrows=True,
            drags={(i - 1) % len(arrows): (f"{arrow}_x", f"{arrow}_y") for i, arrow in enumerate(arrows)},
        )
        bars = _bars(words, scores[0].tolist(), weights[0].tolist())
        description = _row_in_words(words, scores[0].tolist(), weights[0].tolist(), output)
        return View(plane, bars, _mean(words, points, [output]), description=description)

    numbers = [*given["query"].tolist(), *given["keys"].ravel().tolist()]
    labels = [f"{arrow}, {nth}" for arrow in ["query", *(f"key of {word}" for word in words)] for nth in NTH]
    return Explorer(
        show,
        *(
            Range(name, number, min=LEAST, max=REACH, step=0.1, label=label)
            for name, number, label in zip(names, numbers, labels, strict=True)
        ),
        title="One query, its scores, its weights, its output",
        web=Web(heights=(546, 1457, 1010), computed="one_query", given=("words", "points")),
    )


def _bars(words: list[str], scores: list[float], weights: list[float]) -> Boxes:
    """For each word its score, and a bar as long as its weight, on a grey one as long as a weight of 1."""
    begin = WORD + SCORE
    boxes: list[tuple[float, ...]] = [(WORD, 0, SCORE, HIGH, 1), (begin, 0, BAR, HIGH, 1)]
    kinds, labels = ["note", "heading"], ["score", "weight"]
    for i, (word, score, weight) in enumerate(zip(words, scores, weights, strict=True)):
        top = STEP * (i + 1)
        boxes += [(0, top, WORD, HIGH, 1), (WORD, top, SCORE, HIGH, 1), (begin, top, BAR, HIGH, 1)]
        boxes += [(begin, top, BAR * weight, HIGH, 1), (begin + BAR, top, SHARE, HIGH, 1)]
        kinds += ["heading", "note", "grey", word, "note"]
        labels += [word, decimals(score), "", "", percent(weight)]
    size = (begin + BAR + SHARE, STEP * len(words) + HIGH)
    return Boxes(boxes, kinds, size=size, labels=labels, title="Scores and weights", least=176, slim=SLIM)


def _mean(words: list[str], points: list[list[float]], outputs: list[list[float]]) -> Plane:
    """The values, with a line between every two, and a weighted mean of them, or one for each word."""
    count, reach = len(words), max(1.0, *(abs(number) for point in points for number in point))
    alone = len(outputs) == 1
    return Plane(
        [*points, *outputs],
        [*words, "output"] if alone else [*[""] * count, *words],
        title="Values and their mean" if alone else "Outputs as dots, values as rings",
        kinds=[*words, "output"] if alone else [*words, *words],
        x_limits=(min(0.0, *(x for x, _ in points)) - 0.1 * reach, max(0.0, *(x for x, _ in points)) + 0.4 * reach),
        y_limits=(min(0.0, *(y for _, y in points)) - 0.1 * reach, max(0.0, *(y for _, y in points)) + 0.2 * reach),
        paths=[(a, b) for a in range(count) for b in range(a)],
        rings=range(count),
        area=_convex_hull(points),
    )


def _convex_hull(points: list[list[float]]) -> list[int]:
    """The corners of the points' convex hull, counter-clockwise. Every weighted mean of the points lies in it."""

    def half(order: list[int]) -> list[int]:
        hull: list[int] = []
        for i in order:
            while len(hull) > 1 and not _turns_left(*(points[n] for n in (*hull[-2:], i))):
                hull.pop()
            hull.append(i)
        return hull[:-1]

    order = sorted(range(len(points)), key=points.__getitem__)
    return half(order) + half(order[::-1])


def _turns_left(a: list[float], b: list[float], c: list[float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


def paint_mask(words: Sequence[str], queries: ArrayLike, keys: ArrayLike, values: ArrayLike) -> Explorer:
    """The attention weights of a few words, each of which a click masks out, and the outputs that follow.

    queries, keys, values: (N, 2) each, for N words. Raises ValueError for other shapes.
    """
    words = [readable(word, LONGEST_WORD) for word in words]
    count = len(words)
    vectors = []
    for name, numbers in (("queries", queries), ("keys", keys), ("values", values)):
        vectors.append(torch.tensor(as_array(numbers, name=name, finite=True)))
        if vectors[-1].shape != (count, 2):
            raise ValueError(f"{name}: expected shape ({count}, 2), got {tuple(vectors[-1].shape)}")
    query, key, value = vectors
    scores = attention_scores(query, key).tolist()  # (N, N)
    points = value.tolist()
    names = [[f"{i}_{j}" for j in range(1, count + 1)] for i in range(1, count + 1)]

    def show(**allowed: bool) -> View:
        mask = torch.tensor([[allowed[name] for name in row] for row in names])  # (N, N)
        weights = masked_softmax(torch.tensor(scores, dtype=torch.float64), mask)  # (N, N)
        outputs = (weights @ torch.tensor(points, dtype=torch.float64)).tolist()  # (N, 2)
        seen = weights.masked_fill(~mask, torch.nan)
        title = "Weights: click one to mask it out"
        return View(
            attention_map(seen, words, title, missing="masked out", toggles=names),
            _mean(words, points, outputs),
            description=_painted_in_words(words, mask.tolist(), weights.tolist(), outputs),
        )

    return Explorer(
        show,
        *(
            Checkbox(name, True, label=f"{word} attends to {other}")
            for word, row in zip(words, names, strict=True)
            for other, name in zip(words, row, strict=True)
        ),
        title="Paint a mask",
        web=Web(heights=(690, 1224, 661), computed="paint_mask", given=("words", "scores", "points", "names")),
    )


def _painted_in_words(
    words: list[str], mask: list[list[bool]], weights: list[list[float]], outputs: list[list[float]]
) -> str:
    rows = []
    for word, allowed, row, output in zip(words, mask, weights, outputs, strict=True):
        seen = [f"{other} {percent(w)}" for other, w, may in zip(words, row, allowed, strict=True) if may]
        rows.append(f"{word} attends to {', '.join(seen) or 'nothing'}, and its output is {_place(output)}")
    return f"Under this mask, {'; '.join(rows)}."


def _place(point: Sequence[float]) -> str:
    return f"({decimals(point[0])}, {decimals(point[1])})"


def _row_in_words(words: list[str], scores: list[float], weights: list[float], output: list[float]) -> str:
    rows = [
        f"{word} the score {decimals(score)} and the weight {percent(weight)}"
        for word, score, weight in zip(words, scores, weights, strict=True)
    ]
    return f"The query gives {'; it gives '.join(rows)}. The output is {_place(output)}."


def decimals(number: float) -> str:
    """A number with two decimals, a real minus, and none before a zero, as `one_query.js` writes it."""
    return f"{round(number, 2) + 0.0:.2f}".replace("-", "−")


D_MODEL = 12
DIVISORS = tuple(h for h in range(1, D_MODEL + 1) if D_MODEL % h == 0)


def head_slices(n_heads: int = 3, head: int = 1) -> Explorer:
    """Heads as slices of D: one head's part of the queries, its attention weights, and where its output goes."""
    words = ["the", "dog", "bites", "the", "man"]
    seed = torch.Generator().manual_seed(5)
    x = torch.stack([_drawn(word)[0, :D_MODEL] for word in words])[None]  # (1, T, D)
    numbers = {
        name: torch.randn(p.shape, generator=seed, dtype=torch.float64) / math.sqrt(D_MODEL) * (p.ndim > 1)
        for name, p in _unfilled(1).named_parameters()
    }

    def show(n_heads: int, head: int) -> View:
        attention = _unfilled(n_heads)
        attention.load_state_dict(numbers, assign=True)  # the same for any number of heads
        with torch.no_grad(), trace(attention) as t:
            attention(x, x, x)
        shown, d_head = min(head, n_heads), D_MODEL // n_heads
        first = (shown - 1) * d_head
        dimension = torch.arange(D_MODEL)
        elsewhere = (dimension < first) | (dimension >= first + d_head)  # (D,)
        query, joined = (t[name][0].transpose(0, 1).flatten(1) for name in ("query", "heads"))  # (T, D) each
        weights = t["weights"][0, shown - 1]  # (T, T)
        lit = partial(SIGNED, x_label="dimension", y_label="query", y_ticks=words, missing="another head")
        return View(
            lit(
                query.masked_fill(elsewhere, torch.nan),
                title=f"Queries: {d_head} of {D_MODEL} numbers",
            ),
            attention_map(weights, words, f"Weights of head {shown}"),
            lit(joined.masked_fill(elsewhere, torch.nan), title="Output, in the same slice"),
            description=_slice_words(n_heads, shown, first, d_head, words, weights, attention),
        )

    return Explorer(
        show,
        Select("n_heads", n_heads, options=DIVISORS, label="number of heads H"),
        Range("head", head, min=1, max=D_MODEL, label="head shown (the last one at most)"),
        title="Heads are slices of D",
        web=Web(heights=(860, 1122, 768), together=(("n_heads", "head"),)),
    )


def _unfilled(n_heads: int) -> MultiHeadAttention:
    """Attention whose parameters have shapes and no numbers, so that none are drawn."""
    with torch.device("meta"):
        return MultiHeadAttention(D_MODEL, n_heads)


def _slice_words(
    n_heads: int, shown: int, first: int, d_head: int, words: list[str], weights: Tensor, attention: MultiHeadAttention
) -> str:
    i, j = divmod(int(weights.argmax()), len(words))
    size = sum(p.numel() for p in attention.parameters())
    slice_ = f"dimension {first}" if d_head == 1 else f"dimensions {first} to {first + d_head - 1}"
    return (
        f"Head {shown} of {n_heads} works on {slice_}, K = {d_head} of {D_MODEL}. Its largest weight: “{words[i]}” "
        f"attends to “{words[j]}”, {percent(weights[i, j].item())}. The layer has {size} parameters, whatever H is."
    )
