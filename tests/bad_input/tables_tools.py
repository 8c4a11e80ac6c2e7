"""Bad input to the teaching tools: for every parameter of every public function, every wrong kind of value.

Each entry of the table holds arguments that are right, and for each parameter the kind of values that are wrong.
test_tools.py puts each wrong value in the place of the right one: the exception, what it says, and that nothing else
happened.
"""

import math
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from bad_values import (
    AXES,
    CHOICE,
    COUNT,
    DEVICE,
    FLAG,
    FLOATS,
    FUNCTION,
    IDS,
    LIMITS,
    LONG,
    MAPPING,
    MODULE,
    NUMBER,
    POSITIVE,
    PROBABILITY,
    REAL,
    SEED,
    SIZE,
    TENSOR,
    TEXT,
    TEXTS,
    Entry,
    Wrong,
    labels,
    numbers,
    one_of,
    optional,
    types,
)
from matplotlib.figure import Figure
from PIL import Image
from torch import nn

from encoder_lib import (
    Encoder,
    FeedForward,
    LayerNorm,
    SentenceEncoder,
    TransformerEncoder,
    load_pretrained,
    notebook,
    plots,
    seeded,
)
from encoder_lib.lab import curves, ladder, measure, units
from encoder_lib.pretrained import batching
from encoder_lib.training import checkpoint, fit, progress, tasks

NAN, INF = math.nan, math.inf


def entered(make: Callable) -> Callable:
    """A context manager's way in, followed by its way out."""

    def call(**arguments):
        with make(**arguments):
            pass

    return call


def blank():
    """Axes of a figure that pyplot does not know."""
    return Figure().add_subplot()


def saved() -> Path:
    """A checkpoint of a linear map."""
    path = FOLDER / "linear.safetensors"
    checkpoint.save_checkpoint(nn.Linear(2, 2), path)
    return path


AXIS, FOLDER, THIS = blank(), Path(tempfile.mkdtemp()), __file__
NO_FIT = [*MODULE, *types(nn.Linear(1, 1), nn.ReLU()), *numbers(FeedForward(2, 3))]
NO_BOOLS = [*TENSOR, *types(torch.ones(6), torch.ones(6).long())]


@lru_cache
def minilm() -> SentenceEncoder:
    """The pretrained model, read once."""
    return load_pretrained("minilm")


def encoder(**settings) -> TransformerEncoder:
    """A small encoder of 5 symbols."""
    return TransformerEncoder(5, 1, 8, 2, 8, **{"padding_idx": 0} | settings)


def classifier() -> nn.Sequential:
    """A small model with scores for 5 classes."""
    return nn.Sequential(encoder(), nn.Linear(8, 5))


def pair() -> tuple:
    """Inputs and targets for it."""
    return torch.tensor([[1, 2, 3]]), torch.tensor([[3, 2, 1]])


def heard() -> units.UnitActivations:
    """Six words that somebody heard, and what three units make of them."""
    half = torch.tensor([True, False] * 3)
    listed = ["cats", "dog", "mats", "sat", "rats", "the"]
    return units.UnitActivations(
        listed, ["[CLS]", *listed[:-1]], torch.arange(6), torch.eye(6)[:, :2], torch.eye(6)[:, :3], half
    )


def fitted() -> FeedForward:
    """A network 1 -> 2 -> 1."""
    return curves.orthogonal_least_squares("wave", 2)[-1]


def profile() -> measure.Profile:
    """What two layers do."""
    return measure.Profile(torch.ones(2), torch.ones(3), torch.ones(3) / 2)


DRAWN = "any object is drawn as one line of its text, cut to a limit"
NAMES = {"title": DRAWN, "x_label": DRAWN, "y_label": DRAWN}


def real(*others, ndim: int = 1) -> list[Wrong]:
    """What is no array of real numbers of that many axes."""
    shapes = [torch.zeros([2] * n) for n in range(4) if n != ndim] + [torch.zeros([0] * ndim)]
    return [*REAL, *numbers(*shapes), *others]


def rung(right: float = 0.5, at_most: float = 0.5) -> ladder.Rung:
    """A rung that nobody climbed."""
    return ladder.Rung("attention", right, at_most, "a letter", None)


NO_ROW = IDS + numbers(torch.tensor(1), torch.zeros(1, 8).long())  # of cards, or of answers
NO_RUNGS = types(None, 3, "rungs", {"a": 1}, ["attention"], [rung(), None], torch.ones(3))
NO_PLACE = [*types(None, "0", 0.5, True, [0]), *(Wrong(n, IndexError) for n in (2, -1, 10**30))]
FIGURE = types(3, "figure", [], plt)
COLOURS = numbers("?", "", "rainbowish", 3, None, ["viridis"])
TITLES = [*types(3, None), *numbers([], ["a"])]
SIZES_OF_BLOCK = [
    *types(3, None, "345", [3, "4", 5], (2.5, 2, 2), (True, 1, 1)),
    *numbers((0, 1, 2), (1, 2), (13, 1, 1), (-1, 1, 1)),
]
SOUND = [[0.5, 1.0], [1.0, 0.0]]

ENTRIES = [
    # ---- batching, progress, seeded, notebook ----
    Entry(
        "pretrained.batching.bucket_by_length",
        lambda: {"lengths": [3, 1], "batch_tokens": 4},
        {"lengths": types(None, 3, "31", torch.tensor([3, 1])), "batch_tokens": SIZE},
    ),
    Entry(
        "pretrained.batching.parallel_map",
        lambda: {"jobs": 2, "device": torch.device("cpu")},
        {"jobs": COUNT, "device": types("cpu", None, 3)},
        call=entered(batching.parallel_map),
    ),
    Entry(
        "training.progress.bar",
        lambda: {"total": 2, "name": "Bar", "shown": False},
        {"total": COUNT, "shown": FLAG, "name": TEXT, "unit": TEXT},
        call=entered(progress.bar),
    ),
    Entry("seeded.seeded", lambda: {"seed": 0}, {"seed": SEED}, call=entered(seeded.seeded)),
    Entry("notebook.setup", lambda: {"seed": 0}, {"seed": [*SEED, *numbers(2**32)], "device": optional(DEVICE)}),
    Entry("notebook.tidy", lambda: {"x": torch.ones(2)}, {"x": TENSOR}),
    Entry("notebook.Source", lambda: {"text": "x = 1"}, {"text": TEXT}),
    Entry(
        "notebook.complaint",
        lambda: {"function": int, "arguments": "x"},
        {"function": FUNCTION},
        {"arguments": "they are meant to be wrong"},
        call=lambda function, arguments: notebook.complaint(function, arguments),
    ),
    Entry(
        "notebook.show_source",
        lambda: {"things": LayerNorm},
        {"things": types(None, 3, "LayerNorm", int, len, [])},
        call=lambda things: notebook.show_source(LayerNorm, things),
    ),
    Entry(
        "notebook.table",
        lambda: {"columns": {"a": [1.0, 2.0]}, "rows": ["x", "y"]},
        {
            "columns": MAPPING
            + types({"a": 3}, {"a": "text"}, {"a": None}, {"a": [None, 1]}, {"a": [[1], [2]]}, {3: [1.0, 2.0]})
            + types({"a": [1j, 2j]}, {"a": torch.zeros(2, device="meta")}, {"a": {1.0, 2.0}})
            + numbers({}, {"a": []}, {"a": [1, 2], "b": [1]}, {"a": torch.ones(2, 2)}, {"a": torch.tensor(1.0)}),
            "rows": optional(TEXTS) + numbers([], ["x"], ["x"] * 3),
            "decimals": COUNT + numbers(16, LONG),
        },
    ),
    # ---- the ladder ----
    Entry("lab.ladder.deal", lambda: {"n_rows": 2}, {"n_rows": SIZE, "hops": SIZE, "swap": FLAG}),
    Entry("lab.ladder.deal_two_questions", lambda: {"n_rows": 2}, {"n_rows": SIZE}),
    *(
        Entry(
            f"lab.ladder.{name}",
            lambda: {"cards": torch.tensor([0, 63])},
            {"cards": [*NO_ROW, Wrong(torch.tensor([64]), IndexError), Wrong(torch.tensor([-1]), IndexError)]},
        )
        for name in ("read_cards", "name_cards")
    ),
    Entry(
        "lab.ladder.spell",
        lambda: {"answers": torch.tensor([0, 7])},
        {"answers": [*NO_ROW, Wrong(torch.tensor([8]), IndexError), Wrong(torch.tensor([-1]), IndexError)]},
    ),
    Entry(
        "lab.ladder.CardModel",
        lambda: {"attention": True},
        dict.fromkeys(("attention", "feed_forward", "residual", "norm", "root"), FLAG)
        | {"n_layers": SIZE, "n_questions": SIZE, "n_heads": SIZE + numbers(3, 65)}
        | {"positions": CHOICE + numbers("rotary", "alibi"), "loudness": POSITIVE},
        draws=True,
    ),
    Entry("lab.ladder.most_possible", lambda: {"clue": max}, {"clue": FUNCTION}),
    Entry(
        "lab.ladder.train",
        lambda: {"build": ladder.CardModel, "steps": 1},
        {
            "build": FUNCTION + types(lambda: None, lambda: 3, lambda: nn.Linear),
            "deal": FUNCTION,
            "steps": SIZE,
            "seed": SEED,
            "callback": optional(FUNCTION),
        },
    ),
    Entry(
        "lab.ladder.climb",
        lambda: {"top": "embedding", "steps": 1, "progress": False},
        {"top": CHOICE, "steps": SIZE, "seed": SEED, "progress": FLAG},
    ),
    Entry(
        "lab.ladder.weights",
        lambda: {"model": ladder.CardModel(attention=True), "cards": torch.tensor([[0, 63]])},
        {
            "model": MODULE + numbers(ladder.CardModel()),
            "cards": IDS,
            "layer": [*types(None, "0", 0.5, True), *(Wrong(n, IndexError) for n in (1, -1, 10**20))],
        },
        draws=True,
    ),
    Entry(
        "lab.ladder.at_the_arrow",
        lambda: {"weights": torch.ones(1, 1, 8, 8), "cards": torch.zeros(1, 8).long()},
        {"weights": TENSOR, "cards": IDS},
    ),
    Entry("lab.ladder.table", lambda: {"rungs": [rung()]}, {"rungs": [*NO_RUNGS, *numbers([])]}),
    # ---- tasks ----
    Entry("training.tasks.kinds_corpus", lambda: {"n_sentences": 3}, {"n_sentences": SIZE, "seed": SEED}),
    Entry(
        "training.tasks.neighbours",
        lambda: {"sentences": torch.tensor([[1, 2, 3]])},
        {"sentences": IDS + numbers(torch.tensor([1, 2]), torch.tensor(1), torch.zeros(1, 1, 2).long())},
    ),
    Entry(
        "training.tasks.reversal",
        lambda: {"batch": 2, "length": 3, "vocab_size": 4},
        dict.fromkeys(("batch", "length", "vocab_size"), SIZE),
    ),
    Entry(
        "training.tasks.padded_reversal",
        lambda: {"batch": 2, "length": 5, "vocab_size": 4},
        dict.fromkeys(("batch", "length", "vocab_size"), SIZE) | {"shortest": SIZE + numbers(6)},
    ),
    Entry(
        "training.tasks.copy_back",
        lambda: {"batch": 2, "length": 4, "vocab_size": 4},
        dict.fromkeys(("batch", "length", "vocab_size"), SIZE) | {"back": SIZE + numbers(4, 10**6)},
    ),
    Entry(
        "training.tasks.pointers",
        lambda: {"batch": 2, "n_words": 3, "vocab_size": 4},
        dict.fromkeys(("batch", "n_words", "vocab_size"), SIZE),
    ),
    Entry(
        "training.tasks.brackets",
        lambda: {"batch": 2, "length": 4},
        {"batch": SIZE, "length": SIZE + numbers(1, 3, 17)},
    ),
    Entry(
        "training.tasks.right_map",
        lambda: {"source": torch.tensor([1, 0])},
        {"source": IDS + numbers(torch.tensor(1), torch.tensor([0, 2]))},
    ),
    Entry(
        "training.tasks.weight_on",
        lambda: {"source": torch.tensor([[1, 0]]), "weights": torch.full((1, 2, 2, 2), 0.5)},
        {
            "source": IDS + numbers(torch.tensor([[-100, -100]]), torch.tensor([1, 0]), torch.tensor([[1, 2]])),
            "weights": FLOATS + numbers(torch.ones(2, 2), torch.ones(1, 2, 3, 3), torch.ones(2, 1, 2, 2)),
        },
    ),
    Entry(
        "training.tasks.Task.read",
        lambda: {"task": tasks.TASKS["reverse"], "ids": torch.tensor([0, 9])},
        {
            "ids": IDS
            + numbers(torch.tensor([[0]]), torch.tensor(0))
            + [Wrong(torch.tensor([10]), IndexError), Wrong(torch.tensor([-1]), IndexError)]
        },
        call=lambda task, ids: task.read(ids),
    ),
    Entry(
        "training.tasks.solver",
        lambda: {"task": tasks.TASKS["padded"], "n_layers": 1},
        {"task": types(None, 3, "padded", nn.Linear), "n_layers": SIZE, "n_heads": SIZE + numbers(3), "d_model": SIZE},
        {"settings": "those of TransformerEncoder, which has a table of its own"},
        draws=True,
    ),
    # ---- fit and checkpoint ----
    Entry(
        "training.fit.fit",
        lambda: {"model": classifier(), "draw": pair, "steps": 1},
        {
            "model": MODULE + types(nn.ReLU()),
            "draw": FUNCTION,
            "steps": SIZE,
            "lr": POSITIVE,
            "held_out": optional(types(None, 3, "ab", [1, 2], (torch.zeros(2),), torch.zeros(2, 3))),
            "eval_every": SIZE,
            "stop_at_accuracy": optional(PROBABILITY),
            "patience": optional(SIZE),
            "seed": optional(SEED),
            "progress": FLAG,
        },
        call=lambda **kw: fit.fit(**{"held_out": pair()} | kw),
        draws=True,
    ),
    Entry(
        "training.fit.accuracy",
        lambda: {"model": classifier(), **dict(zip(("inputs", "targets"), pair(), strict=True))},
        {
            "model": MODULE + types(nn.ReLU()),
            "inputs": TENSOR,
            "targets": TENSOR + numbers(torch.tensor([[7, 7, 7]]), torch.full((1, 3), -100)),
        },
    ),
    # ---- recordings ----
    Entry(
        "training.recording.Recording",
        lambda: {
            "model": tasks.solver(tasks.TASKS["brackets"]),
            "task": tasks.TASKS["brackets"],
            "sample": tasks.TASKS["brackets"].draw(2),
        },
        {
            "model": MODULE + numbers(nn.ReLU()),
            "task": types(None, 3, "brackets"),
            "sample": types(None, 3, torch.zeros(2, 3), (1, 2, 3), pair()),
            "every": SIZE,
            "keep": SIZE,
        },
    ),
    # ---- curves ----
    Entry(
        "lab.curves.orthogonal_least_squares",
        lambda: {"curve": "wave", "width": 1},
        {"curve": CHOICE, "width": SIZE + numbers(33, 10**6), "activation": CHOICE},
    ),
    Entry(
        "lab.curves.train",
        lambda: {"network": FeedForward(1, 2), "curve": "wave", "steps": 1},
        {"network": MODULE + types(nn.ReLU()), "curve": CHOICE, "lr": POSITIVE, "steps": SIZE},
    ),
    Entry(
        "lab.curves.rmse",
        lambda: {"network": fitted(), "curve": "wave"},
        {"network": MODULE + types(nn.ReLU()), "curve": CHOICE},
    ),
    Entry("lab.curves.dead_units", lambda: {"network": fitted()}, {"network": NO_FIT}),
    Entry("lab.curves.kinks", lambda: {"network": fitted()}, {"network": MODULE + types(nn.ReLU())}),
    Entry("lab.curves.decompose", lambda: {"network": fitted(), "curve": "wave"}, {"network": NO_FIT, "curve": CHOICE}),
    Entry(
        "lab.curves.unit_contributions",
        lambda: {"network": fitted(), "x": curves.grid()},
        {"network": NO_FIT, "x": FLOATS + types(torch.zeros(3, 1).half()) + numbers(torch.zeros(3), torch.zeros(3, 2))},
    ),
    Entry("lab.curves.breakpoints", lambda: {"network": fitted()}, {"network": NO_FIT}),
    # ---- clocks ----
    Entry(
        "lab.clocks.principal_coordinates",
        lambda: {"table": torch.eye(4), "n": 2},
        {
            "table": FLOATS + numbers(torch.ones(3), torch.ones(0, 4), torch.full((4, 4), INF), torch.ones(2, 4)),
            "n": SIZE + numbers(4, 10**6),
        },
    ),
    Entry(
        "lab.clocks.find_clocks",
        lambda: {"rows": torch.rand(9, 2)},
        {"rows": FLOATS + numbers(torch.ones(3), torch.ones(4, 2), torch.ones(0, 2), torch.full((9, 2), INF))},
    ),
    # ---- erasure ----
    Entry("lab.erasure.content_tokens", lambda: {"tokens": ["the", "cat"]}, {"tokens": TEXTS}),
    # ---- positions ----
    Entry(
        "lab.positions.reversal_accuracy",
        lambda: {"steps": 1},
        {"words": POSITIVE, "positions": POSITIVE, "scores": POSITIVE, "steps": SIZE, "seed": SEED},
    ),
    Entry(
        "lab.positions.copy_accuracy",
        lambda: {"kind": "rotary", "trained": 5, "tried": 6, "steps": 1},
        {
            "kind": CHOICE,
            "trained": SIZE + numbers(3, 7),
            "tried": SIZE + numbers(4),
            "back": SIZE + numbers(5),
            "steps": SIZE,
            "seed": SEED,
        },
    ),
    # ---- plain stacks ----
    Entry(
        "lab.plain_stack.PlainStack",
        lambda: {"n_layers": 2},
        {"n_layers": SIZE, "norm": CHOICE, "factor": POSITIVE},
        draws=True,
    ),
    Entry(
        "lab.plain_stack.plain_stack_accuracy",
        lambda: {"n_layers": 2, "steps": 1},
        {"norm": CHOICE, "factor": POSITIVE, "n_layers": SIZE, "steps": SIZE, "seed": SEED},
    ),
    # ---- measure ----
    Entry(
        "lab.measure.initialise", lambda: {"model": nn.Linear(2, 2), "init": "small"}, {"model": MODULE, "init": CHOICE}
    ),
    Entry(
        "lab.measure.token_similarity",
        lambda: {"x": torch.ones(2, 3)},
        {"x": FLOATS + numbers(torch.ones(3), torch.ones(1, 3), torch.ones(2, 0), torch.tensor(1.0))},
    ),
    Entry(
        "lab.measure.word_similarity",
        lambda: {"model": encoder(), "sentences": [torch.tensor([[1, 2, 2, 1]])] * 2},
        {
            "model": MODULE + types(nn.Linear(2, 2), Encoder(1, 8, 2, 8)),
            "sentences": types(None, 3, "12", torch.tensor([[1, 2, 2, 1]]), ["a", "b"])
            + numbers([], [torch.tensor([[1, 2, 2, 1]])], [torch.tensor([[1, 2]])] * 2, [torch.tensor([1, 2])] * 2)
            + [Wrong([torch.tensor([[1, 2, 5, 1]])] * 2, IndexError)],
        },
    ),
    Entry(
        "lab.measure.chain_gradients",
        lambda: {"n_layers": 1, "residual": True},
        {"n_layers": SIZE, "residual": FLAG, "init": CHOICE, "seed": SEED, "device": optional(DEVICE)},
    ),
    Entry(
        "lab.warm_up.learn_to_reverse",
        lambda: {"n_layers": 1, "norm_first": True, "steps": 1},
        {
            "n_layers": SIZE,
            "norm_first": FLAG,
            "warm_up": COUNT,
            "steps": SIZE,
            "lr": POSITIVE,
            "seed": SEED,
        },
    ),
    Entry(
        "lab.measure.depth_profiles",
        lambda: {"depths": [1], "norm_first": True, "d_model": 4, "n_heads": 2, "d_ff": 4, "batch": 1, "tokens": 2},
        {
            "depths": types(3, None, "12", {1, 2}, [1.5], ["a"], [None], [True], torch.tensor([1]))
            + numbers([], [0], [2, -1]),
            "norm_first": FLAG,
            "init": CHOICE,
            "loss": CHOICE,
            "seeds": SIZE,
            "d_model": SIZE,
            "n_heads": SIZE + numbers(3),
            "d_ff": SIZE,
            "batch": SIZE,
            "tokens": SIZE + numbers(1),
            "loudness": POSITIVE,
            "device": optional(DEVICE),
        },
    ),
    Entry(
        "lab.measure.depth_sweep",
        lambda: {"depths": [1], "d_model": 4, "n_heads": 2, "d_ff": 4, "batch": 1, "tokens": 2},
        {"depths": types(3, None, {1}) + numbers([], [0])},
        {"options": "those of depth_profiles"},
    ),
    Entry(
        "lab.measure.layer_gradients",
        lambda: {"profiles": {2: profile()}, "layer": -1},
        {
            "profiles": MAPPING + types({1: 3}, {1: None}) + numbers({}),
            "layer": [*types(None, "0", 0.5, True), *(Wrong(n, IndexError) for n in (2, -3, 10**20))],
        },
    ),
    Entry(
        "lab.measure.power_law_exponent",
        lambda: {"x": [1, 2, 4], "y": [1, 4, 16]},
        {
            "x": [*REAL, *numbers([1, 1, 1], [1, 2], [], [0, 1, 2], [1, 2, NAN], [1, 2, INF], 3, [[1, 2, 3]])],
            "y": [*REAL, *numbers([1, 2], [-1, 2, 3], [NAN, 1, 1], [])],
        },
    ),
    Entry(
        "lab.measure.layer_flops",
        lambda: {"tokens": 1, "d_model": 2, "d_ff": 3},
        dict.fromkeys(("tokens", "d_model", "d_ff"), SIZE),
    ),
    # ---- units ----
    Entry(
        "lab.units.collect_activations",
        lambda: {"model": minilm(), "texts": ["A cat."]},
        {
            "model": types(None, 3, nn.ReLU(), encoder()),
            "texts": TEXTS + numbers([]),
            "layer": SIZE + numbers(7, 10**6),
        },
    ),
    Entry(
        "lab.units.UnitActivations.has_property",
        lambda: {"name": "ends in -s"},
        {"name": CHOICE},
        call=lambda name: heard().has_property(name),
    ),
    Entry(
        "lab.units.UnitActivations.with_permuted_weights",
        lambda: {"network": FeedForward(2, 3)},
        {"network": MODULE + types(nn.Linear(2, 3)) + numbers(FeedForward(4, 3)), "seed": SEED},
        call=lambda **kw: heard().with_permuted_weights(**kw),
    ),
    Entry(
        "lab.units.most_selective_units",
        lambda: {
            "preactivations": heard().preactivations,
            "labels": torch.tensor([True, True, False, False, True, False]),
            "train": heard().train,
            "n": 2,
        },
        {
            "preactivations": FLOATS + numbers(torch.ones(6), torch.ones(3, 2)),
            "labels": NO_BOOLS + numbers(torch.ones(6).bool(), torch.zeros(6).bool(), torch.ones(3).bool()),
            "train": NO_BOOLS + numbers(torch.ones(6).bool(), torch.zeros(6).bool(), torch.ones(3).bool()),
            "n": SIZE + numbers(4),
        },
    ),
    # ---- trace, twins and pretrained weights ----
    Entry("trace.trace", lambda: {"model": encoder()}, {"model": MODULE}),
    Entry(
        "torch_twin.from_torch",
        lambda: {"module": nn.TransformerEncoderLayer(4, 2, 4)},
        {"module": MODULE + types(nn.Linear(2, 2), nn.Transformer)},
    ),
    Entry(
        "pretrained.sentence_encoder.load_pretrained",
        lambda: {},
        {
            "source": [
                *types(None, 3, b"minilm", ["minilm"], 1.5),
                *(Wrong(path, FileNotFoundError) for path in ("no/such/folder", "a\0b", "MiniLM", "x" * 5000)),
                Wrong(THIS, NotADirectoryError),
            ],
            "device": optional(DEVICE),
            "dtype": optional(types(torch.int64, "float32", 3, float, torch.complex64, torch.bool)),
        },
        call=lambda **kw: load_pretrained(**kw),
    ),
    Entry(
        "pretrained.sentence_encoder.SentenceEncoder",
        lambda: {"tokenizer": minilm().tokenizer, "encoder": minilm().encoder},
        {
            "tokenizer": types(None, 3, "minilm", str.split),
            "encoder": MODULE + types(nn.Linear(2, 2), Encoder(1, 8, 2, 8)),
        },
    ),
    *(
        Entry(
            f"pretrained.sentence_encoder.SentenceEncoder.{name}",
            lambda: {"text": "A cat."},
            {"text": TEXT},
            call=lambda text, name=name: getattr(minilm(), name)(text),
        )
        for name in ("tokens", "ids", "attention")
    ),
    Entry(
        "pretrained.sentence_encoder.SentenceEncoder.encode",
        lambda: {"texts": ["A cat."]},
        {"texts": TEXTS, "batch_tokens": SIZE, "progress": FLAG},
        call=lambda **kw: minilm().encode(**kw),
    ),
    # ---- plots ----
    Entry(
        "plots.as_array",
        lambda: {"values": SOUND},
        {"values": real(ndim=2)},
        dict.fromkeys(("ndim", "name", "finite"), "only the library says it"),
    ),
    Entry(
        "plots.as_labels",
        lambda: {"labels": ["a", "b"], "size": 2, "axis": "labels"},
        {"labels": labels(2)},
        {"size": "only the library says it", "axis": "only the library says it"},
    ),
    Entry(
        "plots.colour_limits",
        lambda: {"values": np.ones((1, 1)), "limits": (0, 1), "cmap": "viridis"},
        {"limits": LIMITS, "cmap": COLOURS},
        {"values": "only the library says it"},
    ),
    Entry("plots.colour_map", lambda: {"cmap": "viridis"}, {"cmap": COLOURS}),
    Entry(
        "plots.figure_size",
        lambda: {"plots": 2},
        {},
        {name: "only the library says it" for name in ("plots", "height")},
    ),
    Entry("plots.percent", lambda: {"share": 0.5}, {}, {"share": "only the library says it"}),
    Entry(
        "plots.readable", lambda: {"text": "a", "limit": 3}, {}, {"text": DRAWN, "limit": "only the library says it"}
    ),
    Entry(
        "plots.plot_heatmap",
        lambda: {"values": SOUND},
        {
            "values": real(ndim=2),
            "x_ticks": labels(2),
            "y_ticks": labels(2),
            "limits": LIMITS,
            "cmap": COLOURS,
            "colorbar": FLAG,
            "ax": AXES,
        },
        NAMES,
    ),
    Entry(
        "plots.plot_lines",
        lambda: {"lines": {"a": [1.0, 2.0]}},
        {
            "lines": MAPPING
            + types({"a": "b"}, {"a": None})
            + numbers({}, {"a": []}, {"a": 3.0}, {"a": [1], "b": [1, 2]}),
            "x": one_of(real(ndim=1), but=(None,)) + numbers([1, 2, 3]),
            "x_scale": CHOICE,
            "y_scale": CHOICE,
            "marker": numbers("zzz", 99, None, ["o"]),
            "styles": optional(MAPPING)
            + types({"a": 3}, {"a": "red"})
            + numbers({"b": {}}, {"a": {"colour": "red"}}, {"a": {"color": "no such"}}, {"a": {"linestyle": 7}}),
            "ax": AXES,
        },
        NAMES,
    ),
    Entry(
        "plots.plot_bars",
        lambda: {"values": {"a": 1, "b": 2.5}},
        {
            "values": MAPPING + types({"a": "1"}, {"a": None}, {"a": [1]}) + numbers({}, {"a": NAN}, {"a": INF}),
            "number": types(None, 3, ["d"]) + numbers("zzz", ".f.f", "d"),
            "ax": AXES,
        },
        {"title": DRAWN, "x_label": DRAWN},
    ),
    Entry(
        "plots.plot_histogram",
        lambda: {"values": [1.0, 2.0], "marks": {"a": 1.0}},
        {
            "values": real(ndim=1) + numbers([NAN, 1.0], [INF, 1.0]),
            "marks": MAPPING + types({"a": "1"}, {"a": None}) + numbers({"a": NAN}, {"a": INF}),
            "ax": AXES,
        },
        NAMES,
    ),
    Entry(
        "plots.plot_word_vectors",
        lambda: {"vectors": SOUND, "words": ["a", "b"], "kinds": ["x", "y"]},
        {
            "vectors": real(ndim=2) + numbers(torch.ones(2, 3), [[NAN, 1], [1, 1]]),
            "words": [*labels(2), *types(None)],
            "kinds": [*labels(2), *types(None)],
            "limit": optional(POSITIVE),
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_weighted_mean",
        lambda: {"values": SOUND, "weights": [0.5, 0.5], "words": ["a", "b"]},
        {
            "values": real(ndim=2) + numbers(torch.ones(2, 3), torch.ones(3, 2), [[NAN, 1], [1, 1]]),
            "weights": real(ndim=1) + numbers([0.5], [-1, 2], [NAN, 1], [INF, 1]),
            "words": [*labels(2), *types(None)],
            "others": one_of(real(ndim=2), but=(None,)) + numbers(torch.ones(2, 3)),
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_attention",
        lambda: {"scores": SOUND, "weights": SOUND, "output": SOUND, "words": ["a", "b"]},
        {
            "scores": real(ndim=2) + numbers(torch.ones(2, 3), torch.ones(3, 3)),
            "weights": real(ndim=2) + numbers(torch.ones(2, 3), torch.ones(3, 3)),
            "output": real(ndim=2) + numbers(torch.ones(3, 2)),
            "words": [*labels(2), *types(None)],
            "titles": TITLES,
        },
    ),
    Entry(
        "plots.plot_attention_lines",
        lambda: {"weights": SOUND, "words": ["a", "b"]},
        {
            "weights": real(ndim=2)
            + numbers(torch.ones(2, 3), [[NAN, 1], [0, 1]], [[2.0, 0], [0, 1]], [[-1, 0], [0, 1]]),
            "words": [*labels(2), *types(None)],
            "only": [*types("0", 3, ["0"], [0.5], [None], [True]), Wrong([2], IndexError), Wrong([0, -1], IndexError)],
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_cards",
        lambda: {"letters": ["a", "b"], "arrows": [1, 0]},
        {
            "letters": TEXTS + numbers([], ["a"], ["a"] * 3),
            "arrows": types(None, 3, "10", {1, 0}, ["1", "0"], [0.5, 1], [None, 0], [True, 0], torch.tensor([1, 0]))
            + numbers([], [1], [1, 0, 1])
            + [Wrong([2, 0], IndexError), Wrong([-1, 0], IndexError)],
            "answers": [*labels(2)],
            "only": [*types("0", 0.5, True, {0}, ["0"], [0.5], [None], [True])]
            + [Wrong(places, IndexError) for places in (2, -1, 10**30, [2], [0, -1])],
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_ladder",
        lambda: {"rungs": [rung()]},
        {
            "rungs": types(None, 3, "rungs", {"a": 1}, [3], ["attention"], [rung(), None])
            + numbers(
                [], [()], [("a", 0.5)], [rung(NAN)], [rung(INF)], [rung(1.1)], [rung(0.5, -0.1)], [rung(0.5, 50)]
            ),
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_token_attention",
        lambda: {"weights": [0.5, 0.5], "words": ["a", "b"], "chosen": 0},
        {
            "weights": real(ndim=1) + numbers([NAN, 1], [INF, 1]),
            "words": [*labels(2), *types(None)],
            "chosen": [Wrong(value, IndexError) for value in (None, "0", 0.5, True, [0], 2, -1, 10**30)],
            "limits": LIMITS,
            "cmap": COLOURS,
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.token_attention_height",
        lambda: {"words": ["a"], "width": 5.0},
        {"words": types(None, 3) + numbers([]), "width": POSITIVE},
    ),
    Entry(
        "plots.plot_reordering",
        lambda: {"before": SOUND, "after": SOUND, "order": [1, 0], "words": ["a", "b"]},
        {
            "before": real(ndim=2) + numbers(torch.ones(3, 2)),
            "after": real(ndim=2) + numbers(torch.ones(2, 3)),
            "order": types(None, 3, ["a", "b"], [0.0, 1.0], [True, False]) + numbers([0, 0], [0], [1, 2], []),
            "words": [*labels(2), *types(None)],
            "cmap": COLOURS,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_fit",
        lambda: {"x": [0.0, 1.0], "target": [0.0, 1.0], "units": [[1.0], [2.0]], "constant": 0.5},
        {
            "x": real(ndim=1) + numbers([0.0], [0.0, NAN], [1.0, 1.0], [1.0, 0.0]),
            "target": real(ndim=1) + numbers([0.0]),
            "units": real(ndim=2) + numbers(torch.ones(3, 1), [[NAN], [1.0]]),
            "constant": NUMBER,
            "breakpoints": real(ndim=1)[:-1],
            "unit": [*types(None, "0", 0.5, True), Wrong(1, IndexError), Wrong(-1, IndexError)],
            "titles": TITLES,
            "figure": FIGURE,
        },
    ),
    Entry(
        "plots.plot_dots",
        lambda: {"values": {"a": {"x": 1.0}}},
        {
            "values": MAPPING
            + types({"a": 3}, {"a": {"x": "1"}}, {"a": {"x": None}})
            + numbers({}, {"a": {}}, {"a": {"x": 1}, "b": {"y": 1}}, {"a": {"x": NAN}}),
            "limits": LIMITS,
            "ax": AXES,
        },
        {"title": DRAWN, "x_label": DRAWN},
    ),
    Entry(
        "plots.plot_clocks",
        lambda: {"before": [0.0, 1.0], "after": [1.0, 0.0]},
        {name: real(ndim=1) + numbers([0.0], [0.0] * 4, [NAN, 1.0], [INF, 1.0]) for name in ("before", "after")}
        | {"ax": AXES},
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_residual_stream",
        lambda: {},
        {"norm_first": FLAG, "lit": one_of(CHOICE, but=("",)), "ax": AXES},
        {"title": DRAWN},
    ),
    Entry(
        "plots.label_ticks",
        lambda: {"axis": AXIS.xaxis, "places": [0, 1], "words": ["a", "b"]},
        {
            "axis": types(None, 3, "x", AXIS),
            "places": [*real(ndim=1), *numbers([NAN, 1], [0])],
            "words": [*labels(2), *types(None)],
        },
    ),
    Entry(
        "plots.light_part",
        lambda: {"ax": plots.plot_residual_stream(ax=blank()), "lit": "attention"},
        {"ax": [*AXES, *types(None)], "lit": CHOICE},
    ),
    Entry(
        "plots.plot_normalisation_axes",
        lambda: {"dim": 2, "shape": (1, 1, 2)},
        {
            "dim": types(None, "2", 1.5, [1.5], ["a"], True) + numbers(3, -4, (), (2, 2), (2, -1), 10**30),
            "shape": SIZES_OF_BLOCK,
            "ax": AXES,
        },
        {"title": DRAWN},
    ),
    Entry(
        "plots.plot_normalisations",
        lambda: {"dims": {"a": 2}, "shape": (1, 1, 2)},
        {"dims": MAPPING + types({"a": None}, {"a": "2"}) + numbers({}, {"a": 3}), "shape": SIZES_OF_BLOCK},
    ),
    Entry(
        "plots.plot_panels",
        lambda: {"panels": {"p": {"a": [1.0, 2.0]}}},
        {
            "panels": MAPPING
            + types({"p": 3}, {"p": {"a": "b"}})
            + numbers({}, {"p": {}}, {"p": {"a": [1]}, "q": {"b": [1]}}, {"p": {"a": []}}),
            "share_y": FLAG,
            "figsize": [*types(3, None, ["a", "b"]), *numbers((0, 1), (1,), (-1, 2), (NAN, 1), (INF, 1))],
        },
        {"y_label": DRAWN, "style": "that of plot_lines"},
    ),
    Entry(
        "plots.plot_profiles",
        lambda: {"profiles": {"a": profile()}},
        {"profiles": MAPPING + types({"a": 3}, {"a": None}) + numbers({})},
        {"title": DRAWN},
    ),
    Entry(
        "plots.show",
        lambda: {"picture": plots.plot_heatmap(SOUND, ax=blank()), "alt": "Four numbers."},
        {"picture": types(None, 3, "figure", plt), "alt": TEXT + numbers("", " \n")},
    ),
    Entry(
        "plots.compact",
        lambda: {"image": Image.new("RGB", (2, 2))},
        {"image": types(None, 3, b"png", np.zeros((2, 2)))},
    ),
    Entry("plots.Picture", lambda: {"png": b"png", "alt": "A picture."}, {"png": types(None, 3, "png"), "alt": TEXT}),
]
