"""A pretrained encoder with other norms: its own formula changes nothing, and the original keeps its norms."""

import torch
import torch.nn.functional as F

from encoder_lib import load_pretrained
from encoder_lib.course.layer_norm.norms import replace_norms, split_cls

TEXT = "The dog bit the postman."


def test_replaced_norms_leave_the_original_as_it_was():
    model = load_pretrained("minilm")
    own = model.encode([TEXT])
    same = replace_norms(model, lambda x, weight, bias, eps: F.layer_norm(x, (384,), weight, bias, eps))
    torch.testing.assert_close(same.encode([TEXT]), own, atol=1e-5, rtol=0)
    seen = []
    replace_norms(model, lambda x, *_: seen.append(x) or x).encode([TEXT])
    assert len(seen) == 12, "all but the norm of the embedding"
    torch.testing.assert_close(model.encode([TEXT]), own)


def test_split_cls_gives_the_first_token_a_norm_of_its_own():
    x = torch.ones(2, 4, 3)
    y = split_cls(lambda x, gain, bias, eps: gain * x, lambda x, gain, bias, eps: x + bias)(x, 5.0, 1.0, 0.0)
    assert (y[:, 0] == 5).all() and (y[:, 1:] == 2).all() and y.shape == x.shape
