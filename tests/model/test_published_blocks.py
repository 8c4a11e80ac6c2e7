"""Encoders as they are published, as settings of one: each written out here from its formulas, and met to 1e-10.

Post-norm as in Vaswani et al. 2017, with an eps of 1e-5 or 1e-10; a causal block of one head; and a pre-norm stack
(Xiong et al. 2020).
"""

import math

import pytest
import torch
from torch import nn

from encoder_lib import (
    Encoder,
    EncoderLayer,
    TokenEmbedding,
    TransformerEncoder,
    causal_mask,
    lengths_mask,
    sinusoidal_table,
)

B, T, D, H, F, V = 2, 5, 12, 3, 7, 11
PAD = 1
F64 = torch.float64


def normalise(x, w, name, eps):
    """(x − μ) / √(σ² + ε) · gain + bias."""
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(-1, keepdim=True) / x.shape[-1]
    return (x - mean) / (variance + eps) ** 0.5 * w[f"{name}.weight"] + w[f"{name}.bias"]


def linear(x, w, name):
    """x · Wᵀ + b, or without b."""
    y = torch.einsum("btd,ed->bte", x, w[f"{name}.weight"])
    return y + w[f"{name}.bias"] if f"{name}.bias" in w else y


def attend(x, w, n_heads, allowed):
    """softmax(q · k / √K) · v, head by head, over the keys that are allowed; the heads side by side."""
    q, k, v = (linear(x, w, f"attention.{name}_proj") for name in "qkv")
    width = x.shape[-1] // n_heads
    heads = []
    for head in range(n_heads):
        part = slice(head * width, (head + 1) * width)
        match = torch.exp(torch.einsum("bid,bjd->bij", q[..., part], k[..., part]) / math.sqrt(width)) * allowed
        heads.append(torch.einsum("bij,bjd->bid", match / match.sum(-1, keepdim=True), v[..., part]))
    return torch.cat(heads, -1)


def think(x, w):
    """Linear, ReLU, linear."""
    hidden = linear(x, w, "feed_forward.linear1")
    return linear(hidden * (hidden > 0), w, "feed_forward.linear2")


def post_norm(x, w, n_heads, eps, allowed):
    """Norm after each residual sum."""
    x = normalise(x + linear(attend(x, w, n_heads, allowed), w, "attention.out_proj"), w, "norm1", eps)
    return normalise(x + think(x, w), w, "norm2", eps)


def pre_norm(x, w, n_heads, eps, allowed):
    """Norm before each branch."""
    x = x + linear(attend(normalise(x, w, "norm1", eps), w, n_heads, allowed), w, "attention.out_proj")
    return x + think(normalise(x, w, "norm2", eps), w)


def causal_block(x, w, eps, allowed):
    """One head, nothing after it, and the network sees what the residual sees."""
    y = normalise(x + attend(x, w, 1, allowed), w, "norm1", eps)
    return normalise(y + think(y, w), w, "norm2", eps)


def shaken(module):
    """The module in float64, with gains and biases that are not 1 and 0."""
    for name, p in module.named_parameters():
        if p.ndim == 1:
            nn.init.normal_(p, mean=float("norm" in name and "weight" in name), std=0.3)
    return module.double()


def weights_of(module):
    """Its weights by name."""
    return dict(module.named_parameters())


@pytest.mark.parametrize("eps", [1e-10, 1e-5])
@pytest.mark.parametrize("size", [1.0, 1e-4])
def test_post_norm_layer(eps, size):
    """Post-norm and ReLU, each with its eps; on small inputs the two eps are told apart."""
    layer, x = shaken(EncoderLayer(D, H, F, eps=eps)), size * torch.randn(B, T, D, dtype=F64)
    mask = lengths_mask(torch.tensor([3, T]))
    w = weights_of(layer)
    if size < 1:  # the biases would hide the size of the input
        w = {name: p * 0 if name.endswith("bias") else p for name, p in w.items()}
        layer.load_state_dict(w)
    expected = post_norm(x, w, H, eps, mask[:, 0])
    torch.testing.assert_close(layer(x, mask), expected, atol=1e-10, rtol=0)
    if size < 1:
        other = post_norm(x, w, H, 1e-5 if eps == 1e-10 else 1e-10, mask[:, 0])
        assert (expected - other).abs().max() > 0.01


@pytest.mark.parametrize("eps", [1e-10, 1e-5])
def test_post_norm_layer_from_ids(eps):
    """Token + sinusoid, each once, then the layer; padding has a zero row and is masked."""
    model = shaken(TransformerEncoder(V, 1, D, H, F, padding_idx=PAD, eps=eps))
    ids = torch.randint(2, V, (B, T))
    ids[0, 3:] = PAD
    x = model.embedding.token.weight[ids] + sinusoidal_table(T, D, dtype=F64)
    expected = post_norm(x, weights_of(model.encoder.layers[0]), H, eps, (ids != PAD)[:, None])
    torch.testing.assert_close(model(ids), expected, atol=1e-10, rtol=0)


def test_one_causal_head():
    """One head, no biases on Q, K and V, a D → 2D → D network; the output projection, which it lacks, set to 1."""
    layer, x = shaken(EncoderLayer(D, 1, 2 * D, attention_bias=False)), torch.randn(B, T, D, dtype=F64)
    with torch.no_grad():
        layer.attention.out_proj.weight.copy_(torch.eye(D))
    expected = causal_block(x, weights_of(layer), 1e-5, causal_mask(T))
    torch.testing.assert_close(layer(x, causal_mask(T)), expected, atol=1e-10, rtol=0)
    before = layer(x, causal_mask(T))
    x[:, -1] += 1  # the last token, whom nobody before it may see
    assert torch.equal(layer(x, causal_mask(T))[:, :-1], before[:, :-1])


@pytest.mark.parametrize(("n_layers", "n_heads"), [(1, 1), (4, 3)])
def test_pre_norm_stack(n_layers, n_heads):
    """Pre-norm layers, a final norm, and Xavier-uniform matrices, over padding."""
    encoder, x = shaken(Encoder(n_layers, D, n_heads, F, norm_first=True)), torch.randn(B, T, D, dtype=F64)
    for p in encoder.parameters():
        if p.ndim == 2:
            nn.init.xavier_uniform_(p)
            bound = math.sqrt(6 / sum(p.shape))
            assert 0.8 * bound < p.abs().max() <= bound
    mask = lengths_mask(torch.tensor([3, T]))
    expected = x
    for layer in encoder.layers:
        expected = pre_norm(expected, weights_of(layer), n_heads, 1e-5, mask[:, 0])
    expected = normalise(expected, weights_of(encoder), "norm", 1e-5)
    torch.testing.assert_close(encoder(x, mask), expected, atol=1e-10, rtol=0)


def test_the_orders_are_not_the_same():
    """The references tell post-norm from pre-norm: on the same weights they are far apart."""
    layer, x = shaken(EncoderLayer(D, H, F)), torch.randn(B, T, D, dtype=F64)
    allowed = torch.ones(T, T)
    w = weights_of(layer)
    assert (post_norm(x, w, H, 1e-5, allowed) - pre_norm(x, w, H, 1e-5, allowed)).abs().max() > 0.1


def test_a_printed_positional_table():
    """Ten positions, width 4, as printed."""
    printed = {0: [0, 1, 0, 1], 1: [0.8415, 0.5403, 0.0100, 0.9999], 2: [0.9093, -0.4161, 0.0200, 0.9998],
               9: [0.4121, -0.9111, 0.0899, 0.9960]}  # fmt: skip
    table = sinusoidal_table(10, 4)
    for position, row in printed.items():
        assert table[position].tolist() == pytest.approx(row, abs=5e-5)


def test_a_printed_look_up():
    """Embedding(3, 5): repeated ids repeat rows, id 3 is out of range, in our words as in torch's."""
    table = TokenEmbedding(3, 5)
    assert torch.equal(table(torch.tensor([0, 2, 0]))[0], table(torch.tensor([0, 2, 0]))[2])
    with pytest.raises(IndexError, match=r"token id 3 .* vocab_size=3"):
        table(torch.tensor([3]))
    with pytest.raises(IndexError, match="index out of range in self"):
        nn.Embedding(3, 5)(torch.tensor([3]))


def test_the_index_of_a_frequency_is_that_of_its_pair():
    """With the dimension as the index of the frequency, position 3 has 0.955 in dimension 1 where it is −0.990."""
    literal = math.cos(3 / 10_000 ** (2 * 1 / 8))
    ours = sinusoidal_table(4, 8)[3, 1].item()
    assert (round(literal, 3), round(ours, 3)) == (0.955, -0.990)
