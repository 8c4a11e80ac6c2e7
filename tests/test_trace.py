"""The trace: every tensor of the one real pass, by name, in order, and gone when the block ends."""

import copy
import math

import pytest
import torch
from torch import nn

from encoder_lib import (
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    RotaryPositionalEncoding,
    TransformerEncoder,
    causal_mask,
    padding_mask,
    trace,
)

B, T, H, K, F, V = 2, 5, 3, 4, 7, 11
D = H * K
INSIDE = {"query": (B, H, T, K), "key": (B, H, T, K), "value": (B, H, T, K), "scores": (B, H, T, T),
          "weights": (B, H, T, T), "heads": (B, H, T, K)}  # fmt: skip
WIDE = (B, T, D)


def attention_names(prefix):
    """What is recorded of one attention, in order."""
    names = {f"{prefix}{name}_proj": WIDE for name in "qkv"}
    names |= {f"{prefix}{name}": shape for name, shape in INSIDE.items()}
    return names | {f"{prefix}out_proj": WIDE}


def layer_names(prefix, norm_first):
    """What is recorded of one layer, in order."""
    attention = attention_names(f"{prefix}attention.") | {f"{prefix}attention": WIDE}
    network = {
        f"{prefix}feed_forward.linear1": (B, T, F),
        f"{prefix}feed_forward.linear2": WIDE,
        f"{prefix}feed_forward": WIDE,
    }
    norm1, norm2 = ({f"{prefix}{norm}.input": WIDE, f"{prefix}{norm}": WIDE} for norm in ("norm1", "norm2"))
    return norm1 | attention | norm2 | network if norm_first else attention | norm1 | network | norm2


@pytest.mark.parametrize("norm_first", [False, True])
def test_names_order_and_shapes(norm_first):
    """Every name, in the order of computation, each with its shape, and nothing else."""
    encoder = Encoder(2, D, H, F, norm_first=norm_first)
    expected = {"input": WIDE}
    for i in range(2):
        expected |= layer_names(f"layers.{i}.", norm_first) | {f"layers.{i}": WIDE}
    if norm_first:
        expected |= {"norm.input": WIDE, "norm": WIDE}
    expected |= {"output": WIDE}
    with trace(encoder) as t:
        encoder(torch.randn(B, T, D))
    assert [(name, tuple(x.shape)) for name, x in t.items()] == list(expected.items())
    assert len(t) == len(expected) and "layers.1.attention.weights" in t


@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_names_of_a_whole_model(positional):
    """From the ids on; positions that are added have an entry of their own."""
    model = TransformerEncoder(V, 1, D, H, F, positional=positional)
    ids = torch.randint(V, (B, T))
    with trace(model) as t:
        model(ids)
    added = ["embedding.position"] if positional in ("sinusoidal", "learned") else []
    assert list(t)[: 3 + len(added)] == ["input", "embedding.token", *added, "embedding"]
    assert torch.equal(t["input"], ids) and list(t)[-1] == "output"


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("positional", ["none", "rotary", "alibi"])
def test_equals_recomputation_by_hand(norm_first, positional):
    """Each tensor follows from those before it."""
    layer = EncoderLayer(D, H, F, norm_first=norm_first, positional=positional, activation="gelu").double()
    x, mask = torch.randn(B, T, D, dtype=torch.float64), causal_mask(T)
    with trace(layer) as t:
        y = layer(x, mask)
    close = torch.testing.assert_close
    seen = t["norm1"] if norm_first else x
    close(t["attention.v_proj"], layer.attention.v_proj(seen))
    close(t["attention.value"], t["attention.v_proj"].unflatten(-1, (H, K)).transpose(1, 2))
    scores = t["attention.query"] @ t["attention.key"].mT / math.sqrt(K)
    if positional != "alibi":
        close(t["attention.scores"], scores)
    close(t["attention.weights"], t["attention.scores"].masked_fill(~mask, -math.inf).softmax(-1))
    close(t["attention.heads"], t["attention.weights"] @ t["attention.value"])
    close(t["attention"], layer.attention.out_proj(t["attention.heads"].transpose(1, 2).flatten(-2)))
    close(t["norm2.input"] if norm_first else t["norm1.input"], x + t["attention"])
    close(t["feed_forward.linear1"], layer.feed_forward.linear1(t["norm2"] if norm_first else t["norm1"]))
    close(y, t["norm2.input"] + t["feed_forward"] if norm_first else layer.norm2(t["norm1"] + t["feed_forward"]))
    assert t["output"] is y and t["input"] is x


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_outputs_are_those_without_a_trace(mode):
    """Looking changes nothing."""
    model = TransformerEncoder(V, 2, D, H, F, padding_idx=1).double().train(mode == "train")
    ids = torch.randint(V, (B, T))
    before = model(ids)
    with trace(model) as t:
        during = model(ids)
    assert t["output"] is during
    torch.testing.assert_close(during, before, atol=1e-10, rtol=0)
    assert torch.equal(model(ids), before)


def test_gradients_reach_the_tensors():
    """`retain_grad` on what was recorded gives its gradient: here that of the weights, by the chain rule."""
    module, x = MultiHeadAttention(D, H).double(), torch.randn(B, T, D, dtype=torch.float64)
    with trace(module) as t:
        y = module(x, x, x)
    t["weights"].retain_grad()
    t["heads"].retain_grad()
    y.sum().backward()
    torch.testing.assert_close(t["weights"].grad, t["heads"].grad @ t["value"].mT)


def test_one_module_alone():
    """A part has names without a prefix."""
    module, x = MultiHeadAttention(D, H), torch.randn(B, T, D)
    with trace(module) as t:
        module(x, x, x)
    assert {name: tuple(v.shape) for name, v in t.items()} == {"input": WIDE} | attention_names("") | {"output": WIDE}
    for module in (LayerNorm(D), FeedForward(D, F), nn.Dropout(), RotaryPositionalEncoding(D)):
        with trace(module) as t:
            y = module(x)
        assert t["input"] is x and t["output"] is y and [*t][:1] + [*t][-1:] == ["input", "output"]


def test_input_given_by_name():
    """`encoder(x=…)` is recorded as `encoder(…)` is."""
    encoder, x = Encoder(1, D, H, F), torch.randn(B, T, D)
    with trace(encoder) as t:
        encoder(x=x, mask=causal_mask(T))
    assert t["input"] is x


def is_clean(model):
    """No hook is left, and attention takes its fused path."""
    return all(
        not m._forward_hooks and not m._forward_pre_hooks and getattr(m, "watch", None) is None for m in model.modules()
    )


@pytest.mark.parametrize("where", ["in the block", "in the model"])
def test_removed_even_after_an_exception(where):
    """The error comes through, the model is as before, and what was recorded up to there can still be read."""
    encoder, x = Encoder(2, D, H, F), torch.randn(B, T, D)
    with pytest.raises(ValueError), trace(encoder) as t:
        assert not is_clean(encoder)
        if where == "in the block":
            encoder(x)
            raise ValueError
        encoder.layers[1].register_module("feed_forward", FeedForward(D + 1, F))
        encoder(x)
    assert is_clean(encoder)
    assert t["layers.0.attention.weights"].shape == (B, H, T, T)


def test_nothing_is_recorded_after_the_block():
    """A later pass leaves the trace as it was."""
    encoder, x = Encoder(1, D, H, F), torch.randn(B, T, D)
    with trace(encoder) as t:
        encoder(x)
    kept = t["output"]
    encoder(x + 1)
    assert t["output"] is kept and is_clean(encoder)


def test_second_pass_replaces_the_first():
    """One trace holds one pass: names, order and tensors are those of the last."""
    model = TransformerEncoder(V, 1, D, H, F)
    with trace(model) as t:
        model(torch.randint(V, (B, T + 3)))
        names = list(t)
        y = model(torch.randint(V, (B, T)))
    assert list(t) == names and t["output"] is y
    assert t["encoder.layers.0.attention.weights"].shape == (B, H, T, T)


def test_one_trace_twice():
    """The same object can be entered again; the first record stays."""
    encoder, x = Encoder(1, D, H, F), torch.randn(B, T, D)
    watcher = trace(encoder)
    with watcher as first:
        encoder(x)
    with watcher as second:
        encoder(2 * x)
    assert first is not second and not torch.equal(first["output"], second["output"]) and is_clean(encoder)


@pytest.mark.parametrize("inner", [lambda e: e, lambda e: e.layers[0], lambda e: e.layers[0].attention])
def test_nested_trace_is_refused(inner):
    """A second trace of the model, or of a part, names the reason, and leaves the first one working."""
    encoder, x = Encoder(1, D, H, F), torch.randn(B, T, D)
    with trace(encoder) as t:
        with pytest.raises(RuntimeError, match=r"traced already.*leave the other"), trace(inner(encoder)):
            pass
        encoder(x)
    assert "layers.0.attention.weights" in t and is_clean(encoder)


def test_wrong_name():
    """KeyError with the nearest names, or with the advice to run the model."""
    encoder, x = Encoder(1, D, H, F), torch.randn(B, T, D)
    with trace(encoder) as t:
        with pytest.raises(KeyError, match=r"layers\.0\.attention\.weights.*has the model run inside"):
            t["layers.0.attention.weights"]
        assert repr(t) == "an empty trace"
        encoder(x)
    with pytest.raises(KeyError, match=r"got 'layers\.0\.attention\.weight'.*layers\.0\.attention\.weights"):
        t["layers.0.attention.weight"]
    with pytest.raises(KeyError, match="expected a name of the trace, got 0"):
        t[0]
    assert t.get("nothing") is None and "nothing" not in t


def test_printed():
    """One line for each tensor: name and shape."""
    encoder = Encoder(1, D, H, F)
    with trace(encoder) as t:
        encoder(torch.randn(B, T, D))
    lines = repr(t).splitlines()
    assert len(lines) == len(t)
    assert lines[0].split() == ["input", *str(WIDE).split()]
    assert lines[1 + list(INSIDE).index("weights") + 3].split()[0] == "layers.0.attention.weights"


@pytest.mark.parametrize("model", [None, torch.randn(2), "encoder", [Encoder(1, D, H, F)], Encoder])
def test_only_modules(model):
    """Anything but a module is refused."""
    with pytest.raises(TypeError, match="model: expected a torch module, got"):
        trace(model)


def test_train_mode_with_dropout():
    """The weights recorded are those before dropout: rows that sum to 1; the heads are taken after it."""
    module, x = MultiHeadAttention(D, H, dropout=0.5), torch.randn(B, T, D)
    with trace(module) as t:
        module(x, x, x)
    torch.testing.assert_close(t["weights"].sum(-1), torch.ones(B, H, T))
    assert (t["heads"] - t["weights"] @ t["value"]).abs().max() > 0.01


def test_dead_rows_and_padding():
    """Padding gets no weight; a sequence of padding alone gets none at all."""
    model = TransformerEncoder(V, 1, D, H, F, padding_idx=1)
    ids = torch.tensor([[2, 3, 1], [1, 1, 1]])
    with trace(model) as t:
        model(ids)
    weights = t["encoder.layers.0.attention.weights"]
    assert not weights.masked_select(~padding_mask(ids, 1)).any() and not weights[1].any()
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(H, 3))


def test_the_input_is_found_whatever_the_order_of_keywords():
    """Keywords may come in any order; `input` is the first argument of forward."""
    encoder, x = Encoder(1, 8, 2, 16), torch.randn(2, 5, 8)
    with trace(encoder) as t:
        encoder(mask=torch.ones(5, 5, dtype=torch.bool), x=x)
    assert t["input"] is x


def test_a_copy_made_inside_the_block_is_not_watched():
    """Copying a traced model gives a model that can be traced."""
    encoder = Encoder(1, 8, 2, 16)
    with trace(encoder):
        twin = copy.deepcopy(encoder)
    with trace(twin) as t:
        twin(torch.randn(1, 3, 8))
    assert "layers.0.attention.weights" in t
