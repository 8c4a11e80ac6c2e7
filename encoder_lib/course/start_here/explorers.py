"""The explorer of 00_start_here: two sentences with a word in common go through an encoder."""

import torch

from encoder_lib import expect
from encoder_lib.course.kit.activations import Run, Site, cosines, follow, sites
from encoder_lib.course.kit.plots import percent
from encoder_lib.course.kit.widget.controls import Range, Text
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.views import Heatmap, Timeline, View
from encoder_lib.course.kit.widget.web import Web
from encoder_lib.pretrained import SentenceEncoder

RECORDED = (  # the pairs of sentences that the web edition offers in place of typing
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
LONGEST = 80  # the most characters of a sentence
SAME_FOR_ALL = {  # what a step does, where that is the same for all words
    "+ norm": "The part's output is added, and the sum is normalised. Two vectors",
    "feed-forward": "It works on each token alone. What it adds",
    "mean": "The mean over all tokens is the vector of the sentence. Two sentences",
}


def walk(model: SentenceEncoder, first: str, second: str, *, station: int = 1) -> Explorer:
    """Follow a word of two sentences through an encoder of post-norm layers: where do its two vectors begin to differ?

    The word is the longest that both sentences have, or else the token that begins every text. For each step, counted
    from 1, it shows what the step does, the cosine of the two resulting vectors, and the word's attention weights in
    each head of the layer. The front end can play the steps one after the other.
    Raises TypeError if `model` is not a SentenceEncoder, and whatever the controls raise for values they don't accept.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")

    def show(first: str, second: str, station: int) -> View:
        tokens, others = model.tokens(first), model.tokens(second)
        shared = [token for token in tokens if token in others and token.isalnum()]
        word = max(shared, key=len, default=tokens[0])
        said = "" if shared else f"The sentences have no word in common: followed is {word}, which begins every text. "
        one, other = (follow(model, sentence, word) for sentence in (first, second))
        values = list(cosines(one, other).values())
        descriptions = [
            f"{said}Step {i} of {len(values)}, {site.name}. {_describe(site, one, other)}: cosine {cosine:.3f}."
            for i, (site, cosine) in enumerate(zip(one.sites, values, strict=True), 1)
        ]
        marks = [(s.short, s.layer, s.joined) for s in one.sites]
        title = f"Cosine: ● of the two vectors of “{word}”, ■ of what a part adds to them (last: of the two means)"
        return View(
            *(
                _attention(run, f"{n} sentence: what “{word}” attends to")
                for run, n in ((one, "First"), (other, "Second"))
            ),
            description=descriptions,
            frames="station",
            timeline=Timeline(title, "cosine", marks, values),
        )

    return Explorer(
        show,
        Text("first", first, max_length=LONGEST, label="first sentence"),
        Text("second", second, max_length=LONGEST, label="second sentence, with a word of the first"),
        Range("station", station, min=1, max=len(sites(len(model.encoder.encoder.layers))), label="step"),
        title="A word on its way through the encoder",
        web=Web(heights=(1170, 1380), starts=tuple({"first": a, "second": b} for a, b in RECORDED), live="walk"),
    )


def _attention(run: Run, title: str) -> Heatmap:
    """The word's attention weights in each head of a site's layer, as frames; NaN where there is no layer."""
    none = torch.full_like(run.attention(1), torch.nan)  # (H, T)
    layers = [run.attention(site.layer) if site.layer else none for site in run.sites]
    return Heatmap(
        torch.stack(layers),  # (sites, H, T)
        title=title,
        x_label="attended to",
        y_label="head of the layer",
        x_ticks=run.tokens,
        y_ticks=[str(head + 1) for head in range(len(layers[0]))],
        missing="no attention in this step",
    )


def _describe(site: Site, one: Run, other: Run) -> str:
    """What is done at a site, up to the words that the cosine of its outputs follows."""
    match site.short:
        case "table":
            return f"{len(one.tokens)} and {len(other.tokens)} tokens get their rows of the table. Two vectors"
        case "position":
            return f"The rows of positions {one.place} and {other.place}, counted from 0, are added. Two vectors"
        case "attention":
            first, second = (_strongest(site, run) for run in (one, other))
            largest = f"{first} in the first sentence, {second} in the second"
            return f"Its largest weight on another word: {largest}. What it adds"
    return SAME_FOR_ALL[site.short]


def _strongest(site: Site, run: Run) -> str:
    """The largest attention weight on another word, special tokens aside, and its head."""
    weights = run.attention(site.layer).clone()  # (H, T)
    for position, token in enumerate(run.tokens):
        if position == run.place or not token.removeprefix("##").isalnum():
            weights[:, position] = 0
    head, position = divmod(int(weights.argmax()), len(run.tokens))
    largest = percent(weights[head, position].item())
    return f"head {head + 1} gives {largest} to “{run.tokens[position]}”" if weights.any() else "none"
