"""What 08_training says, tested: each number, and each "so"."""

import itertools
import math
import re
from functools import partial

import nbformat
import pytest
import torch
import torch.nn.functional as F
from places import ROOT

from encoder_lib import trace
from encoder_lib.course.lab import ladder
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
    assert notebook.shown("512 of 1024 tokens ask, scores (512, 10), loss 2.5")
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
    assert notebook.shown(str(drawn[0, 8:].tolist())) and notebook.shown(str(source[0, 8:].tolist()))


def three_ways(notebook, model, batch):
    """Right answers as trained, without a place drawn at random, without the source."""
    at_random = notebook["right_without"](model, batch, notebook["elsewhere"](batch.source))
    without = notebook["right_without"](model, batch, batch.source)
    return notebook["percent_right"](model(batch.ids), batch), at_random, without


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["pointer", "reverse"])
def test_without_the_source_each_of_sixteen_guesses_and_without_another_place_loses_nothing(notebook, name, seed):
    task = TASKS[name]
    model = learned(notebook, task, seed)
    batch = task.draw(500)
    trained, at_random, nothing = three_ways(notebook, model, batch)
    assert trained > 99 and at_random > 99 and 7 < nothing < 13
    assert weight_on(batch.source, looks(model, batch)[0]) > 0.9


def test_nearly_all_of_the_weight_lies_on_the_source_so_the_control_can_hardly_fail(notebook):
    assert weight_on(notebook["held_out"].source, looks(notebook["model"], notebook["held_out"])[0]) > 0.95


def test_a_mask_forbids_one_place_and_the_letters_nothing(notebook):
    place = notebook["held_out"].source
    may_look = torch.arange(16) != place[..., None]
    assert may_look[:, :8].all() and ((~may_look[:, 8:]).sum(dim=-1) == 1).all()


# Brackets


def test_partners_are_found_and_no_head_looks_at_them_much(notebook):
    assert notebook.shown("100 % of the partners are found")
    shown = notebook.table("layer 1, %").astype(float)
    assert shown.max().max() in (14, 15, 16) and 8.5 < shown.mean().mean() < 9.5
    assert notebook.prediction("brackets").result is not None
    assert round(100 / 16) == 6


def test_at_random_6_percent_of_the_weight_the_most_16_and_the_partner_9(notebook):
    assert numbers(notebook, "mean weight, %") == [6, 16, 9]


def test_a_place_is_the_largest_of_the_mean_map_when_the_partner_is_blotted_out(notebook):
    at_random, most, partner = notebook["places"]
    source, others = notebook["pairs"].source, notebook["others"]
    assert (at_random != source).all() and (most != source).all() and torch.equal(partner, source)
    assert (others.gather(-1, source[..., None]) == 0).all()
    assert torch.equal(others.gather(-1, most[..., None])[..., 0], others.amax(dim=-1))
    same = torch.arange(16) != source[..., None]
    assert torch.equal(others[same], notebook["looks"][same])


def test_without_random_most_and_partner_93_68_and_55_are_left_so_25_and_38_hang_on_the_two(notebook):
    at_random, most, partner = notebook["without_it"]
    assert [at_random, most, partner] == [pytest.approx(93, abs=1), pytest.approx(68, abs=1), pytest.approx(55, abs=1)]
    assert at_random - most == pytest.approx(25, abs=1.5) and at_random - partner == pytest.approx(38, abs=1.5)
    assert notebook.prediction("forbidden").result is not None
    assert partner > 50  # the look at the partner is not all; and it costs more than a place with more weight
    _, its_weight, partners_weight = numbers(notebook, "mean weight, %")
    assert partner < most and partners_weight < its_weight


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
    without_most = notebook["right_without"](model, pairs, place)
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


# Down the ladder


def test_the_whole_model_depends_on_the_seed(notebook):
    assert notebook["whole"] == [pytest.approx(85, abs=1), pytest.approx(97, abs=1)]


def test_each_removal_costs_more_than_a_seed_does(notebook):
    """The rows: the whole model, no residual, no feed-forward, no positions, no attention."""
    whole, residual, network, positions, attention = torch.tensor(notebook["all_five"])  # (seeds,) each
    assert whole.min() > 80 and whole.max() < 99
    for half in (residual, network):
        assert half.sub(50).abs().max() < 2
    assert positions.sub(23).abs().max() < 2 and attention.sub(12.5).abs().max() < 1
    spread = whole.max() - whole.min()
    assert whole.min() - torch.cat([residual, network, positions, attention]).max() > spread


def test_a_third_seed_says_the_same(notebook):
    right = notebook["cards_right"]  # the whole model and that without residual connections stand in the table below
    assert abs(right(2, feed_forward=False) - 50) < 2
    assert abs(right(2, positions="none") - 23) < 2 and abs(right(2, attention=False) - 12.5) < 1


def test_without_attention_or_positions_no_more_than_what_a_card_or_a_bag_allows(notebook):
    attention, positions = max(notebook["no_attention"]), max(notebook["no_positions"])
    assert attention < 100 * ladder.ITS_OWN + 1 and positions < 100 * ladder.most_possible_for_a_bag()


def test_without_positions_the_answer_is_mostly_a_letter_in_sight_which_beats_a_blind_guess(notebook):
    torch.manual_seed(0)
    parts = {"positions": "none", "attention": True, "feed_forward": True, "residual": True}
    model = ladder.CardModel(**parts).float()
    notebook["train"](model, lambda: Sample(*ladder.deal(64), source=None), 200)
    cards, answers = ladder.deal(2000)
    letters = cards // 8  # (B, T)
    asked_for = letters[:, None] ^ (letters & 1)[..., None]  # (B, T, T): the row, in the case asked for
    asked_for = asked_for.masked_fill(torch.eye(8, dtype=torch.bool), -1)  # no arrow points at its own card

    def in_sight(named):
        return (asked_for == named[..., None]).any(dim=-1).double().mean()

    assert in_sight(answers) == 1
    assert in_sight(model(cards).argmax(dim=-1)) > 0.8 > in_sight(torch.randint_like(answers, 8)) + 0.1
    a_neighbour = asked_for.roll(1, dims=2).diagonal(dim1=1, dim2=2)  # (B, T): some letter in sight
    assert (a_neighbour == answers).double().mean() > 0.2  # a blind guess is right in 12.5 %


def test_with_norms_half_after_200_steps_and_nearly_all_after_400(notebook):
    assert numbers(notebook, "with norms, % right") == [pytest.approx(51, abs=1), pytest.approx(99, abs=1)]
    assert notebook.prediction("more_steps").result is not None


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


def test_notebook_05s_seed_is_above_half_on_batches_of_128_and_at_half_on_64():
    build = partial(ladder.CardModel, positions="learned", attention=True, feed_forward=True)

    def right(rows):
        _, share = ladder.train(build, deal=lambda n: ladder.deal(rows if n == 128 else n))
        return 100 * share.item()

    assert right(64) == pytest.approx(50, abs=3) and right(128) == pytest.approx(81, abs=15)


def test_of_eight_seeds_one_layer_and_two_overlap_after_200_steps(notebook):
    one, two = notebook["one_layer"], notebook["two_layers"]
    assert len(one) == len(two) == 8 and max(one) > min(two) + 1  # they overlap
    assert min(one) < 90 and min(two) > 95  # the worst of each
    assert min(two[:3]) > max(one[:3])  # as the table with three seeds has it
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


@pytest.mark.parametrize("part", ["residual", "feed_forward"])
@pytest.mark.parametrize("seed", (0, 1))
def test_without_residual_or_network_every_letter_is_found_and_its_case_is_a_toss(notebook, part, seed):
    torch.manual_seed(seed)
    parts = {"positions": "learned", "attention": True, "feed_forward": True, "residual": True}
    model = ladder.CardModel(**(parts | {part: False})).float()
    notebook["train"](model, lambda: Sample(*ladder.deal(64), source=None), 200)
    cards, answers = ladder.deal(2000)
    named = model(cards).argmax(dim=-1)
    letter, case = named // 2 == answers // 2, named % 2 == answers % 2
    assert letter.double().mean() > 0.99 and abs(case.double().mean() - 0.5) < 0.02


# Keep what was learned


# Going deeper


def test_never_looking_at_the_partner_is_learned_faster(notebook):
    assert notebook.shown("never looked at the partner, 100 steps: 100 % right")
    pairs = notebook["pairs"]
    for seed in SEEDS:
        model = learned(notebook, TASKS["brackets"], seed, steps=100, n_layers=2, n_heads=4)
        assert notebook["percent_right"](model(pairs.ids), pairs) < 97, seed


def test_with_anothers_mask_it_names_anothers_partner(notebook):
    own, theirs = numbers(notebook, "% of answers")
    assert own < 20 and theirs > 70


def test_of_the_tokens_of_alice_some_are_masked_some_replaced_and_some_kept(notebook):
    chosen, masked, replaced, kept = (notebook[name] for name in ("chosen", "masked", "replaced", "kept"))
    assert torch.equal(masked.int() + replaced.int() + kept.int(), chosen.int())
    given, ids, targets = notebook["given"], notebook["ids"], notebook["targets"]
    assert torch.equal(given[~masked & ~replaced], ids[~masked & ~replaced])
    assert (targets[~chosen] == IGNORE_INDEX).all() and torch.equal(targets[chosen], ids[chosen])


def test_in_the_long_run_it_is_15_80_10_and_10_percent():
    torch.manual_seed(0)
    chosen, fate = torch.rand(10**6) < 0.15, torch.rand(10**6)
    shares = [chosen.double().mean()]
    shares += [x[chosen].double().mean() for x in (fate < 0.8, (fate >= 0.8) & (fate < 0.9), fate >= 0.9)]
    assert [round(x.item(), 2) for x in shares] == [0.15, 0.8, 0.1, 0.1]


def test_one_process_prints_the_losses_of_two_and_a_third_of_the_file_is_the_model(notebook, capsys):
    torch.set_default_dtype(torch.float32)  # as in a process of its own, which draws other numbers
    notebook["learn_alone"](["reverse", "--every", "20", "--steps", "60"])
    losses = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step")]
    assert len(losses) == 3 and all(notebook.shown(line) for line in losses)
    model, optimiser, steps, random = notebook["numbers"]
    tensors = sum(name.startswith("model.") for name in notebook["saved"])
    assert (optimiser, steps) == (2 * model + tensors, 1) and 0.32 < model / (model + optimiser + random) < 0.34
