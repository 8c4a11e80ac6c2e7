"""The live picture of 00_start_here: two sentences with one word in common go through an encoder."""

import torch

from encoder_lib import expect
from encoder_lib.course.explore.widget.controls import Checkbox, Range, Text
from encoder_lib.course.explore.widget.explorer import Explorer
from encoder_lib.course.explore.widget.views import Heatmap, View, Way
from encoder_lib.course.lab.way import Station, Visit, along, stations, visit
from encoder_lib.course.plots import percent
from encoder_lib.pretrained import SentenceEncoder

LONGEST = 80  # characters of a sentence


def walk(model: SentenceEncoder, first: str, second: str, word: str = "", *, station: int = 1) -> Explorer:
    """Follow a word of two sentences through an encoder of post-norm layers: where do its two vectors part?

    At each station, counted from 1: what is done there, the cosine of the two vectors that come out, and whom the word
    looks at in each head of the layer. The front end steps through the stations by itself. A switch forbids all looks
    at other tokens. Without `word`, or where a sentence lacks it, the walk follows the longest word in common.
    Raises TypeError for what is no SentenceEncoder, and what the controls raise for values that they do not take.
    """
    expect.kind("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    word = Text("word", word, max_length=LONGEST).value

    def show(first: str, second: str, station: int, alone: bool) -> View:
        chosen, said = common(model, first, second, word)
        one, other = (visit(model, sentence, chosen, alone=alone) for sentence in (first, second))
        cosines = list(along(one, other).values())
        said += "No token may look at another one. " * alone
        told = [
            f"{said}Station {i + 1} of {len(cosines)}, {_told(i, one, other)}: cosine {cosine:.3f}."
            for i, cosine in enumerate(cosines)
        ]
        marks = [(s.short, s.layer, s.joined) for s in one.stations]
        title = f"Cosine of the two vectors of “{chosen}”, from station to station"
        return View(
            *(_looks(v, f"{n} sentence: “{chosen}” looks at") for v, n in ((one, "First"), (other, "Second"))),
            description=told,
            frames="station",
            way=Way(title, "cosine", marks, cosines),
        )

    return Explorer(
        show,
        Text("first", first, max_length=LONGEST, label="first sentence"),
        Text("second", second, max_length=LONGEST, label="second sentence, with a word of the first"),
        Range("station", station, min=1, max=len(stations(len(model.encoder.encoder.layers)))),
        Checkbox("alone", False, label="forbid all looks at other tokens"),
        title="A word on its way through the encoder",
    )


def common(model: SentenceEncoder, first: str, second: str, word: str) -> tuple[str, str]:
    """The token of both sentences that a walk follows, and what there is to say of the choice.

    It is `word` where both have that, else the longest token that they share, else the one that opens every text.
    """
    pair = model.tokens(first), model.tokens(second)
    shared = [token for token in pair[0] if token in pair[1] and token.isalnum()]
    if not shared:
        return pair[0][0], f"The sentences share no word: the walk follows {pair[0][0]}, which opens every text. "
    chosen = next((token for token in model.tokens(word) if token in shared), max(shared, key=len))
    said = (
        ""
        if chosen == word or {*shared} == {chosen}
        else f"The walk follows “{chosen}”, the longest of what the sentences share. "
    )
    if any(f"{chosen} ##" in " ".join(tokens) for tokens in pair):
        said += "It is the first piece of a longer word. "
    if any(tokens.count(chosen) > 1 for tokens in pair):
        said += "It stands there more than once: the walk follows the first. "
    return chosen, said


def _looks(visit: Visit, title: str) -> Heatmap:
    """Whom the word looks at in each head of a station's layer, as frames; NaN where there is no layer."""
    layers = [visit.looks(s.layer) if s.layer else torch.full_like(visit.looks(1), torch.nan) for s in visit.stations]
    return Heatmap(
        torch.stack(layers),  # (stations, H, T)
        title=title,
        x_label="looked at",
        y_label="head",
        x_ticks=visit.tokens,
        y_ticks=[str(head + 1) for head in range(len(layers[0]))],
        missing="nobody is looked at here",
    )


def _told(place: int, one: Visit, other: Visit) -> str:
    """What is done at a station, in words that the cosine of what comes out can follow."""
    pair, station, before = (one, other), one.stations[place], one.stations[max(0, place - 1)]
    match station.short:
        case "table":
            number = int(one.outputs["input"][0, one.place])
            shapes = " and ".join(str(tuple(v.outputs[station.key][0].shape)) for v in pair)
            return (
                f"the table. Each token gets its row: {shapes} numbers. The word has row {number} in both. Two vectors"
            )
        case "position":
            where = f"places {one.place} and {other.place}, which differ"
            where = f"place {one.place} in both, counted from 0" if one.place == other.place else where
            return f"position. The vector of its place is added ({where}); a norm brings the sum to size. Two vectors"
        case "attention":
            return (
                f"{station.name}. The word looks at tokens, and takes something from each. Its strongest look at "
                f"another word: {_strongest(station, one)} in the first sentence, {_strongest(station, other)} in the "
                "second. What it takes"
            )
        case "feed-forward":
            numbers, hidden = one.at(station).shape[-1], one.outputs[f"{station.key}.linear1"].shape[-1]
            return (
                f"{station.name}. It looks at no other token: {numbers} numbers become {hidden}, and then {numbers} "
                "again. What it adds"
            )
        case "mean":
            return "the mean over all tokens: one vector for each sentence. The two sentences"
    sums = [v.outputs[f"{station.key}.input"][0, v.place] for v in pair]
    shares = [(v.at(before).norm() / (total - v.at(before)).norm()).item() for v, total in zip(pair, sums, strict=True)]
    return (
        f"{station.name}. What was added is {shares[0]:.2f} and {shares[1]:.2f} times as long as the vector that it is "
        "added to; a norm brings the sum to size. Two vectors"
    )


def _strongest(station: Station, visit: Visit) -> str:
    """The strongest look at another word, special tokens aside, and its head."""
    weights = visit.looks(station.layer).clone()  # (H, T)
    for place, token in enumerate(visit.tokens):
        if place == visit.place or not token.removeprefix("##").isalnum():
            weights[:, place] = 0
    head, place = divmod(int(weights.argmax()), len(visit.tokens))
    share = percent(weights[head, place].item())
    return f"head {head + 1} gives {share} to “{visit.tokens[place]}”" if weights.any() else "none"
