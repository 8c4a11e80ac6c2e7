"""The encoder that a reader has built, part by part, with the library's parts in the places that are still empty."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from encoder_lib import checks, expect
from encoder_lib.checks import build, parts
from encoder_lib.checks.verdict import UNWRITTEN, Probe, Verdict, diagnose
from encoder_lib.notebook import table
from encoder_lib.pretrained.weights import INSIDE, OUTSIDE
from encoder_lib.workshop.lines import lines_of

LEAVES = ("Embedding", "Positions", "Norm", "Attention", "FeedForward")  # they have parameters; the others hold them
KINDS = dict(
    zip(LEAVES, (build.EMBEDDING, build.POSITIONS, build.NORM, build.ATTENTION, build.FEED_FORWARD), strict=True)
)
CHECKS: dict[str, Callable[[Callable], Verdict]] = {
    "Embedding": checks.check_own_embedding,
    "Positions": checks.check_own_positions,
    "Norm": checks.check_own_norm,
    "Attention": checks.check_own_attention,
    "FeedForward": checks.check_own_feed_forward,
    "Block": checks.check_own_block,
    "Encoder": checks.check_own_encoder,
    "pool": checks.check_pool,
    "learn": checks.check_learn,
}

OF_PIECES = (
    "What comes out has to stand in the list of your names, letter for letter. Pieces are replaced from the top: a "
    "longer one comes before one that it contains."
)
OF_ROWS = (
    "A name cannot say which rows of a parameter are meant. The library fills it row by row when it loads; or write "
    "three maps in Attention, one each for queries, keys and values."
)


class Workshop:
    """Nine parts of an encoder: what the reader wrote where its check finds nothing wrong, else the library's.

        mine = Workshop(Embedding, …, learn)        mine.Attention(384, 12) is yours, or ours in its place

    The parts are called as 12_build_your_own says. How a reader names parameters is the reader's affair: which is which
    is found by what a part computes.

    Raises: TypeError when there are not nine.
    """

    def __init__(self, *given: Any):
        if len(given) != len(CHECKS):
            raise TypeError(f"given: expected the nine parts {', '.join(CHECKS)}, in this order, got {len(given)}")
        self.given = dict(zip(CHECKS, given, strict=True))
        self.verdicts = {name: check(self.given[name]) for name, check in CHECKS.items()}
        lent = {
            name: part if self.verdicts[name].correct else getattr(parts, name) for name, part in self.given.items()
        }
        self.Embedding, self.Positions, self.Norm = lent["Embedding"], lent["Positions"], lent["Norm"]
        self.Attention, self.FeedForward = lent["Attention"], lent["FeedForward"]
        self.Block, self.Encoder = lent["Block"], lent["Encoder"]
        self.pool, self.learn = lent["pool"], lent["learn"]
        found = {name: build.order_of(KINDS[name], getattr(self, name)) for name in LEAVES}
        self._kinds = {kind: name for name, (kind, _) in found.items()}  # of which class each part is
        self._orders = {name: order for name, (_, order) in found.items()}

    @property
    def own(self) -> list[str]:
        """The names of the parts that are the reader's."""
        return [name for name, verdict in self.verdicts.items() if verdict.correct]

    def __repr__(self) -> str:
        borrowed = [name for name in CHECKS if name not in self.own]
        lent = f"; lent by the library: {', '.join(borrowed)}" if borrowed else ", all of them"
        return f"yours: {len(self.own)} of {len(CHECKS)} parts{lent}"

    def board(self) -> pd.DataFrame:
        """The nine parts as a table: whose each is, and why."""
        verdicts = self.verdicts.values()
        columns = {
            "whose": ["yours" if verdict.correct else "the library's" for verdict in verdicts],
            "because": [_reason(verdict) for verdict in verdicts],
            "lines": [str(lines_of(self.given[name])) if name in self.own else "" for name in CHECKS],
        }
        return table(columns, rows=list(CHECKS))

    def lines(self) -> int:
        """How many lines the reader's own parts take, without comments, docstrings and empty lines."""
        return sum(lines_of(self.given[name]) for name in self.own)

    def from_torch(self, theirs: nn.TransformerEncoder) -> nn.ModuleList:
        """Blocks of these parts that hold the numbers of PyTorch's encoder.

        Raises: TypeError for what is no nn.TransformerEncoder; ValueError for settings that these parts don't have.
        """
        expect.kind("theirs", theirs, nn.TransformerEncoder, "an nn.TransformerEncoder")
        layers: list[Any] = list(theirs.layers)
        first = layers[0]
        wanted = {
            "activation='gelu'": first.activation is torch.nn.functional.gelu,
            "norm_first=False": not first.norm_first,
            "batch_first=True": first.self_attn.batch_first,
            "norm=None": theirs.norm is None,
            "bias=True": first.linear1.bias is not None,
        }
        if lacking := [setting for setting, there in wanted.items() if not there]:
            raise ValueError(f"theirs: expected an encoder with {lacking[0]}, as these parts have it")
        width, eps = first.self_attn.embed_dim, first.norm1.eps
        blocks = nn.ModuleList(
            self.Block(
                self.Attention(width, first.self_attn.num_heads),
                self.FeedForward(width, first.linear1.out_features),
                self.Norm(width, eps),
                self.Norm(width, eps),
            )
            for _ in layers
        ).to(first.linear1.weight)
        tensors = [group for layer in layers for group in _groups_of_torch(layer)]
        probe = torch.zeros(1, 1, width).to(first.linear1.weight)  # (B, T, D)
        for (_, name, leaf), groups in zip(self._called(blocks, lambda: _through(blocks, probe)), tensors, strict=True):
            parts.fill(self._groups(name, leaf), self._orders[name], groups)
        return blocks

    def load(
        self, encoder: nn.Module, published: Mapping[str, Tensor], my_name: Callable[[str], str] | None = None
    ) -> bool:
        """Put the published tensors of a BERT encoder into one that is made of these parts.

        By the names that `my_name` gives, if they are right; otherwise by what each part computes.

        Returns whether the names were the reader's.
        Raises: TypeError or ValueError for what is no encoder of these parts, or no dictionary; KeyError for a tensor
        that is missing.
        """
        named = my_name is not None and self.check_names(my_name, encoder, published).correct
        if my_name is not None and named:
            encoder.load_state_dict({my_name(name): tensor for name, tensor in published.items()})
        else:
            for piece, name in self._places(encoder, published):
                with torch.no_grad():
                    piece.values.copy_(published[name])
        return named

    def check_names(
        self, my_name: Callable[[str], str], encoder: nn.Module, published: Mapping[str, Tensor]
    ) -> Verdict:
        """my_name(name): the name of a published tensor in the reader's encoder, a text for a text.

        Raises: as `load`.
        """
        by_role = {name: piece for piece, name in self._places(encoder, published)}
        sizes = {name: tuple(parameter.shape) for name, parameter in encoder.named_parameters()}

        def one_each(attempt: Callable) -> str:
            try:
                first = attempt(next(iter(published)))
            except Exception:  # what follows tells of it
                return ""
            if first is None or first is ...:
                return UNWRITTEN
            shared = Counter(piece.name for piece in by_role.values())
            for mine, count in shared.items():
                if count > 1:
                    return f"{count} tensors of the file go into one parameter of yours, {mine}"
            return ""

        def names(attempt: Callable) -> str:
            for name in published:
                if (mine := attempt(name)) is None or mine is ...:
                    return UNWRITTEN
                if not isinstance(mine, str):
                    return f"for {name} expected a text, got {type(mine).__name__}"
                if mine not in sizes:
                    return f"{name} becomes {mine!r}, and your encoder has no parameter of that name"
            return ""

        def each_once(attempt: Callable) -> str:
            taken: dict[str, str] = {}
            for name in published:
                if (mine := attempt(name)) in taken:
                    return f"{taken[mine]} and {name} both become {mine}"
                taken[mine] = name
            return "".join(f"nothing of the file goes into {mine}" for mine in [*sizes] if mine not in taken)

        def shapes(attempt: Callable) -> str:
            for name, tensor in published.items():
                if sizes[mine := attempt(name)] != tuple(tensor.shape):
                    return f"{name} is {tuple(tensor.shape)}, and {mine} is {sizes[mine]}"
            return ""

        def sense(part: str) -> Callable[[Callable], str]:
            def look(attempt: Callable) -> str:
                for name in published:
                    if part in name and attempt(name) != by_role[name].name:
                        return f"{attempt(name)} has the shape of {name}, and your encoder uses it for something else"
                return ""

            return look

        of_pairs = "Same shape, other meaning: whoever exchanges the two gets no error, and wrong vectors."
        probes = [
            Probe("a parameter for each tensor", one_each, OF_ROWS),
            Probe("names that your encoder has", names, OF_PIECES),
            Probe("every parameter once", each_once),
            Probe("shapes that fit", shapes),
            Probe("what stands before the blocks", sense("embeddings."), of_pairs),
            Probe("queries, keys and values", sense(".attention.self."), of_pairs),
            Probe("the map behind the heads", sense(".attention.output.dense"), of_pairs),
            Probe(
                "the two norms of a block", sense(".LayerNorm."), of_pairs + " Theirs are called by what they follow."
            ),
            Probe("the rest", sense(""), of_pairs),
        ]
        hints = (
            "Print the two lists of names above and pair them off, one block by hand first. A dictionary of what to "
            "replace by what, gone through from the top, does the rest; longer texts before those that they hold.",
            "The number of the block stays; what stands before it and behind it changes.",
        )
        return diagnose("my_name", my_name, probes, hints)

    def _places(self, encoder: nn.Module, published: Mapping[str, Tensor]) -> Iterator[tuple[parts.Piece, str]]:
        """Each parameter of the encoder, under its full name, and the published tensor that belongs there."""
        expect.module("encoder", encoder)
        expect.mapping("published", published, "tensor", "{'embeddings.word_embeddings.weight': table}")
        leaves = self._called(
            encoder, lambda: encoder(torch.zeros(1, 1, dtype=torch.long, device=next(encoder.parameters()).device))
        )
        called = [name for _, name, _ in leaves]
        n_layers = (len(leaves) - 3) // 4
        if called != [*LEAVES[:3], *(n_layers * ("Attention", "Norm", "FeedForward", "Norm"))]:
            raise ValueError(
                f"encoder: expected one of this workshop's parts, got one that calls {', '.join(called) or 'none'}; "
                "was it made before the workshop? Then make it again"
            )
        kinds = ("weight", "bias")
        modules = [[module] for module in OUTSIDE.values()]
        for n in range(n_layers):
            inside = [f"encoder.layer.{n}.{module}" for module in INSIDE.values()]
            modules += [inside[:4], inside[4:5], inside[5:7], inside[7:]]
        for (path, name, leaf), theirs in zip(leaves, modules, strict=True):
            mine = self._groups(name, leaf)
            wanted = [
                f"{module}.{kind}"
                for module in theirs
                for kind in (kinds if len(theirs) > 1 or "Norm" in module else kinds[:1])
            ]
            pieces = [piece for place in self._orders[name] for piece in mine[place]]
            for piece, tensor_name in zip(pieces, wanted, strict=True):
                if tensor_name not in published:
                    raise KeyError(f"published: expected a tensor named {tensor_name!r}, got none")
                yield piece._replace(name=f"{path}.{piece.name}"), tensor_name

    def _groups(self, name: str, leaf: nn.Module) -> list[parts.Group]:
        width = None
        if KINDS[name].cut:
            width = next(module.in_features for module in leaf.modules() if isinstance(module, nn.Linear))
        return parts.groups(leaf, width)

    def _called(self, whole: nn.Module, run: Callable[[], object]) -> list[tuple[str, str, nn.Module]]:
        """The parts with parameters, in the order in which they are called: where each stands, its kind, itself."""
        called: list[tuple[str, str, nn.Module]] = []
        hooks = [
            module.register_forward_pre_hook(
                lambda leaf, _, path=path: called.append((path, self._kinds[type(leaf)], leaf))
            )
            for path, module in whole.named_modules()
            if type(module) in self._kinds
        ]
        try:
            with torch.no_grad():
                run()
        finally:
            for hook in hooks:
                hook.remove()
        return called


def _through(blocks: nn.ModuleList, x: Tensor) -> Tensor:
    for block in blocks:
        x = block(x)
    return x


def _groups_of_torch(layer: Any) -> list[list[list[Tensor]]]:
    """The tensors of a layer of PyTorch's, part by part in the order of the calls, as our parts have them."""
    attention = layer.self_attn
    stacked = zip(attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True)

    def norm(which: Any) -> list[list[Tensor]]:
        return [[which.weight], [which.bias]]

    def linear(*maps: Any) -> list[list[Tensor]]:
        return [[each.weight, each.bias] for each in maps]

    heads = [list(pair) for pair in stacked] + linear(attention.out_proj)
    return [heads, norm(layer.norm1), linear(layer.linear1, layer.linear2), norm(layer.norm2)]


def _reason(verdict: Verdict) -> str:
    if verdict.correct:
        return "its check finds nothing wrong"
    return "not written yet" if "nothing yet" in verdict.problem else f"✗ {verdict.problem.splitlines()[0][:60]}"
