"""Sites in order, a token's vectors and attention there, and models with a part ablated."""

import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course.kit.activations import ablate, follow, sites


def test_sites_are_in_the_order_of_computation():
    first = follow(minilm(), PAIR[0], "bank")
    order = list(first.outputs)
    places = [order.index(station.key) for station in first.sites[:-1]]
    assert places == sorted(places) and len(first.sites) == len(sites(6)) == 27
    assert [s.short for s in sites(1)] == [
        "table", "position", "attention", "+ norm", "feed-forward", "+ norm", "mean"
    ]  # fmt: skip
    assert len({s.name for s in first.sites}) == 27


def test_joined_vectors_are_the_residual_stream():
    """Joined plus added is what the norm is given, at every sum."""
    run = follow(minilm(), PAIR[1], "bank")
    before = None
    for site, after in zip(run.sites, run.sites[1:], strict=False):
        if site.joined:
            before = run.at(site)
        elif after.joined:
            total = run.outputs[f"{after.key}.input"][0, run.place].double()
            torch.testing.assert_close(before + run.at(site), total, atol=1e-5, rtol=0)


def test_alone_each_token_attends_only_to_itself():
    together, alone = (follow(minilm(), PAIR[0], "bank", alone=alone) for alone in (False, True))
    assert torch.equal(alone.attention(6), torch.eye(8)[3].expand(12, 8))
    assert (together.attention(6) > 0).all()
    one_word = follow(minilm(), "cat", "cat", alone=True)
    other = follow(minilm(), "a", "a", alone=True)
    cls = one_word.sites[-2].key
    torch.testing.assert_close(one_word.outputs[cls][0, 0], other.outputs[cls][0, 0])


def test_a_word_must_be_a_token():
    with pytest.raises(ValueError, match="money"):
        follow(minilm(), PAIR[0], "money")


def test_cut_a_word_takes_nothing_from_one_token():
    run = follow(minilm(), PAIR[0], "bank", cut="river")
    for layer in range(1, 7):
        weights = run.attention(layer)
        assert (weights[:, 2] == 0).all() and (weights[:, [0, 1, 3, 4, 5, 6, 7]] > 0).all()
        assert (run.outputs[f"encoder.layers.{layer - 1}.attention.weights"][0, :, 4] > 0).all(), "others still do"
    with pytest.raises(ValueError, match="money"):
        follow(minilm(), PAIR[0], "bank", cut="money")


def test_a_mask_limits_attention():
    eye = torch.eye(8, dtype=torch.bool)
    alone, masked = follow(minilm(), PAIR[0], "bank", alone=True), follow(minilm(), PAIR[0], "bank", mask=eye)
    assert all(torch.equal(alone.at(s), masked.at(s)) for s in alone.sites)


def by_hand(part, ids):
    """The encoder's last vectors, computed without a part."""
    model = minilm().encoder
    x = model.embedding.token(ids)
    row = model.embedding.position.weight.mean(dim=0)
    x = model.embedding.norm(x + row if part == "position" else model.embedding.position(x))
    for layer in model.encoder.layers:
        for f, norm in ((layer.attention, layer.norm1), (layer.feed_forward, layer.norm2)):
            added = f(x, x, x) if f is layer.attention else f(x) * (part != "feed-forward")
            total = added if part == "+" else x + added
            x = total if part == "norm" else norm(total)
    return x


@pytest.mark.parametrize("part", ["nothing", "position", "feed-forward", "+", "norm"])
@torch.no_grad()
def test_an_ablated_model_lacks_one_part(part):
    ids = minilm().ids(PAIR[0])
    whole = minilm().encoder(ids)
    torch.testing.assert_close(ablate(minilm(), part).encoder(ids), by_hand(part, ids), atol=1e-3, rtol=1e-3)
    assert torch.equal(minilm().encoder(ids), whole)


def test_an_unknown_part_cannot_be_ablated():
    with pytest.raises(ValueError, match="part: expected one of 'nothing', 'position'"):
        ablate(minilm(), "x")
