"""Checks of the exercises of 09_pretrained."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks import parts
from encoder_lib.checks.verdict import UNWRITTEN, Case, Probe, Verdict, diagnose, difference, examine, numbers

STACKED = ("queries", "keys", "values")
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")  # of MultiHeadAttention


def check_translate(attempt: Callable) -> Verdict:
    """translate(theirs): the tensors of an nn.MultiheadAttention, by its names -> by those of MultiHeadAttention."""

    def theirs(d_model: int) -> dict[str, Tensor]:
        shapes = {
            "in_proj_weight": (3 * d_model, d_model),
            "in_proj_bias": (3 * d_model,),
            "out_proj.weight": (d_model, d_model),
            "out_proj.bias": (d_model,),
        }
        return {name: numbers(*shape, seed=seed) for seed, (name, shape) in enumerate(shapes.items())}

    def tensors(translate: Callable, d_model: int) -> object:
        """What the attempt makes of fresh tensors; the placeholder as it is."""
        got = translate(theirs(d_model))
        if got is None or got is ...:
            return UNWRITTEN
        if not isinstance(got, dict):
            raise TypeError(f"expected a dictionary, name -> tensor, got {type(got).__name__}")
        return got

    def names(translate: Callable) -> str:
        got = tensors(translate, 2)
        if not isinstance(got, dict):
            return UNWRITTEN
        wanted = [f"{part}.{kind}" for part in PROJECTIONS for kind in ("weight", "bias")]
        if missing := [name for name in wanted if name not in got]:
            return f"{missing[0]} is missing"
        return "".join(f"there is no {name} in our layer" for name in list(got)[:9] if name not in wanted)

    def part(d_model: int, name: str, place: int | None = None) -> Callable[[Callable], str]:
        """Whether one of ours is what it should be: the third `place` of a stack, or all of theirs."""

        def look(translate: Callable) -> str:
            got = tensors(translate, d_model)
            if not isinstance(got, dict):
                return UNWRITTEN
            module, _, kind = name.partition(".")
            stack = theirs(d_model)[name if place is None else f"in_proj_{kind}"]
            wanted = stack if place is None else stack[place * d_model : (place + 1) * d_model]
            return difference(f"D = {d_model}, {module}.{kind}", wanted, got[name])

        return look

    of_order = "The rows of in_proj_weight: the first D make the queries, the next D the keys, the last D the values."
    of_biases = "The weights are right. in_proj_bias lies in the same order: queries, keys, values, D numbers each."
    probes = [
        Probe("the names of our layer", names),
        Probe("the map behind the heads", part(2, "out_proj.weight")),
        Probe("its bias", part(2, "out_proj.bias")),
        Probe("queries", part(2, "q_proj.weight", 0), of_order),
        Probe("keys", part(2, "k_proj.weight", 1), of_order),
        Probe("values", part(2, "v_proj.weight", 2), of_order),
        *(
            Probe(f"the bias of the {name}", part(3, f"{name[0]}_proj.bias", i), of_biases)
            for i, name in enumerate(STACKED)
        ),
        Probe("another width", part(5, "v_proj.weight", 2), "One width is right. Is a number of rows written out?"),
    ]
    hints = (
        "Eight tensors come out, four called weight and four called bias, under q_proj, k_proj, v_proj and out_proj.",
        of_order,
        "A tensor of 3 D rows falls into three of D with .chunk(3); its bias does, too. out_proj stays as it is.",
    )
    return diagnose("translate", attempt, probes, hints)


def check_pool(attempt: Callable) -> Verdict:
    """pool(x, real): the mean of the real tokens' vectors, x (B, T, D) and real (B, T) -> (B, D), at length 1."""

    one = torch.tensor([[[3.0, 4.0]]], dtype=torch.float64)
    two = torch.tensor([[[1.0, 0.0], [0.0, 3.0]]], dtype=torch.float64)
    of_length = "Bring each sentence's vector to length 1: divide it by its own length, along the last dimension."
    of_mean = "Take the mean over all of a sentence's tokens, dimension 1, and bring the result to length 1 after that."
    of_padding = "Padding counts here. real[..., None] has shape (B, T, 1): what is multiplied by False becomes 0."
    of_batch = "One sentence alone is right. In a batch each has its own mean and its own length."
    cases = [
        Case("one token", (one, torch.tensor([[True]])), of_length),
        Case("two tokens", (two, torch.ones(1, 2).bool()), of_mean),
        Case("padding at the end", (numbers(1, 3, 2), torch.tensor([[True, True, False]])), of_padding),
        Case("sentences of two lengths", (numbers(2, 4, 3), torch.arange(4) < torch.tensor([[4], [1]])), of_batch),
        Case(
            "as many sentences as tokens",
            (numbers(3, 3, 5), torch.arange(3) < torch.tensor([[2], [3], [1]])),
            of_batch,
        ),
    ]
    hints = (of_length, of_mean, of_padding)
    return examine("pool", attempt, parts.pool, cases, hints)


def check_search(attempt: Callable) -> Verdict:
    """search(query, vectors, k): the numbers of the k unit vectors (N, D) nearest to the query (D,), best first."""
    unit = torch.nn.functional.normalize(numbers(9, 4), dim=-1)
    square = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]], dtype=torch.float64)
    of_places = "A tensor of k places is asked for, [0] here: neither the cosines that stand there nor the vectors."
    of_nearest = "vectors @ query gives the cosine with each vector; the largest is the nearest."
    of_k = "Give back k places, the best first: topk does, or a descending argsort cut after k."
    cases = [
        Case("a single vector", (square[0], square[:1], 1), of_places),
        Case("the best of two", (square[1], square[:2], 1), of_nearest),
        Case("the two best, best first", (square[1], square, 2), of_k),
        Case(
            "opposite directions come last", (square[3], square, 4), "A cosine below 0 is far away: compare with sign."
        ),
        Case("many vectors", (unit[4] * 0.5 + unit[2] * 0.5, unit, 3), of_nearest),
        Case("all of them", (unit[0], unit, 9), of_k),
    ]
    hints = (of_nearest, of_places, of_k)
    return examine("search", attempt, lambda query, vectors, k: (vectors @ query).topk(k).indices, cases, hints)


def check_looks_back(attempt: Callable) -> Verdict:
    """looks_back(weights): for each layer and head (L, H, T, T), the mean weight on the token before -> (L, H)."""

    def reference(weights: Tensor) -> Tensor:
        return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)

    def maps(*shape: int) -> Tensor:
        return numbers(*shape).softmax(dim=-1)

    two = torch.tensor([[[[1.0, 0.0], [0.75, 0.25]]]], dtype=torch.float64)
    cases = [
        Case("two tokens", (two,)),
        Case("three tokens", (maps(1, 1, 3, 3),)),
        Case("two heads", (maps(1, 2, 4, 4),)),
        Case("layers and heads", (maps(3, 2, 5, 5),)),
        Case("as many of everything", (maps(3, 3, 3, 3),)),
    ]
    hints = (
        "Rows look, columns are looked at: row t, column t − 1.",
        "Those entries form the diagonal just below the main one: weights.diagonal(-1, dim1=-2, dim2=-1).",
        "The first token has none before it: average over the T − 1 others.",
    )
    return examine("looks_back", attempt, reference, cases, hints)
