"""Patched copies: each tensor that `trace` names can be changed, and the original stays as it was."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from encoder_lib import Encoder, EncoderLayer, MultiHeadAttention, SentenceEncoder, fast, load_pretrained, patch, trace

TEXTS = ["The dog bit the postman.", "A cat slept."]


@pytest.fixture
def encoder():
    return Encoder(3, 8, 2, 16).double().eval()


@pytest.fixture
def x():
    return torch.randn(2, 5, 8, dtype=torch.float64)


def without_attention(encoder, x):
    for layer in encoder.layers:
        x = layer.norm1(x)
        x = layer.norm2(x + layer.feed_forward(x))
    return x


def test_a_part_is_ablated_in_every_layer(encoder, x):
    whole = encoder(x)
    ablated = patch(encoder, {"layers.*.attention": lambda out, *inputs: 0 * out})
    torch.testing.assert_close(ablated(x), without_attention(encoder, x))
    assert torch.equal(encoder(x), whole)


def test_an_edit_of_an_output_is_given_the_inputs(encoder, x):
    ablated = patch(encoder, {"layers.1": lambda out, x, mask=None: x})
    torch.testing.assert_close(ablated(x), encoder.layers[2](encoder.layers[0](x)))


@pytest.mark.parametrize(
    "name", ["query", "key", "value", "scores", "weights", "heads", "norm1", "norm2.input", "feed_forward.linear1"]
)
def test_every_name_of_a_trace_can_be_patched(name, encoder, x):
    full = f"layers.1.{name}" if "norm" in name or "linear" in name else f"layers.1.attention.{name}"
    with trace(encoder) as t:
        before = encoder(x)
    changed = patch(encoder, {full: lambda y, *inputs: 2 * y})
    with trace(changed) as u:
        after = changed(x)
    torch.testing.assert_close(u[full], 2 * t[full])
    assert torch.equal(u["layers.0"], t["layers.0"]) and not torch.equal(after, before)


@pytest.mark.parametrize("name", ["input", "output"])
def test_what_goes_in_and_what_comes_out_can_be_patched(name, encoder, x):
    changed = patch(encoder, {name: lambda y, *inputs: 2 * y})
    torch.testing.assert_close(changed(x), encoder(2 * x) if name == "input" else 2 * encoder(x))


def test_tensors_put_back_change_nothing(encoder, x):
    """Each tensor is replaced by its own value; a wrong order of the hooks, or a wrong place, would be seen."""
    with trace(encoder) as t:
        whole = encoder(x)
    names = [name for name in t if name not in ("input", "output")]
    same = patch(encoder, {name: lambda y, *inputs, name=name: t[name].clone() for name in names})
    torch.testing.assert_close(same(x), whole)
    half = patch(encoder, {"layers.1": lambda y, *inputs: t["layers.1"]})
    torch.testing.assert_close(half(torch.randn_like(x)), whole)  # what comes before no longer matters


def test_one_edge_of_one_head_is_cut(encoder, x):
    def cut(scores):
        scores = scores.clone()
        scores[:, 1, 3, 2] = -torch.inf
        return scores

    changed = patch(encoder, {"layers.2.attention.scores": cut})
    with trace(changed) as u, trace(encoder) as t:
        changed(x)
        encoder(x)
    before, after = (traced["layers.2.attention.weights"] for traced in (t, u))
    assert (after[:, 1, 3, 2] == 0).all()
    torch.testing.assert_close(after.sum(dim=-1), torch.ones_like(after.sum(dim=-1)))
    after[:, 1, 3], before[:, 1, 3] = 0, 0
    assert torch.equal(after, before)


def test_a_patch_of_a_patch_does_both(encoder, x):
    once = patch(encoder, {"layers.0.attention.weights": lambda w: w / 2})
    twice = patch(once, {"layers.0.attention.weights": lambda w: w / 2, "layers.2": lambda y, *_: -y})
    with trace(encoder) as t, trace(once) as u, trace(twice) as v:
        encoder(x), once(x), twice(x)
    name = "layers.0.attention.weights"
    torch.testing.assert_close(torch.stack([u[name], v[name]]), torch.stack([t[name] / 2, t[name] / 4]))


def test_parameters_and_gradients_are_shared(encoder, x):
    changed = patch(encoder, {"layers.0.feed_forward": lambda y, *_: 0 * y})
    assert all(a is b for a, b in zip(encoder.parameters(), changed.parameters(), strict=True))
    changed(x).sum().backward()
    assert encoder.layers[1].attention.q_proj.weight.grad is not None
    assert (encoder.layers[0].feed_forward.linear1.weight.grad == 0).all()


def test_hooks_stay_with_the_model_they_were_put_on(encoder, x):
    fired = []
    encoder.layers[0].register_forward_hook(lambda *_: fired.append("before"))
    changed = patch(encoder, {})
    encoder.layers[0].register_forward_hook(lambda *_: fired.append("after"))
    changed(x)
    assert fired == ["before"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_sentence_encoder_encodes_with_a_patched_encoder(threads):
    torch.set_num_threads(threads)
    model = load_pretrained("minilm")
    edits = {
        "encoder.layers.*.feed_forward": lambda y, *_: 0 * y,
        "encoder.layers.5.attention.weights": lambda w: w / 2,
    }
    changed = SentenceEncoder(model.tokenizer, patch(model.encoder, edits))
    plain, vectors = model.encode(TEXTS), changed.encode(TEXTS)
    single = torch.cat([changed.encode([text]) for text in TEXTS])
    torch.testing.assert_close(vectors, single, atol=1e-5, rtol=0)
    assert (vectors - plain).abs().max() > 0.01 and torch.equal(model.encode(TEXTS), plain)
    sums = changed.attention(TEXTS[0])[5].sum(dim=-1)  # (H, T)
    torch.testing.assert_close(sums, torch.full_like(sums, 0.5))


def test_fast_layers_obey_the_patch(encoder, x):
    changed = patch(encoder, {"layers.1.attention.weights": lambda w: w / 2, "layers.2.norm1": lambda y, x: x})
    torch.testing.assert_close(fast(changed)(x), changed(x))


def test_several_threads_use_several_patches(encoder, x):
    factors = [0.5, 1.0, 2.0, 3.0] * 5
    models = [patch(encoder, {"layers.0.attention.weights": lambda w, f=f: f * w}) for f in factors]
    alone = [model(x) for model in models]
    with ThreadPoolExecutor(4) as pool:
        assert all(map(torch.equal, pool.map(lambda model: model(x), models), alone))


def test_a_single_layer_or_attention_can_be_patched(x):
    layer, attention = EncoderLayer(8, 2, 16).double(), MultiHeadAttention(8, 2).double()
    no_norm = patch(layer, {"norm2": lambda y, x: x})
    assert not torch.equal(no_norm(x), layer(x))
    zero = patch(attention, {"weights": lambda w: 0 * w})
    torch.testing.assert_close(zero(x, x, x), attention.out_proj.bias.expand_as(x))


@pytest.mark.parametrize(
    ("edits", "error", "words"),
    [
        ({"layers.9": torch.neg}, KeyError, "got 'layers.9'; near it are"),
        ({"layers.*.attention.weight": torch.neg}, KeyError, r"layers\.\d\.attention\.weights"),
        ({"layers": 3}, TypeError, "layers: expected a function that returns the new tensor, got 3"),
    ],
)
def test_an_impossible_edit_is_refused_at_once(edits, error, words, encoder):
    with pytest.raises(error, match=words):
        patch(encoder, edits)


@pytest.mark.parametrize(
    ("edit", "error", "words"),
    [
        (lambda y, *_: None, TypeError, "layers.0: expected a tensor from the edit, got None"),
        (
            lambda y, *_: y[:1],
            ValueError,
            r"expected a tensor of shape \(2, 5, 8\) and torch.float64 .* got \(1, 5, 8\)",
        ),
        (lambda y, *_: y.float(), ValueError, r"got \(2, 5, 8\) and torch.float32"),
    ],
)
def test_a_result_that_does_not_fit_is_refused(edit, error, words, encoder, x):
    changed = patch(encoder, {"layers.0": edit})
    with pytest.raises(error, match=words):
        changed(x)


def test_what_is_not_a_module_is_refused():
    with pytest.raises(TypeError, match="model: expected a torch module"):
        patch("model", {})


def test_other_modules_can_be_patched_too():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    x = torch.randn(4, 2)
    assert torch.equal(patch(model, {"1": lambda y, x: x})(x), model[0](x))
