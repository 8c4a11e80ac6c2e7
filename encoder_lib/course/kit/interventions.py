"""Interventions on a published encoder: attention from one token to another is cut, or a part is taken out.

What comes out is all that the picture of `kit/widget/alive.py` shows. Its browser version asks the same questions and
gives the same answers (site/player), so the names are those of `front_end/alive.d.ts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import local

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from encoder_lib import expect
from encoder_lib.model.encoder import EncoderLayer, TransformerEncoder
from encoder_lib.model.masks import lengths_mask
from encoder_lib.patch import Edit, patch
from encoder_lib.pretrained import SentenceEncoder

BRANCHES = (("attention", "residual1", "norm1"), ("feed_forward", "residual2", "norm2"))  # of a post-norm layer
STREAM = ("embedding.token", "embedding", "encoder.layers.*.norm1", "encoder.layers.*.norm2")
INSIDE = ("query", "key", "value", "scores", "weights", "heads")  # of an attention
PARTS = ("position", *(part for branch in BRANCHES for part in branch))
MOST_TOKENS = 64  # of a sentence: with more of them, a picture of all weights has no room for words
MOST_CHARACTERS = 500
REMEMBERED = 16  # runs that are kept, some 6 MB each with 64 tokens and less than 1 MB with 10


@dataclass(frozen=True)
class Cut:
    """Attention from the query token to the key token is cut, in one sentence: its score becomes −∞.

    Everything is counted from 0; `layer` and `head` are None for all of them. A query with no key left takes nothing.
    """

    side: int
    layer: int | None
    head: int | None
    query: int
    key: int


@dataclass(frozen=True)
class Knockout:
    """A part is taken out, in one layer, counted from 0, or in all of them (None).

    Without "attention" or "feed_forward", that branch adds 0. Without "residual1" or "residual2", the output of the
    branch goes on alone: x + f(x) becomes f(x). Without "norm1" or "norm2", the norm returns its input. Without
    "position", whose layer is None, every token gets the mean row of the table of positions.
    """

    part: str
    layer: int | None


@dataclass(frozen=True)
class Question:
    """What to compute: one or two sentences, the word to follow, cuts and knockouts, and a layer and head to open."""

    texts: tuple[str, ...]
    word: str = ""
    cuts: tuple[Cut, ...] = ()
    knockouts: tuple[Knockout, ...] = ()
    detail: tuple[int, int] | None = None


@dataclass(frozen=True)
class Detail:
    """One head of one layer. Shapes: query, key, value and mixed (T, K), scores (T, T)."""

    layer: int
    head: int
    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    mixed: Tensor


@dataclass(frozen=True)
class Sentence:
    """A sentence on its way through L layers of H heads. The S = 2 + 2L stations are those of the residual stream.

    tokens, place: its T tokens, and the index of the followed word or −1.
    weights: for each layer the attention weights (H, T, T).
    arriving: for each layer (T, T) the length of what attention brings to a query (row) from a key (column),
        ‖Σ_h weight · value · W_o‖ (Kobayashi et al. 2020, arXiv 2004.10102).
    values: for each layer (H, T) the length ‖value · W_o‖ in each head.
    kept: (S, T), the cosine of each vector with the same one in the run without interventions.
    """

    tokens: list[str]
    place: int
    weights: list[Tensor]
    arriving: list[Tensor]
    values: list[Tensor]
    kept: Tensor
    detail: Detail | None


@dataclass(frozen=True)
class Answer:
    """The sentences, and the cosine of the word's two vectors at each station and that of the two sentences' means.

    The cosines are None with one sentence, and those of the word without a common one. `common` has the words that both
    sentences have, or all words of a single one.
    """

    layers: int
    heads: int
    word: str
    common: list[str]
    sentences: list[Sentence]
    word_cosines: Tensor | None = None
    sentence_cosine: float | None = None


class _Alone:
    """x + f(x) becomes f(x): the input of the norm after it is replaced by what the branch gave, in each thread."""

    def __init__(self, branch: Edit | None):
        self._branch, self._last = branch, local()

    def keep(self, out: Tensor, *inputs: Tensor) -> Tensor:
        self._last.out = out if self._branch is None else self._branch(out, *inputs)
        return self._last.out

    def instead(self, _: Tensor) -> Tensor:
        return self._last.out


def knockout_edits(model: SentenceEncoder, knockouts: Sequence[Knockout]) -> dict[str, Edit]:
    """The edits, for `patch`, that take parts out of the encoder."""
    edits: dict[str, Edit] = {}
    for n in range(len(layers_of(model))):
        out = {knockout.part for knockout in knockouts if knockout.layer in (None, n)}
        layer = f"encoder.layers.{n}."
        for branch, residual, norm in BRANCHES:
            if branch in out:
                edits[layer + branch] = _nothing
            if residual in out:
                alone = _Alone(edits.get(layer + branch))
                edits |= {layer + branch: alone.keep, f"{layer}{norm}.input": alone.instead}
            if norm in out:
                edits[layer + norm] = lambda out, x: x
        if "attention" in out:
            edits[f"{layer}attention.weights"] = _nothing  # so that a trace shows that nothing is taken
    if any(knockout.part == "position" for knockout in knockouts):
        row = model.encoder.get_parameter("embedding.position.weight").detach().mean(dim=0)  # (D,)
        edits["embedding.position"] = lambda out, x: x + row
    return edits


def cut_edits(cuts: Sequence[Sequence[Cut]], n_layers: int, n_heads: int, length: int) -> dict[str, Edit]:
    """The edits, for `patch`, that cut attention in a batch of sentences, each padded to that many tokens."""
    cut = torch.zeros(n_layers, len(cuts), n_heads, length, length, dtype=torch.bool)
    for b, sentence in enumerate(cuts):
        for one in sentence:
            layers, heads = (slice(None) if at is None else at for at in (one.layer, one.head))
            cut[layers, b, heads, one.query, one.key] = True
    edits: dict[str, Edit] = {}
    for n, mask in enumerate(cut):
        if mask.any():
            edits[f"encoder.layers.{n}.attention.scores"] = _filling(mask, -torch.inf)
            edits[f"encoder.layers.{n}.attention.weights"] = _filling(mask, 0.0)  # NaN where every key is cut
    return edits


def _nothing(out: Tensor, *_: Tensor) -> Tensor:
    return torch.zeros_like(out)


def _filling(mask: Tensor, value: float) -> Edit:
    return lambda x: x.masked_fill(mask.to(x.device), value)


def _keeping(kept: list[Tensor]) -> Edit:
    """An edit that changes nothing and appends each tensor that it gets to `kept`."""

    def keep(x: Tensor, *_: Tensor) -> Tensor:
        kept.append(x)
        return x

    return keep


def layers_of(model: SentenceEncoder) -> list[EncoderLayer]:
    """The encoder's layers."""
    return [layer for layer in model.encoder.encoder.layers if isinstance(layer, EncoderLayer)]


@dataclass(frozen=True)
class _Run:
    """What is kept of a forward pass; x is the residual stream (S, T, D) in float64, inside what attention computes."""

    tokens: list[str]
    x: Tensor
    inside: dict[str, list[Tensor]]  # "query", "key", "value" and "heads" (H, T, K), "scores" and "weights" (H, T, T)
    arriving: list[Tensor]
    values: list[Tensor]


class Intervened:
    """A post-norm sentence encoder that answers questions about its runs with and without interventions.

    A sentence runs again only when something changes that touches it. The encoder runs in its own dtype; cosines are
    computed in float64.
    Raises: TypeError for a model that is no SentenceEncoder, ValueError for one whose layers are not post-norm.
    """

    def __init__(self, model: SentenceEncoder):
        expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
        self.model, self.layers = model, layers_of(model)
        if any(layer.norm_first for layer in self.layers):
            raise ValueError("model: expected post-norm layers, as in BERT, got pre-norm ones")
        self.n_layers, self.n_heads = len(self.layers), self.layers[0].attention.n_heads
        projections = [layer.attention.out_proj.weight.detach().cpu() for layer in self.layers]
        self._heads = [matrix.T.contiguous().unflatten(0, (self.n_heads, -1)) for matrix in projections]  # (H, K, D)
        self._without = lru_cache(1)(self._patched)
        self._runs: dict[tuple, _Run] = {}  # by the text, its cuts and the knockouts, the newest last

    def ask(self, question: Question) -> Answer:
        """Compute the answer. Raises: TypeError, ValueError or IndexError for a question that has none."""
        self.check(question)
        sides = range(len(question.texts))
        before = self._run(question.texts, [() for _ in sides], ())
        cuts = [tuple(cut for cut in question.cuts if cut.side == side) for side in sides]
        runs = self._run(question.texts, cuts, question.knockouts)
        common = self.common(question.texts)
        word = question.word if all(question.word in run.tokens for run in runs) else max(common, key=len, default="")
        sentences = [self._sentence(*both, word, question.detail) for both in zip(runs, before, strict=True)]
        answer = Answer(self.n_layers, self.n_heads, word, common, sentences)
        if len(runs) == 1:
            return answer
        return replace(
            answer,
            word_cosines=_of_word(*runs, word=word) if word else None,
            sentence_cosine=_of_sentences(*runs),
        )

    def common(self, texts: Sequence[str]) -> list[str]:
        """The whole words among the tokens that all texts have, in the order of the first one."""
        first, *others = (self.model.tokens(text) for text in texts)
        shared = [token for token in first if token.isalnum() and all(token in other for other in others)]
        return list(dict.fromkeys(shared))

    def check(self, question: Question) -> None:
        """Raise TypeError, ValueError or IndexError for a question that has no answer."""
        if len(question.texts) not in (1, 2):
            raise ValueError(f"texts: expected one sentence or two, got {len(question.texts)} texts")
        lengths = []
        for name, text in zip(("first", "second"), question.texts, strict=False):
            lengths.append(self._length(name, text))
        expect.instance("word", question.word, str, "a string")
        for cut in question.cuts:
            side = _index("side", cut.side, len(lengths))
            _index("query", cut.query, lengths[side])
            _index("key", cut.key, lengths[side])
            self._check_layer(cut.layer)
            if cut.head is not None:
                _index("head", cut.head, self.n_heads)
        for knockout in question.knockouts:
            expect.choice("part", knockout.part, PARTS)
            self._check_layer(knockout.layer)
            if knockout.part == "position" and knockout.layer is not None:
                raise ValueError(f"layer: expected None for the position, got {expect.short_repr(knockout.layer)}")
        if question.detail is not None:
            layer, head = question.detail
            _index("layer", layer, self.n_layers)
            _index("head", head, self.n_heads)

    def _length(self, name: str, text: str) -> int:
        """The number of a text's tokens. Raises: TypeError or ValueError for a text that is none, or too long."""
        expect.instance(name, text, str, "a string")
        if len(text) > MOST_CHARACTERS:
            most = f"{MOST_CHARACTERS} characters"
            raise ValueError(f"{name}: expected at most {most}, got {len(text)}; try a shorter sentence")
        length = len(self.model.tokens(text))
        if length > MOST_TOKENS:
            raise ValueError(f"{name}: expected at most {MOST_TOKENS} tokens, got {length}; try a shorter sentence")
        return length

    def _check_layer(self, layer: int | None) -> None:
        if layer is not None:
            _index("layer", layer, self.n_layers)

    def _patched(self, knockouts: tuple[Knockout, ...]) -> TransformerEncoder:
        """The encoder without some of its parts."""
        return patch(self.model.encoder, knockout_edits(self.model, knockouts)) if knockouts else self.model.encoder

    def _run(
        self, texts: Sequence[str], cuts: Sequence[tuple[Cut, ...]], knockouts: tuple[Knockout, ...]
    ) -> list[_Run]:
        """The sentences' runs, each with its own cuts: those that are remembered, and one batch of the others."""
        asked = [(text, own, knockouts) for text, own in zip(texts, cuts, strict=True)]
        runs = {key: run for key in set(asked) if (run := self._runs.pop(key, None))}
        if missing := [key for key in dict.fromkeys(asked) if key not in runs]:
            fresh = self._fresh([text for text, *_ in missing], [own for _, own, _ in missing], knockouts)
            runs |= zip(missing, fresh, strict=True)
        self._runs |= runs
        for key in list(self._runs)[:-REMEMBERED]:
            self._runs.pop(key, None)
        return [runs[key] for key in asked]

    @torch.no_grad()
    def _fresh(
        self, texts: Sequence[str], cuts: Sequence[tuple[Cut, ...]], knockouts: tuple[Knockout, ...]
    ) -> list[_Run]:
        """Run the encoder on sentences in one batch, for which its parameters are read only once."""
        ids = [self.model.ids(text)[0] for text in texts]  # (T,) each
        lengths = torch.tensor([len(row) for row in ids])  # (B,)
        edits = cut_edits(cuts, self.n_layers, self.n_heads, int(lengths.max()))
        stream: list[Tensor] = []  # (B, T, D) each
        inside: dict[str, list[Tensor]] = {part: [] for part in INSIDE}  # one of each layer
        edits |= dict.fromkeys(STREAM, _keeping(stream))
        edits |= {f"encoder.layers.*.attention.{part}": _keeping(kept) for part, kept in inside.items()}
        model = patch(self._without(knockouts), edits)
        mask = lengths_mask(lengths).to(self.model.device) if len(set(lengths.tolist())) > 1 else None
        model.encoder(model.embedding(pad_sequence(ids, batch_first=True)), mask)
        return [
            self._run_of(text, [x[b] for x in stream], {part: [x[b] for x in kept] for part, kept in inside.items()})
            for b, text in enumerate(texts)
        ]

    def _run_of(self, text: str, stream: list[Tensor], padded: dict[str, list[Tensor]]) -> _Run:
        """What is kept of one sentence of a batch, without its padding."""
        tokens = self.model.tokens(text)
        length = len(tokens)
        inside = {part: [x[:, :length].cpu() for x in kept] for part, kept in padded.items()}
        inside |= {part: [x[..., :length] for x in inside[part]] for part in ("scores", "weights")}
        products = [_products(value @ heads) for value, heads in zip(inside["value"], self._heads, strict=True)]
        return _Run(
            tokens,
            torch.stack([x[:length] for x in stream]).cpu().double(),
            inside,
            [_arriving(weights, own) for weights, own in zip(inside["weights"], products, strict=True)],
            [own.diagonal(dim1=1, dim2=2).sqrt().T for own in products],
        )

    def _sentence(self, run: _Run, before: _Run, word: str, detail: tuple[int, int] | None) -> Sentence:
        opened = None
        if detail is not None:
            n, h = detail
            parts = (run.inside[part][n][h] for part in ("query", "key", "value", "scores", "heads"))
            opened = Detail(n, h, *parts)
        place = run.tokens.index(word) if word in run.tokens else -1
        kept = _cosines(run.x, before.x)
        return Sentence(run.tokens, place, run.inside["weights"], run.arriving, run.values, kept, opened)


def _index(name: str, value: int, size: int) -> int:
    return expect.integer(name, value, least=0, most=size - 1)


def _products(passed: Tensor) -> Tensor:
    """The dot products of what the heads pass on from each key, v_g · v_h. Shapes: (H, T, D) -> (key, H, H)."""
    by_key = passed.transpose(0, 1)  # (key, H, D)
    return by_key @ by_key.mT


def _arriving(weights: Tensor, products: Tensor) -> Tensor:
    """The length of what each query takes from each key. Shapes: (H, T, T), (key, H, H) -> (T, T).

    Its square, ‖Σ_h w_h v_h‖², is Σ_g Σ_h w_g w_h (v_g · v_h), which needs no vector for each pair of tokens.
    """
    shares = weights.permute(2, 1, 0).contiguous()  # (key, query, H)
    return (shares @ products).mul_(shares).sum(dim=-1).clamp(min=0).sqrt().T


def _cosines(a: Tensor, b: Tensor) -> Tensor:
    """The cosines of vectors, 0 where one is zero: with no copies, a tenth of what F.cosine_similarity takes."""
    return torch.linalg.vecdot(a, b) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp(min=1e-16)


def _of_word(first: _Run, second: _Run, *, word: str) -> Tensor:
    """The cosine of the word's two vectors at each station. Shapes: -> (S,)."""
    a, b = (run.x[:, run.tokens.index(word)] for run in (first, second))
    return _cosines(a, b)


def _of_sentences(first: _Run, second: _Run) -> float:
    """The cosine of the two means of the last vectors."""
    a, b = (run.x[-1].mean(dim=0) for run in (first, second))
    return _cosines(a, b).item()
