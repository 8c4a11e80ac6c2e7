"""Other norms in a published encoder: its own formula changes nothing, another does, and all is as before behind it."""

import pytest
import torch
import torch.nn.functional as F

from encoder_lib import load_pretrained
from encoder_lib.course.lab.norms import every_norm, sizes

TEXT = "The dog bit the postman."


def test_its_own_formula_changes_nothing_and_another_goes_when_the_block_ends():
    model = load_pretrained("minilm")
    own = model.encode([TEXT])
    with every_norm(model, lambda x, weight, bias, eps: F.layer_norm(x, (384,), weight, bias, eps)):
        torch.testing.assert_close(model.encode([TEXT]), own, atol=1e-5, rtol=0)
    with pytest.raises(KeyError), every_norm(model, lambda x, *_: {}["raises"]):
        model.encode([TEXT])
    torch.testing.assert_close(model.encode([TEXT]), own)


def test_sizes_are_those_of_the_embedding_and_of_six_layers():
    model = load_pretrained("minilm")
    with every_norm(model, lambda x, *_: torch.ones_like(x)):
        assert sizes(model, TEXT) == pytest.approx([1.0] * 7)
