"""The encoder that a reader has built, part by part, with the library's parts in the places that are still empty."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.course.build_your_own import checks as build
from encoder_lib.course.build_your_own.drawing import draw
from encoder_lib.course.build_your_own.source import lines_of
from encoder_lib.course.kit.checking import parts
from encoder_lib.course.kit.checking.limit import TimeUp, run_within
from encoder_lib.course.kit.checking.verdict import PATIENCE, NotWritten, Probe, Verdict, diagnose, require_written
from encoder_lib.course.kit.notebook import table
from encoder_lib.course.kit.plots import Picture, show
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
# Where an encoder, and each of its blocks, keeps which part
OUTSIDE_BLOCKS = {"embedding": "Embedding", "positions": "Positions", "norm": "Norm"}
IN_A_BLOCK = {"attention": "Attention", "norm1": "Norm", "feed_forward": "FeedForward", "norm2": "Norm"}
OWN, BROKEN, LENT = "yours", "yours, broken", "the library's"


class Workshop:
    """Nine parts of an encoder: what the reader wrote where its check finds nothing wrong, else the library's.

        mine = Workshop(Embedding, …, learn)        mine.Attention(384, 12) is yours, or ours in its place

    The parts are called, and keep their parameters, as 12_build_your_own says. A part named in `broken` stays the
    reader's although its check objects, so that its damage can be seen, if it runs at all.

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
        # part -> the library's name of a parameter -> its name in the part used
        self._names = {name: build.names_in(kind, getattr(self, name)) for name, kind in KINDS.items()}

    def _runs(self, name: str) -> bool:
        """Whether a part is written, and one that has parameters has those that its kind needs."""
        try:
            if name in KINDS:
                run_within(PATIENCE, build.names_in, KINDS[name], self.given[name])
        except (Exception, TimeUp, NotWritten):
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

    def drawing(self) -> Picture:
        """The nine parts in the order in which data passes through them, the reader's in colour."""
        broken = self.named(BROKEN)
        dashed = f" Broken, with a dashed frame: {', '.join(broken)}." if broken else ""
        names = f": {', '.join(self.own)}" if self.own else ""
        lit = f"{len(self.own)} of {len(CHECKS)} parts are lit{names}.{dashed}"
        return show(draw(self.own, broken), alt=f"The encoder, from ids to vectors. {lit}")

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
        for block, layer in zip(blocks, ours.layers, strict=True):
            _fill(block, {self._own_name(name): tensor for name, tensor in layer.state_dict().items()})
        return blocks

    def _own_name(self, name: str) -> str:
        """The name in a block of these parts of a parameter of the library's block."""
        place, _, rest = name.partition(".")
        return f"{place}.{self._names[IN_A_BLOCK[place]][rest]}"

    def load(
        self, encoder: nn.Module, published: Mapping[str, Tensor], my_name: Callable[[str], str] | None = None
    ) -> bool:
        """Put the published tensors of a BERT encoder into one that is made of these parts.

        By the names that `my_name` gives, if they are right; otherwise by those that the library knows.

        Returns whether the names were the reader's.
        Raises: TypeError or ValueError for anything but an encoder of these parts, or a dictionary; KeyError for a
        tensor that is missing.
        """
        names = self._names_for(encoder, published)
        if named := my_name is not None and self.check_names(my_name, encoder, published).correct:
            names = {name: my_name(name) for name in published}
        _fill(encoder, {ours: published[theirs] for theirs, ours in names.items()})
        return named

    def check_names(
        self, my_name: Callable[[str], str], encoder: nn.Module, published: Mapping[str, Tensor]
    ) -> Verdict:
        """my_name(name): the name of a published tensor in the reader's encoder, a text for a text.

        Raises: as `load`.
        """
        right = self._names_for(encoder, published)
        sizes = {name: tuple(parameter.shape) for name, parameter in encoder.named_parameters()}

        def names(attempt: Callable) -> str:
            for name in published:
                if not isinstance(mine := require_written(attempt(name), attempt), str):
                    return f"for {name} expected a text, got {type(mine).__name__}"
                if mine not in sizes:
                    return f"{name} becomes {mine!r}, and your encoder has no parameter of that name"
            return ""

        def sense(attempt: Callable, part: str) -> str:
            for name, tensor in published.items():
                if part in name and (mine := attempt(name)) != right.get(name):
                    if sizes[mine] != tensor.shape:
                        return f"{name} is {tuple(tensor.shape)}, and {mine} is {sizes[mine]}"
                    return f"{mine} has the shape of {name}, and your encoder uses it for something else"
            return ""

        probes = [
            Probe("names that your encoder has", names),
            Probe("queries, keys and values", partial(sense, part=".attention.self.")),
            Probe("the two norms of a block", partial(sense, part=".LayerNorm.")),
            Probe("the rest", partial(sense, part=""), hint="queries, keys and values"),
        ]
        return diagnose("my_name", my_name, probes)

    def _names_for(self, encoder: nn.Module, published: Mapping[str, Tensor]) -> dict[str, str]:
        """The name of each published tensor that belongs into an encoder -> its name there."""
        expect.instance("encoder", encoder, nn.Module, "a torch module")
        expect.instance("published", published, Mapping, "a dictionary of tensors")
        names = {
            _published(path, name): f"{path}.{own}"
            for path, part in self.places(encoder).items()
            for name, own in self._names.get(part, {}).items()
        }
        if missing := [name for name in names if name not in published]:
            raise KeyError(f"published: expected a tensor named {missing[0]!r}, got none")
        return names

    def places(self, encoder: nn.Module) -> dict[str, str]:
        """Where an encoder has its parts: the path of each module, and the part's name.

        Raises: ValueError for an encoder of other parts.
        """
        modules = dict(encoder.named_modules(remove_duplicate=False))
        places = {"": "Encoder"} | OUTSIDE_BLOCKS
        for n, _ in enumerate(modules.get("blocks", nn.ModuleList()).children()):
            places |= {f"blocks.{n}": "Block"} | {f"blocks.{n}.{place}": part for place, part in IN_A_BLOCK.items()}
        for path, part in places.items():
            used = getattr(self, part)
            if path not in modules or (isinstance(used, type) and type(modules[path]) is not used):
                raise ValueError(
                    f"encoder: expected one of this workshop's parts, got another in place of {part}; "
                    "was it made before the workshop? Then make it again"
                )
        return places


def _published(path: str, name: str) -> str:
    """The published name of a parameter, by the path of its part and its name in the library's part."""
    if path in OUTSIDE_BLOCKS:
        return f"{dict(zip(OUTSIDE_BLOCKS, OUTSIDE.values(), strict=True))[path]}.{name}"
    _, layer, place = path.split(".")
    module, _, kind = f"{place}.{name}".rpartition(".")
    return f"encoder.layer.{layer}.{INSIDE[module]}.{kind}"


def _fill(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors into the parameters of these names; what else a module has stays as it is."""
    if unknown := module.load_state_dict(tensors, strict=False).unexpected_keys:
        raise ValueError(f"encoder: expected a parameter named {unknown[0]}, got none")
