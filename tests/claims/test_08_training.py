"""What 08_training says, tested: each number, and each "so"."""

import math

import pytest
import torch
import torch.nn.functional as F

from encoder_lib import trace
from encoder_lib.lab import ladder
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, Sample, weight_on

SEEDS = (0, 1, 2)


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


def test_from_a_guess_to_no_doubt_and_right_on_held_out_rows(notebook):
    assert notebook.shown("loss of the first step 2.5, of the last 0.0")
    assert notebook.shown("100 % of the held-out answers are right")


def test_watch_is_called_before_each_step(notebook):
    torch.manual_seed(0)
    calls, model, task = [], notebook["fresh_model"](TASKS["pointer"]), TASKS["pointer"]
    before = model[1].weight.detach().clone()
    losses = notebook["train"](
        model, lambda: task.draw(2), 3, watch=lambda: calls.append(model[1].weight.detach().clone())
    )
    assert len(calls) == len(losses) == 3 and torch.equal(calls[0], before)
    assert not torch.equal(calls[0], calls[1]) and not torch.equal(calls[1], calls[2])


# Learned by heart


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_eight_and_sixteen_rows_are_learned_by_heart_and_32_and_64_teach_the_rule(notebook, seed):
    new, share = notebook["held_out"], notebook["share_right"]
    for n in (8, 16, 32, 64):
        torch.manual_seed(seed)
        few, model = TASKS["pointer"].draw(n), notebook["fresh_model"](TASKS["pointer"])
        notebook["train"](model, lambda few=few: few, 150)
        assert share(model(few.ids), few) == 100, n
        right = share(model(new.ids), new)
        assert {8: 10 < right < 20, 16: 15 < right < 35}.get(n, right > 95), (n, right)


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
    assert 42 <= step <= 50 and 0.8 < weight[step] < 0.9
    for x in (right, weight):
        assert 0.3 < x[30] < 0.5 and x[60] > 0.95
    assert recording.steps == list(range(150)) and len(recording.sequences) == 6 and len(recording.sample.ids) == 100
    arrows = [[int(token[1:]) for token in tokens[8:]] for tokens in recording.sequences]
    for sequence in range(6):
        assert recording.maps[-1, 0, 0, sequence, 8:].argmax(dim=-1).tolist() == arrows[sequence]


# Forbid the look


def test_a_place_drawn_at_random_is_never_the_source(notebook):
    source = torch.arange(16).repeat(500, 1)
    elsewhere = (source + torch.randint(1, 16, source.shape)) % 16
    assert (elsewhere != source).all() and elsewhere.min() == 0 and elsewhere.max() == 15


def test_without_the_source_arrows_guess_among_ten(notebook):
    new = notebook["held_out"]
    assert 7 < notebook["right_without"](notebook["model"], new, new.source) < 13


def test_without_the_source_arrows_and_backwards_guess_and_without_another_place_lose_nothing(notebook):
    assert numbers(notebook, "arrows, % right")[:2] == [100, 100] == numbers(notebook, "backwards")[:2]
    assert 7 < numbers(notebook, "arrows, % right")[2] < 13 and 7 < numbers(notebook, "backwards")[2] < 13


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS[1:])
@pytest.mark.parametrize("name", ["pointer", "reverse"])
def test_so_with_three_seeds(notebook, name, seed):
    task = TASKS[name]
    model = learned(notebook, task, seed)
    batch = task.draw(500)
    trained, at_random, nothing = notebook["three_ways"](model, batch)
    assert trained > 99.5 and at_random > 99.5 and 7 < nothing < 13
    assert weight_on(batch.source, looks(model, batch)[0]) > 0.95


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


def test_forbidding_the_partner_costs_more_than_forbidding_the_place_with_most_weight(notebook):
    trained, at_random, most, partner = numbers(notebook, "% right")
    lost = [trained - partner, trained - most, trained - at_random]
    assert lost == [pytest.approx(45, abs=1.5), pytest.approx(34, abs=1.5), pytest.approx(7, abs=1.5)]
    assert notebook.prediction("forbidden").result is not None


def test_that_place_gets_16_percent_the_partner_9_and_in_most_rows_it_is_more(notebook):
    looks, pairs = notebook["looks"], notebook["pairs"]
    most = looks.gather(-1, notebook["most_weight"][..., None])
    partner = looks.gather(-1, pairs.source[..., None])
    assert round(100 * most.mean().item()) == 16 and round(100 * partner.mean().item()) == 9
    assert (most > partner).double().mean() > 0.6
    assert (notebook["most_weight"] != pairs.source).all()


@pytest.mark.long
@pytest.mark.parametrize(("seed", "partner", "most"), [(1, 54, 23), (2, 41, 28)])
def test_so_with_two_other_seeds(notebook, seed, partner, most):
    pairs = notebook["pairs"]
    model = learned(notebook, TASKS["brackets"], seed, steps=250, n_layers=2, n_heads=4)
    heads = looks(model, pairs)
    on_partner = torch.stack([weight_on(pairs.source, weights) for weights in heads])
    assert on_partner.max() < 0.4 and on_partner.mean() < 0.15
    mean = torch.cat(heads, dim=1).mean(dim=1)
    place = mean.masked_fill(torch.arange(16) == pairs.source[..., None], 0).argmax(dim=-1)
    more = mean.gather(-1, place[..., None]) > mean.gather(-1, pairs.source[..., None])
    assert more.double().mean() > 0.6
    trained, at_random, nothing = notebook["three_ways"](model, pairs)
    without_most = notebook["right_without"](model, pairs, place)
    assert trained > 99 and trained - at_random < 8
    assert (trained - nothing).item() == pytest.approx(partner, abs=3)
    assert (trained - without_most).item() == pytest.approx(most, abs=3)


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
    assert notebook["share_right"](model(batch.ids), batch) > 99


def test_training_meets_most_rows():
    torch.manual_seed(0)
    assert len(TASKS["brackets"].draw(250 * 64).ids.unique(dim=0)) > 1400


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


@pytest.mark.long
def test_a_third_seed_says_the_same(notebook):
    right = notebook["cards_right"]
    assert right(2) > 90
    assert abs(right(2, residual=False) - 50) < 2 and abs(right(2, feed_forward=False) - 50) < 2
    assert abs(right(2, positions="none") - 23) < 2 and abs(right(2, attention=False) - 12.5) < 1


def test_without_attention_or_positions_no_more_than_what_a_card_or_a_bag_allows(notebook):
    attention, positions = max(notebook["no_attention"]), max(notebook["no_positions"])
    assert attention < 100 * ladder.ITS_OWN + 1 and positions < 100 * ladder.most_possible_for_a_bag()


def test_with_norms_half_after_200_steps_and_nearly_all_after_400(notebook):
    assert numbers(notebook, "with norms, % right") == [pytest.approx(51, abs=1), pytest.approx(99, abs=1)]
    assert notebook.prediction("more_steps").result is not None


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS[1:])
def test_norms_are_late_with_two_other_seeds(notebook, seed):
    right = notebook["cards_right"]
    assert right(seed, norm=True) < 60 and right(seed, steps=400, norm=True) > 97


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_residual_connection_600_steps_are_not_enough(notebook, seed):
    assert abs(notebook["cards_right"](seed, steps=600, residual=False) - 50) < 3


# Keep what was learned


def test_the_twin_gives_the_same_numbers(notebook):
    assert notebook.shown("largest difference 0.0000000000") and notebook.shown("{'task': 'arrows'}")
    for mine, its in zip(notebook["model"].parameters(), notebook["twin"].parameters(), strict=True):
        assert torch.equal(mine, its)


# Going deeper


def test_never_looking_at_the_partner_is_learned_faster(notebook):
    assert notebook.shown("never looked at the partner, 100 steps: 100 % right")
    watcher = notebook["watcher"]
    assert watcher.accuracies[watcher.steps.index(100)] == pytest.approx(0.9, abs=0.02)


def test_with_anothers_mask_it_names_anothers_partner(notebook):
    own, theirs = numbers(notebook, "% of answers")
    assert own < 20 and theirs > 70


def test_weights_on_the_partner_form_in_70_steps_and_answers_go_on_improving(notebook):
    watcher = notebook["watcher"]
    right, weights = watcher.accuracies, watcher.weights.flatten(1)  # (N,), (N, heads)
    at = watcher.steps.index(70)
    assert weights.max() < 0.18 and 0.7 < right[at] < 0.8 and right[-1] > 0.99
    assert (weights[at:] - weights[at]).abs().max() < 0.06 and (weights[-1] - weights[at]).mean().abs() < 0.02


def test_of_the_tokens_of_alice_about_15_percent_are_chosen(notebook):
    chosen, masked, replaced = notebook["chosen"], notebook["masked"], notebook["replaced"]
    assert notebook.shown("254 tokens, 31 chosen: 27 masked, 4 replaced") and notebook.shown("was skimmed to get very")
    assert not (masked & replaced).any() and ((masked | replaced) <= chosen).all()
    given, ids, targets = notebook["given"], notebook["ids"], notebook["targets"]
    assert torch.equal(given[~masked & ~replaced], ids[~masked & ~replaced])
    assert (targets[~chosen] == IGNORE_INDEX).all() and torch.equal(targets[chosen], ids[chosen])


def test_in_the_long_run_the_shares_are_15_80_10_and_10_percent():
    torch.manual_seed(0)
    chosen, fate = torch.rand(10**6) < 0.15, torch.rand(10**6)
    shares = [chosen.double().mean()]
    shares += [x[chosen].double().mean() for x in (fate < 0.8, (fate >= 0.8) & (fate < 0.9), fate >= 0.9)]
    assert [round(x.item(), 2) for x in shares] == [0.15, 0.8, 0.1, 0.1]
