"""Checks of 10_debugging_clinic: each takes a function or class that looks right, and shows where it is not.

`rounds()` puts what the checks last saw into whole encoders and lets the five tests of `ward` look at them.
"""

from collections.abc import Callable
from functools import wraps

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.attention import attention, masked_softmax
from encoder_lib.checks import ward
from encoder_lib.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.embedding import TransformerEmbedding
from encoder_lib.encoder import EncoderLayer
from encoder_lib.positional import sinusoidal_table

FAULTS: dict[str, Callable[[Callable], ward.Patient]] = {}  # the fault of each case, and how it gets into an encoder
_seen: dict[str, tuple[Callable, bool]] = {}  # what each check saw last, and whether it was right


def case(fault: str, operation: Callable[[Callable], ward.Patient]):
    """Register a check under the name of its fault; it then remembers what it saw."""

    def register(check: Callable[[Callable], Verdict]) -> Callable[[Callable], Verdict]:
        FAULTS[fault] = operation

        @wraps(check)
        def remember(thing: Callable) -> Verdict:
            with torch.random.fork_rng(devices=[]):  # the notebook's random numbers stay as they are
                torch.manual_seed(0)
                verdict = check(thing)
            _seen[fault] = thing, verdict.correct
            return verdict

        remember.fault = fault
        return remember

    return register


def rounds() -> tuple[dict[str, list[bool]], list[bool]]:
    """For each fault, which of the five tests catch what its check last saw; and whether that was right already.

    Raises: LookupError when no check has run yet.
    """
    if not _seen:
        raise LookupError("expected at least one case to look at, got none: run the cells of the cases first")
    names = [fault for fault in FAULTS if fault in _seen]
    caught = {
        name: [ward.catches(test, FAULTS[name](_seen[name][0])) for test in ward.TESTS.values()] for name in names
    }
    return caught, [_seen[name][1] for name in names]


def patient(fault: str) -> ward.Patient:
    """An encoder that has what the check of this fault saw last as one of its parts."""
    if fault not in _seen:
        raise LookupError(f"expected a fault whose cell has run, got {fault!r}; there are {list(_seen)}")
    return FAULTS[fault](_seen[fault][0])


# What several checks need.


def _double(rows) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def _made(thing: type, *sizes) -> nn.Module:
    """An object of the learner's class in float64, the same in each run."""
    torch.manual_seed(0)
    module = thing(*sizes)
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a class of nn.Module, got something that makes {type(module).__name__}")
    return module.double()


def _run(module: nn.Module, *inputs: Tensor) -> Tensor:
    """What a module gives; its dropout draws the same in each run."""
    torch.manual_seed(0)
    return module(*inputs)


def _of_shape(module: nn.Module, *shape: int) -> Tensor:
    """The one parameter of that shape."""
    found = [weight for weight in module.parameters() if weight.shape == shape]
    if len(found) != 1:
        raise ValueError(f"expected one parameter of shape {shape} in parameters(), found {len(found)}")
    return found[0]


def _count(module: nn.Module, expected: int) -> str:
    got = sum(weight.numel() for weight in module.parameters())
    return "" if got == expected else f"expected {expected} trainable numbers in parameters(), got {got}"


def _no_gradient(module: nn.Module, *inputs: Tensor) -> str:
    """Which parameters learn nothing."""
    y = _run(module, *inputs)
    (y * numbers(*y.shape, seed=9)).sum().backward()
    names = [name for name, weight in module.named_parameters() if weight.grad is None]
    if not names:
        return ""
    total = len(list(module.parameters()))
    return f"{len(names)} of {total} parameters got no gradient; the first is {names[0]}"


def _network(module: nn.Module, x: Tensor, d_ff: int) -> Tensor:
    """W₂ · relu(W₁ · x + b₁) + b₂ with the module's own weights, found by their shapes."""
    d_model = x.shape[-1]
    first, second = _of_shape(module, d_ff, d_model), _of_shape(module, d_model, d_ff)
    hidden = F.linear(x, first, _of_shape(module, d_ff)).relu()  # (…, F)
    return F.linear(hidden, second, _of_shape(module, d_model))


def _all(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


# It stops.


@case("a local variable", ward.put_feed_forward)
def check_feed_forward(thing: type) -> Verdict:
    """FeedForward(d_model, d_ff): Linear, ReLU, Linear."""

    def one_token(thing: type) -> str:
        module, x = _made(thing, 2, 3), _double([[[1, -1]]])
        got = _run(module, x)
        return difference("[[[1.0, -1.0]]]", _network(module, x, 3), got)

    def formula(thing: type) -> str:
        module, x = _made(thing, 4, 7), numbers(2, 3, 4)
        return difference("2 sequences of 3 tokens", _network(module, x, 7), _run(module, x))

    probes = (
        Probe("one token", one_token),
        Probe("what there is to train", lambda thing: _count(_made(thing, 2, 3), 2 * 3 + 3 + 3 * 2 + 2)),
        Probe("what training reaches", lambda thing: _no_gradient(_made(thing, 4, 7), numbers(2, 3, 4))),
        Probe("several sequences", formula),
    )
    hints = (
        "The error names an attribute. Where is it assigned, and to what does the assignment attach it?",
        "A name without `self.` is gone when the method ends.",
        "parameters() finds modules that are attributes, and those in nn.Sequential or nn.ModuleList; not a list's.",
    )
    return diagnose("Case 1, FeedForward", thing, probes, hints)


@case("keys cut by the queries", ward.put_split)
def check_split(thing: Callable) -> Verdict:
    """split(query, key, value, n_heads): each (B, T, D) cut into heads (B, H, T, K), whatever its own T is."""

    def cut(batch: int, queries: int, keys: int, d_model: int, n_heads: int) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            three = [numbers(batch, n, d_model, seed=i) for i, n in enumerate((queries, keys, keys))]
            got = thing(*(x.clone() for x in three), n_heads)
            if len(got) != 3:
                return f"expected three tensors, got {len(got)}"
            for name, x, heads in zip(("query", "key", "value"), three, got, strict=True):
                expected = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
                if problem := difference(f"a {name} of shape {tuple(x.shape)} and {n_heads} heads", expected, heads):
                    return problem
            return ""

        return look

    probes = (
        Probe("one query, one key", cut(1, 1, 1, 4, 2)),
        Probe("three queries, three keys", cut(1, 3, 3, 4, 2)),
        Probe("two queries, three keys", cut(1, 2, 3, 4, 2)),
        Probe("three queries, two keys", cut(1, 3, 2, 4, 2)),
        Probe("lengths that divide each other", cut(2, 2, 4, 6, 3)),
    )
    hints = (
        "Which of the three tensors are T rows long?",
        "A decoder's queries look at the encoder's keys: two texts, two lengths.",
        "Ask each tensor for its own shape before you cut it. The number of heads goes behind the tokens first.",
    )
    return diagnose("Case 2, split", thing, probes, hints)


def _weigh_cases(hidden: bool) -> list[Case]:
    """Inputs (scores, mask) of `weigh`, with rows that hide everything when `hidden`."""
    pair, three = _double([[0, 0]]), _double([[1, 2, 3]])
    cases = [
        Case("nothing hidden", (pair, _all(1, 2))),
        Case("the last of three hidden", (three, torch.tensor([[True, True, False]]))),
        Case("scores far below zero", (_double([[-30_000, -30_000]]), torch.tensor([[True, False]]))),
        Case("one mask for all queries", (numbers(2, 3, 4), torch.tensor([[True, False, True, True]]))),
    ]
    if hidden:
        rows = torch.tensor([[True, False], [False, False]])
        cases[2:2] = [Case("everything hidden", (pair, ~_all(1, 2))), Case("one row of two", (numbers(2, 2), rows))]
    return cases


@case("−1e9 in half precision", ward.put_weigh)
def check_half_precision(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows, in any floating-point dtype."""

    def exact(dtype: torch.dtype) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            scores, mask = torch.tensor([[0, 0, 3]], dtype=dtype), torch.tensor([[True, True, False]])
            got = thing(scores, mask)
            problem = difference(f"[[0, 0, 3]] in {dtype} and the last key hidden", _double([[0.5, 0.5, 0]]), got)
            return problem or ("" if got.dtype == dtype else f"{dtype} in, {got.dtype} out")

        return look

    def in_float64(thing: Callable) -> str:
        return examine("weigh", thing, masked_softmax, _weigh_cases(hidden=False), ("",)).problem

    probes = (
        Probe("float64", in_float64),
        Probe("float32", exact(torch.float32)),
        Probe("bfloat16", exact(torch.bfloat16)),
        Probe("float16", exact(torch.float16)),
    )
    hints = (
        "What is the smallest number that a float16 can hold? torch.finfo(torch.float16) knows.",
        "The fill has to be lower than any score and exist in every dtype.",
        "Ask the scores for their dtype, or take a number that each floating-point dtype has.",
    )
    return diagnose("Case 3, weigh", thing, probes, hints)


@case("ids for vectors", ward.put_embedding)
def check_embedding(thing: type) -> Verdict:
    """Embedding(vocab_size, d_model): token vector plus the sinusoidal row of its position."""

    def embed(ids: list, vocab_size: int, d_model: int) -> Callable[[Callable], str]:
        def look(thing: type) -> str:
            module, given = _made(thing, vocab_size, d_model), torch.tensor(ids)
            table = _of_shape(module, vocab_size, d_model)
            with torch.no_grad():
                table.copy_(torch.arange(1, table.numel() + 1).view_as(table) / 10)
            expected = table[given] + sinusoidal_table(given.shape[1], d_model, dtype=torch.float64)
            rows = f" and the table {[[round(n, 1) for n in row] for row in table.tolist()]}" if d_model == 2 else ""
            return difference(f"ids {ids}{rows}", expected, _run(module, given))

        return look

    probes = (
        Probe("the first word of the table", embed([[0]], 3, 2)),
        Probe("the last word of the table", embed([[2]], 3, 2)),
        Probe("as many tokens as numbers in a vector", embed([[3, 1, 2, 0]], 5, 4)),
        Probe("two sentences", embed([[3, 1, 2], [4, 4, 1]], 5, 4)),
        Probe("wide vectors", embed([[1, 2, 3]], 5, 16)),
    )
    hints = (
        "By how much is the result off? Where else does that number occur in the input?",
        "Print the shape of every term of the sum: which of them should be (B, T, D), and is?",
        "The tokens' vectors go in once, and each position's row once.",
    )
    return diagnose("Case 4, Embedding", thing, probes, hints)


@case("the table stays behind", ward.put_positions)
def check_positions(thing: type) -> Verdict:
    """Positions(d_model): adds the sinusoidal table, in the dtype and on the device that the module was moved to."""

    def moved(dtype: torch.dtype) -> Callable[[Callable], str]:
        def look(thing: type) -> str:
            x = torch.zeros(1, 3, 4, dtype=dtype)
            got = _run(_made(thing, 4).to(dtype), x)
            problem = difference("3 zero vectors", sinusoidal_table(3, 4, dtype=dtype)[None].double(), got.double())
            if dtype in (torch.float16, torch.bfloat16):
                problem = ""  # rounding; only the dtype counts
            return problem or ("" if got.dtype == dtype else f"{dtype} in, {got.dtype} out")

        return look

    def elsewhere(thing: type) -> str:
        got = _made(thing, 4).to("meta")(torch.zeros(1, 3, 4, dtype=torch.float64, device="meta"))
        return "" if got.device.type == "meta" else f"after .to('meta'), the result was on {got.device}"

    def fixed(thing: type) -> str:
        names = [name for name, weight in _made(thing, 4).named_parameters() if weight.requires_grad]
        return f"expected nothing to train, got {', '.join(names)}" if names else ""

    probes = (
        Probe("as it was made", moved(torch.float64)),
        Probe("after .to(torch.float32)", moved(torch.float32)),
        Probe("after .to(torch.float16)", moved(torch.float16)),
        Probe("on another device", elsewhere),
        Probe("what training would change", fixed),
        Probe("a batch", lambda thing: difference(
            "2 sequences of 5 tokens", numbers(2, 5, 6) + sinusoidal_table(5, 6, dtype=torch.float64),
            _run(_made(thing, 6), numbers(2, 5, 6)))),
    )  # fmt: skip
    hints = (
        "What does .to(...) move? List parameters() and buffers() of your object.",
        "A tensor that is a plain attribute is not the module's business. Torch has a way to make it so.",
        "The table must follow and must not learn: it is not a parameter.",
    )
    return diagnose("Case 5, Positions", thing, probes, hints)


# NaN, and other answers that differ.


@case("a row that sees nothing", ward.put_weigh)
def check_empty_text(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows; zeros where it allows none."""

    def value(thing: Callable) -> str:
        return examine("weigh", thing, masked_softmax, _weigh_cases(hidden=True), ("",)).problem

    def gradient(thing: Callable) -> str:
        scores = _double([[0, 0], [0, 0]]).requires_grad_()
        (thing(scores, torch.tensor([[True, True], [False, False]])) * _double([[1, 2], [3, 4]])).sum().backward()
        return difference("a second row that is hidden, the gradient:", _double([[-0.25, 0.25], [0, 0]]), scores.grad)

    hints = (
        "Write down the softmax of a row of −∞: what is divided by what?",
        "A finite fill gives no NaN. What does it give in a row where all numbers are the same?",
        "Whatever the softmax says, a hidden key has weight zero. There is a moment to say so.",
    )
    probes = (Probe("the weights", value), Probe("the gradient", gradient))
    return diagnose("Case 6, weigh", thing, probes, hints)


@case("a mask turned round", ward.put_torch_attend)
def check_torch_mask(thing: Callable) -> Verdict:
    """attend(attention, x, real): torch's nn.MultiheadAttention on x (B, T, D), real (B, T) True where a word is."""

    def look(x: Tensor, real: Tensor) -> Callable[[Callable], str]:
        def ask(thing: Callable) -> str:
            theirs = nn.MultiheadAttention(x.shape[-1], 1, batch_first=True, dtype=torch.float64)
            with torch.no_grad():
                theirs.in_proj_weight.copy_(torch.eye(x.shape[-1]).repeat(3, 1))
                theirs.out_proj.weight.copy_(torch.eye(x.shape[-1]))
            mask = real[:, None, :] & _all(1, real.shape[1], 1)  # (B, T, T)
            given = f"vectors {x.tolist()}, real {real.tolist()}" if x.numel() < 5 else f"x of shape {tuple(x.shape)}"
            got = thing(theirs, x.clone(), real.clone())
            return difference(given, attention(x, x, x, mask)[0], got)

        return ask

    lengths = torch.arange(4) < torch.tensor([[4], [1], [3]])
    probes = (
        Probe("a word and padding", look(_double([[[1], [5]]]), torch.tensor([[True, False]]))),
        Probe("no padding", look(_double([[[1], [5]]]), _all(1, 2))),
        Probe("sentences of three lengths", look(numbers(3, 4, 2), lengths)),
        Probe("wide vectors", look(numbers(3, 4, 6), lengths)),
    )
    hints = (
        "Whose vector came out: the word's, or the padding's?",
        "Read what nn.MultiheadAttention says of key_padding_mask: what does True stand for there?",
        "Two conventions are in use, each the opposite of the other. Translate at the border.",
    )
    return diagnose("Case 7, attend", thing, probes, hints)


@case("ε too small for float16", ward.put_norm)
def check_quiet_rows(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias, also in half precision."""

    def half(thing: Callable) -> str:
        got = thing(torch.full((1, 3), 3.0, dtype=torch.float16))
        return difference("[[3.0, 3.0, 3.0]] in float16", torch.zeros(1, 3), got)

    def same(label: str, x: Tensor) -> Probe:
        given = str(x.tolist()) if x.numel() <= 4 else f"x of shape {tuple(x.shape)}"
        return Probe(label, lambda thing: difference(given, F.layer_norm(x, x.shape[-1:]), thing(x.clone())))

    probes = (
        same("three numbers", _double([[1, 2, 6]])),
        same("a row of equal numbers", _double([[3, 3, 3]])),
        Probe("a row of equal numbers in half precision", half),
        same("small numbers", _double([[0.0, 0.001]])),
        same("a batch", numbers(2, 3, 8)),
    )
    hints = (
        "Which number keeps the denominator from being zero? Is it still there in float16?",
        "Numbers below 6e-8 do not exist in float16. Half precision is fine for vectors, and delicate for variances.",
        "Compare with torch.nn.functional.layer_norm on numbers as small as 0.001 too.",
    )
    return diagnose("Case 8, layer_norm", thing, probes, hints)


@case("layers made in forward", ward.put_self_attention)
def check_self_attention(thing: type) -> Verdict:
    """SelfAttention(d_model): x, mask -> attention with linear maps of its own for query, key and value."""

    def twice(thing: type) -> str:
        module, x = _made(thing, 2), _double([[[1, 0], [0, 1]]])
        first, second = module(x), module(x)
        moved = (second - first).abs().max().item()
        return f"the two outputs differ by up to {moved:.4f}" if moved > 1e-9 else ""

    def formula(thing: type) -> str:
        module, x = _made(thing, 4), numbers(2, 3, 4)
        weights = torch.cat([w for w in module.parameters() if w.ndim == 2]).split(4)  # three (D, D)
        biases = torch.cat([b for b in module.parameters() if b.ndim == 1]).split(4)
        mask, got = torch.tensor([[True, True, False]]), None
        for q, k, v in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            three = (F.linear(x, weights[i], biases[i]) for i in (q, k, v))
            got = _run(module, x, mask) if got is None else got
            if not difference("", attention(*three, mask)[0], got):
                return ""
        return "the output is not the attention of three linear maps of x, last token hidden"

    probes = (
        Probe("the same input twice", twice),
        Probe("what there is to train", lambda thing: _count(_made(thing, 4), 3 * (4 * 4 + 4))),
        Probe("what training reaches", lambda thing: _no_gradient(_made(thing, 4), numbers(2, 3, 4))),
        Probe("the formula", formula),
    )
    hints = (
        "When are the weights drawn, and how often?",
        "Print list(module.parameters()). What would an optimiser have to hold on to?",
        "A layer is made once and used many times: the two belong into different methods.",
    )
    return diagnose("Case 9, SelfAttention", thing, probes, hints)


@case("dropout that never stops", lambda thing: ward.put_feed_forward(thing, 0.5))
def check_evaluation(thing: type) -> Verdict:
    """FeedForward(d_model, d_ff, dropout): dropout on the hidden numbers, in training mode alone."""

    def twice(training: bool) -> float:
        module, x = _made(thing, 4, 32, 0.5).train(training), numbers(2, 3, 4)
        return (module(x) - module(x)).abs().max().item()

    def evaluating(thing: type) -> str:
        moved = twice(training=False)
        return f"the two outputs differ by up to {moved:.4f}" if moved > 1e-9 else ""

    def training(thing: type) -> str:
        return "" if twice(training=True) > 1e-9 else "expected dropout 0.5 to change the output, got the same twice"

    def formula(thing: type) -> str:
        module, x = _made(thing, 4, 32, 0.5).eval(), numbers(2, 3, 4)
        return difference("2 sequences of 3 tokens", _network(module, x, 32), _run(module, x))

    def once_more(thing: type) -> str:
        module, x = _made(thing, 4, 32, 0.5), numbers(2, 3, 4)
        module.eval(), _run(module, x), module.train()
        same = torch.equal(module(x), module(x))
        return "after eval() and train(), expected dropout to be back, got the same twice" if same else ""

    probes = (
        Probe("twice in eval mode", evaluating),
        Probe("twice in training mode", training),
        Probe("the formula in eval mode", formula),
        Probe("back in training mode", once_more),
    )
    hints = (
        "model.eval() sets one flag in every module. Who reads it here?",
        "F.dropout does not know which module it is called from. Read its list of arguments.",
        "Training still needs dropout: do not take it out.",
    )
    return diagnose("Case 10, FeedForward", thing, probes, hints)


# It trains, and something is missing.


@case("a registered template", ward.put_stack)
def check_stack(thing: type) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff): encoder layers in a row, each with weights of its own."""

    def many(n_layers: int) -> str:
        layer = sum(weight.numel() for weight in EncoderLayer(4, 1, 6).parameters())
        return _count(_made(thing, n_layers, 4, 1, 6), n_layers * layer)

    def apart(thing: type) -> str:
        matrices = [weight for weight in _made(thing, 3, 4, 1, 6).parameters() if weight.ndim == 2]
        pairs = [(a, b) for i, a in enumerate(matrices) for b in matrices[:i] if torch.equal(a, b)]
        return f"expected layers that begin apart, got {len(pairs)} pairs of equal matrices" if pairs else ""

    def shape(thing: type) -> str:
        got = _run(_made(thing, 2, 4, 1, 6), numbers(2, 3, 4)).shape
        return "" if got == (2, 3, 4) else f"with x of shape (2, 3, 4) expected the same shape, got {tuple(got)}"

    probes = (
        Probe("it runs", shape),
        Probe("what training reaches", lambda thing: _no_gradient(_made(thing, 2, 4, 1, 6), numbers(2, 3, 4))),
        Probe("one layer", lambda thing: many(1)),
        Probe("three layers", lambda thing: many(3)),
        Probe("the first weights", apart),
    )
    hints = (
        "How many layers does the object hold? Count what is assigned to self.",
        "Whatever is assigned to self is registered, whether forward uses it or not.",
        "A list that holds one object three times holds one layer; a deep copy copies the random weights too.",
    )
    return diagnose("Case 11, Stack", thing, probes, hints)


@case("a padding row not zero", ward.put_words)
def check_padding_row(thing: type) -> Verdict:
    """Words(vocab_size, d_model, padding_idx): Xavier-uniform rows, and a padding row of zeros that stays so."""

    def row(padding_idx: int) -> Callable[[Callable], str]:
        def look(thing: type) -> str:
            module = _made(thing, 5, 2, padding_idx)
            return difference(
                f"ids [[{padding_idx}]], the padding,",
                torch.zeros(1, 1, 2),
                _run(module, torch.tensor([[padding_idx]])),
            )

        return look

    def others(thing: type) -> str:
        y = _run(_made(thing, 50, 10, 0), torch.arange(1, 50)[None])
        if y.shape != (1, 49, 10):
            return f"with 49 ids expected shape (1, 49, 10), got {tuple(y.shape)}"
        largest, bound = y.abs().max().item(), (6 / 60) ** 0.5
        if 0.9 * bound < largest <= bound and y.abs().amin(dim=(0, 2)).min() > 0:
            return ""
        return f"expected every other row drawn from −{bound:.4f} … {bound:.4f}, got numbers up to {largest:.4f}"

    def trained(thing: type) -> str:
        module = _made(thing, 5, 2, 1)
        optimiser = torch.optim.SGD(module.parameters(), lr=1.0)
        module(torch.tensor([[1, 2, 1]])).sum().backward()
        optimiser.step()
        return difference("one step of training, padding", torch.zeros(1, 1, 2), module(torch.tensor([[1]])))

    probes = (
        Probe("padding 0", row(0)),
        Probe("padding 3", row(3)),
        Probe("the other words", others),
        Probe("after a step of training", trained),
    )
    hints = (
        "nn.Embedding sets the padding row to zero when it is made. What happens to the row afterwards?",
        "padding_idx keeps the gradient of that row at zero: what once stands there stays there.",
        "Who writes last wins. Changing a parameter by hand wants torch.no_grad().",
    )
    return diagnose("Case 12, Words", thing, probes, hints)


def _attend(name: str, thing: Callable, cases: list[Case], hints: tuple[str, ...]) -> Verdict:
    return examine(name, thing, lambda q, k, v, mask: attention(q, k, v, mask)[0], cases, hints)


def _attend_cases(seed: int = 0) -> list[Case]:
    """Inputs (query, key, value, mask) that any attention has to get right."""
    three = [numbers(2, 3, 4, seed=seed + i) for i in range(3)]
    return [
        Case("a batch", (*three, _all(2, 1, 3))),
        Case("the last key hidden", (*three, torch.tensor([True, True, False]).expand(2, 1, 3))),
        Case("more keys than queries", (three[0][:, :2], *three[1:], _all(2, 1, 3))),
        Case("more queries than keys", (three[0], three[1][:, :2], three[2][:, :2], _all(2, 1, 2))),
        Case("queries much larger than keys", (three[0] * 10, *three[1:], _all(2, 1, 3))),
    ]


@case("a causal mask left in", ward.put_attend)
def check_context(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): attention as an encoder has it."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), _double([[[0], [1]]])
    cases = [
        Case("one token", (zero[:, :1], zero[:, :1], pair[:, 1:], _all(1, 1, 1))),
        Case("two tokens", (zero, zero, pair, _all(1, 1, 2))),
        *_attend_cases(),
    ]
    hints = (
        "Which tokens had a say in the first row of the result, and which should have had?",
        "Print the mask that the softmax gets.",
        "A decoder must not see what comes next. An encoder reads a text that is there already.",
    )
    return _attend("Case 13, attend", thing, cases, hints)


@case("a (B, T) mask as (T, T)", ward.put_attend_real)
def check_batch_mask(thing: Callable) -> Verdict:
    """attend(query, key, value, real): attention to the real tokens of each sentence, real (B, T)."""

    def reference(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
        return attention(query, key, value, real[:, None, :])[0]

    def inputs(batch: int, length: int, *lengths: int) -> tuple[Tensor, ...]:
        real = torch.arange(length) < torch.tensor(lengths)[:, None]
        return *(numbers(batch, length, 4, seed=i) for i in range(3)), real

    zero, pair = torch.zeros(2, 2, 1, dtype=torch.float64), _double([[[0], [1]], [[0], [1]]])
    cases = [
        Case("one sentence", (zero[:1], zero[:1], pair[:1], torch.tensor([[True, False]]))),
        Case("two sentences of two tokens", (zero, zero, pair, torch.tensor([[True, True], [True, False]]))),
        Case("three sentences of four tokens", inputs(3, 4, 4, 2, 1)),
        Case("four sentences of four tokens", inputs(4, 4, 4, 2, 3, 1)),
        Case("one sentence of five", inputs(1, 5, 3)),
    ]
    hints = (
        "Write down the shape of the scores and, under it from the right, the shape of the mask. Which axes meet?",
        "Shapes are matched from the right: a mask (B, T) meets scores (B, query, key) in its last two axes.",
        "The mask has one row a sentence and says something about keys; it has nothing to say about queries.",
    )
    return examine("Case 14, attend", thing, reference, cases, hints)


@case("padding not masked", ward.put_encode)
def check_padding(thing: Callable) -> Verdict:
    """encode(ids, embedding, layers): vectors of a padded batch; id 0 is padding."""
    embedding = TransformerEmbedding(6, 4, padding_idx=0).double()
    layers = [EncoderLayer(4, 1, 8).double() for _ in range(2)]

    @torch.no_grad()
    def alone(ids: list[int]) -> Tensor:
        x = embedding(torch.tensor([ids]))
        for layer in layers:
            x = layer(x)
        return x[0]  # (T, D)

    def batch(*sentences: list[int]) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            length = max(map(len, sentences))
            ids = torch.tensor([[*s, *[0] * (length - len(s))] for s in sentences])
            got = thing(ids.clone(), embedding, layers)
            for i, sentence in enumerate(sentences):
                words = [n for n in sentence if n]
                if problem := difference(f"ids {ids.tolist()}, the words {words}", alone(words), got[i, : len(words)]):
                    return problem
            return ""

        return look

    probes = (
        Probe("no padding", batch([3, 1])),
        Probe("one padding token", batch([3, 0])),
        Probe("a short and a long sentence", batch([2, 5, 1], [4])),
        Probe("much padding", batch([2, 5, 0, 0, 0, 0])),
    )
    hints = (
        "The padding's row is zero. What is added to it before the first layer, and what are its key and its value?",
        "A key that is never to be looked at has to be hidden from the softmax, in every layer.",
        "The library's layers take the mask as a second argument; padding_mask(ids, 0) makes one.",
    )
    return diagnose("Case 15, encode", thing, probes, hints)


@case("softmax over queries", ward.put_attend)
def check_mixture(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): each output is a weighted mean of the values."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), _double([[[1], [1]]])
    cases = [
        Case("as many queries as keys, all alike", (zero, zero, pair, _all(1, 1, 2))),
        Case("one query, two equal values", (zero[:, :1], zero, pair, _all(1, 1, 2))),
        *_attend_cases(),
    ]
    hints = (
        "Both values are 1. Which number is a weighted mean of ones?",
        "For each query the weights sum to 1. Which axis of the scores do you sum over to see it?",
        "The scores are (B, query, key). Name the axis from the right, and it holds with heads too.",
    )
    return _attend("Case 16, attend", thing, cases, hints)


@case("network reads another x", ward.put_block)
def check_block(thing: Callable) -> Verdict:
    """block(x, attend, network, norm1, norm2): norm1(x + attend(x)), then norm2(x + network(x))."""

    def numbers_by_hand(thing: Callable) -> str:
        got = thing(_double([[[1]]]), lambda x: 2 * x, lambda x: x * x, lambda x: x / 2, lambda x: -x)
        given = "x = 1, attention that doubles, a network that squares, norm1 that halves and norm2 that turns the sign"
        return difference(given, _double([[[-3.75]]]), got)

    def real_parts(thing: Callable, n_heads: int, *shape: int) -> str:
        layer, x = EncoderLayer(shape[-1], n_heads, 7).double(), numbers(*shape)
        got = thing(x.clone(), lambda x: layer.attention(x, x, x), layer.feed_forward, layer.norm1, layer.norm2)
        return difference(f"a layer's own parts and x of shape {shape}", layer(x), got)

    def nothing_added(thing: Callable) -> str:
        got = thing(_double([[[1]]]), torch.zeros_like, torch.zeros_like, lambda x: x + 1, lambda x: 10 * x)
        return difference("branches that add nothing, x = 1, norm1 + 1 and norm2 · 10", _double([[[20]]]), got)

    probes = (
        Probe("without branches", nothing_added),
        Probe("one number", numbers_by_hand),
        Probe("one head", lambda thing: real_parts(thing, 1, 2, 3, 4)),
        Probe("two heads", lambda thing: real_parts(thing, 2, 1, 5, 6)),
    )
    hints = (
        "Follow the number 1 through the code by hand, and write down what each name stands for.",
        "A residual sum adds to a tensor what a branch made of the same tensor.",
        "Two different names are in the last line. Which of them is normalised?",
    )
    return diagnose("Case 17, block", thing, probes, hints)


# The numbers are a little off.


@case("a frequency a column", ward.put_table)
def check_table(thing: Callable) -> Verdict:
    """table(length, d_model): sinusoidal positions (T, D)."""
    cases = [
        Case("one position", (1, 4)),
        Case("one clock, two positions", (2, 2)),
        Case("two clocks, three positions", (3, 4)),
        Case("more columns than positions", (4, 16)),
        Case("a long table", (200, 6)),
    ]
    hints = (
        "Column 0 is right. Which number should column 1 have in common with it?",
        "A sine and a cosine that make one clock turn with one speed.",
        "The exponent counts pairs of columns, not columns.",
    )

    def reference(length: int, d_model: int) -> Tensor:
        return sinusoidal_table(length, d_model, dtype=torch.float64)

    return examine("Case 18, table", thing, reference, cases, hints)


@case("no 1/√K", ward.put_attend)
def check_wide(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): scaled dot-product attention at any width."""
    key, value = _double([[[1, 1, 1, 1], [0, 0, 0, 0]]]), _double([[[0], [1]]])
    cases = [
        Case("one number wide", (_double([[[1]]]), key[..., :1], value, _all(1, 1, 2))),
        Case("four numbers wide", (key[:, :1], key, value, _all(1, 1, 2))),
        *_attend_cases(),
        Case("sixteen wide", (*(numbers(1, 5, 16, seed=i) for i in range(3)), _all(1, 1, 5))),
    ]
    hints = (
        "One number wide it is right. What grows with the width?",
        "A dot product of K terms of variance 1 has variance K.",
        "Compare the formula of attention with the line of the scores, symbol by symbol.",
    )
    return _attend("Case 19, attend", thing, cases, hints)


@case("unbiased std, ε outside", ward.put_norm)
def check_layer_norm(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias."""

    def reference(x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:])

    cases = [
        Case("two numbers", (_double([[1, 3]]),)),
        Case("one number", (_double([[2]]),)),
        Case("numbers around zero", (_double([[-2, 0, 2]]),)),
        Case("a row of equal numbers", (_double([[3, 3, 3]]),)),
        Case("small numbers", (_double([[0.0, 0.001]]),)),
        Case("a batch", (numbers(2, 3, 8) + 5,)),
    ]
    hints = (
        "The mean of the squares of the result should be 1. By which factor is it off, for two numbers, and for eight?",
        "torch's std() divides by D − 1 unless told otherwise. Layer normalisation does not estimate anything.",
        "ε is added to the variance, before the root is taken: small numbers show the difference.",
    )
    return examine("Case 20, layer_norm", thing, reference, cases, hints)
