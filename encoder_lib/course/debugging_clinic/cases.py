"""The checks of the five cases: 1 to 4, one for each test, and 5, the unknown patient."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from encoder_lib.course.debugging_clinic.tools import all_true, double, other_shape, trainable
from encoder_lib.course.kit.checking.fake_device import device_mismatch
from encoder_lib.course.kit.checking.gradients import missing_gradients, wrong_gradients
from encoder_lib.course.kit.checking.inputs import call
from encoder_lib.course.kit.checking.modules import (
    build,
    count,
    encoder_layers,
    equal_matrices,
    run,
    run_layers,
    without_gradient,
)
from encoder_lib.course.kit.checking.results import as_tensor
from encoder_lib.course.kit.checking.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.seeded import seeded


def check_stack(thing: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff): encoder layers one after another, each with its own parameters."""

    def many(thing: Callable, n_layers: int) -> str:
        return trainable(build(thing, n_layers, 4, 1, 6), n_layers * count(EncoderLayer(4, 1, 6)))

    def apart(thing: Callable) -> str:
        pairs = equal_matrices(build(thing, 2, 4, 1, 6))
        return f"expected layers with different initial values, got {pairs} pairs of equal matrices" if pairs else ""

    def one_by_one(thing: Callable) -> str:
        module, theirs = build(thing, 3, 6, 2, 5), [EncoderLayer(6, 2, 5).double() for _ in range(3)]
        if problem := trainable(module, 3 * count(theirs[0])):
            return problem
        for layer, mine in zip(theirs, encoder_layers(module), strict=True):
            layer.load_state_dict(mine.state_dict())
        x, other = (numbers(2, 3, 6).requires_grad_() for _ in range(2))
        mask = torch.tensor([[True, True, False], [True, True, True]])[:, None, None]  # (B, 1, 1, T)
        y, expected = run(module, x, mask), run_layers(theirs, other, mask)
        return (
            difference("three layers, with one token masked out", expected, y)
            or missing_gradients(y, dict(module.named_parameters()))
            or wrong_gradients(y, {"x": x}, expected, {"x": other})
        )

    probes = (
        Probe("it runs", lambda thing: other_shape(build(thing, 2, 4, 1, 6), 2, 3, 4)),
        Probe("one layer", partial(many, n_layers=1)),
        Probe("three layers", partial(many, n_layers=3)),
        Probe("the initial values", apart),
        Probe("layers one after another", one_by_one),
    )
    return diagnose("Case 1, Stack", thing, probes)


def check_torch_mask(thing: Callable) -> Verdict:
    """attend(attention, x, real): runs torch's nn.MultiheadAttention on x (B, T, D); real (B, T) is True at words."""

    def plain(x: Tensor, real: Tensor) -> Callable[[Callable], str]:
        """Ask with an attention whose matrices change nothing."""

        def ask(thing: Callable) -> str:
            theirs = nn.MultiheadAttention(x.shape[-1], 1, batch_first=True, dtype=torch.float64)
            with torch.no_grad():
                theirs.in_proj_weight.copy_(torch.eye(x.shape[-1]).repeat(3, 1))
                theirs.out_proj.weight.copy_(torch.eye(x.shape[-1]))
            mask = real[:, None, :] & all_true(1, real.shape[1], 1)  # (B, T, T)
            given = f"vectors {x.tolist()}, real {real.tolist()}"
            return difference(given, attention(x, x, x, mask)[0], call(thing, theirs, x, real))

        return ask

    def drawn(factor: float) -> Callable[[Callable], str]:
        """Ask with random parameters and sentences of three lengths; compare numbers and gradients."""

        def ask(thing: Callable) -> str:
            theirs = nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
            for seed, parameter in enumerate(theirs.parameters()):
                parameter.data = numbers(*parameter.shape, seed=seed)
            x, other = (factor * numbers(3, 4, 4).requires_grad_() for _ in range(2))
            real = torch.arange(4) < torch.tensor([[4], [1], [3]])
            y, expected = call(thing, theirs, x, real), theirs(other, other, other, key_padding_mask=~real)[0]
            return difference(f"x of shape {tuple(x.shape)}", expected, y) or wrong_gradients(
                y, {"x": x}, expected, {"x": other}
            )

        return ask

    probes = (
        Probe("a word and padding", plain(double([[[1], [5]]]), torch.tensor([[True, False]]))),
        Probe("no padding", plain(double([[[1], [5]]]), all_true(1, 2))),
        Probe("sentences of three lengths", drawn(1.0)),
        Probe("scores far below zero", drawn(30.0)),
    )
    return diagnose("Case 2, attend", thing, probes)


def check_positions(thing: Callable) -> Verdict:
    """Positions(d_model): adds the sinusoidal table, in the dtype and on the device that the module was moved to."""

    def moved(dtype: torch.dtype) -> Callable[[Callable], str]:
        def ask(thing: Callable) -> str:
            x = torch.zeros(1, 3, 4, dtype=dtype)
            expected, got = sinusoidal_table(3, 4, dtype=dtype)[None].double(), run(build(thing, 4).to(dtype), x)
            mine = as_tensor(got).double()
            if dtype == torch.float16 and mine.shape == expected.shape:
                mine = torch.where((mine - expected).abs() < 0.01, expected, mine)  # float16 rounds
            return difference("3 zero vectors", expected, mine) or (
                "" if got.dtype == dtype else f"{dtype} in, {got.dtype} out"
            )

        return ask

    def batch(thing: Callable) -> str:
        module, x = build(thing, 6), numbers(2, 60, 6)
        expected = x + sinusoidal_table(60, 6, dtype=torch.float64)
        return difference("2 sequences of 60 tokens", expected, run(module, x)) or without_gradient(module, x)

    def elsewhere(thing: Callable) -> str:
        return device_mismatch(build(thing, 4), torch.zeros(1, 3, 4, dtype=torch.float64))

    def fixed(thing: Callable) -> str:
        names = [name for name, weight in build(thing, 4).named_parameters() if weight.requires_grad]
        return f"expected no trainable parameters, got {', '.join(names)}" if names else ""

    probes = (
        Probe("as it was made", moved(torch.float64)),
        Probe("after .to(torch.float32)", moved(torch.float32)),
        Probe("after .to(torch.float16)", moved(torch.float16)),
        Probe("on another device", elsewhere),
        Probe("what training would change", fixed),
        Probe("a batch", batch, hint="as it was made"),
    )
    return diagnose("Case 3, Positions", thing, probes)


def check_table(thing: Callable) -> Verdict:
    """position_table(length, d_model): sinusoidal positions (T, D)."""
    cases = [
        Case("one position", (1, 4)),
        Case("one clock, two positions", (2, 2)),
        Case("two clocks, three positions", (3, 4)),
        Case("a long table", (200, 6)),
    ]

    def reference(length: int, d_model: int) -> Tensor:
        return sinusoidal_table(length, d_model, dtype=torch.float64)

    return examine("Case 4, position_table", thing, reference, cases)


def check_unknown(thing: Callable) -> Verdict:
    """multi_head(layer, query, key, value, mask): what the course's attention returns, with its four linear layers."""

    def beside(n_heads: int, mask: Tensor | None = None) -> Callable[[Callable], str]:
        """Ask for self-attention, D = 4."""

        def ask(thing: Callable) -> str:
            with seeded(0):
                layer = MultiHeadAttention(4, n_heads).double()
            x = numbers(2, 3, 4)
            given = f"n_heads {n_heads}, query of shape {(2, 3, 4)}, key and value of shape {(2, 3, 4)}"
            return difference(given, layer(x, x, x, mask), call(thing, layer, x, x, x, mask))

        return ask

    def across(thing: Callable, factor: float) -> str:
        """Ask with two queries, and other vectors as keys and as values, D = 6; compare numbers and gradients."""
        with seeded(0):
            layer = MultiHeadAttention(6, 3).double()
        mask = torch.tensor([[[[True, True, False]]], [[[True, False, True]]]])  # (B, 1, 1, T)
        shapes = {"query": (2, 2, 6), "key": (2, 3, 6), "value": (2, 3, 6)}
        mine, theirs = (
            {
                name: factor * numbers(*shape, seed=seed).requires_grad_()
                for seed, (name, shape) in enumerate(shapes.items())
            }
            for _ in range(2)
        )
        y, expected = call(thing, layer, *mine.values(), mask), layer(*theirs.values(), mask)
        given = "n_heads 3, query of shape (2, 2, 6), key and value of shape (2, 3, 6), and padding"
        return difference(given, expected, y) or wrong_gradients(y, mine, expected, theirs)

    probes = (
        Probe("one head", beside(1)),
        Probe("two heads", beside(2)),
        Probe("padding", beside(2, torch.tensor([[[[True, True, False]]]]))),
        Probe("fewer queries than keys", partial(across, factor=1.0)),
        Probe("scores far below zero", partial(across, factor=60.0)),
    )
    return diagnose("Case 5, multi_head", thing, probes)
