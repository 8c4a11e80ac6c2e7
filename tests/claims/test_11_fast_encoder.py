"""What 11_fast_encoder says, tested: each count, each equality, each "so". Times are measured, and claimed nowhere."""

import math
import sys
from functools import cache

import nbformat
import pytest
import torch
import torch.nn.functional as F
from places import ROOT
from torch.nn.utils.rnn import pad_sequence
from torch.utils.flop_counter import FlopCounterMode

from encoder_lib import EncoderLayer, attention, explore, fast, lengths_mask, load_pretrained, unpadded
from encoder_lib.lab import timing
from encoder_lib.lab.costs import layer_costs
from encoder_lib.packed import Packed
from encoder_lib.seeded import seeded
from encoder_lib.training.tasks import library_sentences

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
    shares = notebook["shares"]
    few, many = "T = 16, % of FLOPs", "T = 512, % of FLOPs"
    assert shares[few][1] < 1 and 18 < shares[many][1] < 20
    shown = notebook.table(many)
    assert shown[many].tolist() == ["27.3", "18.2", "54.5"] and shown[few].tolist()[1] == "0.7"


def test_the_times_are_of_1024_tokens_in_four_parts_that_sum_to_100(notebook):
    (times,) = (value for value in notebook.values if getattr(value, "shape", None) == (4, 3))
    assert [name.partition(",")[0] for name in times.columns] == ["T = 16", "T = 64", "T = 512"]
    assert list(times.index) == ["projections", "attention", "feed-forward", "norms, sums"]
    for column in times.columns:
        assert column.endswith(" ms") and sum(map(float, times[column])) == pytest.approx(100, abs=0.3)
    assert notebook["tokens"].shape == (2, 512, 384)


def test_the_machine_is_named_with_the_times(notebook):
    assert notebook.shown(timing.machine())


def test_a_part_with_a_tenth_of_the_time_gives_1_11_at_most():
    assert round(1 / (1 - 0.1), 2) == 1.11


# Scores


def test_at_512_tokens_the_scores_are_16_times_the_vectors_and_at_16_half(notebook):
    vectors, scores = torch.tensor(notebook["vectors"]), torch.tensor([12 * T * T * 4 / MB for T in (16, 64, 512)])
    assert [(score / vector).item() for score, vector in zip(scores, vectors, strict=True)] == [0.5, 2, 16]
    torch.testing.assert_close(torch.tensor(notebook["scores"]), scores)
    shown = notebook.prediction("scores_memory").result
    assert shown["scores, MB"].tolist()[2] == "12.58" and shown["vectors, MB"].tolist()[2] == "0.79"


def test_explicit_attention_moves_the_scores_six_times():
    explicit, fused = (same_layer(4, tokens=512)[f"attention, {kind}"] for kind in ("explicit", "fused"))
    assert explicit.flops == fused.flops
    assert explicit.bytes_moved - fused.bytes_moved == 6 * 12 * 512 * 512 * 4


def test_a_float32_ends_near_3e38_before_e_to_the_100(notebook):
    assert torch.finfo(torch.float32).max == pytest.approx(3.4e38, rel=1e-2) and math.exp(100) > 3.5e38
    shown = notebook.table("e to the score")
    assert shown["e to the score"].tolist() == ["inf"] * 3
    assert shown["e to the score − 102"].tolist() == ["0.14", "0.37", "1.00"]


def test_subtracting_the_largest_score_cancels():
    scores = torch.tensor([1.0, 3.0, 2.0, 5.0])
    powers = (scores - 5).exp()
    torch.testing.assert_close(powers / powers.sum(), scores.softmax(dim=0))


def test_one_factor_puts_the_old_total_right_and_no_other_does(notebook):
    totals = [float(total) for total in notebook.prediction("online_total").result["total"]]
    whole = totals[-1]
    assert round(whole, 4) == 1.2034
    assert [abs(total - whole) < 1e-4 for total in totals[:-1]] == [False, False, True, False]
    old, first = notebook["old"], notebook["first"]
    torch.testing.assert_close(old * math.exp(3 - 5), (first - 5).exp().sum())


def test_the_mean_in_two_pieces_is_the_ordinary_one(notebook):
    shown = notebook.table("mean")["mean"].tolist()
    assert shown[0] == shown[1] == "36.8806"


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


def test_the_table_shows_no_difference_and_how_many_scores_are_held(notebook):
    shown = notebook.table("scores held at once")
    assert all(float(difference) < 1e-13 for difference in shown["largest difference"])
    assert shown["scores held at once"].tolist() == ["512", "5120", "32768", "262144"]


def test_the_library_takes_the_fused_attention_when_nobody_watches(monkeypatch):
    calls = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *given: calls.append(1) or fused(*given))
    EncoderLayer(8, 2, 16)(torch.randn(1, 3, 8))
    assert calls == [1]


def test_explicit_memory_climbs_from_2_to_50_mb_and_fused_stays_below_2(notebook):
    explicit, fused = notebook["held"]["explicit"], notebook["held"]["fused"]
    assert 2 < explicit[0] < 2.5 and explicit[-1] == pytest.approx(50, rel=2e-2)
    assert explicit[-1] * MB == pytest.approx(2 * 2 * 12 * 512 * 512 * 4, rel=1e-2)  # two copies
    assert round(2 * 12 * 512 * 512 * 4 / MB) == 25
    assert len({round(value, 3) for value in fused}) == 1 and fused[0] < 2


def test_all_times_are_there_and_none_is_zero(notebook):
    took = notebook["took"]
    assert all(len(times) == 6 and min(times) > 0 for times in took.values())
    assert notebook["speed"] > 0 and notebook["balance"] > 0


def test_the_copy_makes_no_tensor_of_its_own(notebook):
    tasks, block, target = notebook["tasks"], notebook["block"], notebook["target"]
    assert round(block.nbytes / MB) == 34 and timing.peak_bytes(tasks["copy"]) == 0
    assert tasks["copy"]() is target and torch.equal(target, block)


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
def test_attention_meets_the_feed_forward_at_four_times_the_width(width):
    costs = same_layer(4, tokens=4 * width, width=width)
    assert costs["attention, fused"].flops == costs["feed-forward"].flops


@pytest.mark.parametrize("width", [64, 384, 1024])
def test_it_meets_all_six_linear_maps_later_at_twice_the_width_and_f(width):
    costs = same_layer(4, tokens=6 * width, width=width)  # 2D + F, where F = 4D
    assert costs["attention, fused"].flops == costs["projections"].flops + costs["feed-forward"].flops


def test_the_explorer_leaves_the_crossing_to_its_reader():
    assert "1,536" not in explore.cost(tokens=512, balance=5.0).description


def test_without_the_padding_linear_maps_have_half_and_attention_a_quarter():
    padded, alone = (same_layer(4, tokens=tokens) for tokens in (512, 256))
    for part, share in {"projections": 2, "feed-forward": 2, "attention, fused": 4}.items():
        assert padded[part].flops == share * alone[part].flops
    explorer = explore.cost(tokens=512, padding=50)
    assert "With 50 % padding, the unpadded layer does 45% of the operations." in explorer.description


# Padding


@pytest.mark.parametrize("seed", SEEDS)
def test_more_than_two_fifths_is_padding_and_the_row_has_less_than_half_of_the_tokens(minilm, seed):
    _, lengths = drawn(seed, minilm)
    real = lengths.sum() / (32 * lengths.max())
    assert real < 0.5


def test_the_picture_that_is_revealed_is_the_mask(notebook):
    (picture,) = notebook.prediction("padding_batch").result.figure.axes[0].images
    assert torch.equal(torch.as_tensor(picture.get_array().data).bool(), notebook["real"])


def test_one_layer_by_hand_equals_the_padded_one_to_ten_digits(notebook):
    assert notebook["difference"].abs().max() < 5e-11
    assert notebook["row"].shape == (1, int(notebook["lengths"].sum()), 384)


def test_a_part_that_mixes_tokens_would_show(notebook):
    """The comparison is one: attention over the whole row is not what it gives."""
    exact, row = notebook["exact"], notebook["row"]
    x1 = exact.norm1(row + exact.attention(row, row, row))
    mixed = exact.norm2(x1 + exact.feed_forward(x1))
    assert (mixed - notebook["without_padding"](row)).abs().max() > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_six_layers_in_float32_agree_in_about_six_digits(minilm, seed):
    ids, lengths = drawn(seed, minilm)
    with torch.no_grad():
        x = minilm.encoder.embedding(pad_sequence(ids, batch_first=True))
        real = lengths_mask(lengths)[:, 0, 0]
        alone, padded = unpadded(minilm.encoder.encoder, x, lengths), minilm.encoder.encoder(x, lengths_mask(lengths))
    assert (alone - padded)[real].abs().max() < 1e-4 and alone[~real].abs().max() == 0
    assert ((alone - padded)[real].norm() / padded[real].norm()) < 3e-6


def test_projections_run_on_the_whole_row_and_attention_on_each_sentence(monkeypatch):
    """Torch's attention sees the two sentences of 3 tokens as one batch, and that of 5 alone."""
    seen = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda q, *rest: seen.append(tuple(q.shape)) or fused(q, *rest)
    )
    layer, projected = EncoderLayer(8, 2, 16), []
    layer.attention.q_proj.register_forward_hook(lambda module, given, out: projected.append(tuple(out.shape)))
    layer(torch.randn(1, 11, 8), Packed(torch.tensor([5, 3, 3])))
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
    texts = torch.cat([minilm.encoder(row[None]).detach().double().mean(dim=1) for row in ids[:3]])  # (3, D)
    directions = F.normalize(texts, dim=-1)
    torch.testing.assert_close(
        notebook["cosines"](notebook["vectors_alone"])[:3, :3], directions @ directions.T, atol=1e-5, rtol=0
    )


def test_autocast_takes_short_numbers_for_products_and_leaves_the_softmax():
    with torch.autocast("cpu", torch.bfloat16):
        x = torch.randn(2, 2, dtype=torch.float32)
        assert (x @ x).dtype == torch.bfloat16 and x.softmax(dim=-1).dtype == torch.float32


# A million sentences


def test_the_bill_is_the_time_of_32_sentences_scaled_up(notebook):
    bill = notebook.table("a million, hours")
    assert list(bill.index) == [
        "padded", "without padding", "without padding, bfloat16", "the products alone, float32"
    ]  # fmt: skip
    for ms, hours in zip(bill["32 sentences, ms"], bill["a million, hours"], strict=True):
        assert float(hours) == pytest.approx(float(ms) / 1000 / 32 * 1e6 / 3600, abs=0.06)


def test_the_yardstick_is_the_products_of_six_linear_maps_in_six_layers_on_the_real_tokens(notebook):
    lengths = notebook["lengths"]
    with FlopCounterMode(display=False) as counter:
        notebook["products"]()
    projections, _, network = notebook["operations"](int(lengths.sum()))
    assert counter.get_total_flops() == 6 * (projections + network) and len(notebook["matrices"]) == 6


def test_a_sentence_has_16_tokens_on_average_and_4_percent_of_the_time_are_worth_1_04(notebook):
    assert round(notebook["lengths"].double().mean().item()) == 16
    assert round(1 / 0.96, 2) == 1.04


# Exercises and Going deeper


def joined(first, second):
    """Two workers' largest, total and summed as one worker's."""
    largest = torch.maximum(first[0], second[0])
    factors = [(part[0] - largest).exp() for part in (first, second)]
    return largest, *(factors[0] * first[i] + factors[1] * second[i] for i in (1, 2))


def test_any_number_of_workers_can_share_a_row():
    q, k, v = torch.randn(3, 12, 4, dtype=torch.float64)
    kept = []
    for keys, values in zip(k.split(3), v.split(3), strict=True):
        scores = q @ keys.T / 2  # K = 4
        largest = scores.amax(dim=1, keepdim=True)
        powers = (scores - largest).exp()
        kept.append((largest, powers.sum(dim=1, keepdim=True), powers @ values))
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        whole = kept[order[0]]
        for i in order[1:]:
            whole = joined(whole, kept[i])
        torch.testing.assert_close(whole[2] / whole[1], attention(q, k, v)[0])


def test_sorted_by_length_much_less_is_padding(notebook):
    def share(lengths):
        return 1 - lengths.sum() / sum(len(part) * part.max() for part in lengths.split(8))

    lengths = notebook["lengths"]
    assert share(lengths.sort().values) < share(lengths) / 2


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


def test_the_compiler_waits_to_be_asked(notebook):
    assert notebook["try_it"] is False and "quick" not in notebook.variables


def test_most_scores_of_a_masked_row_are_between_sentences(notebook):
    lengths = notebook["lengths"]
    assert lengths.square().sum() < lengths.sum() ** 2 / 2
