"""In a published encoder its own formula changes nothing, another norm does, for a while."""

import pytest
import torch
import torch.nn.functional as F

from encoder_lib import load_pretrained
from encoder_lib.course.layer_norm.norms import cls_apart, every_norm

TEXT = "The dog bit the postman."


def test_its_own_formula_changes_nothing_and_another_goes_when_the_block_ends():
    model = load_pretrained("minilm")
    own = model.encode([TEXT])
    with every_norm(model, lambda x, weight, bias, eps: F.layer_norm(x, (384,), weight, bias, eps)):
        torch.testing.assert_close(model.encode([TEXT]), own, atol=1e-5, rtol=0)
    seen = []
    with every_norm(model, lambda x, *_: seen.append(x) or x):
        model.encode([TEXT])
    assert len(seen) == 12, "all but the embedding's"
    with pytest.raises(KeyError), every_norm(model, lambda x, *_: {}["raises"]):
        model.encode([TEXT])
    torch.testing.assert_close(model.encode([TEXT]), own)


def test_cls_apart_hands_the_first_token_to_one_norm_and_the_others_to_another():
    x = torch.ones(2, 4, 3)
    y = cls_apart(lambda x, gain, bias, eps: gain * x, lambda x, gain, bias, eps: x + bias)(x, 5.0, 1.0, 0.0)
    assert (y[:, 0] == 5).all() and (y[:, 1:] == 2).all() and y.shape == x.shape
