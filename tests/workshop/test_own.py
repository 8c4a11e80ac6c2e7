"""A reader's parts, put together: whose each is, and that the whole computes what it should, whatever its names are."""

import pytest
import torch
from answers import ANSWERS, build
from own_parts import ONE, OTHER, Stub, stubs, workshop
from torch import nn

from encoder_lib import Encoder as LibraryEncoder
from encoder_lib import checks, from_torch, lengths_mask
from encoder_lib.checks import parts
from encoder_lib.pretrained.weights import INSIDE, OUTSIDE
from encoder_lib.seeded import seeded
from encoder_lib.workshop import Workshop
from encoder_lib.workshop.own import CHECKS, KINDS, LEAVES

V, L, N, D, H, F = 7, 9, 2, 6, 3, 5  # words, places, blocks, and the sizes of a block


def made(mine, n_blocks=N):
    """An encoder of a workshop's parts, as the notebook makes it."""
    with seeded(3):
        blocks = [
            mine.Block(mine.Attention(D, H), mine.FeedForward(D, F), mine.Norm(D, 1e-12), mine.Norm(D, 1e-12))
            for _ in range(n_blocks)
        ]
        return mine.Encoder(mine.Embedding(V, D), mine.Positions(L, D), mine.Norm(D, 1e-12), blocks).double()


def published():
    """A file's tensors for such an encoder, and one of the library's parts that holds them."""
    encoder = made(parts)
    generator = torch.Generator().manual_seed(1)
    names = {"embedding": OUTSIDE["embedding.token"], "positions": OUTSIDE["embedding.position"]}
    names |= {"norm": OUTSIDE["embedding.norm"]}
    file = {}
    for name, parameter in encoder.named_parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        module, _, kind = name.rpartition(".")
        if module in names:
            file[f"{names[module]}.{kind}"] = parameter.data
        else:
            _, layer, part = module.split(".", 2)
            file[f"encoder.layer.{layer}.{INSIDE[part]}.{kind}"] = parameter.data
    return file, encoder


IDS, MASK = torch.tensor([[1, 4, 2, 0], [6, 3, 0, 0]]), lengths_mask(torch.tensor([4, 2]))
FILE, THEIRS = published()


@pytest.mark.parametrize("answers", [ONE, OTHER], ids=["one", "other"])
def test_all_nine_are_the_readers_own(answers):
    mine = workshop(answers)
    assert mine.own == list(CHECKS) and repr(mine) == "yours: 9 of 9 parts, all of them"
    assert all(getattr(mine, name) is answers[check] for name, check in CHECKS.items())
    assert set(mine.board()["whose"]) == {"yours"}


def test_what_is_not_written_is_lent():
    mine = stubs()
    assert mine.own == [] and repr(mine).startswith("yours: 0 of 9 parts; lent by the library: Embedding, Positions")
    assert all(getattr(mine, name) is getattr(parts, name) for name in CHECKS)
    assert set(mine.board()["because"]) == {"not written yet"} and mine.lines() == 0


def test_half_of_it_is_half_the_readers():
    mine = workshop(Attention=Stub, Norm=build.WRONG_NORMS["no eps"], learn=lambda *_: ...)
    assert [name for name in CHECKS if name not in mine.own] == ["Norm", "Attention", "learn"]
    board = mine.board()
    assert board.loc["Attention", "because"] == "not written yet" and board.loc["Norm", "because"].startswith("✗ ")
    assert board.loc["Block", "whose"] == "yours" and board.loc["Norm", "whose"] == "the library's"


WRONG = {name: ANSWERS[check][1] for name, check in CHECKS.items()}
EACH = [
    pytest.param(name, answer, id=f"{name}: {mistake}", marks=[pytest.mark.long] if i else [])
    for name, wrong in WRONG.items()
    for i, (mistake, answer) in enumerate(wrong.items())
]


def test_every_part_is_tried_with_ten_mistakes_or_more():
    assert all(len(wrong) >= 10 for wrong in WRONG.values()), {name: len(wrong) for name, wrong in WRONG.items()}


@pytest.mark.parametrize(("name", "wrong"), EACH)
def test_a_wrong_part_is_lent_and_said_to_be(name, wrong):
    """And the whole is right all the same."""
    mine = workshop(**{name: wrong})
    assert [part for part in CHECKS if part not in mine.own] == [name]
    assert repr(mine) == f"yours: 8 of 9 parts; lent by the library: {name}"
    assert mine.board().loc[name, "because"].startswith("✗ ")
    encoder = made(mine)
    assert mine.load(encoder, FILE) is False
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("answers", [ONE, OTHER], ids=["one", "other"])
def test_published_tensors_find_their_places_by_what_parts_compute(answers):
    mine = workshop(answers)
    encoder = made(mine)
    assert mine.load(encoder, FILE) is False
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", LEAVES)
def test_the_other_way_to_write_a_part_goes_with_the_rest(name):
    mine = workshop(**{name: OTHER[CHECKS[name]]})
    encoder = made(mine)
    mine.load(encoder, FILE)
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


def test_a_function_that_makes_modules_is_a_part_as_well():
    mine = workshop(Norm=lambda d_model, eps: nn.LayerNorm(d_model, eps), Embedding=nn.Embedding)
    encoder = made(mine)
    mine.load(encoder, FILE)
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("make", [workshop, lambda: workshop(OTHER), stubs], ids=["one", "other", "lent"])
def test_blocks_of_these_parts_equal_pytorchs(make):
    mine = make()
    layer = nn.TransformerEncoderLayer(D, H, F, activation="gelu", batch_first=True, dtype=torch.float64)
    theirs = nn.TransformerEncoder(layer, N, enable_nested_tensor=False).eval()
    for parameter in theirs.parameters():
        parameter.data = torch.randn_like(parameter)
    x = torch.randn(2, 4, D, dtype=torch.float64)
    y = x
    for block in mine.from_torch(theirs):
        y = block(y, MASK)
    expected = theirs(x, src_key_padding_mask=~MASK[:, 0, 0])
    real = MASK[:, 0, 0]
    torch.testing.assert_close(y[real], expected[real], atol=1e-11, rtol=0)
    ours = from_torch(theirs)
    assert isinstance(ours, LibraryEncoder)
    torch.testing.assert_close(y[real], ours(x, MASK)[real], atol=1e-11, rtol=0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"activation": "relu"}, "gelu"),
        ({"norm_first": True}, "norm_first=False"),
        ({"batch_first": False}, "batch_first=True"),
        ({"bias": False}, "bias=True"),
    ],
)
def test_settings_that_these_parts_lack_are_refused(settings, words):
    layer = nn.TransformerEncoderLayer(D, H, F, **({"activation": "gelu", "batch_first": True} | settings))
    with pytest.raises(ValueError, match=words):
        stubs().from_torch(nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))


def test_a_last_norm_of_pytorchs_is_refused():
    layer = nn.TransformerEncoderLayer(D, H, F, activation="gelu", batch_first=True)
    with pytest.raises(ValueError, match="norm=None"):
        stubs().from_torch(nn.TransformerEncoder(layer, 1, norm=nn.LayerNorm(D), enable_nested_tensor=False))


def test_what_is_no_encoder_of_pytorchs_is_refused():
    with pytest.raises(TypeError, match=r"theirs: expected an nn\.TransformerEncoder, got"):
        stubs().from_torch(nn.Linear(1, 1))


def test_eight_parts_are_not_nine():
    with pytest.raises(TypeError, match=r"expected the nine parts Embedding, Positions, .*, got 8"):
        Workshop(*[Stub] * 8)


def test_a_file_that_lacks_a_tensor_is_refused_by_its_name():
    mine = stubs()
    lacking = {name: tensor for name, tensor in FILE.items() if "layer.1.output.dense.weight" not in name}
    with pytest.raises(KeyError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        mine.load(made(mine), lacking)


@pytest.mark.parametrize("call", [Workshop.load, Workshop.check_names], ids=["load", "names"])
def test_what_is_no_encoder_of_these_parts_is_refused(call):
    mine = stubs()
    first = () if call is Workshop.load else (my_name,)
    with pytest.raises(TypeError, match="encoder: expected a torch module, got 3"):
        call(mine, *first, 3, FILE)
    with pytest.raises(TypeError, match="published: expected a dictionary, got"):
        call(mine, *first, made(mine), 3)
    with pytest.raises(ValueError, match="encoder: expected one of this workshop's parts, got one that calls none"):
        call(mine, *first, made(workshop()), FILE)


# The names

PIECES = {
    "embeddings.word_embeddings": "embedding.table",
    "embeddings.position_embeddings.weight": "positions.table",
    "embeddings.LayerNorm.weight": "norm.gain",
    "embeddings.LayerNorm": "norm",
    "encoder.layer.": "blocks.",
    "attention.self.": "attention.",
    "attention.output.dense": "attention.out",
    "attention.output.LayerNorm.weight": "norm1.gain",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "feed_forward.up",
    "output.dense": "feed_forward.down",
    "output.LayerNorm.weight": "norm2.gain",
    "output.LayerNorm": "norm2",
}


def my_name(name, pieces=PIECES):
    for theirs, ours in pieces.items():
        name = name.replace(theirs, ours)
    return name


def by_hand(name):
    """In other words: from the end of the name to its beginning."""
    start, _, kind = name.rpartition(".")
    if start.startswith("embeddings."):
        part = {"word_embeddings": "embedding.table.", "position_embeddings": "positions.table"}.get(
            start[11:], "norm."
        )
    else:
        _, _, number, rest = start.split(".", 3)
        ends = {"attention.output.dense": "attention.out", "attention.output.LayerNorm": "norm1"}
        ends |= {"intermediate.dense": "feed_forward.up", "output.dense": "feed_forward.down"}
        part = f"blocks.{number}.{ends.get(rest, 'norm2' if 'Norm' in rest else rest.replace('.self', ''))}."
    if "norm" in part:
        return part + ("gain" if kind == "weight" else "bias")
    return part if part == "positions.table" else part + kind


def exchanged(one, other):
    """The right answer, but for two names that change places."""
    return lambda name: my_name(name).replace(one, "@").replace(other, one).replace("@", other)


WRONG_NAMES = {
    "as they are": lambda name: name,
    "no text": lambda name: 3,
    "one for all": lambda name: "norm.gain",
    "queries and keys exchanged": exchanged(".query.", ".key."),
    "keys and values exchanged": exchanged(".key.", ".value."),
    "queries and the last map exchanged": exchanged(".query.", ".out."),
    "the norms of a block exchanged": exchanged("norm1.", "norm2."),
    "the first norm for the one before the blocks": lambda name: my_name(name).replace("blocks.0.norm1", "norm"),
    "up and down exchanged": exchanged(".up.", ".down."),
    "gain and bias exchanged": exchanged("gain", "bias"),
    "the blocks in the other order": exchanged("blocks.0.", "blocks.1."),
    "counted from 1": lambda name: my_name(name.replace("layer.1", "layer.2").replace("layer.0", "layer.1")),
    "every block the first": lambda name: my_name(name.replace("layer.1", "layer.0")),
    "the shorter piece first": lambda name: my_name(name, {"output.dense": "feed_forward.down"} | PIECES),
    "stops": lambda name: {}[name],
}


@pytest.mark.parametrize("attempt", [my_name, by_hand], ids=["pieces", "by hand"])
def test_right_names_are_accepted_and_loaded_by(attempt):
    mine = workshop()
    encoder = made(mine)
    verdict = mine.check_names(attempt, encoder, FILE)
    assert verdict.correct and len(verdict.passed) >= 5, verdict
    assert mine.load(encoder, FILE, attempt) is True
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("attempt", WRONG_NAMES.values(), ids=WRONG_NAMES)
def test_wrong_names_are_rejected_with_a_hint_and_the_numbers_are_right_all_the_same(attempt):
    mine = workshop()
    encoder = made(mine)
    verdict = mine.check_names(attempt, encoder, FILE)
    assert not verdict.correct and verdict.problem and verdict.hint
    assert mine.load(encoder, FILE, attempt) is False
    torch.testing.assert_close(encoder(IDS, MASK), THEIRS(IDS, MASK), atol=1e-12, rtol=0)


@pytest.mark.parametrize("attempt", [lambda name: ..., lambda name: None])
def test_names_that_are_not_written_yet(attempt):
    mine = workshop()
    verdict = mine.check_names(attempt, made(mine), FILE)
    assert "nothing yet" in verdict.problem and not verdict.hint


def test_a_map_that_makes_three_things_at_once_cannot_be_named():
    mine = workshop(OTHER)
    verdict = mine.check_names(my_name, made(mine), FILE)
    assert "3 tensors of the file" in verdict.problem and "qkv" in verdict.problem and "three maps" in verdict.hint


def test_the_table_of_kinds_knows_all_that_have_parameters():
    assert list(KINDS) == list(LEAVES) and set(LEAVES) <= set(CHECKS)
    assert all(CHECKS[name].__module__.startswith(checks.__name__) for name in CHECKS)
