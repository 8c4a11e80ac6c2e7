"""What is recorded of each explorer: where controls stop, which of them go together, which sentences stand for typing.

A plan's name is the explorer's, with the switches that a notebook sets: "heads", "heads atlas=True".
"""

from dataclasses import dataclass, field

NONE: tuple = ()


@dataclass(frozen=True)
class Plan:
    """stops: the values of a control that are recorded; of one that is not named, all values or a few evenly spread.

    together: groups of controls that are recorded in every combination, the other controls as they are at the start;
        a control of no group is one by itself.
    starts: values of several controls that belong together, from each of which the groups are recorded.
    levels: into how many steps, above and below 0, the numbers of the heatmaps are cut.
    shades: how many shades of red, green and blue the pictures keep.
    live: whether MiniLM can read in the browser what is typed there.
    """

    stops: dict[str, tuple] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = NONE
    starts: tuple[dict, ...] = NONE
    levels: int = 32767
    shades: int = 12
    live: bool = False


SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "The trophy does not fit into the suitcase because it is too big.",
    "The trophy does not fit into the suitcase because it is too small.",
    "She deposited the money at the bank.",
    "They walked along the bank of the river.",
    "How do I bake a cake?",
    "The dog bites the man.",
    "The man bites the dog.",
    "你好世界",
)
PAIRS = (
    ("The river bank was flooded.", "The big bank raised its interest rates."),
    ("The mouse ate the cheese.", "The mouse and the keyboard are on the desk."),
    ("The river bank was flooded.", "The river bank was under water."),
    ("A bat flew out of the cave.", "A bat hit the ball."),
    ("He plays the bass in a band.", "He caught a bass in the lake."),
    ("They play chess in the park.", "You may park the car here."),
    ("The light of the sun is bright.", "The box is light, not heavy."),
    ("This apple tastes sweet.", "This apple phone is new."),
    ("The dog bites the man.", "The man bites the dog."),
    ("Spring is warmer than winter.", "The spring of the clock broke."),
)
MASKS = ("padding", "causal", "silent", "scaled")
NUMBERS = ("mean", "spread", "outlier", "mates", "gain", "bias", "eps")
PLANS = {
    "attend": Plan(
        {
            "sentence": ("the dog bites the man [pad] [pad]", "a rose is a rose is a rose"),
            "similarity": (0, 0.25, 0.5, 0.75, 1),
            "temperature": (0.1, 0.3, 1.0, 3.0, 10.0),
            "d_head": (2, 4, 16, 64, 512),
        },
        (
            ("sentence", "similarity", *MASKS),
            ("temperature", *MASKS),
            ("temperature", "d_head", "similarity", "scaled"),
        ),
    ),
    "attend masks=False": Plan(
        {
            "sentence": ("the dog bites the man", "the man bites the dog", "a rose is a rose is a rose"),
            "similarity": (0, 0.2, 0.4, 0.6, 0.8, 1),
            "temperature": (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
            "d_head": (2, 4, 16, 64, 128, 512),
        },
        (("sentence", "similarity", "temperature", "d_head", "scaled"),),
    ),
    "block_steps": Plan(
        {"sentence": NONE, "layer": (1, 6)},
        (("step", "layer"), ("step", "order")),
        shades=8,
    ),
    "clocks": Plan(
        {"position": tuple(range(0, 101, 10)), "shift": (0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)},
        (("position", "shift"),),
    ),
    "cost": Plan(
        {
            "tokens": (16, 64, 128, 256, 512, 1024, 2048, 4096),
            "batch": (1, 8, 16, 32, 64),
            "width": (64, 256, 384, 512, 768, 1024),
            "padding": (0, 25, 50, 75),
        },
        (("tokens", "number", "padding"),),
    ),
    "depth": Plan({}, (("depth", "order", "init"),)),
    "fit_curve": Plan(
        {"width": (1, 2, 3, 4, 8, 16, 32), "unit": (1, 2, 4, 32)},
        (("width", "activation", "curve"), ("width", "unit")),
    ),
    "head_slices": Plan({}, (("n_heads", "head"),)),
    "heads": Plan({"sentence": SENTENCES}, (("sentence", "layer"),), live=True),
    "heads atlas=True": Plan({"sentence": SENTENCES[:4]}, (("sentence", "layer"),), live=True),
    "look_up": Plan({}, (("first", "second", "third"),)),
    "normalise": Plan(
        {
            "mean": (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5),
            "spread": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2, 0.5, 1.0, 1.5),
            "outlier": (0, 1, 2, 3, 5),
            "mates": (-5, -3, -1, 0, 1, 3, 5),
            "gain": (0, 0.2, 0.5, 0.8, 1, 1.2, 1.5, 2),
            "bias": (-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2),
            "eps": (1e-12, 1e-8, 1e-5, 1e-3, 1e-2, 0.1, 1),
        },
        (*(("method", name) for name in NUMBERS), ("spread", "eps")),
    ),
    "positional": Plan(
        {
            "length": tuple(range(8, 129, 8)),
            "d_model": (8, 16, 24, 32, 48, 64, 96, 128, 192, 256),
            "base": (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
        },
        levels=4095,
    ),
    "similarity": Plan(),
    "walk": Plan(starts=tuple({"first": a, "second": b} for a, b in PAIRS)),
    "training_maps": Plan({}, (("sequence", "layer", "head"),), levels=4095),
}
