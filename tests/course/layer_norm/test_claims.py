"""What 03_layer_norm says, one test a claim. Where fresh parameters decide, the claim is tried on eight seeds."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import LayerNorm, trace
from encoder_lib.course import explore
from encoder_lib.course.layer_norm.norms import replace_norms
from encoder_lib.course.layer_norm.plain_stack import PlainStack, plain_stack_accuracy


def way_up(seed):
    """Two words before each of twelve plain layers, and behind the last."""
    torch.manual_seed(seed)
    layers, x = [nn.Linear(32, 32) for _ in range(12)], torch.randn(2, 32)
    yield x
    for layer in layers:
        yield (x := torch.relu(layer(x)))


# Twelve layers


def test_two_words_differ_by_root_2_at_the_start_and_end_as_one(notebook):
    """They differ by 1.4 times their size at first and by 0.00015 at the end, by less than 0.001 from any seed."""
    start, *_, end = notebook["differences"]()
    assert round(start, 1) == 1.4 and end == pytest.approx(0.00015, rel=0.03)
    assert max(notebook["differences"](seed=seed)[-1] for seed in range(40)) < 0.001


def test_each_layer_leaves_two_fifths_of_the_difference(notebook):
    """Each layer leaves about two fifths of the difference, and the biases hold the size near a tenth."""
    for seed in range(8):
        start, *_, end = way_up(seed)
        differences = [notebook["size"](x[0] - x[1]) for x in (start, end)]
        assert (differences[1] / differences[0]) ** (1 / 12) == pytest.approx(0.38, abs=0.04)
        assert round(notebook["size"](end), 1) == 0.1
    assert round(1.4 * 0.4**12, 5) == 0.00002 and round(0.00002 / 0.1, 4) == 0.0002


def test_the_two_words_that_have_become_one_in_numbers():
    *_, x = way_up(5)
    one, other = ([round(n, 5) for n in word[word > 0][:3].tolist()] for word in x)
    assert one == [0.09743, 0.09664, 0.10541] and other == [0.09745, 0.09664, 0.10538]


def test_a_matrix_and_relu_leave_one_over_root_6_of_the_size(notebook):
    for seed in range(8):
        torch.manual_seed(seed)
        x, linear = torch.randn(1000, 32), nn.Linear(32, 32, bias=False)
        left = notebook["size"](torch.relu(linear(x))) / notebook["size"](x)
        assert left == pytest.approx(0.41, abs=0.025) and round(1 / math.sqrt(6), 2) == 0.41


@pytest.mark.parametrize(
    ("way", "shown", "factor", "norm", "least", "most"),
    [
        ("no norm, × 2.5", 0.59, 2.5, None, 0.1, 0.6),
        ("layer norm", 1.4, 1, "normalise", 1.0, 1.6),
        ("RMS norm", 0.14, 1, "rms_norm", 0.1, 0.6),
    ],
)
def test_layer_norm_alone_keeps_two_words_different(notebook, way, shown, factor, norm, least, most):
    assert notebook["ways"][way][-1] == pytest.approx(shown, abs=0.05 if shown > 1 else 0.005)
    for seed in range(8):
        settings = {"norm": notebook[norm]} if norm else {}
        assert least <= round(notebook["differences"](factor, seed=seed, **settings)[-1], 1) <= most


def test_with_layer_norm_both_lines_lie_on_each_other(notebook):
    assert notebook["ways"]["layer norm"] == pytest.approx(notebook["ways"]["layer norm, × 2.5"], rel=1e-9)


def test_the_explorer_shows_what_its_fold_says():
    def spread(**controls):
        words = explore.normalise(**controls).description
        return float(words.split("spread from ")[1].split(" to ")[1].split(". ")[0].rstrip("."))

    assert round(spread(spread=1e-4), 2) == 0.03
    assert spread(spread=1e-4, eps=1e-9) < 0.99 and round(spread(spread=1e-4, eps=1e-10), 3) == 0.995
    assert round(spread(method="RMS norm", mean=2.0), 2) == 0.24
    assert round(spread(method="RMS norm", mean=5.0), 2) == 0.10


# Must each token be taken alone?


def test_cls_is_ten_times_as_large_as_any_other_token(notebook):
    with trace(notebook["model"].encoder) as t:
        notebook["model"].encode(notebook["sentences"])
    sizes = t["encoder.layers.0.norm2.input"].square().mean(dim=-1).sqrt()  # (B, T)
    assert (sizes[:, :1] > 10 * sizes[:, 1:]).all()


def test_of_384_numbers_of_cls_one_is_223_and_then_about_20(notebook):
    cls, normalise = notebook["cls"].double(), notebook["normalise"]
    torch.testing.assert_close(normalise(cls), F.layer_norm(cls, (384,), eps=0))
    assert [round(x.item(), 1) for x in (cls.min(), cls.sort().values[-2])] == [-2.1, 6.6]
    assert round(cls.max().item()) == 223 and round(normalise(cls).max().item(), 2) == 19.56
    assert normalise(cls).sort().values[:-1].abs().max() < 0.6
    cls[cls.argmax()] = 223_000
    assert 19.5 < normalise(cls).max() < math.sqrt(383), "hardly larger"


def test_with_one_norm_for_all_or_none_all_sentences_become_one(notebook):
    norms = [each for each in notebook["model"].encoder.modules() if isinstance(each, LayerNorm)]
    assert len(norms) == 13 and {each.eps for each in norms} == {1e-12}
    hound, *stock = notebook["tried"]["its own norms"]
    assert round(hound.item(), 2) == 0.6 and stock == pytest.approx([0.04, 0.05], abs=0.012)
    assert min(*notebook["tried"]["one for all"], *notebook["tried"]["no norm"]) > 0.99


@pytest.mark.parametrize("norm", ["one_for_all", "no_norm"])
def test_what_attention_adds_then_comes_from_a_cls_that_is_one(notebook, norm):
    """What attention adds comes nearly all from [CLS], and [CLS] is nearly the same in every text."""
    attention = notebook["model"].encoder.encoder.layers[5].attention
    changed = replace_norms(notebook["model"], notebook[norm])
    with trace(changed.encoder) as t:
        changed.encode(notebook["sentences"])
    x, weights = t["encoder.layers.4"], t["encoder.layers.5.attention.weights"]  # (B, T, D), (B, H, T, T)
    cls, added = x[:, 0], t["encoder.layers.5.attention"][:, 1:8]
    assert torch.cosine_similarity(cls[:, None], cls, dim=-1).min() > 0.99
    values = F.linear(cls, attention.v_proj.weight).reshape(3, 1, 12, 32)  # (B, 1, H, K)
    from_cls = weights[..., 1:8, 0].transpose(1, 2)[..., None] * values  # (B, 7, H, K)
    rest = added - F.linear(from_cls.flatten(-2), attention.out_proj.weight)
    assert rest.norm() < 0.2 * added.norm()


# Does it help to learn?


def test_without_a_norm_only_times_root_6_is_right(notebook):
    (too_small, without, too_large), *normed = notebook["results"].values()
    assert [len(starts) for starts in normed] == [3, 3], "36 trainings, four seeds each"
    assert plain_stack_accuracy.__kwdefaults__.items() >= {"n_layers": 12, "steps": 100}.items()
    assert max(too_small, too_large) < 82 and without > 85 and min(map(min, normed)) > 85


@pytest.mark.weekly
@pytest.mark.parametrize("norm", ["no norm", "layer norm", "RMS norm"])
def test_so_it_is_on_four_other_seeds(norm):
    for factor in (1, 6**0.5, 6):
        right = [plain_stack_accuracy(norm=norm, factor=factor, seed=seed) for seed in range(4, 8)]
        assert (sum(right) > 4 * 0.85) == (norm != "no norm" or factor == 6**0.5)


def test_inputs_arrive_as_one_from_times_1_too_large_from_6():
    """From × 1 all arrive as nearly one vector, to a thousandth; from × 6 tens of thousands of times too large."""
    for seed in range(8):
        for factor in (1, 6):
            torch.manual_seed(seed)
            stack = PlainStack(12, factor=factor)
            x = went_in = stack.read(torch.randn(1000, 4))  # (1000, 32)
            for layer in stack.layers:
                x = torch.relu(layer(x))
            if factor == 1:
                assert (x[:500] - x[500:]).norm() / x.norm() < 1 / 1000
            else:
                assert x.norm() / went_in.norm() > 12_000 and x.shape == (1000, 32)
