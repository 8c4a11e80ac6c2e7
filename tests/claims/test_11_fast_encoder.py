"""What 11_fast_encoder says, tested: each count, each equality, each "so".

Times are measured, and claimed of nothing but the stored page, whose own outputs have to bear it out.
"""

import math
import platform
import re
import sys
from functools import cache
from itertools import pairwise

import nbformat
import pytest
import torch
import torch.nn.functional as F
from places import ROOT
from torch.nn.utils.rnn import pad_sequence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from encoder_lib import Encoder, EncoderLayer, attention, fast, lengths_mask, load_pretrained, unpadded
from encoder_lib.course import explore
from encoder_lib.course.lab import timing
from encoder_lib.course.lab.costs import layer_costs
from encoder_lib.course.lab.texts import library_sentences
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes half a minute

SEEDS = (0, 1, 2)
MB = 1e6  # bytes


@pytest.fixture(scope="module")
def minilm():
    return load_pretrained("minilm")


@cache
def sentences():
    """All that the notebook draws from."""
    return list(library_sentences())


def drawn(seed, minilm):
    """32 sentences as the notebook draws them: ids and lengths."""
    every = sentences()
    with seeded(seed):
        ids = [minilm.ids(every[i])[0] for i in torch.randperm(len(every))[:32]]
    return ids, torch.tensor([len(sentence) for sentence in ids])


def same_layer(number, *, tokens, width=384, batch=1):
    """Counted costs of a layer as wide as that, heads of 32 numbers."""
    return layer_costs(batch, tokens, width, d_ff=4 * width, n_heads=width // 32, number=number)


@cache
def stored():
    """Every text that the stored page shows as an output."""
    cells = nbformat.read(ROOT / "notebooks/11_fast_encoder.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]


def stored_lines(name, column="ms"):
    """A table of the stored page, found by one of its lines and by a column: name -> numbers."""
    (text,) = (text for text in stored() if re.search(rf"(?m)^{re.escape(name)}  ", text) and column in text)
    lines = (re.split(r"\s{2,}", line) for line in text.splitlines()[1:])
    return {name: [float(number) for number in numbers] for name, *numbers in lines}


# What there is to do


@pytest.mark.parametrize("tokens", [16, 64, 512])
def test_the_operations_are_those_that_torch_counts_in_a_layer_of_minilms_size(notebook, tokens):
    layer = EncoderLayer(384, 12, 1536).float()
    parts = timing.layer_parts(layer, torch.randn(1, tokens, 384, dtype=torch.float32))
    for count, name in zip(notebook["operations"](tokens), ("projections", "attention", "feed-forward"), strict=True):
        with FlopCounterMode(display=False) as counter:
            parts[name]()
        assert counter.get_total_flops() == count, name


def test_attention_is_next_to_nothing_at_16_and_less_than_a_fifth_at_512(notebook):
    few, many = (notebook["shares"][f"T = {tokens}, % of FLOPs"][1] for tokens in (16, 512))
    assert few < 1 and 18 < many < 20


def test_on_the_stored_page_linear_maps_take_the_same_at_every_length_and_attention_grows():
    lines = stored_lines("projections, ms")
    spread = {part: max(times) / min(times) for part, times in lines.items()}
    assert spread["projections, ms"] < 1.1 and spread["feed-forward, ms"] < 1.2 < spread["norms, sums, ms"]
    _, middle, last = lines["feed-forward, ms"]
    assert round(100 * (middle / last - 1)) == 15 and max(lines["norms, sums, ms"]) < 0.2 * middle  # which are small
    few, _, many = lines["share of attention, %"]
    assert 3 < few < 8 and many > 2 * 18.2  # about a twentieth; far more than of the FLOPs
    assert many > 50  # the larger part, of a document
    *parts, _ = (line[0] for line in lines.values())
    assert parts[0] + parts[2] > 0.8 * sum(parts)  # nearly all goes into the linear maps


def test_a_twentieth_of_the_time_gives_1_05_at_most_a_tenth_1_11_and_half_of_it_2():
    assert [round(1 / (1 - share), 2) for share in (1 / 20, 1 / 10, 1 / 2)] == [1.05, 1.11, 2]


# Scores


def test_at_512_tokens_the_scores_are_16_times_the_vectors_and_at_16_half(notebook):
    vectors, scores = torch.tensor(notebook["vectors"]), torch.tensor([12 * T * T * 4 / MB for T in (16, 64, 512)])
    assert [(score / vector).item() for score, vector in zip(scores, vectors, strict=True)] == [0.5, 2, 16]
    torch.testing.assert_close(torch.tensor(notebook["scores"]), scores)
    shown = notebook.prediction("scores_memory").result
    assert shown["scores, MB"].tolist()[2] == "12.58" and shown["vectors, MB"].tolist()[2] == "0.79"


def test_explicit_attention_writes_three_tensors_of_scores():
    written = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = {x.untyped_storage().data_ptr() for x in args if isinstance(x, torch.Tensor)}
            out = func(*args, **(kwargs or {}))
            if out.nbytes == 12 * 64 * 64 * 4 and out.untyped_storage().data_ptr() not in before:
                written.append(func)
            return out

    q, k, v = torch.randn(3, 12, 64, 32, dtype=torch.float32)
    with Watch():
        attention(q, k, v)
    assert len(written) == 3


def test_explicit_attention_moves_the_scores_six_times():
    explicit, fused = (same_layer(4, tokens=512)[f"attention, {kind}"] for kind in ("explicit", "fused"))
    assert explicit.flops == fused.flops
    assert explicit.bytes_moved - fused.bytes_moved == 6 * 12 * 512 * 512 * 4


def test_a_float32_ends_near_3e38_before_e_to_the_100():
    assert torch.finfo(torch.float32).max == pytest.approx(3.4e38, rel=1e-2) and math.exp(100) > 3.5e38


def test_one_factor_puts_the_old_total_right_and_no_other_does(notebook):
    shown = notebook.prediction("online_total").result.astype(float)
    assert shown["total"].iloc[-1] == 1.2034
    for column in ("total", "mean"):
        *ways, whole = shown[column]
        assert [abs(way - whole) < 1e-4 for way in ways] == [False, False, True, False]
    old, first = notebook["old"], notebook["first"]
    torch.testing.assert_close(old * math.exp(3 - 5), (first - 5).exp().sum())


def test_the_online_softmax_has_twelve_lines():
    cells = nbformat.read(ROOT / "notebooks/11_fast_encoder.ipynb", as_version=4).cells
    (source,) = (cell.source for cell in cells if cell.source.startswith("def online"))
    assert len(source.split("\n\n")[0].splitlines()) == 12


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1, 10, 64, 512, 1000])
def test_it_equals_attention_to_ten_digits_for_any_size(notebook, seed, size):
    with seeded(seed):
        q, k, v = torch.randn(3, 512, 32, dtype=torch.float64)
    assert (notebook["online"](q, k, v, size) - attention(q, k, v)[0]).abs().max() < 5e-11


def test_its_scores_stay_small_where_those_of_the_first_way_overflow(notebook):
    q, k, v = (30 * torch.randn(3, 64, 32, dtype=torch.float64)).unbind()
    assert (q @ k.T / 32**0.5).exp().isinf().any()
    assert (notebook["online"](q, k, v, 7) - attention(q, k, v)[0]).abs().max() < 1e-9


def test_the_library_takes_the_fused_attention_when_nobody_watches(monkeypatch):
    calls = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *given: calls.append(1) or fused(*given))
    EncoderLayer(8, 2, 16)(torch.randn(1, 3, 8))
    assert calls == [1]


def test_explicit_memory_climbs_from_5_to_101_mb_and_fused_stays_below_4(notebook):
    explicit, fused = notebook["held"]["explicit"], notebook["held"]["fused"]
    assert 4.5 < explicit[0] < 5.5 and round(explicit[-1]) == 101
    assert explicit[-1] * MB == pytest.approx(2 * 4 * 12 * 512 * 512 * 4, rel=1e-2)  # two tensors of scores
    assert len({round(value, 3) for value in fused}) == 1 and fused[0] < 4


def test_flops_double_at_every_step_and_from_32_tokens_on_so_does_the_memory(notebook):
    costs = [same_layer(4, tokens=tokens, batch=2048 // tokens) for tokens in notebook["places"]]
    flops = [cost["attention, explicit"].flops for cost in costs]
    assert [later / earlier for earlier, later in pairwise(flops)] == [2] * 5
    held = notebook["held"]["explicit"][1:]
    assert [later / earlier for earlier, later in pairwise(held)] == [pytest.approx(2, rel=0.02)] * 4


def test_three_tensors_of_scores_are_36_864_pages():
    size = 4 * 12 * 512 * 512 * 4
    assert round(size / MB, 1) == 50.3 and 3 * size / 4096 == 36_864 and round(3 * size / MB) == 151


def test_on_the_stored_page_those_pages_are_handed_out_to_the_first_way_and_none_to_the_second():
    explicit, kept, _ = (line[3] for line in stored_lines("explicit, memory kept", "slowest, ms").values())
    assert explicit == 36_864 + 3 and kept == 0


@pytest.fixture
def with_memory_kept(notebook):
    """Explicit attention as the notebook runs it, in three tensors of scores made once."""
    old = torch.empty(3, 4, 12, 512, 512, dtype=torch.float32)
    return lambda: notebook["in_old_memory"](*old)


def test_explicit_attention_with_its_memory_kept_gives_the_same_and_makes_no_tensor_of_scores(
    notebook, with_memory_kept
):
    q, k, v = notebook["q"], notebook["k"], notebook["v"]
    assert q.shape == (4, 12, 512, 32)
    torch.testing.assert_close(with_memory_kept(), attention(q, k, v)[0])
    scores = 4 * 12 * 512 * 512 * 4  # bytes
    assert timing.peak_bytes(with_memory_kept) < scores / 10
    assert timing.peak_bytes(lambda: attention(q, k, v)) >= 2 * scores


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another library may keep large blocks for the next one")
def test_new_tensors_of_scores_are_handed_out_page_by_page_and_kept_ones_are_not(notebook, with_memory_kept):
    q, k, v = notebook["q"], notebook["k"], notebook["v"]
    assert timing.new_pages(lambda: attention(q, k, v)) > 10 + 5 * timing.new_pages(with_memory_kept)


def test_on_the_stored_page_most_of_the_gap_closes_with_the_memory_kept_and_the_times_lie_apart():
    lines = stored_lines("explicit, memory kept", "slowest, ms")
    explicit, kept, fused = lines.values()
    assert list(lines) == ["explicit", "explicit, memory kept", "fused"]
    assert explicit[1] - kept[1] > 0.5 * (explicit[1] - fused[1])
    assert explicit[0] > kept[2] and kept[0] > fused[2]


def test_the_copy_makes_no_tensor_of_its_own(notebook):
    tasks, block, target = notebook["tasks"], notebook["block"], notebook["target"]
    assert round(block.nbytes / MB) == 34 and timing.peak_bytes(tasks["copy"]) == 0
    assert tasks["copy"]() is target and torch.equal(target, block)


@pytest.mark.parametrize(("batch", "tokens", "width"), [(4, 512, 384), (8, 16, 64)])
def test_the_formulas_are_those_of_the_counted_costs(batch, tokens, width):
    costs, vectors, heads = same_layer(4, tokens=tokens, width=width, batch=batch), batch * tokens * width, width // 32
    explicit, fused = (costs[f"attention, {kind}"] for kind in ("explicit", "fused"))
    assert explicit.flops == fused.flops == 4 * vectors * tokens
    assert fused.bytes_moved == 16 * vectors and fused.arithmetic_intensity == tokens / 4
    assert explicit.bytes_moved == 16 * vectors + 24 * batch * heads * tokens**2
    assert costs["projections"].bytes_moved == 32 * vectors + 16 * width**2


def test_what_the_table_reckons_is_that_count(notebook):
    costs = same_layer(4, tokens=512, batch=4)
    assert notebook["many"] == costs["attention, explicit"].bytes_moved
    assert notebook["few"] == costs["attention, fused"].bytes_moved
    assert notebook["computing"] == pytest.approx(1000 * costs["attention, fused"].flops / notebook["speed"])


def test_on_the_stored_page_the_count_explains_the_gap_and_what_is_left_is_alike():
    (text,) = (text for text in stored() if "measured, ms" in text)
    lines = [re.split(r"\s{2,}", line) for line in text.splitlines()[1:]]
    (_, *explicit), (_, *kept), (_, *fused) = lines
    counted, measured = ([float(line[i]) for line in (explicit, kept, fused)] for i in (2, 3))
    assert measured[1] - measured[2] == pytest.approx(counted[1] - counted[2], rel=0.4)
    left = [m - c for m, c in zip(measured, counted, strict=True)]
    assert 10 <= round(left[2]) <= round(left[1]) <= 15  # ten to fifteen milliseconds
    assert counted[0] == counted[1] and left[0] > 2 * left[1]


def test_fused_attention_crosses_a_balance_of_5_at_20_tokens():
    assert same_layer(4, tokens=20)["attention, fused"].arithmetic_intensity == 5


def test_at_512_tokens_explicit_attention_has_5_flops_a_byte_and_fused_128():
    costs = same_layer(4, tokens=512)
    ways = [costs[f"attention, {kind}"].arithmetic_intensity for kind in ("explicit", "fused")]
    assert [round(way) for way in ways] == [5, 128]
    assert "either may limit the explicit one and arithmetic limits the fused one" in (
        explore.cost(tokens=512, balance=5.0).description
    )


# The explorer


def test_64_sentences_move_less_than_six_times_the_bytes_of_one(notebook):
    one, many = (same_layer(4, tokens=16, batch=batch)["projections"] for batch in (1, 64))
    assert many.flops == 64 * one.flops
    assert many.bytes_moved < 6 * one.bytes_moved
    assert (many.bytes_moved, one.bytes_moved) == (14_942_208, 2_555_904)  # 14.9 and 2.56 MB
    assert 0.9 * one.bytes_moved < 4 * 384**2 * 4  # most of it are the parameters
    explorer = explore.cost(balance=10)
    explorer.set(tokens=16, batch=1)
    assert "The projections move 2.56 MB" in explorer.description
    explorer.set(batch=64)
    assert "The projections move 14.9 MB" in explorer.description


@pytest.mark.parametrize("width", [64, 384, 1024])
def test_attention_meets_the_feed_forward_at_four_times_the_width_and_all_six_maps_at_2d_plus_f(width):
    costs = same_layer(4, tokens=4 * width, width=width)
    assert costs["attention, fused"].flops == costs["feed-forward"].flops
    costs = same_layer(4, tokens=6 * width, width=width)  # 2D + F, where F = 4D
    assert costs["attention, fused"].flops == costs["projections"].flops + costs["feed-forward"].flops


def test_without_the_padding_linear_maps_have_half_and_attention_a_quarter():
    padded, alone = (same_layer(4, tokens=tokens) for tokens in (512, 256))
    for part, share in {"projections": 2, "feed-forward": 2, "attention, fused": 4}.items():
        assert padded[part].flops == share * alone[part].flops
    explorer = explore.cost(tokens=512, padding=50)
    assert "With 50 % padding, the unpadded layer does 45% of the operations." in explorer.description


# Padding


@pytest.mark.parametrize("seed", SEEDS)
def test_about_60_percent_is_padding_so_the_strip_has_less_than_half_of_the_tokens(minilm, seed):
    _, lengths = drawn(seed, minilm)
    real = lengths.sum() / (32 * lengths.max())
    assert 0.35 < real < 0.5


def test_the_picture_that_is_revealed_is_the_mask(notebook):
    (picture,) = notebook.prediction("padding_batch").result.figure.axes[0].images
    assert torch.equal(torch.as_tensor(picture.get_array().data).bool(), notebook["real"])


def test_one_layer_by_hand_equals_the_padded_one_to_ten_digits(notebook):
    assert notebook["layer_gap"].abs().max() < 5e-11
    assert notebook["strip"].shape == (1, int(notebook["lengths"].sum()), 384)


def test_without_the_cuts_every_token_gets_another_vector(notebook):
    shown = notebook.prediction("uncut").result
    assert bool((notebook["shifts"] > 1e-6).all()) and len(notebook["shifts"]) == int(notebook["lengths"].sum())
    assert shown.loc["not cut", "tokens"] == shown.loc["not cut", "with another vector"]
    assert float(shown.loc["not cut", "largest difference"]) > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_so_with_other_sentences_and_with_the_cuts_none(notebook, minilm, seed):
    ids, lengths = drawn(seed, minilm)
    exact, x = notebook["exact"], minilm.encoder.embedding(pad_sequence(ids, batch_first=True)).detach().double()
    mask = lengths_mask(lengths)
    real, strip = mask[:, 0, 0], x[mask[:, 0, 0]][None]
    wanted = exact(x, mask)[real]
    cut, whole = (notebook["without_padding"](strip, cuts)[0] for cuts in (lengths.tolist(), [strip.shape[1]]))
    assert (cut - wanted).abs().max() < 5e-11
    assert (whole - wanted).abs().amax(dim=1).min() > 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_six_layers_in_float32_agree_in_about_six_digits(minilm, seed):
    ids, lengths = drawn(seed, minilm)
    with torch.no_grad():
        x = minilm.encoder.embedding(pad_sequence(ids, batch_first=True))
        real = lengths_mask(lengths)[:, 0, 0]
        alone, padded = unpadded(minilm.encoder.encoder, x, lengths), minilm.encoder.encoder(x, lengths_mask(lengths))
    assert (alone - padded)[real].abs().max() < 1e-4 and alone[~real].abs().max() == 0
    assert ((alone - padded)[real].norm() / padded[real].norm()) < 3e-6


def test_projections_run_on_the_whole_strip_and_attention_on_each_sentence(monkeypatch):
    """Torch's attention sees the two sentences of 3 tokens as one batch, and that of 5 alone."""
    seen = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda q, *rest: seen.append(tuple(q.shape)) or fused(q, *rest)
    )
    encoder, projected = Encoder(1, 8, 2, 16), []
    projection = encoder.layers[0].attention.q_proj
    projection.register_forward_hook(lambda module, given, out: projected.append(tuple(out.shape)))
    unpadded(encoder, torch.randn(3, 5, 8), torch.tensor([5, 3, 3]))
    assert projected == [(1, 11, 8)] and seen == [(1, 2, 5, 4), (2, 2, 3, 4)]


# Shorter numbers


def test_a_bfloat16_has_2_bytes_reaches_as_far_and_goes_on_after_1_with_1_0078():
    short, usual = torch.finfo(torch.bfloat16), torch.finfo(torch.float32)
    assert short.bits == 16 and 3e38 < short.max < usual.max
    assert round(1 + short.eps, 4) == 1.0078 and torch.tensor(1.003, dtype=torch.bfloat16) == 1


def both_ways(seed, minilm):
    """Vectors of 32 sentences, in the usual numbers and in shorter ones."""
    ids, lengths = drawn(seed, minilm)
    with torch.no_grad():
        x = minilm.encoder.embedding(pad_sequence(ids, batch_first=True))
        usual = unpadded(minilm.encoder.encoder, x, lengths)
        with torch.autocast("cpu", torch.bfloat16):
            shorter = unpadded(minilm.encoder.encoder, x, lengths)
    return usual, shorter


@pytest.mark.parametrize("seed", SEEDS)
def test_no_cosine_moves_by_more_than_a_hundredth(notebook, minilm, seed):
    usual, shorter = both_ways(seed, minilm)
    change = (notebook["cosines"](shorter) - notebook["cosines"](usual)).abs().max()
    assert 1e-4 < change < 0.01


def test_hardly_a_sentence_of_32_gets_another_nearest_one_in_five_draws(notebook, minilm):
    cosines, itself = notebook["cosines"], 2 * torch.eye(32, dtype=torch.float64)
    for seed in range(5):
        usual, shorter = both_ways(seed, minilm)
        before, after = ((cosines(y) - itself).argmax(dim=1) for y in (usual, shorter))
        assert (before == after).sum() >= 30
    assert notebook["kept"].sum() >= 30 and notebook.shown("of 32 sentences have the same nearest one as before")


def test_a_cosine_of_means_needs_no_lengths(notebook, minilm):
    ids, _ = drawn(0, minilm)
    texts = torch.cat([minilm.encoder(sentence[None]).detach().double().mean(dim=1) for sentence in ids[:3]])  # (3, D)
    directions = F.normalize(texts, dim=-1)
    torch.testing.assert_close(
        notebook["cosines"](notebook["vectors_alone"])[:3, :3], directions @ directions.T, atol=1e-5, rtol=0
    )


def test_autocast_takes_short_numbers_for_products_and_leaves_the_softmax():
    with torch.autocast("cpu", torch.bfloat16):
        x = torch.randn(2, 2, dtype=torch.float32)
        assert (x @ x).dtype == torch.bfloat16 and x.softmax(dim=-1).dtype == torch.float32


# Ten million sentences


def test_the_bill_is_the_time_of_32_sentences_scaled_up(notebook):
    bill = notebook.table("ten million, hours")
    ways = ["tokens, embedding", "one rectangle", "four sorted ones", "the strip", "products alone"]
    assert list(bill.index) == ways
    for ms, hours in zip(bill["median, ms"], bill["ten million, hours"], strict=True):
        assert float(hours) == pytest.approx(float(ms) / 1000 / 32 * 1e7 / 3600, abs=0.06)


def test_the_beginning_makes_what_the_other_lines_start_from(notebook):
    torch.testing.assert_close(notebook["beginning"](), notebook["x"])


def test_sorted_rectangles_give_the_same_vectors_with_a_fifth_or_so_of_padding(notebook):
    real, lengths = notebook["real"], notebook["lengths"]
    assert (notebook["by_length"]() - notebook["padded_vectors"])[real].abs().max() < 1e-4
    computed = sum(8 * int(part.max()) for part in lengths.sort().values.split(8))
    assert computed - lengths.sum() < 0.3 * (real.numel() - lengths.sum())  # most of the padding is gone
    if any(f"in the strip: {lengths.sum()}\n" in text for text in stored()):  # the manual of the stored page
        assert round(computed / lengths.sum().item(), 2) == 1.25  # a quarter more tokens than the strip


def test_each_of_the_four_rectangles_goes_through_all_layers_by_itself(notebook):
    calls = []
    hooks = [part.register_forward_hook(lambda *_: calls.append(1)) for part in notebook["encoder"].layers]
    try:
        notebook["by_length"]()
    finally:
        for hook in hooks:
            hook.remove()
    assert len(calls) == 4 * 6


def test_what_encodes_for_the_bill_uses_fused_attention_and_the_products_do_not(notebook, monkeypatch):
    encoder, x, lengths, mask = (notebook[name] for name in ("encoder", "x", "lengths", "mask"))
    calls = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *given: calls.append(1) or fused(*given))
    used = []
    for way in (lambda: encoder(x, mask), notebook["by_length"], lambda: unpadded(encoder, x, lengths)):
        calls.clear()
        way()
        used.append(len(calls))
    assert min(used) >= 6
    calls.clear()
    notebook["products"]()
    assert not calls


def test_on_the_stored_page_beginning_is_a_small_part_and_the_strip_is_quicker_than_four_and_one():
    bill = {name: numbers[1] for name, numbers in stored_lines("tokens, embedding").items()}
    start, one, four, strip, products = bill.values()
    assert start < 0.1 * strip and products < strip < four < one
    assert four / strip == pytest.approx(4 / 3, abs=0.05)  # a third more time, for a quarter more tokens


def test_on_the_stored_page_more_than_a_day_is_at_stake_for_ten_million():
    hours = {name: numbers[3] for name, numbers in stored_lines("tokens, embedding").items()}
    assert hours["one rectangle"] > 24 > 15 > hours["the strip"]  # not by tomorrow morning; and by then


def test_on_the_stored_page_2_4_times_fewer_tokens_take_2_3_times_less():
    (text,) = (text for text in stored() if "tokens in the rectangle" in text)
    rectangle, strip = map(int, re.findall(r"(?:rectangle|strip): (\d+)", text.splitlines()[0]))
    _, one, _, packed, _ = (numbers[1] for numbers in stored_lines("tokens, embedding").values())
    assert round(rectangle / strip, 1) == 2.4 and round(one / packed, 1) == 2.3


def test_on_the_stored_page_it_is_reckoned_to_a_percent_1_8_times_as_quick_and_2_4_at_the_most():
    explicit, fused, measured = stored_lines("explicit, reckoned").values()
    assert measured[0] == pytest.approx(fused[0], rel=0.015)
    assert round(explicit[0] / fused[0], 1) == 1.8 and explicit[1] - fused[1] > 36  # hours
    *parts, _ = (line[-1] for line in stored_lines("projections, ms").values())
    assert round(explicit[0] / (6 * (sum(parts) - parts[1])), 1) == 2.4


def test_neither_remedy_helps_the_other_customer():
    """Nothing to pack where all have one length; and at 16 tokens attention is a twentieth of the time."""
    layer, x = Encoder(1, 8, 2, 16), torch.randn(4, 16, 8)
    flops = []
    for way in (lambda: layer(x), lambda: unpadded(layer, x, torch.full((4,), 16))):
        with FlopCounterMode(display=False) as counter:
            way()
        flops.append(counter.get_total_flops())
    assert flops[0] == flops[1] > 0
    few, *_ = stored_lines("projections, ms")["share of attention, %"]
    assert few < 5


def test_the_second_bill_is_the_table_of_parts_with_attention_exchanged(notebook):
    bill = notebook.table("a million, hours")
    projections, _, network, norms = notebook["parts_of_documents"]
    explicit, _, fused = notebook["waited"]["median, ms"]
    wanted = [6 * (projections + network + norms + attended) for attended in (explicit, fused)]
    assert [float(ms) for ms in bill["four documents, ms"]][:2] == [pytest.approx(ms, abs=0.1) for ms in wanted]
    assert notebook["measured"] > 0
    for ms, hours in zip(bill["four documents, ms"], bill["a million, hours"], strict=True):
        assert float(hours) == pytest.approx(float(ms) / 4 / 1000 * 1e6 / 3600, abs=0.1)


def test_the_yardstick_is_the_products_of_six_linear_maps_in_six_layers_on_the_real_tokens(notebook):
    lengths = notebook["lengths"]
    with FlopCounterMode(display=False) as counter:
        notebook["products"]()
    projections, _, network = notebook["operations"](int(lengths.sum()))
    assert counter.get_total_flops() == 6 * (projections + network) and len(notebook["matrices"]) == 6


def test_a_sentence_has_16_tokens_on_average(notebook):
    assert round(notebook["lengths"].double().mean().item()) == 16


# Exercises and Going deeper


def test_of_batches_of_eight_46_percent_are_padding_sorted_20_and_of_the_whole_manual_1(notebook, minilm):
    def share(lengths):
        return (1 - lengths.sum() / sum(len(part) * part.max() for part in lengths.split(8))).item()

    lengths, manual = notebook["lengths"], torch.tensor([len(minilm.ids(text)[0]) for text in sentences()])
    come, ordered = share(lengths), share(lengths.sort().values)
    assert 0.3 < come < 0.55 and 0.15 < ordered < 0.25 and ordered < come
    if any(f"in the strip: {lengths.sum()}\n" in text for text in stored()):  # the manual of the stored page
        assert (round(come, 2), round(ordered, 2)) == (0.46, 0.20)
    assert 0.005 < share(manual.sort().values) < 0.02


def test_without_attention_the_stored_layer_of_512_tokens_is_2_51_times_as_quick():
    lines = stored_lines("projections, ms")
    *times, share = (line[-1] for line in lines.values())
    assert times == [27.6, 136.5, 58.2, 4.3] and share == 60.2
    factors = torch.tensor([1, torch.inf, 1, 1])
    assert round((sum(times) / (torch.tensor(times) / factors).sum()).item(), 2) == 2.51 == round(1 / 0.398, 2)


def test_on_the_stored_page_bfloat16_takes_more_than_eight_times_as_long_and_the_twin_is_a_little_quicker():
    lines = stored_lines("bfloat16")
    assert 8 < lines["bfloat16"][1] / lines["float32"][1] < 9
    assert any("instructions: AVX2;" in text for text in stored())
    ways = stored_lines("the twin")
    (quickest, usual, _), (_, twin, slowest_twin) = ways.values()
    assert slowest_twin < quickest and round(twin / usual, 2) == 0.96  # a twenty-fifth


def test_on_the_stored_page_a_cosine_changes_in_the_third_digit_and_all_keep_their_nearest_one():
    (text,) = (text for text in stored() if "a cosine changes by" in text)
    assert re.search(r"by 0\.00[1-9]\d at most", text) and "32 of 32 sentences" in text


def test_a_float32_has_about_seven_digits_and_a_bfloat16_two_or_three():
    digits = [-math.log10(torch.finfo(kind).eps) for kind in (torch.float32, torch.bfloat16)]
    assert 6.5 < digits[0] < 7.5 and 2 < digits[1] < 3


def test_the_twin_has_the_same_parameters_and_gives_the_same_vectors(notebook):
    encoder, twin = notebook["encoder"], notebook["twin"]
    assert all(a is b for a, b in zip(encoder.parameters(), twin.parameters(), strict=True))
    x, lengths = notebook["x"], notebook["lengths"]
    assert (unpadded(twin, x, lengths) - unpadded(encoder, x, lengths)).abs().max() < 5e-5
    assert type(fast(encoder)) is type(twin)


@pytest.mark.parametrize("quicker", [True, False])
def test_products_go_to_onednn_by_one_rule_and_norms_are_one_operation_always(monkeypatch, quicker):
    module = sys.modules["encoder_lib.fast"]
    if quicker and not module.ONEDNN:
        pytest.skip("this torch is built without oneDNN")
    sent, norms, product, norm = [], [], module.product, F.layer_norm
    monkeypatch.setattr(module, "QUICKER", quicker)
    monkeypatch.setattr(module, "product", lambda x, *rest: sent.append(1) or product(x, *rest))
    monkeypatch.setattr(F, "layer_norm", lambda *given: norms.append(1) or norm(*given))
    layer = fast(EncoderLayer(8, 2, 16).float().eval())
    with torch.no_grad():
        layer(torch.randn(1, 3, 8, dtype=torch.float32))
    assert len(sent) == 6 * quicker and len(norms) == 2


def test_the_rule_is_avx_512_where_there_is_mkl():
    module = sys.modules["encoder_lib.fast"]
    wide = "AVX512" in torch.backends.cpu.get_cpu_capability()
    assert (module.ONEDNN and (wide or not torch.backends.mkl.is_available())) == module.QUICKER
    assert 512 // torch.finfo(torch.float32).bits == 16


def test_most_scores_of_a_masked_strip_are_between_sentences(notebook):
    lengths = notebook["lengths"]
    assert lengths.square().sum() < lengths.sum() ** 2 / 2
