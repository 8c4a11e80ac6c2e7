"""The encoder that a reader has built, part by part, with the library's parts in the places that are still empty."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.course.build_your_own import checks as build
from encoder_lib.course.build_your_own.source import lines_of
from encoder_lib.course.kit.checking import parts
from encoder_lib.course.kit.checking.limit import TimeUp, run_within
from encoder_lib.course.kit.checking.verdict import PATIENCE, Probe, Unwritten, Verdict, diagnose, written
from encoder_lib.course.kit.notebook import table
from encoder_lib.course.training.checks import check_learn
from encoder_lib.from_torch import from_torch
from encoder_lib.pretrained.weights import INSIDE, OUTSIDE

if TYPE_CHECKING:
    import pandas as pd

# they have parameters; the others hold them
KINDS = {k.name: k for k in (build.EMBEDDING, build.POSITIONS, build.NORM, build.ATTENTION, build.FEED_FORWARD)}
CHECKS: dict[str, Callable[[Callable], Verdict]] = {
    "Embedding": build.check_own_embedding,
    "Positions": build.check_own_positions,
    "Norm": build.check_own_norm,
    "Attention": build.check_own_attention,
    "FeedForward": build.check_own_feed_forward,
    "Block": build.check_own_block,
    "Encoder": build.check_own_encoder,
    "vectors_of": build.check_vectors_of,
    "learn": check_learn,
}
BEFORE, IN_A_BLOCK = ("Embedding", "Positions", "Norm"), ("Attention", "Norm", "FeedForward", "Norm")  # as called
OWN, BROKEN, LENT = "yours", "yours, broken", "the library's"


class Workshop:
    """Nine parts of an encoder: what the reader wrote where its check finds nothing wrong, else the library's.

        mine = Workshop(Embedding, …, learn)        mine.Attention(384, 12) is yours, or ours in its place

    The parts are called as 12_build_your_own says. How a reader names parameters is the reader's affair: which is which
    is found by what a part computes. A part named in `broken` stays the reader's although its check objects, so that
    its damage can be seen, if it runs at all.

    Raises: TypeError when there are not nine; ValueError for a name in `broken` that is no part's.
    """

    def __init__(self, *given: Any, broken: Iterable[str] = ()):
        if len(given) != len(CHECKS):
            raise TypeError(f"given: expected the nine parts {', '.join(CHECKS)}, in this order, got {len(given)}")
        for name in (broken := tuple(broken)):
            expect.choice("broken", name, tuple(CHECKS))
        self.given = dict(zip(CHECKS, given, strict=True))
        self.verdicts = {name: check(self.given[name]) for name, check in CHECKS.items()}
        self.whose = {name: OWN if verdict.correct else LENT for name, verdict in self.verdicts.items()}
        self.whose |= {name: BROKEN for name in broken if self.whose[name] == LENT and self._runs(name)}
        used = [getattr(parts, name) if self.whose[name] == LENT else part for name, part in self.given.items()]
        self.Embedding, self.Positions, self.Norm, self.Attention, self.FeedForward = used[:5]
        self.Block, self.Encoder, self.vectors_of, self.learn = used[5:]
        found = {name: build.order_of(kind, getattr(self, name)) for name, kind in KINDS.items()}
        self._kinds = {kind: name for name, (kind, _) in found.items()}  # of which class each part is
        self._orders = {name: order for name, (_, order) in found.items()}

    def _runs(self, name: str) -> bool:
        """Whether a part is written, and one that has parameters has those that its kind needs."""
        try:
            if name in KINDS:
                run_within(PATIENCE, build.order_of, KINDS[name], self.given[name])
        except (Exception, TimeUp, Unwritten):
            return False
        return callable(self.given[name]) and "nothing yet" not in self.verdicts[name].problem

    def named(self, whose: str) -> list[str]:
        """The names of the parts that are the reader's, the reader's and broken, or lent."""
        return [name for name in CHECKS if self.whose[name] == whose]

    @property
    def own(self) -> list[str]:
        """The names of the parts that are the reader's, and right."""
        return self.named(OWN)

    def __repr__(self) -> str:
        return f"{len(self.own)} of {len(CHECKS)} parts yours"

    def board(self) -> "pd.DataFrame":
        """The nine parts as a table: whose each is, and why."""
        columns = {
            "whose": list(self.whose.values()),
            "because": [self._reason(name) for name in CHECKS],
            "lines": ["" if self.whose[name] == LENT else str(lines_of(self.given[name])) for name in CHECKS],
        }
        return table(columns, rows=list(CHECKS))

    def _reason(self, name: str) -> str:
        verdict = self.verdicts[name]
        if verdict.correct:
            return "its check finds nothing wrong"
        if self.given[name] is None:
            return "its cell has not run, or stopped with an error"
        said = verdict.problem.splitlines()[0].removesuffix(": with")
        return "not written yet" if "nothing yet" in said else f"✗ {said}"

    def lines(self) -> int:
        """How many lines the reader's own parts take, without comments, docstrings and empty lines."""
        return sum(lines_of(self.given[name]) for name in self.own)

    def from_torch(self, theirs: nn.TransformerEncoder) -> nn.Sequential:
        """Blocks of these parts, in a row, that hold the numbers of PyTorch's encoder.

        Raises: TypeError for what is no nn.TransformerEncoder; ValueError for settings that these parts don't have.
        """
        expect.instance("theirs", theirs, nn.TransformerEncoder, "an nn.TransformerEncoder")
        first: Any = theirs.layers[0]
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
        blocks = nn.Sequential()
        for _ in theirs.layers:
            attention = self.Attention(width, first.self_attn.num_heads)
            feed_forward = self.FeedForward(width, first.linear1.out_features)
            blocks.append(self.Block(attention, feed_forward, self.Norm(width, eps), self.Norm(width, eps)))
        blocks.to(first.linear1.weight)
        ours: Any = from_torch(theirs)
        tensors = [groups for layer in ours.layers for groups in _groups_of(layer)]
        probe = torch.zeros(1, 1, width).to(first.linear1.weight)  # (B, T, D)
        for (_, name, leaf), groups in zip(self._called(blocks, probe), tensors, strict=True):
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
            with suppress(Exception):  # what follows tells of it
                written(attempt(next(iter(published))), attempt)
            for mine, shared in Counter(piece.name for piece in by_role.values()).items():
                if shared > 1:
                    return f"{shared} tensors of the file go into one parameter of yours, {mine}"
            return ""

        def names(attempt: Callable) -> str:
            for name in published:
                if not isinstance(mine := written(attempt(name), attempt), str):
                    return f"for {name} expected a text, got {type(mine).__name__}"
                if mine not in sizes:
                    lent = [part for part in self.named(LENT) if part not in ("vectors_of", "learn")]
                    return f"{name} becomes {mine!r}, and your encoder has no parameter of that name" + (
                        f"; lent by the library, with names of their own: {', '.join(lent)}" if lent else ""
                    )
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

        def sense(attempt: Callable, part: str) -> str:
            for name in published:
                if part in name and attempt(name) != by_role[name].name:
                    return f"{attempt(name)} has the shape of {name}, and your encoder uses it for something else"
            return ""

        probes = [
            Probe("a parameter for each tensor", one_each),
            Probe("names that your encoder has", names),
            Probe("every parameter once", each_once),
            Probe("shapes that fit", shapes),
            Probe("queries, keys and values", partial(sense, part=".attention.self.")),
            Probe("the two norms of a block", partial(sense, part=".LayerNorm.")),
            Probe("the rest", partial(sense, part=""), hint="queries, keys and values"),
        ]
        return diagnose("my_name", my_name, probes)

    def _places(self, encoder: nn.Module, published: Mapping[str, Tensor]) -> Iterator[tuple[parts.Piece, str]]:
        """Each parameter of the encoder, under its full name, and the published tensor that belongs there."""
        expect.instance("encoder", encoder, nn.Module, "a torch module")
        expect.instance("published", published, Mapping, "a dictionary of tensors")
        leaves = self.places(encoder)
        modules = [[module] for module in OUTSIDE.values()]
        for n in range(len(leaves) // len(IN_A_BLOCK)):
            inside = [f"encoder.layer.{n}.{module}" for module in INSIDE.values()]
            modules += [inside[:4], inside[4:5], inside[5:7], inside[7:]]
        for (path, name, leaf), theirs in zip(leaves, modules, strict=True):
            mine = self._groups(name, leaf)
            pieces = [piece for place in self._orders[name] for piece in mine[place]]
            names = [f"{module}.{kind}" for module in theirs for kind in ("weight", "bias")]  # a table has no bias
            for piece, tensor_name in zip(pieces, names, strict=False):
                if tensor_name not in published:
                    raise KeyError(f"published: expected a tensor named {tensor_name!r}, got none")
                yield piece._replace(name=f"{path}.{piece.name}"), tensor_name

    def _groups(self, name: str, leaf: nn.Module) -> list[parts.Group]:
        width = None
        if KINDS[name].cut:
            width = next(module.in_features for module in leaf.modules() if isinstance(module, nn.Linear))
        return parts.groups(leaf, width)

    def places(self, encoder: nn.Module) -> list[tuple[str, str, nn.Module]]:
        """Where an encoder has its parts with parameters: the path, the part's name, and the module of each.

        Raises: ValueError for an encoder that calls others, or others too.
        """
        ids = torch.zeros(1, 1, dtype=torch.long, device=next(encoder.parameters()).device)
        return self._called(encoder, ids, BEFORE)

    def _called(self, whole: nn.Module, x: Tensor, before: tuple[str, ...] = ()) -> list[tuple[str, str, nn.Module]]:
        """The parts that whole(x) calls, in the order of a right encoder: the first norm called is the first there."""
        calls: dict[str, list[tuple[str, nn.Module]]] = {kind: [] for kind in KINDS}
        with torch.no_grad(), ExitStack() as hooks:
            for path, module in whole.named_modules():
                if kind := self._kinds.get(type(module)):
                    note = partial(lambda found, at, leaf, _: found.append((at, leaf)), calls[kind], path)
                    hooks.enter_context(module.register_forward_pre_hook(note))
            whole(x)
        order = [*before, *(len(calls["Attention"]) * IN_A_BLOCK)]
        if any(order.count(kind) != len(found) for kind, found in calls.items()):
            counts = ", ".join(f"{len(found)} {kind}" for kind, found in calls.items())
            raise ValueError(
                f"encoder: expected a whole one of this workshop's parts, got one that calls {counts}; "
                "was it made before the workshop? Then make it again"
            )
        return [(path, kind, leaf) for kind in order for path, leaf in [calls[kind].pop(0)]]


def _groups_of(layer: nn.Module) -> list[list[list[Tensor]]]:
    """The tensors of a layer of the library's, part by part in the order of the calls, as our parts have them."""
    return [
        [[piece.values for piece in group] for group in parts.groups(layer.get_submodule(name))]
        for name in ("attention", "norm1", "feed_forward", "norm2")
    ]
