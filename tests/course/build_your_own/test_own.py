"""A reader's parts, put together: whose each is, and that the whole computes what it should."""

from functools import partial

import matplotlib.pyplot as plt
import pytest
import torch
from answers import ANSWERS
from own_parts import ONE, OTHER, SIZES, Stub, made, stubs, workshop
from source_edits import folded
from torch import nn

from encoder_lib import lengths_mask
from encoder_lib.course.build_your_own import Workshop
from encoder_lib.course.build_your_own.drawing import BOXES, draw
from encoder_lib.course.build_your_own.own import CHECKS
from encoder_lib.course.kit.checking import parts
from encoder_lib.pretrained.weights import INSIDE, OUTSIDE

N, D, H, F = (SIZES[name] for name in ("n_layers", "d_model", "n_heads", "d_ff"))
(my_name,) = folded("12", __name__, "my_name")
WRONG = {name: ANSWERS[check][1] for name, check in CHECKS.items()}
IDS, MASK = torch.tensor([[1, 4, 2, 0], [6, 3, 0, 0]]), lengths_mask(torch.tensor([4, 2]))
THEIRS = made(parts)
generator = torch.Generator().manual_seed(1)
for parameter in THEIRS.parameters():
    nn.init.normal_(parameter, generator=generator)
MODULES = [*OUTSIDE.values(), *(f"encoder.layer.{n}.{module}" for n in range(N) for module in INSIDE.values())]
NAMES = [f"{module}.{kind}" for module in MODULES for kind in ("weight", "bias")]  # the two tables have no bias
FILE = {name: x for name in NAMES if (x := THEIRS.state_dict().get(my_name(name))) is not None}


@pytest.mark.parametrize("answers", [ONE, OTHER], ids=["one", "other"])
def test_all_nine_are_the_readers_own(answers):
    mine = workshop(answers)
    assert mine.own == list(CHECKS) and repr(mine) == "9 of 9 parts yours"
    assert all(getattr(mine, name) is answers[check] for name, check in CHECKS.items())
    assert set(mine.board()["whose"]) == {"yours"}


def test_what_is_not_written_is_lent():
    mine = stubs()
    assert mine.own == [] and repr(mine) == "0 of 9 parts yours"
    assert all(getattr(mine, name) is getattr(parts, name) for name in CHECKS)
    assert set(mine.board()["because"]) == {"not written yet"} and mine.lines() == 0


def test_half_of_it_is_half_the_readers():
    mine = workshop(Attention=Stub, Norm=WRONG["Norm"]["no eps"], learn=lambda *_: ...)
    assert [name for name in CHECKS if name not in mine.own] == ["Norm", "Attention", "learn"]
    board = mine.board()
    assert board.loc["Attention", "because"] == "not written yet"
    assert board.loc["Norm", "because"] == f"✗ {mine.verdicts['Norm'].problem.splitlines()[0]}"  # whole
    assert board.loc["Block", "whose"] == "yours" and board.loc["Norm", "whose"] == "the library's"


def test_the_drawing_has_every_part_and_lights_the_readers_own():
    """Its words are the names of the parts; those of the reader's own are bold."""
    assert {*BOXES} == {*CHECKS}
    ax = draw(["Norm", "Block"], broken=["learn"])
    words = {text.get_text(): text.get_weight() for text in ax.texts if text.get_text() in CHECKS}
    assert {*words} == {*CHECKS} and [name for name in CHECKS if words[name] == "bold"] == ["Norm", "Block"]
    assert sum(patch.get_linestyle() == "--" for patch in ax.patches) == 2 * len(BOXES["learn"][1])
    plt.close(ax.figure)
    assert stubs().drawing().alt.endswith("0 of 9 parts are lit.")
    assert workshop(ONE, learn=Stub).drawing().alt.count(", ") == 1 + 7


@pytest.mark.parametrize("name", CHECKS)
def test_a_wrong_part_is_lent_and_said_to_be(name):
    """And the whole is right all the same."""
    mine = workshop(**{name: next(iter(WRONG[name].values()))})
    assert [part for part in CHECKS if part not in mine.own] == [name]
    assert mine.board().loc[name, "because"].startswith("✗ ")
    encoder = made(mine)
    assert mine.load(encoder, FILE) is False
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


FUNCTIONS = {"Norm": lambda d_model, eps: nn.LayerNorm(d_model, eps), "Embedding": nn.Embedding}  # in place of classes


@pytest.mark.parametrize("make", [workshop, partial(workshop, OTHER), partial(workshop, **FUNCTIONS)])
def test_published_tensors_are_loaded_without_names(make):
    mine = make()
    encoder = made(mine)
    assert mine.load(encoder, FILE) is False
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("make", [workshop, partial(workshop, OTHER), stubs], ids=["one", "other", "lent"])
def test_blocks_of_these_parts_equal_pytorchs(make):
    mine = make()
    layer = nn.TransformerEncoderLayer(D, H, F, activation="gelu", batch_first=True, dtype=torch.float64)
    theirs = nn.TransformerEncoder(layer, N, enable_nested_tensor=False).eval()
    for parameter in theirs.parameters():
        parameter.data = torch.randn_like(parameter)
    y = x = torch.randn(2, 4, D, dtype=torch.float64)
    for block in mine.from_torch(theirs):
        y = block(y, MASK)
    real = MASK[:, 0, 0]
    torch.testing.assert_close(y[real], theirs(x, src_key_padding_mask=~real)[real], atol=1e-11, rtol=0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"activation": "relu"}, "gelu"),
        ({"norm_first": True}, "norm_first=False"),
        ({"batch_first": False}, "batch_first=True"),
        ({"bias": False}, "bias=True"),
        ({}, "norm=None"),
    ],
)
def test_settings_that_these_parts_lack_are_refused(settings, words):
    layer = nn.TransformerEncoderLayer(D, H, F, **({"activation": "gelu", "batch_first": True} | settings))
    norm = None if settings else nn.LayerNorm(D)
    with pytest.raises(ValueError, match=words):
        stubs().from_torch(nn.TransformerEncoder(layer, 1, norm=norm, enable_nested_tensor=False))
    with pytest.raises(TypeError, match=r"theirs: expected an nn\.TransformerEncoder"):
        stubs().from_torch(layer)


def test_a_file_that_lacks_a_tensor_is_refused_by_its_name():
    mine = stubs()
    lacking = {name: tensor for name, tensor in FILE.items() if "layer.1.output.dense.weight" not in name}
    with pytest.raises(KeyError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        mine.load(made(mine), lacking)


def test_what_is_no_encoder_of_these_parts_is_refused():
    mine = stubs()
    with pytest.raises(TypeError, match=r"expected the nine parts Embedding, Positions, .*, got 8"):
        Workshop(*[Stub] * 8)
    with pytest.raises(TypeError, match="encoder: expected a torch module, got 3"):
        mine.load(3, FILE)
    with pytest.raises(TypeError, match="published: expected a dictionary"):
        mine.check_names(my_name, made(mine), 3)
    with pytest.raises(
        ValueError, match=r"encoder: expected one of this workshop's parts, got another in place of Encoder; .* again"
    ):
        mine.load(made(workshop()), FILE)


# Broken parts that run as they are


def test_the_damage_of_a_block_is_seen():
    """The numbers are in their places: what differs is the order of the norms."""
    mine = workshop(Block=WRONG["Block"]["pre-norm"], broken=["Block"])
    assert mine.named("yours, broken") == ["Block"] and mine.Block is WRONG["Block"]["pre-norm"]
    assert mine.whose["Block"] == mine.board().loc["Block", "whose"] == "yours, broken" and "Block" not in mine.own
    encoder, damaged = made(mine), made(parts)
    mine.load(encoder, FILE)
    damaged.load_state_dict(THEIRS.state_dict())
    for block in damaged.blocks:
        block.forward = partial(mine.Block.forward, block)
    torch.testing.assert_close(encoder(IDS, MASK), damaged(IDS, MASK), atol=1e-12, rtol=0)
    assert not torch.allclose(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-2)


def test_a_broken_block_without_its_parts_takes_no_parameters():
    mine = workshop(Block=WRONG["Block"]["parts in no module"], broken=["Block"])
    layer = nn.TransformerEncoderLayer(D, H, F, activation="gelu", batch_first=True)
    with pytest.raises(ValueError, match=r"expected a parameter named attention\.q_proj\.weight, got none"):
        mine.from_torch(nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))


def test_a_broken_part_that_cannot_run_is_lent():
    instead = {
        "FeedForward": WRONG["FeedForward"]["a single map"],
        "Attention": Stub,
        "Positions": nn.Embedding,  # with a table of the right shape, but it takes ids
        "Encoder": None,
        "vectors_of": None,
    }
    mine = workshop(**instead, learn=WRONG["learn"]["SGD"], broken=[*instead, "learn", "Norm"])
    assert mine.named("the library's") == ["Positions", "Attention", "FeedForward", "Encoder", "vectors_of"]
    assert mine.named("yours, broken") == ["learn"] and mine.learn is WRONG["learn"]["SGD"] and "Norm" in mine.own
    assert mine.board().loc["vectors_of", "because"] == "its cell has not run, or stopped with an error"
    with pytest.raises(ValueError, match=r"broken: expected one of 'Embedding', .*, got 'norm'"):
        workshop(broken=["norm"])


# The names


def exchanged(one, other):
    """The right answer, but for two names that change places."""
    return lambda name: my_name(name).replace(one, "@").replace(other, one).replace("@", other)


WRONG_NAMES = {
    "as they are": lambda name: name,
    "no text": lambda name: 3,
    "one for all": lambda name: "norm.weight",
    "queries and keys exchanged": exchanged("q_proj", "k_proj"),
    "queries and the last map exchanged": exchanged("q_proj", "out_proj"),
    "the norms of a block exchanged": exchanged("norm1.", "norm2."),
    "up and down exchanged": exchanged("linear1", "linear2"),
    "the words and the places exchanged": exchanged("embedding.weight", "positions.weight"),
    "gain and bias exchanged": exchanged("norm1.weight", "norm1.bias"),
    "the blocks in the other order": exchanged("blocks.0.", "blocks.1."),
    "every block the first": lambda name: my_name(name.replace("layer.1", "layer.0")),
    "stops": lambda name: {}[name],
}


def test_right_names_are_accepted_and_loaded_by():
    mine = workshop()
    encoder = made(mine)
    verdict = mine.check_names(my_name, encoder, FILE)
    assert verdict.correct and len(verdict.passed) == 4, verdict
    assert mine.load(encoder, FILE, my_name) is True
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("attempt", WRONG_NAMES.values(), ids=WRONG_NAMES)
def test_wrong_names_are_rejected_and_the_library_loads(attempt):
    mine = workshop()
    encoder = made(mine)
    verdict = mine.check_names(attempt, encoder, FILE)
    assert not verdict.correct and verdict.problem and verdict.hint
    assert mine.load(encoder, FILE, attempt) is False
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


def test_names_not_written_or_of_another_encoder():
    mine, other = workshop(), workshop(OTHER)
    verdict = mine.check_names(lambda name: ..., made(mine), FILE)
    assert "nothing yet" in verdict.problem and not verdict.hint
    assert "your encoder has no parameter of that name" in other.check_names(my_name, made(other), FILE).problem
    borrowed = workshop(Attention=Stub)
    assert borrowed.load(made(borrowed), FILE, my_name) is True  # lent parts have the same names
