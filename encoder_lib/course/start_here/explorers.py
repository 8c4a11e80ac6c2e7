"""The live picture of 00_start_here: two sentences with one word in common go through an encoder."""

import torch

from encoder_lib import expect
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.way import Station, Visit, along, stations, visit
from encoder_lib.course.kit.widget.controls import Range, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import Heatmap, View, Way
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.pretrained import SentenceEncoder

RECORDED = (  # pairs of sentences that stand for typing on the web
    ("The river bank was flooded.", "The big bank raised its interest rates."),
    ("The mouse ate the cheese.", "The mouse and the keyboard are on the desk."),
    ("The muddy bank was steep.", "The rich bank was robbed."),
    ("A bat flew out of the cave.", "A bat hit the ball."),
    ("He plays the bass in a band.", "He caught a bass in the lake."),
    ("They play chess in the park.", "You may park the car here."),
    ("The light of the sun is bright.", "The box is light, not heavy."),
    ("This apple tastes sweet.", "This apple phone is new."),
    ("The dog bites the man.", "The man bites the dog."),
    ("Spring is warmer than winter.", "The spring of the clock broke."),
)
LONGEST = 80  # characters of a sentence
TOLD = {  # what is done at a station, where that is the same for all words
    "+ norm": "The sum is brought to size. Two vectors",
    "feed-forward": "It looks at no other token. What it adds",
    "mean": "One vector for each sentence. The two sentences",
}


def walk(model: SentenceEncoder, first: str, second: str, *, station: int = 1) -> Explorer:
    """Follow a word of two sentences through an encoder of post-norm layers: where do its two vectors part?

    The word is the longest that both have, else the token that opens every text. At each station, counted from 1: what
    is done there, the cosine of the two vectors that come out, and whom the word looks at in each head of the layer.
    The front end steps through the stations by itself.
    Raises TypeError for what is no SentenceEncoder, and what the controls raise for values that they do not take.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")

    def show(first: str, second: str, station: int) -> View:
        tokens, others = model.tokens(first), model.tokens(second)
        shared = [token for token in tokens if token in others and token.isalnum()]
        word = max(shared, key=len, default=tokens[0])
        said = "" if shared else f"The sentences share no word: the walk follows {word}, which opens every text. "
        one, other = (visit(model, sentence, word) for sentence in (first, second))
        cosines = list(along(one, other).values())
        told = [
            f"{said}Station {i} of {len(cosines)}, {station.name}. {_told(station, one, other)}: cosine {cosine:.3f}."
            for i, (station, cosine) in enumerate(zip(one.stations, cosines, strict=True), 1)
        ]
        marks = [(s.short, s.layer, s.joined) for s in one.stations]
        title = f"Cosine: ● of the two vectors of “{word}”, ■ of what a part adds to them (last: of the two means)"
        return View(
            *(_looks(v, f"{n} sentence: “{word}” looks at") for v, n in ((one, "First"), (other, "Second"))),
            description=told,
            frames="station",
            way=Way(title, "cosine", marks, cosines),
        )

    return Explorer(
        show,
        Text("first", first, max_length=LONGEST, label="first sentence"),
        Text("second", second, max_length=LONGEST, label="second sentence, with a word of the first"),
        Range("station", station, min=1, max=len(stations(len(model.encoder.encoder.layers)))),
        title="A word on its way through the encoder",
        web=Web(heights=(1170, 1380), starts=tuple({"first": a, "second": b} for a, b in RECORDED), live="walk"),
    )


def _looks(visit: Visit, title: str) -> Heatmap:
    """Whom the word looks at in each head of a station's layer, as frames; NaN where there is no layer."""
    layers = [visit.looks(s.layer) if s.layer else torch.full_like(visit.looks(1), torch.nan) for s in visit.stations]
    return Heatmap(
        torch.stack(layers),  # (stations, H, T)
        title=title,
        x_label="looked at",
        y_label="head of this layer",
        x_ticks=visit.tokens,
        y_ticks=[str(head + 1) for head in range(len(layers[0]))],
        missing="nobody is looked at here",
    )


def _told(station: Station, one: Visit, other: Visit) -> str:
    """What is done at a station, in words that the cosine of what comes out can follow."""
    match station.short:
        case "table":
            return f"{len(one.tokens)} and {len(other.tokens)} tokens get their rows. Two vectors"
        case "position":
            return f"The rows of places {one.place} and {other.place}, counted from 0, are added. Two vectors"
        case "attention":
            first, second = (_strongest(station, visit) for visit in (one, other))
            looks = f"{first} in the first sentence, {second} in the second"
            return f"It takes something from each token. Its strongest look at another word: {looks}. What it takes"
    return TOLD[station.short]


def _strongest(station: Station, visit: Visit) -> str:
    """The strongest look at another word, special tokens aside, and its head."""
    weights = visit.looks(station.layer).clone()  # (H, T)
    for place, token in enumerate(visit.tokens):
        if place == visit.place or not token.removeprefix("##").isalnum():
            weights[:, place] = 0
    head, place = divmod(int(weights.argmax()), len(visit.tokens))
    share = percent(weights[head, place].item())
    return f"head {head + 1} gives {share} to “{visit.tokens[place]}”" if weights.any() else "none"
