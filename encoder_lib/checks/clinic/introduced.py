"""Cases 1 to 5: each is what one of the five tests was made for."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from encoder_lib.checks.clinic.tools import (
    all_true,
    count,
    double,
    made,
    network,
    no_gradient,
    of_shape,
    run,
)
from encoder_lib.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.seeded import seeded


@seeded(0)
def check_evaluation(thing: Callable) -> Verdict:
    """FeedForward(d_model, d_ff, dropout): dropout on the hidden numbers, in training mode alone."""

    def twice(training: bool) -> float:
        module, x = made(thing, 4, 32, 0.5).train(training), numbers(2, 3, 4)
        return (module(x) - module(x)).abs().max().item()

    def evaluating(thing: Callable) -> str:
        moved = twice(training=False)
        return f"the two outputs differ by up to {moved:.4f}" if moved > 1e-9 else ""

    def training(thing: Callable) -> str:
        return "" if twice(training=True) > 1e-9 else "expected dropout 0.5 to change the output, got the same twice"

    def formula(thing: Callable) -> str:
        module, x = made(thing, 4, 32, 0.5).eval(), numbers(2, 3, 4)
        return difference("2 sequences of 3 tokens", network(module, x, 32), run(module, x))

    def all_silent(thing: Callable) -> str:
        module, x = made(thing, 4, 5, 0.99999), numbers(1, 1, 4)
        got = run(module, x)
        return difference("a dropout of 0.99999, the second bias alone,", of_shape(module, 4).expand(1, 1, 4), got)

    def once_more(thing: Callable) -> str:
        module, x = made(thing, 4, 32, 0.5), numbers(2, 3, 4)
        module.eval(), run(module, x), module.train()
        same = torch.equal(module(x), module(x))
        return "after eval() and train(), expected dropout to be back, got the same twice" if same else ""

    probes = (
        Probe("twice in eval mode", evaluating),
        Probe("twice in training mode", training, "Training still needs dropout: do not take it out."),
        Probe("the formula in eval mode", formula, "In eval mode nothing is left but two linear maps and the ReLU."),
        Probe("back in training mode", once_more, "The flag may change at any time: who reads it, and when?"),
        Probe(
            "every hidden number silent",
            all_silent,
            "Dropout belongs on the hidden numbers, before the second map, and at the rate that was asked for.",
        ),
    )
    hints = (
        "model.eval() sets one flag in every module. Who reads it here?",
        "F.dropout does not know which module it is called from. Read its list of arguments.",
        "A module has its flag as self.training. Something has to hand it on, or to be a module itself.",
    )
    return diagnose("Case 1, FeedForward", thing, probes, hints)


@seeded(0)
def check_stack(thing: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff): encoder layers in a row, each with parameters of its own."""

    def many(n_layers: int) -> str:
        layer = sum(weight.numel() for weight in EncoderLayer(4, 1, 6).parameters())
        return count(made(thing, n_layers, 4, 1, 6), n_layers * layer)

    def apart(thing: Callable) -> str:
        matrices = [weight for weight in made(thing, 2, 4, 1, 6).parameters() if weight.ndim == 2]
        pairs = [(a, b) for i, a in enumerate(matrices) for b in matrices[:i] if torch.equal(a, b)]
        return f"expected layers that begin apart, got {len(pairs)} pairs of equal matrices" if pairs else ""

    def in_a_row(thing: Callable) -> str:
        module, x = made(thing, 3, 4, 1, 6), numbers(2, 3, 4)
        mask, expected = torch.tensor([[True, True, False], [True, True, True]])[:, None, None], x
        for layer in (m for m in module.modules() if isinstance(m, EncoderLayer)):
            expected = layer(expected, mask)  # (B, T, D)
        return difference("three layers, and one token hidden", expected, run(module, x, mask))

    def shape(thing: Callable) -> str:
        got = run(made(thing, 2, 4, 1, 6), numbers(2, 3, 4)).shape
        return "" if got == (2, 3, 4) else f"with x of shape (2, 3, 4) expected the same shape, got {tuple(got)}"

    probes = (
        Probe(
            "it runs",
            shape,
            "Read the error. Is it about types? The check moves the stack to float64; what is in a list stays behind.",
        ),
        Probe("what training reaches", lambda thing: no_gradient(made(thing, 2, 4, 1, 6), numbers(2, 3, 4))),
        Probe("one layer", lambda thing: many(1), "parameters() sees what is in an nn.ModuleList, and not in a list."),
        Probe("three layers", lambda thing: many(3), "A list that holds one object three times holds one layer."),
        Probe("the first numbers", apart, "The second fault: a deep copy copies the random numbers too."),
        Probe("layers in a row", in_a_row, "Each layer reads what the one before has written, and gets the mask."),
    )
    hints = (
        "How many layers does the object hold? Count what is assigned to self.",
        "Whatever is assigned to self is registered, whether forward uses it or not.",
        "A name without self is gone when the method ends, and takes nothing along.",
    )
    return diagnose("Case 2, Stack", thing, probes, hints)


@seeded(0)
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
    turned = "The mask is right for two tokens. Queries, keys and values are all x as it came."
    probes = (
        Probe("a word and padding", look(double([[[1], [5]]]), torch.tensor([[True, False]]))),
        Probe(
            "no padding",
            look(double([[[1], [5]]]), all_true(1, 2)),
            "Here both are words, and nothing may be hidden. What does your mask say of them?",
        ),
        Probe("sentences of three lengths", look(numbers(3, 4, 2), lengths), turned),
        Probe("wide vectors", look(numbers(3, 4, 6), lengths), turned),
    )
    hints = (
        "Whose vector came out: the word's, the padding's, or a mixture of both?",
        "Read what nn.MultiheadAttention says of key_padding_mask: what does True stand for there?",
        "Two conventions are in use, each the opposite of the other. Translate at the border.",
    )
    return diagnose("Case 3, attend", thing, probes, hints)


@seeded(0)
def check_positions(thing: Callable) -> Verdict:
    """Positions(d_model): adds the sinusoidal table, in the dtype and on the device that the module was moved to."""

    def moved(dtype: torch.dtype) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            x = torch.zeros(1, 3, 4, dtype=dtype)
            got = run(made(thing, 4).to(dtype), x)
            problem = difference("3 zero vectors", sinusoidal_table(3, 4, dtype=dtype)[None].double(), got.double())
            if dtype in (torch.float16, torch.bfloat16):
                problem = ""  # rounding; only the dtype counts
            return problem or ("" if got.dtype == dtype else f"{dtype} in, {got.dtype} out")

        return look

    def elsewhere(thing: Callable) -> str:
        got = made(thing, 4).to("meta")(torch.zeros(1, 3, 4, dtype=torch.float64, device="meta"))
        return "" if got.device.type == "meta" else f"after .to('meta'), the result was on {got.device}"

    def fixed(thing: Callable) -> str:
        names = [name for name, weight in made(thing, 4).named_parameters() if weight.requires_grad]
        return f"expected nothing to train, got {', '.join(names)}" if names else ""

    rows = "Each sentence gets the first T rows of the table, added to what is there: row 0 for its first token."
    probes = (
        Probe("as it was made", moved(torch.float64), rows),
        Probe("after .to(torch.float32)", moved(torch.float32)),
        Probe(
            "after .to(torch.float16)",
            moved(torch.float16),
            "One dtype more, and the table has kept its own. It has to follow whatever the module is moved to.",
        ),
        Probe(
            "on another device",
            elsewhere,
            "The dtype follows, the device does not. Torch can make the table the module's own, and move both.",
        ),
        Probe(
            "what training would change",
            fixed,
            "The table moves now, and it would learn. Besides parameters a module has tensors that only move.",
        ),
        Probe("a batch", lambda thing: difference(
            "2 sequences of 5 tokens", numbers(2, 5, 6) + sinusoidal_table(5, 6, dtype=torch.float64),
            run(made(thing, 6), numbers(2, 5, 6))), rows),
    )  # fmt: skip
    hints = (
        "What does .to(...) move? List parameters() and buffers() of your object.",
        "A tensor that is a plain attribute is not the module's business. Two kinds of tensors are, and move with it: "
        "those that learn, and those that do not. Which is this?",
        "What moves and does not learn is a buffer: self.register_buffer(name, tensor) makes it one.",
    )
    return diagnose("Case 4, Positions", thing, probes, hints)


@seeded(0)
def check_table(thing: Callable) -> Verdict:
    """position_table(length, d_model): sinusoidal positions (T, D)."""
    cases = [
        Case("one position", (1, 4), "At position 0 all angles are 0. Which columns hold sines there, which cosines?"),
        Case("one clock, two positions", (2, 2)),
        Case(
            "two clocks, three positions",
            (3, 4),
            "The first clock is right. Which angle do columns 2 and 3 have in common, at position 1?",
        ),
        Case("more columns than positions", (4, 16), "Two clocks are right. What is the third one's exponent?"),
        Case("a long table", (200, 6), "Short tables are right. What in yours holds only for the first positions?"),
    ]
    hints = (
        "Hold the columns of *got* beside those of *expected*: which angle does each of them belong to?",
        "A sine and a cosine that make one clock turn with one speed.",
        "The exponent counts pairs of columns, not columns.",
    )

    def reference(length: int, d_model: int) -> Tensor:
        return sinusoidal_table(length, d_model, dtype=torch.float64)

    return examine("Case 5, position_table", thing, reference, cases, hints)
