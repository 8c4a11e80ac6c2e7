"""Which tokens of a sentence carry its content: the control of an experiment that takes tokens away."""

from collections.abc import Iterable

import torch
from torch import Tensor

# English words that hold a sentence together and name nothing; what is not made of letters and digits counts as well
SMALL_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each else few for from further had has have having he her here hers him his
    how i if in into is it its may me might mine more most must my no nor not of off on once only onto or other our ours
    out over own shall she should so some such than that the their theirs them then there these they this those through
    to too under until up upon us very was we were what when where which while who whom whose why will with within
    without would you your yours
"""
FUNCTION_WORDS = frozenset(SMALL_WORDS.split())


def content_tokens(tokens: Iterable[str]) -> Tensor:
    """True for tokens that name something, False for function words, punctuation, [CLS], [SEP] and [UNK].

    A piece that continues a word, such as ##ke, counts as content.

    Shapes: T tokens -> (T,) booleans.
    """
    return torch.tensor([_names_something(token) for token in tokens], dtype=torch.bool)  # (T,)


def _names_something(token: str) -> bool:
    return token.removeprefix("##").isalnum() and token.lower() not in FUNCTION_WORDS
