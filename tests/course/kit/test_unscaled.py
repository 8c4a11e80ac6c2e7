"""Attention to scores that nothing divides."""

import pytest
import torch
from torch import nn

from encoder_lib import MultiHeadAttention, alibi_bias, causal_mask, trace
from encoder_lib.course.kit.unscaled import UnscaledAttention


@pytest.mark.parametrize("positional", ["none", "rotary", "alibi"])
def test_unscaled_attention_has_scale_one(positional):
    whole = MultiHeadAttention(8, 2, positional=positional).double()
    unscaled = UnscaledAttention(8, 2, positional=positional).double()
    unscaled.load_state_dict(whole.state_dict())
    x, mask = torch.randn(2, 5, 8, dtype=torch.float64), causal_mask(5)
    with trace(nn.ModuleList([whole])) as a, trace(nn.ModuleList([unscaled])) as b:
        whole(x, x, x, mask), unscaled(x, x, x, mask)
    bias = alibi_bias(2, 5, 5, dtype=x.dtype) if positional == "alibi" else 0
    torch.testing.assert_close(b["0.scores"] - bias, (a["0.scores"] - bias) * 2.0)  # √K, with K = 4
    q, k, v = (b[f"0.{name}"] for name in ("query", "key", "value"))
    torch.testing.assert_close(b["0.heads"], (q @ k.mT / 2.0 + bias).masked_fill(~mask, -torch.inf).softmax(-1) @ v)
    with trace(nn.ModuleList([unscaled])) as watched:
        seen = unscaled(x, x, x, mask)
    torch.testing.assert_close(unscaled(x, x, x, mask), seen)
    assert watched["0.weights"].shape == (2, 2, 5, 5)
