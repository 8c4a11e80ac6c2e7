"""A broken part in a whole encoder, and five tests of the whole, none of which knows what is broken.

A patient is a small `TransformerEncoder` of which one part was exchanged. Each test takes a patient, and raises an
AssertionError, or whatever error the model itself stops with, when something is wrong.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call

from encoder_lib.checks.limit import TimeUp, run_within
from encoder_lib.checks.verdict import PATIENCE
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.encoder import EncoderLayer, TransformerEncoder
from encoder_lib.model.norm import LayerNorm
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.recast import recast
from encoder_lib.seeded import seeded
from encoder_lib.torch_twin import from_torch
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.tasks import reversal

VOCAB, LAYERS, D, D_FF = 11, 2, 6, 10
DTYPES = (torch.float64, torch.float32, torch.float16)
LENGTHS = ((1, 1), (2, 2), (3, 5))  # (B, T)


@dataclass(frozen=True)
class FaultyModel:
    """How to build the encoder: `inject` exchanges one part of a sound model of any size, in place."""

    inject: Callable[[TransformerEncoder], None]
    n_heads: int = 1
    norm_first: bool = False

    def build(self, seed: int = 0) -> TransformerEncoder:
        with seeded(seed):
            model = TransformerEncoder(
                VOCAB, LAYERS, D, self.n_heads, D_FF,
                norm_first=self.norm_first, final_norm=False, padding_idx=0, dropout=0.1,
            )  # fmt: skip
            self.inject(model)
        return model


def draw_ids(batch: int, length: int) -> Tensor:
    """Token ids (B, T) from 1 up, with padding (0) at the end of every sentence but the first."""
    ids = torch.randint(1, VOCAB, (batch, length), generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([max(1, length - b) for b in range(batch)])
    return ids * (torch.arange(length) < lengths[:, None])  # (B, T)


def draw_vectors(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


# The five tests.


@torch.no_grad()
def sizes_and_types(patient: FaultyModel) -> None:
    """Every shape and dtype in, the same shape and dtype out, and never NaN: odd sizes, quiet rows, empty sentences."""
    for dtype in DTYPES:
        model = patient.build().to(dtype).eval()
        for batch, length in LENGTHS:
            y = model(draw_ids(batch, length))
            assert y.shape == (batch, length, D) and y.dtype == dtype and y.isfinite().all()
        assert model(torch.zeros(1, 2, dtype=torch.int64)).isfinite().all()  # nothing but padding
        assert model.encoder(torch.zeros(1, 3, D, dtype=dtype)).isfinite().all()
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                query, memory = draw_vectors(2, 3, D).to(dtype), draw_vectors(2, 5, D).to(dtype)
                assert module(query, memory, memory).shape == (2, 3, D)


@contextmanager
def _float64() -> Iterator[None]:
    """float64 as the default dtype: a table that a part makes in float32 would keep its rounding."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@_float64()
@torch.no_grad()
def parity(patient: FaultyModel) -> None:
    """The same weights in torch's own encoder give the same numbers, in float64."""
    layer = nn.TransformerEncoderLayer(
        D, patient.n_heads, D_FF, dropout=0.0, batch_first=True, norm_first=patient.norm_first, dtype=torch.float64
    )
    theirs = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).eval()
    table = draw_vectors(VOCAB, D)
    for weight in theirs.parameters():  # torch starts its layers as copies of one
        weight.copy_(draw_vectors(weight.numel()).view_as(weight) * 0.5 + (weight.ndim == 1))
    ours = patient.build().double().eval()
    expected, mine = [table, *from_torch(theirs).parameters()], list(ours.parameters())
    assert [w.shape for w in mine] == [w.shape for w in expected]
    for weight, value in zip(mine, expected, strict=True):
        weight.copy_(value)
    for batch, length in LENGTHS:
        ids = draw_ids(batch, length)
        x = table[ids] + sinusoidal_table(length, D, dtype=torch.float64)  # (B, T, D)
        y = theirs(x, src_key_padding_mask=ids == 0)
        assert (ours(ids) - y)[ids != 0].abs().max() < 1e-10


@torch.no_grad()
def invariances(patient: FaultyModel) -> None:
    """More padding, other sentences in the batch, another order of the tokens: nothing that should stay moves."""
    model = patient.build().double().eval()
    ids = draw_ids(3, 5)
    alone, y = model(ids[:1]), model(ids)
    assert (y[:1] - alone).abs().max() < 1e-10
    longer = torch.cat([ids, torch.zeros_like(ids[:, :2])], dim=1)
    assert (model(longer)[:, :5] - y)[ids != 0].abs().max() < 1e-10
    x, order = draw_vectors(2, 4, D), [2, 0, 3, 1]
    assert (model.encoder(x[:, order]) - model.encoder(x)[:, order]).abs().max() < 1e-10


def parameters(patient: FaultyModel) -> None:
    """All that learns is registered, gets a gradient and survives a checkpoint; the padding row is zero."""
    model, copy = patient.build().double().eval(), patient.build(seed=1).double().eval()
    ids = draw_ids(3, 5)
    (model(ids) * draw_vectors(3, 5, D)).sum().backward()
    assert all(weight.grad is not None for weight in model.parameters())
    copy.load_state_dict(model.state_dict())
    assert (copy(ids) - model(ids)).abs().max() < 1e-10
    words = getattr(model.embedding, "token", None)
    assert words is None or not words(torch.zeros(1, 1, dtype=torch.int64)).any()


@torch.no_grad()
def repeats(patient: FaultyModel) -> None:
    """In eval mode the same input gives the same output, and so does a second model from the same seed."""
    model, twin = patient.build().eval(), patient.build().eval()
    ids = draw_ids(3, 5)
    assert torch.equal(model(ids), model(ids)) and torch.equal(model(ids), twin(ids))


TESTS = {
    "sizes and types": sizes_and_types,
    "parity": parity,
    "invariances": invariances,
    "parameters": parameters,
    "repeats": repeats,
}


def detects(test: Callable[[FaultyModel], None], patient: FaultyModel) -> bool:
    """Whether a test says that something is wrong with the patient."""
    with seeded(0):
        try:
            run_within(PATIENCE, test, patient)
        except (Exception, SystemExit, TimeUp):
            return True
    return False


def train(
    patient: FaultyModel, *, n_heads: int = 1, positional: str = "sinusoidal", steps: int
) -> tuple[list[float], float]:
    """Train an encoder of one layer that has the patient's part to read 8 symbols backwards, from a fixed seed.

    Returns every step's loss, and the share of symbols that it then names.
    """
    with seeded(0):
        scale = positional == "sinusoidal"  # rows of 32 numbers must not drown the sinusoids
        encoder = TransformerEncoder(10, 1, 32, n_heads, 64, positional=positional, max_len=8, scale=scale)
        patient.inject(encoder)
        torch.manual_seed(0)  # whatever the operation drew, head and batches are the same
        model = nn.Sequential(encoder, nn.Linear(32, 10)).float()
        losses = fit(model, lambda: reversal(64, 8, 10), steps=steps)
        return losses, accuracy(model, *reversal(500, 8, 10))


# The operations: each takes what a case of the clinic asks for, and puts it where it belongs.


def no_fault(model: TransformerEncoder) -> None:
    """A sound encoder stays as it is."""


def _layers(model: TransformerEncoder) -> list[EncoderLayer]:
    return [layer for layer in model.encoder.layers if isinstance(layer, EncoderLayer)]


def _sizes(model: TransformerEncoder) -> tuple[int, int, int]:
    """The number of layers, D and F."""
    layers = _layers(model)
    return len(layers), layers[0].norm1.d_model, layers[0].feed_forward.linear1.out_features


class Attention(MultiHeadAttention):
    """Attention whose inside is `core(query, key, value, mask)`, with vectors (B, T, D) and a mask (B, q or 1, k)."""

    def __init__(self, d_model: int, core: Callable[..., Tensor]):
        super().__init__(d_model, 1)
        self.core = core

    def forward(  # type: ignore[override]  # no packed row comes here
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        everything = torch.ones(query.shape[0], 1, key.shape[1], dtype=torch.bool, device=query.device)
        mask = everything if mask is None else mask[:, 0]
        return self.out_proj(self.core(self.q_proj(query), self.k_proj(key), self.v_proj(value), mask))  # (B, q, D)


def inject_attention(core: Callable[..., Tensor]) -> Callable[[TransformerEncoder], None]:
    def inject(model: TransformerEncoder) -> None:
        for layer in _layers(model):
            sound, layer.attention = layer.attention, Attention(layer.attention.d_model, core)
            layer.attention.load_state_dict(sound.state_dict())

    return inject


def inject_attend(thing: Callable) -> FaultyModel:
    """attend(query, key, value, mask)."""
    return FaultyModel(inject_attention(thing))


def inject_attend_real(thing: Callable) -> FaultyModel:
    """attend(query, key, value, real), real (B, T)."""
    return FaultyModel(inject_attention(lambda q, k, v, mask: thing(q, k, v, mask[:, 0])))


def inject_weigh(thing: Callable) -> FaultyModel:
    """weigh(scores, mask)."""
    return FaultyModel(inject_attention(lambda q, k, v, mask: thing(q @ k.mT / q.shape[-1] ** 0.5, mask) @ v))


def inject_split(thing: Callable) -> FaultyModel:
    """split(query, key, value, n_heads)."""

    def inject(model: TransformerEncoder) -> None:
        def core(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
            query, key, value = thing(q, k, v, model.n_heads)  # (B, H, …, K) each
            heads, _ = attention(query, key, value, mask[:, None])  # (B, H, q, K)
            return heads.transpose(1, 2).flatten(-2)  # (B, q, D)

        inject_attention(core)(model)

    return FaultyModel(inject, n_heads=2)


def inject_torch_attend(thing: Callable) -> FaultyModel:
    """attend(attention, x, real), with torch's own attention."""

    class TorchAttention(MultiHeadAttention):
        def forward(  # type: ignore[override]  # no packed row comes here
            self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
        ) -> Tensor:
            three = (self.q_proj, self.k_proj, self.v_proj)
            weights = {
                "in_proj_weight": torch.cat([p.weight for p in three]),
                "in_proj_bias": torch.cat([p.bias for p in three]),
                "out_proj.weight": self.out_proj.weight,
                "out_proj.bias": self.out_proj.bias,
            }
            theirs = nn.MultiheadAttention(self.d_model, 1, batch_first=True).train(self.training)
            everything = torch.ones(query.shape[:2], dtype=torch.bool, device=query.device)
            real = everything if mask is None else mask[:, 0, 0]  # (B, T)
            real = real | ~real.any(dim=1, keepdim=True)  # an empty sentence gives NaN in torch's own layer
            return thing(lambda *args, **options: functional_call(theirs, weights, args, options), query, real)

    def inject(model: TransformerEncoder) -> None:
        for layer in _layers(model):
            layer.attention = TorchAttention(layer.attention.d_model, 1)

    return FaultyModel(inject)


def inject_self_attention(thing: Callable) -> FaultyModel:
    """SelfAttention(d_model): x, mask -> x, without the last linear map."""

    class Whole(nn.Module):
        def __init__(self, d_model: int):
            super().__init__()
            self.inner, self.out_proj = thing(d_model), nn.Linear(d_model, d_model)

        def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
            return self.out_proj(self.inner(query, None if mask is None else mask[:, 0]))  # (B, T, D)

    def inject(model: TransformerEncoder) -> None:
        for layer in _layers(model):
            layer.set_submodule("attention", Whole(layer.attention.d_model))

    return FaultyModel(inject)


def inject_norm(thing: Callable) -> FaultyModel:
    """layer_norm(x), without gain and bias."""

    class Norm(LayerNorm):
        def forward(self, x: Tensor) -> Tensor:
            return thing(x) * self.weight + self.bias

    def inject(model: TransformerEncoder) -> None:
        for layer in _layers(model):
            layer.norm1, layer.norm2 = Norm(layer.norm1.d_model), Norm(layer.norm1.d_model)

    return FaultyModel(inject, norm_first=True)


def inject_feed_forward(thing: Callable, *options: float) -> FaultyModel:
    """FeedForward(d_model, d_ff, *options)."""

    def inject(model: TransformerEncoder) -> None:
        _, *sizes = _sizes(model)
        for layer in _layers(model):
            layer.feed_forward = thing(*sizes, *options)

    return FaultyModel(inject)


def inject_block(thing: Callable) -> FaultyModel:
    """block(x, attend, network, norm1, norm2)."""

    class Layer(EncoderLayer):
        def forward(  # type: ignore[override]  # no packed row comes here
            self, x: Tensor, mask: Tensor | None = None
        ) -> Tensor:
            return thing(x, lambda x: self._attend(x, mask), self._feed_forward, self.norm1, self.norm2)

    def inject(model: TransformerEncoder) -> None:
        model.encoder.layers = nn.ModuleList(recast(layer, Layer) for layer in _layers(model))

    return FaultyModel(inject)


def inject_stack(thing: Callable) -> FaultyModel:
    """Stack(n_layers, d_model, n_heads, d_ff)."""

    def inject(model: TransformerEncoder) -> None:
        n_layers, d_model, d_ff = _sizes(model)
        model.encoder = thing(n_layers, d_model, model.n_heads, d_ff)

    return FaultyModel(inject)


def inject_encode(thing: Callable) -> FaultyModel:
    """encode(ids, embedding, layers)."""

    def inject(model: TransformerEncoder) -> None:
        model.__dict__["forward"] = lambda ids: thing(ids, model.embedding, model.encoder.layers)  # of this one alone

    return FaultyModel(inject)


def inject_embedding(thing: Callable) -> FaultyModel:
    """Embedding(vocab_size, d_model): ids -> vectors with their positions."""

    def inject(model: TransformerEncoder) -> None:
        table = model.embedding.token
        model.embedding = thing(table.vocab_size, table.d_model)

    return FaultyModel(inject)


def inject_words(thing: Callable) -> FaultyModel:
    """Words(vocab_size, d_model, padding_idx): ids -> vectors."""

    def inject(model: TransformerEncoder) -> None:
        table = model.embedding.token
        model.embedding.token = thing(table.vocab_size, table.d_model, table.padding_idx)

    return FaultyModel(inject)


def inject_positions(thing: Callable) -> FaultyModel:
    """Positions(d_model): vectors -> vectors with their positions."""

    def inject(model: TransformerEncoder) -> None:
        model.embedding.position = thing(model.embedding.token.d_model)

    return FaultyModel(inject)


def inject_table(thing: Callable) -> FaultyModel:
    """table(length, d_model)."""

    class Rows(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + thing(*x.shape[-2:]).to(x)  # (B, T, D)

    def inject(model: TransformerEncoder) -> None:
        model.embedding.set_submodule("position", Rows())

    return FaultyModel(inject)
