"""The explorer of a training shows the maps that were recorded, and describes what was measured beside them."""

import pytest
import torch
from explorers import filler, trained_filler

from encoder_lib.course import explore
from encoder_lib.course.kit.plots import percent
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
            assert panel.x_ticks == panel.y_ticks == list(TEXT)
            shown = torch.tensor(panel.frame(frame)).double()
            torch.testing.assert_close(shown, recording.maps[frame, layer], atol=1e-6, rtol=0)
        first, second = map(percent, recording.nearest[frame].tolist())
        correct = percent(recording.accuracies[frame].item())
        words = explorer.description
        assert words.startswith(f"After {step} steps: “{recording.filled[frame]}”. It fills {correct} of the ")
        assert words.endswith(f" {first} of its weight in layer 1 and {second} of its weight in layer 2.")


def test_a_recording_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least two steps, got 0: call it during training"):
        explore.training_maps(Recording(*filler(), TEXT))
