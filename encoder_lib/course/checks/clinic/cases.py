"""The check of each case: of 1 to 4, one for each test, and of the unknown patient."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from encoder_lib.course.checks.clinic.tools import all_true, double, other_shape, trainable
from encoder_lib.course.checks.elsewhere import left_behind
from encoder_lib.course.checks.modules import (
    count,
    encoder_layers,
    equal_matrices,
    in_a_row,
    made,
    run,
)
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.seeded import seeded


def check_stack(thing: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff): encoder layers in a row, each with parameters of its own."""

    def many(thing: Callable, n_layers: int) -> str:
        return trainable(made(thing, n_layers, 4, 1, 6), n_layers * count(EncoderLayer(4, 1, 6)))

    def apart(thing: Callable) -> str:
        pairs = equal_matrices(made(thing, 2, 4, 1, 6))
        return f"expected layers that begin apart, got {pairs} pairs of equal matrices" if pairs else ""

    def one_by_one(thing: Callable) -> str:
        module, x = made(thing, 3, 4, 1, 6), numbers(2, 3, 4)
        mask = torch.tensor([[True, True, False], [True, True, True]])[:, None, None]  # (B, 1, 1, T)
        expected = in_a_row(encoder_layers(module), x, mask)
        return difference("three layers, and one token hidden", expected, run(module, x, mask))

    probes = (
        Probe("it runs", lambda thing: other_shape(made(thing, 2, 4, 1, 6), 2, 3, 4)),
        Probe("one layer", partial(many, n_layers=1)),
        Probe("three layers", partial(many, n_layers=3)),
        Probe("the first numbers", apart),
        Probe("layers in a row", one_by_one),
    )
    return diagnose("Case 1, Stack", thing, probes)


def check_torch_mask(thing: Callable) -> Verdict:
    """attend(attention, x, real): torch's nn.MultiheadAttention on x (B, T, D), real (B, T) True where a word is."""

    def look(x: Tensor, real: Tensor) -> Callable[[Callable], str]:
        def ask(thing: Callable) -> str:
            theirs = nn.MultiheadAttention(x.shape[-1], 1, batch_first=True, dtype=torch.float64)
            with torch.no_grad():
                theirs.in_proj_weight.copy_(torch.eye(x.shape[-1]).repeat(3, 1))
                theirs.out_proj.weight.copy_(torch.eye(x.shape[-1]))
            mask = real[:, None, :] & all_true(1, real.shape[1], 1)  # (B, T, T)
            given = f"vectors {x.tolist()}, real {real.tolist()}" if x.numel() < 5 else f"x of shape {tuple(x.shape)}"
            got = thing(theirs, x.clone(), real.clone())
            return difference(given, attention(x, x, x, mask)[0], got)

        return ask

    lengths = torch.arange(4) < torch.tensor([[4], [1], [3]])
    probes = (
        Probe("a word and padding", look(double([[[1], [5]]]), torch.tensor([[True, False]]))),
        Probe("no padding", look(double([[[1], [5]]]), all_true(1, 2))),
        Probe("sentences of three lengths", look(numbers(3, 4, 2), lengths)),
    )
    return diagnose("Case 2, attend", thing, probes)


def check_positions(thing: Callable) -> Verdict:
    """Positions(d_model): adds the sinusoidal table, in the dtype and on the device that the module was moved to."""

    def moved(dtype: torch.dtype) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            x = torch.zeros(1, 3, 4, dtype=dtype)
            got = run(made(thing, 4).to(dtype), x)
            problem = difference("3 zero vectors", sinusoidal_table(3, 4, dtype=dtype)[None].double(), got.double())
            if dtype == torch.float16:
                problem = ""  # rounding; only the dtype counts
            return problem or ("" if got.dtype == dtype else f"{dtype} in, {got.dtype} out")

        return look

    def batch(thing: Callable) -> str:
        x = numbers(2, 5, 6)
        expected = x + sinusoidal_table(5, 6, dtype=torch.float64)
        return difference("2 sequences of 5 tokens", expected, run(made(thing, 6), x))

    def elsewhere(thing: Callable) -> str:
        return left_behind(made(thing, 4), torch.zeros(1, 3, 4, dtype=torch.float64))

    def fixed(thing: Callable) -> str:
        names = [name for name, weight in made(thing, 4).named_parameters() if weight.requires_grad]
        return f"expected nothing to train, got {', '.join(names)}" if names else ""

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
    """multi_head(layer, query, key, value, mask): what the course's attention gives, with its own four maps."""

    def beside(n_heads: int, queries: int = 3, *, padded: bool = False) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            with seeded(0):
                layer = MultiHeadAttention(4, n_heads).double()
            x, mask = numbers(2, 3, 4), torch.tensor([[[[True, True, False]]]]) if padded else None  # (1, 1, 1, T)
            given = f"n_heads {n_heads}, query of shape {(2, queries, 4)}, key and value of shape {(2, 3, 4)}"
            return difference(given, layer(x[:, :queries], x, x, mask), thing(layer, x[:, :queries], x, x, mask))

        return look

    probes = (
        Probe("one head", beside(1)),
        Probe("two heads", beside(2)),
        Probe("padding", beside(2, padded=True)),
        Probe("fewer queries than keys", beside(2, queries=2)),
    )
    return diagnose("Case 5, multi_head", thing, probes)
