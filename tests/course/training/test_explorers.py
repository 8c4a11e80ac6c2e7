"""What is recorded of a training is what the model did, and the explorer shows it."""

import pytest
import torch
from explorers import trained

from encoder_lib.course import explore
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.training.recording import Recording, right_map
from encoder_lib.training.tasks import TASKS, solver


def test_explorer_shows_maps_and_describes_weights():
    _, sample, recording = trained("pointer")
    explorer = explore.training_maps(recording)
    assert explorer.values == {"step": 0, "sequence": 1}
    for sequence in (1, 4):
        explorer.sequence = sequence
        learned, right = explorer._view.panels
        assert learned.x_ticks == right.y_ticks == recording.labels[sequence - 1]
        wanted = right_map(sample.source[sequence - 1])
        torch.testing.assert_close(torch.tensor(right.values).double(), wanted.double(), equal_nan=True)
        for frame, step in enumerate(recording.steps):
            explorer.step = step
            weights = recording.maps[frame, 0, 0, sequence - 1]
            torch.testing.assert_close(torch.tensor(learned.frame(frame)).double(), weights, atol=1e-6, rtol=0)
            share = percent(weights[8:][wanted[8:] == 1].mean().item())
            correct = percent(recording.accuracies[frame].item())
            start, end = f"After {step} steps {correct} of the answers", f"gives {share} of its weight to "
            assert explorer.description.startswith(start) and end in explorer.description


def test_layers_and_heads_can_be_chosen_where_there_are_several():
    _, _, recording = trained("pointer", n_layers=2, n_heads=4)
    explorer = explore.training_maps(recording, layer=2, head=3, sequence=2)
    assert list(explorer.values) == ["step", "sequence", "layer", "head"]
    assert explorer.title == "Maps form while the model learns"
    shown = torch.tensor(explorer._view.panels[0].values).double()
    torch.testing.assert_close(shown, recording.maps[:, 1, 2, 1], atol=1e-6, rtol=0)
    assert "layer 2, head 3 gives" in explorer.description
    _, _, recording = trained("pointer", n_layers=1, n_heads=4)
    assert list(explore.training_maps(recording).values) == ["step", "sequence", "head"]
    one_head = explore.training_maps(trained("reverse")[2])
    assert one_head.title == "A map forms while the model learns"  # explorers of one page have names of their own


def test_a_recording_of_nothing_is_refused():
    task = TASKS["reverse"]
    with pytest.raises(ValueError, match="at least two looks, got 0: train the model with it first"):
        explore.training_maps(Recording(solver(task), task, task.draw(5)))
