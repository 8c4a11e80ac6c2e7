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
    shades: how many shades of red, green and blue the images in pictures keep.
    live: what of the player shows it when MiniLM reads in the browser what is typed there.
    computed: the function of the player, in the module of its name, that computes it; then no other state is recorded.
    given: what that function has to know of what the explorer was made with: names in the explorer's own.
    """

    stops: dict[str, tuple] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = NONE
    starts: tuple[dict, ...] = NONE
    levels: int = 32767
    shades: int = 8
    live: str = ""
    computed: str = ""
    given: tuple[str, ...] = ()


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
    ("The muddy bank was steep.", "The rich bank was robbed."),
    ("A bat flew out of the cave.", "A bat hit the ball."),
    ("He plays the bass in a band.", "He caught a bass in the lake."),
    ("They play chess in the park.", "You may park the car here."),
    ("The light of the sun is bright.", "The box is light, not heavy."),
    ("This apple tastes sweet.", "This apple phone is new."),
    ("The dog bites the man.", "The man bites the dog."),
    ("Spring is warmer than winter.", "The spring of the clock broke."),
)
PLANS = {
    "attend": Plan(computed="attend"),
    "attend masks=False": Plan(computed="attend"),
    "block_steps": Plan(
        {"sentence": NONE, "layer": (1, 6)},
        (("step", "layer"), ("step", "order")),
    ),
    "clocks": Plan(computed="clocks"),
    "cost": Plan(computed="cost", given=("balance",)),
    "depth": Plan({}, (("depth", "order", "init"),)),
    "fit_curve": Plan(
        {"width": (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32), "unit": (1, 2, 3, 4, 8, 16, 32)},
        (("width", "activation", "curve"), ("width", "unit")),
    ),
    "head_slices": Plan({}, (("n_heads", "head"),)),
    "heads": Plan({"sentence": SENTENCES}, (("sentence", "layer"),), live="heads"),
    "heads atlas=True": Plan({"sentence": SENTENCES[:4]}, (("sentence", "layer"),), live="heads"),
    "look_up": Plan({}, (("first", "second", "third"),)),
    "normalise": Plan(computed="normalise"),
    "positional": Plan(computed="positional"),
    "similarity": Plan(),
    "walk": Plan(starts=tuple({"first": a, "second": b} for a, b in PAIRS), live="walk"),
    "training_maps": Plan({}, (("sequence", "layer", "head"),), levels=4095),
}
# How many pixels high an explorer is, at a desk and on a phone, and between them where its panels stand otherwise.
HEIGHTS = {
    "attend": (820, 1150, 1215),
    "attend masks=False": (710, 900, 1050),
    "block_steps": (730, 870),
    "clocks": (360, 430),
    "cost": (640, 1160),
    "depth": (600, 700),
    "fit_curve": (620, 790),
    "head_slices": (860, 620, 790),
    "heads": (940, 1030),
    "heads atlas=True": (850, 990),
    "look_up": (530, 700, 915),
    "normalise": (820, 1040),
    "positional": (670, 760),
    "similarity": (630, 620),
    "training_maps": (590, 630),
    "walk": (1170, 1380),
}
