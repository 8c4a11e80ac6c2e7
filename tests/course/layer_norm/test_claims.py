"""What 03_layer_norm says, one test for each claim. Where the initialisation decides, it is tried on eight seeds."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import LayerNorm, trace
from encoder_lib.course import explore
from encoder_lib.course.layer_norm.norms import replace_norms
from encoder_lib.course.layer_norm.plain_stack import PlainStack, plain_stack_accuracy, read_text

pytestmark = pytest.mark.long  # the notebook takes half a minute


def through_twelve_layers(seed, *, bias=True):
    """Two random words before the first of twelve linear layers with ReLU, and after the last."""
    torch.manual_seed(seed)
    layers, words = [nn.Linear(32, 32) for _ in range(12)], torch.randn(2, 32)
    x = words
    for layer in layers:
        x = torch.relu(F.linear(x, layer.weight, layer.bias if bias else None))
    return words, x


# Twelve linear layers


def test_two_words_differ_by_root_2_at_first_and_hardly_at_the_end(notebook):
    """They differ by 1.4 times their RMS at first and by 0.00015 at the end, by less than 0.001 from any seed."""
    start, *_, end = notebook["differences"]()
    assert round(start, 1) == 1.4 and end == pytest.approx(0.00015, rel=0.03)
    assert max(notebook["differences"](seed=seed)[-1] for seed in range(40)) < 0.001


def test_each_layer_leaves_two_fifths_of_the_difference(notebook):
    """Each layer leaves about two fifths of the difference, and the biases hold the RMS near a tenth."""
    rms = notebook["rms"]
    for seed in range(8):
        before, after = through_twelve_layers(seed)
        left = rms(after[0] - after[1]) / rms(before[0] - before[1])
        assert left ** (1 / 12) == pytest.approx(0.38, abs=0.04)
        assert round(rms(after), 1) == 0.1


def test_without_biases_the_words_stay_different(notebook):
    """Without the biases, the words would still differ by 0.66 of their RMS."""
    rms, ends = notebook["rms"], [through_twelve_layers(seed, bias=False)[1] for seed in range(8)]
    assert rms(ends[5][0] - ends[5][1]) / rms(ends[5]) == pytest.approx(0.66, abs=0.005), "the notebook's seed"
    assert max(rms(x) for x in ends) < 0.0001, "nothing else holds their RMS"
    assert min(rms(x[0] - x[1]) / rms(x) for x in ends) > 0.19


def test_a_matrix_and_relu_leave_one_over_root_6_of_the_rms(notebook):
    for seed in range(8):
        torch.manual_seed(seed)
        x, linear = torch.randn(1000, 32), nn.Linear(32, 32, bias=False)
        left = notebook["rms"](torch.relu(linear(x))) / notebook["rms"](x)
        assert left == pytest.approx(0.41, abs=0.025) and round(1 / math.sqrt(6), 2) == 0.41


@pytest.mark.parametrize(
    ("variant", "shown", "factor", "norm", "least", "most"),
    [
        ("no norm, × 2.5", 0.59, 2.5, None, 0.1, 0.6),
        ("layer norm", 1.4, 1, "normalise", 1.0, 1.6),
        ("RMS norm", 0.14, 1, "rms_norm", 0.1, 0.6),
    ],
)
def test_layer_norm_alone_keeps_two_words_different(notebook, variant, shown, factor, norm, least, most):
    assert notebook["variants"][variant][-1] == pytest.approx(shown, abs=0.05 if shown > 1 else 0.005)
    for seed in range(8):
        settings = {"norm": notebook[norm]} if norm else {}
        assert least <= round(notebook["differences"](factor, seed=seed, **settings)[-1], 1) <= most


def test_with_layer_norm_both_curves_coincide(notebook):
    assert notebook["variants"]["layer norm"] == pytest.approx(notebook["variants"]["layer norm, × 2.5"], rel=1e-9)


def test_a_normalised_token_is_on_a_sphere(notebook):
    """After the norm its length is √D, whatever it was before."""
    x = torch.randn(5, 7, 32) * torch.logspace(-3, 3, 7)[:, None] + 4
    for norm in ("normalise", "rms_norm"):
        lengths = notebook[norm](x).norm(dim=-1)
        torch.testing.assert_close(lengths, torch.full_like(lengths, math.sqrt(32)))


def test_the_explorer_shows_what_its_fold_says():
    """What is added is gone at step 1, a factor at step 2; the third number alone changes all six."""

    def bars(**controls):
        (panel,) = explore.normalise(**controls)._view.panels
        return torch.from_numpy(panel.values[:, :6, 1].copy())  # (5, D)

    before, added, scaled = bars(), bars(add=5.0), bars(factor=2.0)
    assert not torch.isclose(before[0], added[0]).any()
    torch.testing.assert_close(added[1:], before[1:])
    assert not torch.allclose(before[1], scaled[1])
    torch.testing.assert_close(scaled[2:], before[2:], atol=1e-5, rtol=1e-5)
    assert not torch.isclose(before[2], bars(third=8.0)[2], atol=1e-3).any()

    def deviation(**controls):
        words = explore.normalise(step=2, **controls).description
        return float(words.split("standard deviation ")[1].rstrip("."))

    assert bars(factor=1e-4)[0].std(correction=0).item() == pytest.approx(0.0002, rel=1e-3)
    assert deviation(factor=1e-4) == pytest.approx(0.06, abs=0.005)
    assert deviation(factor=1e-4, eps=1e-9) < 0.99 < deviation(factor=1e-4, eps=8e-10)
    rms = [deviation(method="RMS norm", add=add) for add in (-5.0, 0.0, 5.0)]
    assert [round(value, 2) for value in rms] == [1.0, 0.37, 0.2]


# Must each token be normalised alone?


def test_the_rms_of_cls_is_ten_times_that_of_any_other_token(notebook):
    with trace(notebook["model"].encoder) as t:
        notebook["model"].encode(notebook["sentences"])
    each = t["encoder.layers.0.norm2.input"].square().mean(dim=-1).sqrt()  # (B, T)
    assert (each[:, :1] > 10 * each[:, 1:]).all()


def test_one_component_of_cls_is_223_and_then_about_20(notebook):
    cls, normalise = notebook["cls"].double(), notebook["normalise"]
    torch.testing.assert_close(normalise(cls), F.layer_norm(cls, (384,), eps=0))
    assert [round(x.item(), 1) for x in (cls.min(), cls.sort().values[-2])] == [-2.1, 6.6]
    assert round(cls.max().item()) == 223 and round(normalise(cls).max().item(), 2) == 19.56
    assert normalise(cls).sort().values[:-1].abs().max() < 0.6
    cls[cls.argmax()] = 223_000
    assert 19.5 < normalise(cls).max() < math.sqrt(383), "hardly larger"


def test_with_one_norm_for_all_or_none_sentences_become_one(notebook):
    norms = [each for each in notebook["model"].encoder.modules() if isinstance(each, LayerNorm)]
    assert len(norms) == 13
    hound, *stock = notebook["tried"]["its own norms"]
    assert round(hound.item(), 2) == 0.6 and stock == pytest.approx([0.04, 0.05], abs=0.012)
    assert min(*notebook["tried"]["one for all"], *notebook["tried"]["no norm"]) > 0.99


@pytest.mark.parametrize("norm", ["one_for_all", "no_norm"])
def test_what_attention_adds_then_comes_from_cls(notebook, norm):
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


# Does a norm help to learn?


def test_without_a_norm_only_times_root_6_is_right(notebook):
    """With a norm the mean accuracy rises above 25 % from all three starts, without one only from × √6."""
    (too_small, right, too_large), *normed = notebook["results"].values()
    assert [len(starts) for starts in normed] == [3, 3], "36 trainings, four seeds each"
    assert plain_stack_accuracy.__kwdefaults__.items() >= {"n_layers": 12, "steps": 100}.items()
    assert max(too_small, too_large) < 24 and right > 27 and min(map(min, normed)) > 27


@pytest.mark.weekly
@pytest.mark.parametrize("norm", ["no norm", "layer norm", "RMS norm"])
def test_four_other_seeds_agree(norm):
    for factor in (1, 6**0.5, 6):
        mean = sum(plain_stack_accuracy(norm=norm, factor=factor, seed=seed) for seed in range(4, 8)) / 4
        assert (mean > 0.25) == (norm != "no norm" or factor == 6**0.5)


@pytest.mark.weekly
def test_more_steps_help_without_a_norm():
    """After 1,000 steps, three seeds have 31 % from × 1 (with layer norm 35 %) and 25 % from × 6."""
    for norm, factor, shown in (("no norm", 1, 0.31), ("layer norm", 1, 0.35), ("no norm", 6, 0.25)):
        right = [plain_stack_accuracy(norm=norm, factor=factor, steps=1000, seed=seed) for seed in range(3)]
        assert sum(right) / 3 == pytest.approx(shown, abs=0.02)


def test_from_times_one_half_a_norm_is_not_enough():
    """From × ½, stacks with RMS norm have a mean accuracy of less than 26 % after 100 steps of Adam at 0.003."""
    right = [plain_stack_accuracy(norm="RMS norm", factor=0.5, seed=seed) for seed in range(4)]
    assert 0.18 < sum(right) / 4 < 0.26


def test_always_naming_the_space_is_right_in_one_of_five():
    """A fifth of the letters in the last fifth of the text are spaces, and no letter is as frequent there."""
    counts = read_text()[1][2584:].bincount()
    assert counts.argmax() == 0 and round(counts[0].item() / counts.sum().item(), 2) == 0.20
    assert 2584 / 3230 == 0.8


def test_inputs_arrive_as_one_from_times_1_too_large_from_6():
    """From × 1 all arrive as nearly one vector, to a ten-thousandth; from × 6, 20,000 times as large or more."""
    for seed in range(8):
        for factor in (1, 6):
            torch.manual_seed(seed)
            stack = PlainStack(12, factor=factor)
            x = went_in = stack.read(F.one_hot(read_text()[0], 27).flatten(1).double())  # (3230, 32)
            for layer in stack.layers:
                x = torch.relu(layer(x))
            if factor == 1:
                assert (x[:1600] - x[1600:3200]).norm() / x.norm() < 1 / 10_000
            else:
                assert x.norm() / went_in.norm() > 20_000
