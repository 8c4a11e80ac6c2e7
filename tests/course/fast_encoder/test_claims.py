"""What 11_fast_encoder says about its results.

Times are tested only with a wide margin, because they differ from machine to machine and from day to day.
"""

import math
import re
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from claims import fold, seeds
from matplotlib.collections import PolyCollection
from torch.nn.utils.rnn import pad_sequence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from encoder_lib import EncoderLayer, attention, lengths_mask, load_pretrained
from encoder_lib.course import explore
from encoder_lib.course.fast_encoder import timing
from encoder_lib.course.fast_encoder.costs import layer_costs
from encoder_lib.course.fast_encoder.drawings import SCORES, VALUES
from encoder_lib.course.kit.texts import library_texts
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes half a minute

MB = 1e6  # bytes


@pytest.fixture(scope="module")
def minilm():
    return load_pretrained("minilm")


@cache
def texts():
    """All texts that the notebook draws from."""
    return library_texts()


def drawn(seed, minilm):
    """16 texts as the notebook draws them: ids and lengths."""
    every = texts()
    with seeded(seed):
        ids = [minilm.ids(every[i])[0] for i in torch.randperm(len(every))[:16]]
    return ids, torch.tensor([len(text) for text in ids])


def same_layer(number, *, tokens, width=384, batch=1):
    """Counted costs of a layer as wide as that, heads of 32 numbers."""
    return layer_costs(batch, tokens, width, d_ff=4 * width, n_heads=width // 32, number=number)


# Where does the time go?


def counted(tokens):
    """The FLOPs that torch counts in each part of a layer of MiniLM's size."""
    layer, flops = EncoderLayer(384, 12, 1536).float(), {}
    for name, part in timing.layer_parts(layer, torch.randn(1, tokens, 384, dtype=torch.float32)).items():
        with FlopCounterMode(display=False) as counter:
            part()
        flops[name] = counter.get_total_flops()
    return flops


def test_attention_has_a_tenth_of_the_flops_at_256_tokens():
    flops = counted(256)
    assert round(100 * flops["attention"] / sum(flops.values()), 1) == 10.0


# Scores


def test_explicit_attention_writes_three_tables_of_scores():
    """And two more with a mask."""
    written = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = {x.untyped_storage().data_ptr() for x in args if isinstance(x, torch.Tensor)}
            out = func(*args, **(kwargs or {}))
            if out.nbytes == 12 * 64 * 64 * 4 and out.untyped_storage().data_ptr() not in before:
                written.append(func)
            return out

    q, k, v = torch.randn(3, 12, 64, 32, dtype=torch.float32)
    for mask, tensors in ((None, 3), ((torch.arange(64) < 60)[None, None], 5)):
        written.clear()
        with Watch():
            attention(q, k, v, mask)
        assert len(written) == tensors


def test_only_one_factor_corrects_the_old_total(notebook):
    old, new, whole = (notebook[name] for name in ("old", "new", "whole"))
    assert "the whole row: 1.2034, e^(3−5) · old + new: 1.2034" in notebook.prediction("online_total").result
    tried = old + new, math.exp(5 - 3) * old + new, math.exp(3 - 5) * old + new, new
    assert [abs(total - whole) < 1e-4 for total in tried] == [False, False, True, False]
    old, first = notebook["old"], notebook["first"]
    torch.testing.assert_close(old * math.exp(3 - 5), (first - 5).exp().sum())


def test_first_four_keys_of_the_explorer_are_the_example():
    """For pieces of 1, 2 and 4 the same sums; and at the end the seventh key has pulled the mean down."""
    for piece in (1, 2, 4):
        kept = explore.online_softmax(seen=4, piece=piece).description
        assert "the total, 1.2034, and the weighted sum, 44.4." in kept
    before, after = (explore.online_softmax(seen=n, piece=1).description for n in (6, 7))
    means = [float(re.search(r"the mean ([\d.]+)\.", text).group(1)) for text in (before, after)]
    assert means[1] < means[0] / 1.5 and SCORES[6] == max(SCORES) == 6 and VALUES[6] == 10
    assert explore.online_softmax(seen=8, piece=3).description.endswith("the mean 18.6.")


def test_weighted_mean_of_the_example_from_two_pieces(notebook):
    sums = 10 * math.exp(1 - 3) + 20, 30 * math.exp(2 - 5) + 40
    summed = math.exp(3 - 5) * sums[0] + sums[1]
    total = math.exp(3 - 5) * notebook["old"] + notebook["new"]
    shown = [round(float(x), 1) for x in (*sums, summed, summed / total)]
    assert shown == [21.4, 41.5, 44.4, 36.9] and (round(math.exp(-2), 3), round(float(total), 2)) == (0.135, 1.20)
    weights = torch.tensor([1.0, 3.0, 2.0, 5.0]).softmax(dim=0)
    assert round((weights @ torch.tensor([10.0, 20.0, 30.0, 40.0])).item(), 1) == 36.9


@pytest.mark.parametrize("size", [1, 10, 64, 512, 1000])
def test_online_softmax_equals_attention_for_any_size(notebook, size):
    q, k, v = torch.randn(3, 512, 32, dtype=torch.float64)
    assert (notebook["online"](q, k, v, size) - attention(q, k, v)[0]).abs().max() < 5e-11
    loud = 30 * q, 30 * k, v
    assert (loud[0] @ loud[1].T / 32**0.5).exp().isinf().any(), "without subtracting the largest score this overflows"
    assert (notebook["online"](*loud, size) - attention(*loud)[0]).abs().max() < 1e-9


def test_loop_holds_a_seventh_of_the_memory(notebook):
    """And nothing that grows with the square of the length."""
    assert notebook.shown("attention holds up to 16.8 MB") and notebook.shown("online holds up to 2.4 MB")
    assert round(16.8 / 2.4) == 7 and round(2 * 8 * 1024**2 / MB, 1) == 16.8
    half, whole = (timing.peak_bytes(lambda T=T: notebook["online"](*torch.randn(3, T, 32))) for T in (512, 1024))
    assert whole == pytest.approx(2 * half, rel=0.02)


def test_explicit_and_fused_attention_agree(notebook):
    explicit, fused = (attend() for attend in notebook["two_kinds"](256).values())
    torch.testing.assert_close(fused, explicit, rtol=1e-4, atol=1e-5)


def test_copy_creates_no_tensor(notebook):
    tasks, block, target = notebook["tasks"], notebook["block"], notebook["target"]
    assert round(block.nbytes / MB) == 34 and timing.peak_bytes(tasks["copy"]) == 0
    assert tasks["copy"]() is target and torch.equal(target, block)


@pytest.mark.parametrize(("batch", "tokens", "width"), [(4, 512, 384), (8, 16, 64)])
def test_formulas_equal_the_counted_costs(batch, tokens, width):
    costs, vectors, heads = same_layer(4, tokens=tokens, width=width, batch=batch), batch * tokens * width, width // 32
    explicit, fused = (costs[f"attention, {kind}"] for kind in ("explicit", "fused"))
    assert explicit.flops == fused.flops == 4 * vectors * tokens
    assert fused.bytes_moved == 16 * vectors and fused.arithmetic_intensity == tokens / 4
    assert explicit.bytes_moved == 16 * vectors + 24 * batch * heads * tokens**2
    assert costs["projections"].bytes_moved == 32 * vectors + 16 * width**2


def test_at_512_tokens_explicit_attention_has_5_flops_a_byte():
    """Fused attention has 128; at the last point of the picture explicit attention moves some 300 MB more."""
    costs = same_layer(4, tokens=512)
    intensities = [costs[f"attention, {kind}"].arithmetic_intensity for kind in ("explicit", "fused")]
    assert [round(x) for x in intensities] == [5, 128]
    explicit, fused = (same_layer(4, tokens=256, batch=16)[f"attention, {kind}"] for kind in ("explicit", "fused"))
    assert round((explicit.bytes_moved - fused.bytes_moved) / MB) == 302
    assert "either may limit the explicit one and arithmetic limits the fused one" in (
        explore.cost(tokens=512, balance=5.0).description
    )


# The explorer


def test_64_texts_move_less_than_6_times_the_bytes_of_one():
    one, many = (same_layer(4, tokens=16, batch=batch)["projections"] for batch in (1, 64))
    assert many.flops == 64 * one.flops
    assert (many.bytes_moved, one.bytes_moved) == (14_942_208, 2_555_904)  # 14.9 and 2.56 MB
    assert 0.9 * one.bytes_moved < 4 * 384**2 * 4  # most of it are the parameters
    explorer = explore.cost(balance=10)
    explorer.set(tokens=16, batch=1)
    assert "The projections move 2.56 MB" in explorer.description
    explorer.set(batch=64)
    assert "The projections move 14.9 MB" in explorer.description


def test_unpadded_linear_half_and_attention_a_quarter():
    padded, alone = (same_layer(4, tokens=tokens) for tokens in (512, 256))
    for part, factor in {"projections": 2, "feed-forward": 2, "attention, fused": 4}.items():
        assert padded[part].flops == factor * alone[part].flops
    explorer = explore.cost(tokens=512, padding=50)
    assert "With 50 % padding, the unpadded layer does 45 % of the operations." in explorer.description


# Padding


def test_about_three_quarters_are_padding(minilm):
    """And seldom less than half with other draws."""
    draws = [drawn(seed, minilm)[1] for seed in range(20)]
    padding = torch.stack([1 - lengths.sum() / (16 * lengths.max()) for lengths in draws])
    assert 0.65 < padding.median() < 0.85 and (padding > 0.5).double().mean() > 0.8


def test_revealed_picture_is_the_mask(notebook):
    (ax, *_) = notebook.prediction("padding_batch").result.figure.axes
    rows = [bars for bars in ax.collections if isinstance(bars, PolyCollection)]
    real = [sum(path.get_extents().width for path in bars.get_paths()) for bars in rows]
    assert real == pytest.approx(notebook["real"].sum(dim=1).tolist())


def test_layer_without_padding_equals_the_padded_one(notebook):
    assert notebook["layer_gap"].abs().max() < 5e-11
    assert notebook["packed_x"].shape == (1, int(notebook["lengths"].sum()), 384)


def test_without_cuts_every_token_gets_a_different_vector(notebook):
    shown = notebook.prediction("uncut").result
    assert bool((notebook["shifts"] > 1e-6).all()) and len(notebook["shifts"]) == int(notebook["lengths"].sum())
    assert shown.startswith("{0} of {0} tokens".format(len(notebook["shifts"])))


@seeds(3)
def test_packed_layer_with_other_texts_with_and_without_cuts(notebook, minilm, seed):
    ids, lengths = drawn(seed, minilm)
    exact, x = notebook["exact"], minilm.encoder.embedding(pad_sequence(ids, batch_first=True)).detach().double()
    mask = lengths_mask(lengths)
    real, sequence = mask[:, 0, 0], x[mask[:, 0, 0]][None]
    wanted = exact(x, mask)[real]
    cut, whole = (notebook["without_padding"](sequence, cuts)[0] for cuts in (lengths.tolist(), [sequence.shape[1]]))
    assert (cut - wanted).abs().max() < 5e-11
    assert (whole - wanted).abs().amax(dim=1).min() > 1e-6


# Two million texts a day


def test_one_at_a_time_is_faster_than_the_padded_batch(notebook):
    took = dict(zip(notebook["ways"], notebook["bill"]["hours for two million texts"], strict=True))
    assert took["one at a time, fused"] < 0.8 * took["padded, fused"]


def test_padded_batch_needs_less_memory_with_fused_attention(notebook):
    explicit, fused, *_ = notebook["bill"]["peak memory, MB"]
    assert fused < 0.7 * explicit


def test_all_four_ways_agree_to_about_six_digits(notebook):
    first, *others = notebook["vectors"]
    assert len(first) == notebook["lengths"].sum() and len(others) == 3
    assert max((one - first).norm() / first.norm() for one in others) < 3e-6


def test_amdahls_fraction_is_that_of_the_table_of_times(notebook):
    *parts, percent = notebook["clock"]["T = 256"]
    assert notebook["p"] == percent / 100 == pytest.approx(parts[1] / sum(parts))


def test_each_row_uses_the_attention_that_it_names(notebook, monkeypatch):
    calls, fused = [], F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *given: calls.append(len(given[0])) or fused(*given))
    for way, seen in zip(notebook["ways"].values(), (0, 6 * 16, 6 * 16, 6 * 16), strict=True):
        calls.clear()
        with torch.no_grad():
            way()
        assert sum(calls) == seen


@seeds(8)
def test_texts_sorted_by_length_have_hardly_any_padding(minilm, seed):
    every = texts()
    with seeded(seed):
        lengths = [len(minilm.ids(every[i])[0]) for i in torch.randperm(len(every))[:640]]
    batches = torch.tensor(sorted(lengths)).view(40, 16)
    assert batches.sum() > 0.95 * 16 * batches.amax(dim=1).sum()


def test_twice_the_tokens_take_about_twice_the_flops():
    one, two = (sum(counted(length).values()) for length in (128, 256))
    assert 2 <= two / one < 2.11


def test_answer_follows_from_eight_other_draws(notebook):
    mean, slowest = notebook["mean"], max(notebook["hours"])
    assert len(notebook["draws"]) == 8
    assert notebook.shown(
        f"of 24 hours, so {'yes' if mean <= 24 else 'no'}: "
        f"margin {24 / mean:.1f}×, or {24 / slowest:.1f}× with the slowest draw"
    )


def test_join_of_two_loops_equals_attention(notebook):
    names = {"torch": torch}
    exec(fold(notebook, "def join"), names)
    with seeded(0):
        q, k, v = torch.randn(3, 64, 32, dtype=torch.float64)
    halves = list(zip(k.chunk(2), v.chunk(2), strict=True))
    logs = [(q @ keys.T / 32**0.5).logsumexp(dim=1, keepdim=True) for keys, _ in halves]
    (out_1, out_2), (log_1, log_2) = [notebook["online"](q, *half, 7) for half in halves], logs
    assert (names["join"](out_1, log_1, out_2, log_2) - attention(q, k, v)[0]).abs().max() < 1e-12
    ten, twenty, one, three = torch.tensor([10.0, 20.0, 1.0, 3.0]).double().view(4, 1, 1)
    assert names["join"](ten, one.log(), twenty, three.log()).item() == pytest.approx(17.5)
    assert f"{math.log(3):.2f}" == "1.10"


def test_packed_sequence_with_mask_equals_the_padded_batch(notebook):
    """And for 16 texts of the same length a sixteenth of its scores are needed."""
    names = {"torch": torch, "lengths_mask": lengths_mask}
    exec(fold(notebook, "def packed"), names)
    x, lengths, real = notebook["x"].double(), notebook["lengths"], notebook["real"]
    y = names["packed"](notebook["exact"], x, lengths)
    assert (y[real] - notebook["wanted"]).abs().max() < 5e-11 and y[~real].abs().max() == 0
    number = torch.arange(16).repeat_interleave(torch.full((16,), 7))
    assert (number[:, None] == number).double().mean() == 1 / 16
