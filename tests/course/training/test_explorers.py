"""The explorers of a training show what was recorded, and describe what was measured beside it."""

import copy

import pytest
import torch
from explorers import filler, trained_filler

from encoder_lib.course import explore
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.training import letters
from encoder_lib.course.training.card import SPACE
from encoder_lib.course.training.recording import Recording
from encoder_lib.training.tasks import Sample

TEXT = "the f_nction ret_rns"


def test_explorer_shows_the_maps_of_each_layer_and_describes_each_step():
    _, _, recording = trained_filler(TEXT)
    explorer = explore.training_maps(recording)
    assert explorer.values == {"step": 6}
    assert [panel.title for panel in explorer._view.panels] == ["Layer 1", "Layer 2"]
    for frame, step in enumerate(recording.steps):
        explorer.step = step
        for layer, panel in enumerate(explorer._view.panels):
            assert panel.x_ticks == list(TEXT.replace(" ", SPACE))
            assert panel.y_ticks == ["gap →" if letter == "_" else letter for letter in panel.x_ticks]
            assert panel.limits == (0, pytest.approx(recording.maps.max().item(), abs=0.05))  # one scale for all
            shown = torch.tensor(panel.frame(frame)).double()
            torch.testing.assert_close(shown, recording.maps[frame, layer], atol=1e-6, rtol=0)
        first, second = map(percent, recording.nearest[frame].tolist())
        correct = percent(recording.accuracies[frame].item())
        words = explorer.description
        assert words.startswith(f"After {step} steps: “{recording.filled[frame]}”. It fills {correct} of the ")
        assert words.endswith(f" {first} of its weight in layer 1 and {second} of its weight in layer 2.")


def test_card_fills_its_text_as_the_model_did_at_each_step():
    """A typed text is filled as the model at that step would; capitals and signs are read as the model reads them."""
    model, _, recording = trained_filler(TEXT)
    explorer = explore.training_card(recording, text=TEXT)
    for step, filled, accuracy in zip(recording.steps, recording.filled, recording.accuracies.tolist(), strict=True):
        explorer.step = step
        start = f"After {step} steps: “{filled}”. It fills {percent(accuracy)} of the held-out gaps"
        assert explorer.description.startswith(start)
    explorer.text = "Th_ end!"
    assert f"“{letters.fill(model, 'Th_ end!')}”" in explorer.description
    (panel,) = explorer._view.panels
    assert panel.kinds.count("gap") == 1 and panel.kinds.count("forward") == len(recording.steps)
    explorer.text = " "
    assert explorer._view.panels[0].kinds.count("gap") == 1


def draw():
    """A batch of one text, drawn at random."""
    whole = letters.manual()[0][torch.randint(1000, (1, 1)) + torch.arange(24)]  # (1, 24)
    return Sample(whole.masked_fill(torch.rand(whole.shape) < 0.3, letters.GAP), whole, None)


def test_card_goes_on_with_a_copy_and_loses_nothing():
    """Round by round, to the same place whatever else is drawn; a new card goes on where the last one was."""
    model, _, recording = trained_filler(TEXT)
    ends = []
    for at_once in (True, False):
        again = copy.deepcopy(recording)
        explorer = explore.training_card(again, draw, text=TEXT)
        assert explorer.values == {"step": 6, "rounds": 0, "text": TEXT}
        for rounds in (2,) if at_once else (1, 2):
            torch.rand(7)  # another cell
            random = torch.get_rng_state()
            explorer.rounds = rounds
            assert torch.equal(torch.get_rng_state(), random)
        assert explorer.step == explorer._controls[0]["max"] == 10 and len(explorer._descriptions) == 6
        ends.append(explorer.description)
        assert explore.training_card(again, draw, text=TEXT).values == explorer.values
        explorer.rounds = 0
        assert explorer.step == explorer._controls[0]["max"] == 6
    assert ends[0] == ends[1] and ends[0].startswith("After 10 steps")
    assert again.steps == [0, 2, 4, 6] and torch.equal(again.model[1].weight, model[1].weight)  # the reader's own
    assert not torch.equal(again.go_on(draw).recording.model[1].weight, model[1].weight)


@pytest.mark.parametrize("show", [explore.training_maps, explore.training_card])
def test_a_recording_of_nothing_is_refused(show):
    with pytest.raises(ValueError, match="at least two steps, got 0: call it during training"):
        show(Recording(*filler(), TEXT))
