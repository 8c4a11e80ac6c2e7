"""What 08_training says, tested: each number, and each "so"."""

import itertools
import math
import re
import types
from functools import cache

import nbformat
import pytest
import torch
import torch.nn.functional as F
from places import ROOT

from encoder_lib import TransformerEncoder, trace
from encoder_lib.course.lab import ladder, letters
from encoder_lib.course.lab.recording import weight_on
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, Sample

pytestmark = pytest.mark.long  # the notebook takes most of a minute

SEEDS = range(8)


def learned(notebook, task, seed, steps=150, **sizes):
    """A model that the notebook's own loop has trained on a task."""
    torch.manual_seed(seed)
    model = notebook["fresh_model"](task, **sizes)
    notebook["train"](model, lambda: task.draw(64), steps)
    return model


def looks(model, batch):
    """What each head of each layer looks at, one (B, H, T, T) a layer."""
    with torch.no_grad(), trace(model) as t:
        model(batch.ids)
    return [weights for name, weights in t.items() if name.endswith("attention.weights")]


def numbers(notebook, column):
    """A column of a table that the notebook shows, as numbers."""
    return [float(x) for x in notebook.table(column)[column]]


# The loop


def test_letters_ask_nothing_and_an_arrows_source_holds_its_target(notebook):
    ids, targets, source = notebook["batch"]
    assert (targets[:, :8] == IGNORE_INDEX).all() and (source[:, :8] == IGNORE_INDEX).all() and IGNORE_INDEX == -100
    assert torch.equal(ids.gather(1, source[:, 8:]), targets[:, 8:]) and ids[:, :8].max() < 10
    assert torch.equal(ids[:, 8:] - 10, source[:, 8:])  # each arrow names the place


def test_half_of_the_tokens_ask_and_a_fresh_model_is_a_little_worse_than_a_guess(notebook):
    assert (notebook["batch"].targets != IGNORE_INDEX).sum() == 512 == notebook["batch"].targets.numel() / 2
    assert notebook.shown("loss of the first step 2.5, of the last 0.0")
    assert round(math.log(10), 1) == 2.3
    for seed in SEEDS:
        torch.manual_seed(seed)
        scores, batch = notebook["fresh_model"](TASKS["pointer"])(notebook["held_out"].ids), notebook["held_out"]
        assert 2.3 < F.cross_entropy(scores.flatten(0, 1), batch.targets.flatten()) < 2.7


def test_the_mean_over_those_that_ask_is_what_ignore_index_does(notebook):
    torch.manual_seed(0)
    batch = TASKS["pointer"].draw(64)
    asked = batch.targets != IGNORE_INDEX
    scores = torch.randn(64, 16, 10)
    ours = F.cross_entropy(scores[asked], batch.targets[asked])
    torch.testing.assert_close(ours, F.cross_entropy(scores.flatten(0, 1), batch.targets.flatten()))


def test_watch_is_called_before_each_step(notebook):
    torch.manual_seed(0)
    calls, model, task = [], notebook["fresh_model"](TASKS["pointer"]), TASKS["pointer"]
    before = model[1].weight.detach().clone()
    losses = notebook["train"](
        model, lambda: task.draw(2), 3, watch=lambda: calls.append(model[1].weight.detach().clone())
    )
    assert len(calls) == len(losses) == 3 and torch.equal(calls[0], before)
    assert not torch.equal(calls[0], calls[1]) and not torch.equal(calls[1], calls[2])


def test_the_five_lines_that_large_models_add_are_run_as_they_stand(notebook):
    """Each draws the loss of the arrows down, a rate that rises for 15 steps and falls to 0 among them."""
    cells = nbformat.read(ROOT / "notebooks" / "08_training.ipynb", as_version=4).cells
    (block,) = (x for c in cells if "AdamW" in c.source for x in re.findall(r"```python\n(.*?)```", c.source, re.S))
    *before, clip, after = block.strip().splitlines()
    torch.manual_seed(0)
    model, task, steps, rates = notebook["fresh_model"](TASKS["pointer"]), TASKS["pointer"], 150, []
    names = {"torch": torch, "nn": torch.nn, "model": model, "steps": steps}
    exec("\n".join(before), names)
    optimiser = names["optimiser"]
    for _ in range(steps):
        batch = task.draw(64)
        rates.append(optimiser.param_groups[0]["lr"])
        F.cross_entropy(model(batch.ids).flatten(0, 1), batch.targets.flatten()).backward()
        exec(clip, names)
        assert torch.nn.utils.get_total_norm([x.grad for x in model.parameters()]) < 1.001
        optimiser.step()
        optimiser.zero_grad()
        exec(after, names)
    assert rates[:14] == sorted(rates[:14]) and rates[14:] == sorted(rates[14:], reverse=True)
    assert 0.85 * 0.003 < max(rates) <= 0.003 and optimiser.param_groups[0]["lr"] == 0
    batch = notebook["held_out"]
    assert notebook["percent_right"](model(batch.ids), batch) > 95


def test_decay_makes_a_parameter_smaller_that_no_gradient_moves():
    x = torch.nn.Parameter(torch.ones(1))
    optimiser = torch.optim.AdamW([x], lr=0.003, weight_decay=0.01)
    x.grad = torch.zeros(1)
    optimiser.step()
    assert 1 - x.item() == pytest.approx(0.003 * 0.01)


BERT = {"rate": 0.0001, "decay": 0.01, "warm-up": 10_000}  # of 1,000,000 steps: Devlin et al. 2018, appendix A.2


# Learned by heart


@pytest.mark.parametrize("seed", SEEDS)
def test_eight_rows_are_learned_by_heart_and_64_teach_the_rule(notebook, seed):
    new, share = notebook["held_out"], notebook["percent_right"]
    for n in (8, 64):
        torch.manual_seed(seed)
        few, model = TASKS["pointer"].draw(n), notebook["fresh_model"](TASKS["pointer"])
        notebook["train"](model, lambda few=few: few, 150)
        assert share(model(few.ids), few) > 97, n  # of 64 answers, one may be missing
        right = share(model(new.ids), new)
        assert 8 < right < 25 if n == 8 else right > 95, (n, right)


def test_the_table_of_the_two(notebook):
    by_heart, new = numbers(notebook, "8 rows: % right")
    assert by_heart == 100 and new == pytest.approx(17, abs=3)
    assert numbers(notebook, "64 rows: % right") == [100, 100]
    assert notebook.prediction("few").result is not None


# Where it looks


def test_each_arrow_of_the_picture_looks_at_its_source(notebook):
    weights, source = notebook["weights"][0, 0], notebook["held_out"].source[0]
    assert torch.equal(weights[8:].argmax(dim=-1), source[8:]) and weights[8:].amax(dim=-1).min() > 0.9
    assert weights[:8].amax(dim=-1).min() < 0.5  # the letters look anywhere


def test_what_one_should_have_found_in_the_explorer(notebook):
    recording = notebook["recording"]
    right, weight = recording.accuracies, recording.weights[:, 0, 0]
    (step, *_) = (i for i, share in enumerate(right.tolist()) if share >= 0.9)
    assert step == pytest.approx(45, abs=5) and 0.8 < weight[step] < 0.9
    for x in (right, weight):
        assert 0.3 < x[30] < 0.5 and x[60] > 0.95
    assert recording.steps == list(range(150)) and len(recording.sequences) == 6 and len(recording.sample.ids) == 100
    arrows = [[int(token[1:]) for token in tokens[8:]] for tokens in recording.sequences]
    for sequence in range(6):
        assert recording.maps[-1, 0, 0, sequence, 8:].argmax(dim=-1).tolist() == arrows[sequence]


# Forbid the look


def test_a_place_drawn_at_random_is_never_the_source_and_letters_stay_free(notebook):
    source = torch.arange(16).repeat(500, 1)
    drawn = notebook["elsewhere"](source)
    assert (drawn != source).all() and drawn.min() == 0 and drawn.max() == 15
    assert all((drawn[:, place] == other).any() for place in range(16) for other in range(16) if other != place)
    source = notebook["held_out"].source
    drawn = notebook["control"]
    assert torch.equal(drawn < 0, source < 0) and (drawn[:, :8] == IGNORE_INDEX).all()
    assert (drawn != source)[:, 8:].all() and drawn.max() == 15


def test_without_the_source_it_guesses_and_without_another_place_it_loses_nothing(notebook):
    without, control = numbers(notebook, "% right without it")
    assert without == 11 and control == 100
    assert notebook.prediction("without_source").result is not None


def left(notebook, model, batch, place):
    """Right answers in per cent when no token may look at its place. place (B, T)"""
    return notebook["right_with"](model, batch, notebook["without"](place))


def three_ways(notebook, model, batch):
    """Right answers as trained, without a place drawn at random, without the source."""
    at_random, without = (left(notebook, model, batch, x) for x in (notebook["elsewhere"](batch.source), batch.source))
    return notebook["percent_right"](model(batch.ids), batch), at_random, without


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_source_each_of_eight_seeds_guesses_and_without_another_place_loses_nothing(notebook, seed):
    task = TASKS["pointer"]
    model = learned(notebook, task, seed)
    batch = task.draw(500)
    trained, at_random, nothing = three_ways(notebook, model, batch)
    assert trained > 99 and at_random > 99 and 7 < nothing < 13
    assert weight_on(batch.source, looks(model, batch)[0]) > 0.9


def test_a_mask_forbids_one_place_and_the_letters_nothing(notebook):
    may_look = notebook["without"](notebook["held_out"].source)[:, 0]
    assert may_look[:, :8].all() and ((~may_look[:, 8:]).sum(dim=-1) == 1).all()


# The place with most weight


def test_partners_are_found_and_no_head_looks_at_them_alone(notebook):
    assert notebook.shown("100 % of the partners are found")
    heads = torch.cat(looks(notebook["matcher"], notebook["pairs"]), dim=1)
    assert weight_on(notebook["pairs"].source, heads).max() < 0.2 and round(100 / 16) == 6


def test_the_heaviest_place_is_the_largest_of_the_mean_map_when_the_partner_is_blotted_out(notebook):
    at_random, heaviest, partner = notebook["places"]
    source, mean_map = notebook["pairs"].source, notebook["mean_map"]
    assert (at_random != source).all() and (heaviest != source).all() and torch.equal(partner, source)
    others = mean_map.scatter(-1, source[..., None], 0)
    assert torch.equal(mean_map.gather(-1, heaviest[..., None])[..., 0], others.amax(dim=-1))


def test_at_random_6_percent_of_the_weight_the_heaviest_16_and_the_partner_9(notebook):
    assert notebook["gets"].tolist() == pytest.approx([6, 16, 9], abs=0.5)
    at_random, heaviest, partner = notebook["most"].tolist()
    assert at_random < partner < 0.5 * heaviest  # in one head, too


def test_without_random_heaviest_and_partner_93_68_and_55_are_left_so_25_and_38_hang_on_the_two(notebook):
    at_random, heaviest, partner = notebook["left"]
    assert notebook["left"] == pytest.approx([93, 68, 55], abs=1)
    assert at_random - heaviest == pytest.approx(25, abs=1.5) and at_random - partner == pytest.approx(38, abs=1.5)
    assert notebook.prediction("forbidden").result is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_with_each_of_eight_seeds_more_hangs_on_the_partner_than_on_the_place_with_most_weight(notebook, seed):
    pairs = notebook["pairs"]
    model = learned(notebook, TASKS["brackets"], seed, steps=250, n_layers=2, n_heads=4)
    heads = looks(model, pairs)
    on_partner = torch.stack([weight_on(pairs.source, weights) for weights in heads])
    assert on_partner.max() < 0.4 and on_partner.mean() < 0.15
    mean = torch.cat(heads, dim=1).mean(dim=1)
    place = mean.masked_fill(torch.arange(16) == pairs.source[..., None], 0).argmax(dim=-1)
    assert weight_on(place, mean[:, None]) > weight_on(pairs.source, mean[:, None])
    trained, at_random, without_partner = three_ways(notebook, model, pairs)
    without_most = left(notebook, model, pairs, place)
    assert trained > 98
    assert 25 < at_random - without_partner < 60 and 10 < at_random - without_most < 35
    assert without_partner < without_most - 5 and 35 < without_partner < 65


def test_training_meets_practically_all_of_the_rows(notebook):
    torch.manual_seed(0)
    places = 2 ** torch.arange(16)
    met = torch.cat([notebook["brackets"].draw(64).ids @ places for _ in range(250)]).unique()
    assert len(met) > 0.99 * 1430


def test_there_are_1430_rows_and_a_fifth_that_was_withheld_is_answered_as_well(notebook):
    task = TASKS["brackets"]
    assert math.comb(16, 8) // 9 == 1430

    def withheld(ids):
        return (ids * 2 ** torch.arange(16)).sum(dim=1) % 5 == 0

    def draw():
        batch = task.draw(80)
        keep = ~withheld(batch.ids)
        return Sample(*(x[keep] for x in batch))

    torch.manual_seed(0)
    model = notebook["fresh_model"](task, n_layers=2, n_heads=4)
    notebook["train"](model, draw, 250)
    batch = task.draw(2000)
    new = withheld(batch.ids)
    assert 0.15 < new.double().mean() < 0.25
    batch = Sample(*(x[new] for x in batch))
    assert notebook["percent_right"](model(batch.ids), batch) > 99


# A text holds its own answers

LENGTH, SMALL, STEPS = 32, 32, (100, 200, 300)  # of the pieces and the vectors of a smaller reader; when it is asked


@pytest.fixture(scope="module")
def small(notebook):
    """A function that trains a smaller reader, with positions of a kind and a seed, and how it did on the way."""
    torch.manual_seed(2)
    gaps = notebook["pieces"](notebook["unseen"], 512, 0.15, LENGTH)

    @cache
    def learn(positional, seed, steps):
        torch.manual_seed(seed)
        encoder = TransformerEncoder(28, 2, SMALL, 4, 4 * SMALL, norm_first=True, positional=positional, max_len=LENGTH)
        reader, calls, named = torch.nn.Sequential(encoder, torch.nn.Linear(SMALL, 27)).float(), itertools.count(), {}

        @torch.no_grad()
        def watch():
            if (step := next(calls)) in STEPS:
                named[step] = reader(gaps.ids).argmax(dim=-1)

        notebook["train"](reader, lambda: notebook["pieces"](notebook["text"], 32, 0.3, LENGTH), steps + 1, watch)
        return reader, gaps, named

    return learn


def right(guesses, gaps, kind=None):
    """Per cent of the gaps that are filled rightly, or of those of a kind of letter."""
    asked = gaps.ids == letters.GAP
    if kind is not None:
        asked &= torch.isin(gaps.targets, letters.to_ids(kind))
    return 100 * (guesses == gaps.targets)[asked].double().mean().item()


def trained(notebook, small, seed):
    """The notebook's reader, or a smaller one of that seed, and the gaps that it is asked about."""
    return (notebook["filler"], notebook["gaps"]) if seed == HERE else small("rotary", seed, 300)[:2]


HERE = "the notebook's"
KINDS = " ", "aeiou", "bcdfghjklmnpqrstvwxyz"


def asymmetry(reader, ids):
    """How much more weight each head gives to the three letters on its left than to those on its right. -> (8,)"""
    mean = torch.cat(looks(reader, types.SimpleNamespace(ids=ids)), dim=1).mean(dim=0)  # (H, T, T)
    left, right = (sum(mean.diagonal(side * d, dim1=1, dim2=2).mean(dim=1) for d in (1, 2, 3)) for side in (-1, 1))
    return left - right


def within(reader, gaps, may_look):
    """Per cent of the gaps that are filled rightly when only some looks are allowed, by their distance."""
    place = torch.arange(gaps.ids.shape[1])
    with torch.no_grad():
        return right(reader[1](reader[0](gaps.ids, may_look(place - place[:, None]))).argmax(dim=-1), gaps)


def nearest_to_vowels(reader):
    """The four nearest letters of each vowel, by their rows in the last layer. -> 20 letters"""
    rows = F.normalize(reader[1].weight[1:].detach(), dim=-1)
    vowels = letters.to_ids("aeiou") - 1
    return letters.to_text((rows @ rows.T).fill_diagonal_(-1)[vowels].topk(4).indices.flatten() + 1)


def test_a_hidden_letter_asks_and_all_others_have_the_target_minus_100(notebook):
    torch.manual_seed(0)
    ids = torch.randint(27, (100, 64))
    given, targets, _ = notebook["hide"](ids, 0.3)
    hidden = given == letters.GAP
    assert 0.27 < hidden.double().mean() < 0.33 and torch.equal(given[~hidden], ids[~hidden])
    assert torch.equal(targets[hidden], ids[hidden]) and (targets[~hidden] == IGNORE_INDEX).all()
    assert len(notebook["text"]) + len(notebook["unseen"]) > 200_000 and len(letters.LETTERS) == 27


def test_what_counting_fills_in(notebook):
    none, left, one, two, three = notebook["counting"].values()
    assert 100 / 7 < none < 20
    assert 20 < left < 32 and left + 10 < one < two - 10 and two < three < two + 10
    assert one - left > left - none  # the other side tells more
    between = re.findall("func(.)ion", letters.to_text(notebook["text"]))
    assert len(between) > 100 and set(between) == {"t"}


def test_spaces_come_first_then_vowels_then_consonants(notebook):
    spaces, vowels, consonants = notebook["by_kind"].values()
    assert list(notebook["guesses_after"]) == list(range(0, 601, 50))
    assert spaces[2] > 70 and vowels[2] == pytest.approx(33, abs=10) and consonants[2] == pytest.approx(21, abs=9)
    assert (spaces > vowels)[1:].all() and (vowels > consonants)[2:].all()
    for name in ("tables", "positions_on_text", "one_side"):
        assert notebook.prediction(name).result is not None


def test_among_vowels_it_knows_the_e_soon(notebook):
    named, answers = notebook["guesses_after"][50], notebook["answers"]
    e, others = (torch.isin(answers, letters.to_ids(kind)) for kind in ("e", "aiou"))
    assert (named == answers)[e].double().mean() > (named == answers)[others].double().mean() + 0.2
    assert len(KINDS[2]) == 21


def test_it_passes_one_neighbour_on_each_side_and_the_wide_tables_stay_ahead(notebook):
    share = notebook["hits"].mean(dim=1).tolist()
    none, before, one, two, three = notebook["counting"].values()
    assert none < before < one and share[3] < one + 2 and share[5] > one and one + 8 < share[-1] < two < three
    assert share[-1] > max(share[6:9])  # it still rises
    assert notebook["tables"] == {name: [percent] * len(share) for name, percent in notebook["counting"].items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_smaller_readers_fill_spaces_first_then_vowels_then_consonants(small, seed):
    _, gaps, named = small("rotary", seed, 300)
    for guesses in named.values():
        spaces, vowels, consonants = (right(guesses, gaps, kind) for kind in KINDS)
        assert spaces > 60 and spaces > vowels + 20 and vowels > consonants


def test_after_100_steps_more_than_a_third_with_rotary_positions_and_one_in_five_with_a_table(notebook):
    rotary, table = notebook["reached"].values()
    assert 30 < rotary < 43 and 14 < table < 21 and notebook["steps"] == 100


@pytest.mark.parametrize("seed", SEEDS)
def test_a_smaller_reader_with_a_table_needs_more_than_twice_as_many_steps(small, seed):
    (_, gaps, table), (*_, rotary) = small("learned", seed, 200), small("rotary", seed, 300)
    assert right(table[200], gaps) < right(rotary[100], gaps) - 1


@pytest.mark.parametrize("seed", (HERE, *SEEDS))
def test_a_head_looks_before_and_another_after(notebook, small, seed):
    reader, gaps = trained(notebook, small, seed)
    heads = asymmetry(reader, gaps.ids[:64])
    assert heads.max() > 0.2 and heads.min() < -0.1


@pytest.mark.parametrize("seed", (HERE, *SEEDS))
def test_with_one_side_somewhat_more_than_half_is_left_and_with_two_letters_on_each_nine_in_ten(notebook, small, seed):
    reader, gaps = trained(notebook, small, seed)
    anywhere = within(reader, gaps, lambda d: d < LENGTH * 2)
    for one_side in (lambda d: d <= 0, lambda d: d >= 0):
        assert 0.45 < within(reader, gaps, one_side) / anywhere < 0.8
    assert within(reader, gaps, lambda d: d.abs() <= 2) / anywhere > 0.85


@pytest.mark.parametrize("seed", (HERE, *SEEDS))
def test_a_half_of_all_looks_drawn_at_random_costs_as_much_as_a_side(notebook, small, seed):
    reader, gaps = trained(notebook, small, seed)
    torch.manual_seed(0 if seed == HERE else seed)
    half = torch.rand(2 * [gaps.ids.shape[1]]) < 0.5
    sides = [within(reader, gaps, side) for side in (lambda d: d <= 0, lambda d: d >= 0)]
    assert min(sides) - 10 < within(reader, gaps, lambda d: half | (d == 0)) < max(sides) + 5


def test_far_looks_add_little(notebook):
    anywhere, before, after, half, one, two, five, twelve = notebook["kept"].values()
    assert half <= max(before, after)
    near = torch.stack(notebook["at"])[:, :4].sum(dim=0)  # of the heads of layer 1, within three letters
    assert (near < 0.5).sum() >= 2
    assert one < two < five < twelve and 0.87 < two / anywhere < 0.93 and abs(anywhere - twelve) < 1.5
    assert max(before, after) < one + 5


def test_through_two_layers_of_at_most_two_away_news_comes_from_four_away_and_no_farther(notebook):
    (encoder, answer), ids = notebook["filler"], notebook["gaps"].ids[:1]
    with torch.no_grad():
        other = ids.clone()
        other[0, 30] = (ids[0, 30] + 1) % 27
        near = notebook["distance"].abs() <= 2
        moved = (answer(encoder(ids, near)) - answer(encoder(other, near))).abs().amax(dim=-1)[0]
    assert moved[26] > 0 and moved[34] > 0 and moved[:26].max() == moved[35:].max() == 0


@pytest.mark.parametrize("seed", (HERE, *SEEDS))
def test_most_that_is_nearest_to_vowels_are_vowels(notebook, small, seed):
    """By chance it would be 3 of 20."""
    reader, _ = trained(notebook, small, seed)
    nearest = nearest_to_vowels(reader)
    assert sum(letter in KINDS[1] for letter in nearest) >= 14 and ("y" in nearest or seed != HERE)


BERT = {"tokens a step": 128_000, "chips": 16}  # its paper, appendix A.2; it has 3.3 billion words


def test_your_model_has_met_some_1_2_million_letters_and_bert_up_to_512_tokens_of_256_texts_a_step():
    assert round(600 * 32 * 64 / 10**6, 1) == 1.2
    assert BERT["tokens a step"] == pytest.approx(256 * 512, rel=0.05)


# Which sentence


def cards_right_after(notebook, steps, seed, **changes):
    """What the notebook's `cards_right` gives for each of these numbers of steps, in one training. -> per cents"""
    torch.manual_seed(seed)
    parts = {"positions": "learned", "attention": True, "feed_forward": True, "residual": True}
    model, right, step = ladder.CardModel(**(parts | changes)).float(), [], itertools.count()

    def ask():
        with torch.random.fork_rng(devices=[]):  # the training goes on as if nobody had asked
            fresh = Sample(*ladder.deal(2000), source=None)
            right.append(notebook["percent_right"](model(fresh.ids), fresh).item())

    def watch():
        if next(step) in steps:
            ask()

    notebook["train"](model, lambda: Sample(*ladder.deal(64), source=None), max(steps), watch=watch)
    ask()
    return right


def test_asked_on_the_way_a_training_gives_what_shorter_ones_give(notebook):
    shorter = [notebook["cards_right"](0, steps=steps) for steps in (20, 40)]
    assert cards_right_after(notebook, (20, 40), 0) == shorter


TABLE = {  # settings, % right after 200 steps and after 400, from three seeds each
    "the whole model": ({}, (85, 97, 96), (100, 100, 100)),
    "with norms": ({"norm": True}, (51, 55, 52), (99, 99, 100)),
    "no residual": ({"residual": False}, (50, 51, 50), (50, 50, 51)),
    "two heads in place of one": ({"n_heads": 2}, (78, 99, 74), (100, 100, 100)),
    "two layers in place of one": ({"n_layers": 2}, (99, 99, 100), (100, 100, 100)),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_seeds_and_steps(notebook, name):
    settings, *percents = TABLE[name]
    for seed, *expected in zip(range(3), *percents, strict=True):
        assert cards_right_after(notebook, (200, 400), seed, **settings) == pytest.approx(expected, abs=2), seed


@pytest.mark.parametrize("seed", SEEDS)
def test_without_residual_connections_eight_seeds_stay_at_half_for_600_steps_of_64_rows(notebook, seed):
    right = cards_right_after(notebook, (200, 400, 600), seed, residual=False)
    assert right == pytest.approx([50, 50, 50], abs=3)


def test_of_eight_seeds_one_layer_and_two_overlap_after_150_steps(notebook):
    one, two = notebook["one_layer"], notebook["two_layers"]
    assert len(one) == len(two) == 8 and max(one) > min(two) + 5  # they overlap
    assert 12 < (sum(two) - sum(one)) / 8 < 28
    assert sum(right > max(one) for right in two) >= 5 and sum(right < max(one) for right in two) in (1, 2)
    assert notebook.prediction("more_seeds").result is not None


def test_the_table_stands_in_the_notebook_and_allows_two_of_five_sentences():
    cells = nbformat.read(ROOT / "notebooks" / "08_training.ipynb", as_version=4).cells
    prose = "\n".join(cell.source for cell in cells)
    for name, (_, after_200, after_400) in TABLE.items():
        first, second = (", ".join(map(str, percents)) for percents in (after_200, after_400))
        assert f"| {name} | {first} | {second} |" in prose
    whole, norms, residual, heads, layers = (after for _, after, _ in TABLE.values())
    late = [after for _, _, after in TABLE.values()]
    assert max(norms) < min(whole) and min(late[1]) >= 99  # behind, then caught up
    assert max(residual + late[2]) <= 51  # stays at half
    assert [two > one for two, one in zip(heads, whole, strict=True)] == [False, True, False]
    assert min(layers) > max(whole)
    assert "three of three models had about half after 200 steps, and after 400" in prose


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_without_residual_connections_every_letter_is_found_and_its_case_is_a_toss(notebook, seed):
    torch.manual_seed(seed)
    parts = {"positions": "learned", "attention": True, "feed_forward": True, "residual": True}
    model = ladder.CardModel(**(parts | {"residual": False})).float()
    notebook["train"](model, lambda: Sample(*ladder.deal(64), source=None), 200)
    cards, answers = ladder.deal(2000)
    named = model(cards).argmax(dim=-1)
    letter, case = named // 2 == answers // 2, named % 2 == answers % 2
    assert letter.double().mean() > 0.99 and abs(case.double().mean() - 0.5) < 0.02


# The exercises


def test_in_the_long_run_it_is_15_80_10_and_10_percent():
    torch.manual_seed(0)
    chosen, fate = torch.rand(10**6) < 0.15, torch.rand(10**6)
    shares = [chosen.double().mean()]
    shares += [x[chosen].double().mean() for x in (fate < 0.8, (fate >= 0.8) & (fate < 0.9), fate >= 0.9)]
    assert [round(x.item(), 2) for x in shares] == [0.15, 0.8, 0.1, 0.1]


def answer_of_the_second_exercise():
    """`forbid` as the notebook answers it."""
    cells = nbformat.read(ROOT / "notebooks" / "08_training.ipynb", as_version=4).cells
    (block,) = (x for c in cells for x in re.findall(r"```python\n(def forbid.*?)```", c.source, re.S))
    names = {"torch": torch}
    exec(block, names)
    return names["forbid"]


@pytest.mark.parametrize("seed", (HERE, *SEEDS))
def test_spaces_cost_more_than_as_many_other_tokens_and_the_e_hardly_more(notebook, small, seed):
    model, gaps = trained(notebook, small, seed)
    forbid, ask = answer_of_the_second_exercise(), notebook["right_with"]
    torch.manual_seed(0)
    anywhere = notebook["percent_right"](model(gaps.ids), gaps).item()
    (spaces, control), (e, beside_e) = (
        [ask(model, gaps, mask) for mask in forbid(gaps.ids, token)] for token in (0, 5)
    )
    assert ((gaps.ids == 0).double().mean(dim=1) < 0.5).all()
    assert 0.17 < 1 - spaces / anywhere < 0.34 and 0.07 < 1 - control / anywhere < 0.2
    assert control - spaces > 1.5 and beside_e - e < 1.5
