"""Each part that is taken out is gone, and nothing else is."""

import contextlib
import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import MultiHeadAttention, TransformerEncoder, alibi_bias, causal_mask, trace
from encoder_lib.lab.ablate import PARTS, UnscaledAttention, ablate
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, solver

IDS = torch.tensor([[1, 2, 3, 4, 0], [4, 3, 0, 0, 0]])


def encoder(**settings):
    """Two layers of two heads, with padding."""
    return TransformerEncoder(5, 2, 8, 2, 16, padding_idx=0, **settings).double()


def both(part, **settings):
    """A model, and a copy of it without a part."""
    whole = encoder(**settings)
    return whole, ablate(part, copy.deepcopy(whole))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("norm_first", [False, True])
def test_the_output_changes_and_the_weights_that_stay_do_not(part, norm_first):
    whole, less = both(part, norm_first=norm_first, positional="learned")
    assert (whole(IDS) - less(IDS))[:, 0].abs().max() > 1e-4
    weights = whole.state_dict()
    assert all(torch.equal(x, weights[name]) for name, x in less.state_dict().items())
    gone = {"positions": 1, "norm": 10 if norm_first else 8}
    assert len(weights) - len(less.state_dict()) == gone.get(part, 0)
    copied = copy.deepcopy(less)
    assert torch.equal(copied(IDS), less(IDS)), "a copy is without it too"


def test_without_positions_order_does_not_matter():
    _, less = both("positions", positional="sinusoidal")
    assert torch.allclose(less(IDS[:1, [2, 0, 1, 3, 4]]), less(IDS[:1])[:, [2, 0, 1, 3, 4]], atol=1e-12)


def test_without_mask_padding_is_looked_at():
    whole, less = both("mask")
    for model, share in ((whole, 0), (less, 1)):
        with trace(model) as t:
            model(IDS)
        assert (t["encoder.layers.0.attention.weights"][1, :, :, 2:].sum() > 0) == share
    more = F.pad(IDS, (0, 3))
    assert torch.allclose(whole(IDS)[1, :2], whole(more)[1, :2], atol=1e-12)
    assert (less(IDS)[1, :2] - less(more)[1, :2]).abs().max() > 1e-3


@pytest.mark.parametrize("norm_first", [False, True])
def test_without_residual_a_layer_is_its_branches(norm_first):
    _, less = both("residual", norm_first=norm_first)
    layer, x = less.encoder.layers[0], torch.randn(2, 5, 8, dtype=torch.float64)
    if norm_first:
        y = layer.norm1(x)
        expected = layer.feed_forward(layer.norm2(layer.attention(y, y, y)))
    else:
        expected = layer.norm2(layer.feed_forward(layer.norm1(layer.attention(x, x, x))))
    assert torch.equal(layer(x), expected)


@pytest.mark.parametrize("norm_first", [False, True])
def test_without_norm_none_is_left(norm_first):
    _, less = both("norm", norm_first=norm_first, embedding_norm=False)
    assert not any("norm" in name for name, _ in less.named_parameters())


def test_one_head_has_the_whole_width():
    _, less = both("heads")
    with trace(less) as t:
        less(IDS)
    assert t["encoder.layers.1.attention.query"].shape == (2, 1, 5, 8)
    q, k = (t[f"encoder.layers.1.attention.{name}"] for name in ("query", "key"))
    torch.testing.assert_close(t["encoder.layers.1.attention.scores"], q @ k.transpose(-1, -2) / 8**0.5)


def test_without_scale_scores_are_products():
    whole, less = both("scale")
    with trace(whole) as a, trace(less) as b:
        whole(IDS), less(IDS)
    name = "encoder.layers.0.attention.scores"
    torch.testing.assert_close(b[name], a[name] * 2.0)  # √K, with K = 4


@pytest.mark.parametrize("positional", ["none", "rotary", "alibi"])
def test_unscaled_attention_is_attention_to_scores_that_nothing_divides(positional):
    whole = MultiHeadAttention(8, 2, positional=positional).double()
    unscaled = UnscaledAttention(8, 2, positional=positional).double()
    unscaled.load_state_dict(whole.state_dict())
    x, mask = torch.randn(2, 5, 8, dtype=torch.float64), causal_mask(5)
    with trace(nn.ModuleList([whole])) as a, trace(nn.ModuleList([unscaled])) as b:
        whole(x, x, x, mask), unscaled(x, x, x, mask)
    bias = alibi_bias(2, 5, 5, dtype=x.dtype) if positional == "alibi" else 0
    torch.testing.assert_close(b["0.scores"] - bias, (a["0.scores"] - bias) * 2.0)  # √K, with K = 4
    q, k, v = (b[f"0.{name}"] for name in ("query", "key", "value"))
    torch.testing.assert_close(b["0.heads"], (q @ k.mT / 2.0 + bias).masked_fill(~mask, -torch.inf).softmax(-1) @ v)
    with trace(nn.ModuleList([unscaled])) as watched:
        seen = unscaled(x, x, x, mask)
    torch.testing.assert_close(unscaled(x, x, x, mask), seen)
    assert watched["0.weights"].shape == (2, 2, 5, 5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_one_head_turns_all_pairs_of_a_rotary_model(norm_first):
    whole, less = both("heads", positional="rotary", norm_first=norm_first)
    one = TransformerEncoder(5, 2, 8, 1, 16, padding_idx=0, positional="rotary", norm_first=norm_first).double()
    one.load_state_dict(whole.state_dict())
    torch.testing.assert_close(less(IDS), one(IDS))


@pytest.mark.parametrize("watched", [False, True])
def test_heads_and_scale_may_go_in_either_order(watched):
    model = encoder()
    a, b = (ablate(q, ablate(p, copy.deepcopy(model))) for p, q in (("heads", "scale"), ("scale", "heads")))
    with contextlib.ExitStack() as stack:
        names = [stack.enter_context(trace(m)) for m in (a, b)] if watched else []
        assert torch.equal(a(IDS), b(IDS))
    for t in names:
        q, k = (t[f"encoder.layers.0.attention.{name}"] for name in ("query", "key"))
        torch.testing.assert_close(t["encoder.layers.0.attention.scores"], q @ k.transpose(-1, -2) / 8**0.5)


@pytest.mark.parametrize("part", PARTS)
def test_what_was_taken_out_cannot_be_taken_out_again(part):
    _, less = both(part)
    before = less(IDS)
    with pytest.raises(ValueError, match=f"with {part} to take out, got none"):
        ablate(part, less)
    assert torch.equal(less(IDS), before)


def test_it_works_inside_a_larger_model():
    model = nn.Sequential(encoder(), nn.Linear(8, 5).double())
    assert ablate("mask", model) is model and model[0].padding_idx is None


@pytest.mark.parametrize(
    ("part", "model", "words"),
    [
        ("bias", encoder(), "part: expected one of 'positions', 'mask'"),
        ("norm", nn.Linear(2, 2), "expected a TransformerEncoder with norm to take out, got none"),
        ("positions", encoder(positional="rotary"), "with positions to take out"),
        ("mask", TransformerEncoder(5, 1, 8, 2, 16), "with mask to take out"),
        ("heads", TransformerEncoder(5, 1, 8, 1, 16), "with heads to take out"),
    ],
)
def test_what_is_not_there_cannot_be_taken_out(part, model, words):
    with pytest.raises(ValueError, match=words):
        ablate(part, model)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_what_each_part_is_worth_on_padded_reversal(seed):
    """Positions and residual paths are needed; the mask in wider batches; one head, no norm and no scale do no harm."""
    task, runs = TASKS["padded"], {}
    for part in ("nothing", *PARTS):
        torch.manual_seed(seed)
        held_out, model = task.draw(500), solver(task, n_layers=2, n_heads=4)
        if part != "nothing":
            ablate(part, model)
        steps = 300  # rounding differs between processors, and with it the step at which 95 % are reached
        history = fit(model, lambda: task.draw(64), steps=steps, held_out=held_out, stop_at_accuracy=0.95)
        wider = F.pad(held_out.ids, (0, 12), value=10), F.pad(held_out.targets, (0, 12), value=IGNORE_INDEX)
        runs[part] = history, accuracy(model, *wider)
    reached = {part for part, (history, _) in runs.items() if history.accuracies[-1] >= 0.95}
    assert reached == {"nothing", "mask", "norm", "heads", "scale"}, runs
    assert runs["positions"][1] < 0.5 and runs["mask"][1] < 0.85
    for part in ("nothing", "norm", "heads", "scale"):
        assert abs(runs[part][1] - runs[part][0].accuracies[-1]) < 0.002, "a wider batch does no harm"
