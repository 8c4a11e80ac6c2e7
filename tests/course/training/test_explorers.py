"""The explorers of a training show what was recorded, and describe what was measured beside it."""

import pytest
import torch
from explorers import filler, trained_filler

from encoder_lib.course import explore
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.training import letters
from encoder_lib.course.training.card import SPACE
from encoder_lib.course.training.recording import Recording

TEXT = "the f_nction ret_rns"


def test_explorer_shows_the_maps_of_each_layer_and_describes_each_step():
    _, _, recording = trained_filler(TEXT)
    explorer = explore.training_maps(recording)
    assert explorer.values == {"step": 6}
    assert [panel.title for panel in explorer._view.panels] == ["Layer 1", "Layer 2"]
    for frame, step in enumerate(recording.steps):
        explorer.step = step
        for layer, panel in enumerate(explorer._view.panels):
            assert panel.x_ticks == panel.y_ticks == list(TEXT.replace(" ", SPACE))
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


@pytest.mark.parametrize("show", [explore.training_maps, explore.training_card])
def test_a_recording_of_nothing_is_refused(show):
    with pytest.raises(ValueError, match="at least two steps, got 0: call it during training"):
        show(Recording(*filler(), TEXT))
