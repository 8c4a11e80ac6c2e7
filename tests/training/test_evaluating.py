"""A measurement in eval mode leaves every module in the mode that it had."""

import pytest
from torch import nn

from encoder_lib.training.evaluating import evaluating


def partly_frozen():
    """A model in train mode, two of its parts in eval mode; one of them is used twice."""
    frozen = nn.Dropout()
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Linear(2, 2), frozen), nn.Sequential(frozen), nn.Dropout())
    frozen.eval()
    model[3].eval()
    return model


def modes(model):
    return {name: module.training for name, module in model.named_modules(remove_duplicate=False)}


def test_all_modules_evaluate_and_get_their_own_mode_back():
    """Also when the block ends with an error."""
    model = partly_frozen()
    before = modes(model)
    with pytest.raises(KeyboardInterrupt), evaluating(model):
        assert not any(modes(model).values())
        raise KeyboardInterrupt
    assert modes(model) == before and len(set(before.values())) == 2


def test_modules_that_override_train_are_notified_twice():
    """A LoRA layer, for example, merges its weights in eval mode and splits them again in train mode."""

    class Merging(nn.Module):
        merged = False

        def train(self, mode=True):
            self.merged = not mode
            return super().train(mode)

    model = nn.Sequential(Merging())
    with evaluating(model):
        assert model[0].merged
    assert not model[0].merged
