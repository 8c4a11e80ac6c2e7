"""The trace: every tensor of the one real pass, by name, in order, and gone when the block ends."""

import copy
import threading

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
    fast,
    trace,
)
from encoder_lib.model.attention import PROBES

B, T, H, K, F, V = 2, 5, 3, 4, 7, 11
D = H * K
WIDE, HEADS, MAPS = (B, T, D), (B, H, T, K), (B, H, T, T)
SHAPES = dict.fromkeys(["query", "key", "value", "heads"], HEADS) | dict.fromkeys(["scores", "weights"], MAPS)
ATTENTION = ["q_proj", "k_proj", "v_proj", "query", "key", "value", "scores", "weights", "heads", "out_proj"]


def named(names):
    """The shape that belongs to each name; WIDE unless its last word says otherwise."""
    return {name: (SHAPES | {"linear1": (B, T, F)}).get(name.rpartition(".")[2], WIDE) for name in names}


def layer_names(prefix, norm_first):
    """What is recorded of one layer, in order."""
    attention = [*(f"attention.{name}" for name in ATTENTION), "attention"]
    network = ["feed_forward.linear1", "feed_forward.linear2", "feed_forward"]
    norm1, norm2 = ([f"{norm}.input", norm] for norm in ("norm1", "norm2"))
    names = norm1 + attention + norm2 + network if norm_first else attention + norm1 + network + norm2
    return [prefix + name for name in [*names, ""]]


@pytest.mark.parametrize("norm_first", [False, True])
def test_names_order_and_shapes(norm_first):
    """Every name, in the order of computation, each with its shape, and nothing else."""
    encoder = Encoder(2, D, H, F, norm_first=norm_first)
    layers = [name.rstrip(".") for i in range(2) for name in layer_names(f"layers.{i}.", norm_first)]
    expected = named(["input", *layers, *(["norm.input", "norm"] if norm_first else []), "output"])
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
def test_equals_recomputation_by_hand(norm_first):
    """Each tensor follows from those before it; scores and weights by their formula are in the tests of attention."""
    layer = EncoderLayer(D, H, F, norm_first=norm_first, activation="gelu").double()
    x, mask = torch.randn(B, T, D, dtype=torch.float64), causal_mask(T)
    with trace(layer) as t:
        y = layer(x, mask)
    close = torch.testing.assert_close
    seen = t["norm1"] if norm_first else x
    close(t["attention.v_proj"], layer.attention.v_proj(seen))
    close(t["attention.value"], t["attention.v_proj"].unflatten(-1, (H, K)).transpose(1, 2))
    close(t["attention.heads"], t["attention.weights"] @ t["attention.value"])
    close(t["attention"], layer.attention.out_proj(t["attention.heads"].transpose(1, 2).flatten(-2)))
    close(t["norm2.input"] if norm_first else t["norm1.input"], x + t["attention"])
    close(t["feed_forward.linear1"], layer.feed_forward.linear1(t["norm2"] if norm_first else t["norm1"]))
    close(y, t["norm2.input"] + t["feed_forward"] if norm_first else layer.norm2(t["norm1"] + t["feed_forward"]))
    assert t["output"] is y and t["input"] is x
    wanted = ("attention.weights", "attention.heads")
    for_weights, for_heads = torch.autograd.grad(y.square().sum(), [t[name] for name in wanted])
    close(for_weights, for_heads @ t["attention.value"].mT)


def test_one_module_alone():
    module, x = MultiHeadAttention(D, H), torch.randn(B, T, D)
    with trace(module) as t:
        module(x, x, x)
    assert repr(t).splitlines()[:2] == ["input     (2, 5, 12)", "q_proj    (2, 5, 12)"]
    assert {name: tuple(v.shape) for name, v in t.items()} == named(["input", *ATTENTION, "output"])
    for module in (LayerNorm(D), FeedForward(D, F), nn.Dropout(), RotaryPositionalEncoding(D)):
        with trace(module) as t:
            y = module(x)
        assert t["input"] is x and t["output"] is y and [*t][:1] + [*t][-1:] == ["input", "output"]


def is_clean(model):
    """No hook and no probe is left."""
    return not PROBES.get() and all(not m._forward_hooks and not m._forward_pre_hooks for m in model.modules())


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


def test_one_trace_twice():
    """A pass replaces the one before; the same object can be entered again; after the block nothing is added."""
    encoder, x = Encoder(1, D, H, F), torch.randn(B, T, D)
    watcher = trace(encoder)
    with watcher as first:
        encoder(torch.randn(B, T + 3, D))
        encoder(x)
    with watcher as second:
        encoder(mask=causal_mask(T), x=2 * x)
    assert list(first) == list(second) and first["input"] is x and torch.equal(second["input"], 2 * x)
    encoder(x + 1)
    assert first is not second and not torch.equal(first["output"], second["output"]) and is_clean(encoder)


def test_nothing_is_left_of_the_pass_before():
    """The second pass skips a module of the first."""

    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.low, self.high = nn.Linear(D, D), nn.Linear(D, D)

        def forward(self, x):
            return (self.low if x.sum() < 0 else self.high)(x)

    model = Branches()
    with trace(model) as t:
        model(-torch.ones(T, D))
        assert list(t) == ["input", "low", "output"]
        model(torch.ones(T, D))
    assert list(t) == ["input", "high", "output"]


@pytest.mark.parametrize("part", ["", "layers.0", "layers.0.attention"])
def test_nested_traces_both_record(part):
    """A second trace of the model, or of a part, sees what the first one sees, and takes nothing away from it."""
    encoder, x = Encoder(2, D, H, F), torch.randn(B, T, D)
    with trace(encoder) as outer:
        with trace(encoder.get_submodule(part)) as inner:
            encoder(x)
        prefix = f"{part}.".removeprefix(".")
        name = "layers.0.attention.weights"
        assert inner[name.removeprefix(prefix)] is outer[name] and "layers.1.attention.weights" in outer
        encoder(2 * x)
        assert inner[name.removeprefix(prefix)] is not outer[name]
    assert is_clean(encoder)


def test_threads_trace_one_model_at_once():
    """Each trace holds the tensors of its own thread, and a thread without one computes as ever."""
    encoder = Encoder(2, D, H, F).double()
    inputs = [torch.randn(B, T, D, dtype=torch.float64) for _ in range(4)]
    expected = [encoder(x) for x in inputs]
    ready, wrong = threading.Barrier(len(inputs)), []

    def work(i, watch):
        ready.wait()
        for _ in range(50):
            if watch:
                with trace(encoder) as t:
                    y = encoder(inputs[i])
                right = t["input"] is inputs[i] and t["output"] is y
                right &= torch.equal(
                    t["layers.0.attention.weights"] @ t["layers.0.attention.value"], t["layers.0.attention.heads"]
                )
            else:
                y, right = encoder(inputs[i]), True
            if not right or (y - expected[i]).abs().max() > 1e-12:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i, i < 3)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and is_clean(encoder)


class KeywordsOnly(nn.Module):
    """A model that is called as those of Hugging Face are."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, *, flag=True, **inputs):
        return self.linear(inputs["x"])


def test_keyword_only_calls():
    model, x = KeywordsOnly(), torch.randn(2, 3)
    with trace(model) as t:
        model(x=x, flag=False)
    assert t["input"] is x and [*t] == ["input", "linear", "output"]


def compile_in_place(model):
    model.layers[0].compile()
    return model


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, while it loads its compiler
@pytest.mark.parametrize("compiled", [torch.compile, compile_in_place])
def test_compiled_model_is_refused(compiled):
    with pytest.raises(TypeError, match=r"module by module, got a compiled one.*before torch\.compile"):
        trace(compiled(Encoder(1, D, H, F)))


def test_part_replaced_inside_the_block():
    """The other layers are as before, and the model can be traced again."""
    encoder, x = Encoder(2, D, H, F), torch.randn(B, T, D)
    with trace(encoder):
        encoder.layers[0].attention = MultiHeadAttention(D, H)
    assert is_clean(encoder)
    with trace(encoder) as t:
        encoder(x)
    assert "layers.0.attention.weights" in t


def test_train_mode_with_dropout():
    """The weights recorded are those before dropout: rows that sum to 1; the heads are taken after it."""
    module, x = MultiHeadAttention(D, H, dropout=0.5), torch.randn(B, T, D)
    with trace(module) as t:
        module(x, x, x)
    torch.testing.assert_close(t["weights"].sum(-1), torch.ones(B, H, T))
    assert (t["heads"] - t["weights"] @ t["value"]).abs().max() > 0.01


def test_an_independent_copy_is_not_recorded():
    """A deep copy of a traced model writes nothing into the trace, and can be traced; one of `fast` is recorded."""
    encoder, x = Encoder(1, 8, 2, 16), torch.randn(1, 3, 8)
    with trace(encoder) as t:
        encoder(x)
        twin, kept = copy.deepcopy(encoder), dict(t)
        twin(x + 1)
        assert all(t[name] is kept[name] for name in kept) and len(t) == len(kept)
        quicker = fast(encoder)
        y = quicker(x + 1)
        assert t["output"] is y and [*t] == [*kept]
    for other in (twin, quicker):
        with trace(other) as t:
            torch.testing.assert_close(other(x), encoder(x))
        assert "layers.0.attention.weights" in t


def test_module_called_twice_keeps_the_order_of_its_last_call():
    shared = nn.Linear(D, D)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    with trace(model) as t:
        y = model(torch.randn(T, D))
    assert list(t) == ["input", "1", "0", "output"] and t["0"] is y


def test_wrong_name():
    """KeyError with the nearest names, or with the advice to run the model."""
    encoder = Encoder(1, D, H, F)
    with trace(encoder) as t:
        with pytest.raises(KeyError, match="got 'weights'; has the model run inside"):
            t["weights"]
        assert repr(t) == "an empty trace"
        encoder(torch.randn(B, T, D))
    with pytest.raises(KeyError, match=r"got 'layers\.0\.attention\.weight'.*layers\.0\.attention\.weights"):
        t["layers.0.attention.weight"]
    assert t.get(0) is None and "nothing" not in t
