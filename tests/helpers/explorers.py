"""One explorer of each kind, made as the notebooks make them; what a reader sees of it, and where its controls end."""

from functools import lru_cache, partial
from inspect import signature

import pandas as pd
import torch

from encoder_lib import TransformerEncoder, load_pretrained
from encoder_lib.course import explore
from encoder_lib.course.explore import Checkbox, Range, Select
from encoder_lib.course.kit import ladder
from encoder_lib.course.training import letters
from encoder_lib.course.training.recording import Recording
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import IGNORE_INDEX, Sample


@lru_cache
def minilm():
    return load_pretrained("minilm")


def probabilities(sentence):
    """Of five libraries, before a fine-tuning and after one epoch."""
    return torch.tensor([[len(sentence) / 50, 1, 1, 0, 0], [0, len(sentence) / 100, 1, 2, 3]]).softmax(dim=1)


@lru_cache
def hopper():
    """A model of two layers that follows the arrows of cards, untrained."""
    with seeded(0):
        return ladder.CardModel(positions="learned", attention=True, residual=True, n_layers=2)


def text_vectors():
    """Of four texts, before a fine-tuning and after one epoch."""
    vectors = torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(0))
    return torch.nn.functional.normalize(vectors, dim=-1)


@lru_cache
def recording():
    return trained_filler("the f_nction ret_rns", steps=20, every=5)[2]


SENTENCE = "The cat sat on the mat because it was tired."
PAIR = "The river bank was flooded.", "The big bank raised its interest rates."
GIVEN = {  # what an explorer is made with, by the name of the parameter
    "model": minilm,
    "sentence": lambda: SENTENCE,
    "first": lambda: PAIR[0],
    "second": lambda: PAIR[1],
    "recording": recording,
    "tables": lambda: torch.randn(5, 6, 3, generator=torch.Generator().manual_seed(0)),
    "runs": lambda: list(torch.randn(2, 5, 6, 2, generator=torch.Generator().manual_seed(0))),
    "words": lambda: list("abcdef"),
    "probabilities": lambda: probabilities,
    "texts": lambda: {
        "training": (text_vectors(), torch.tensor([1, 1, 2, 2])),
        "test": (text_vectors()[:, 1:], torch.tensor([1, 2, 2])),
    },
    "noticed": lambda: pd.DataFrame(torch.eye(4, 3).bool().numpy(), columns=["one", "two", "three"]),
    "kinds": lambda: ["x", "x", "x", "y", "y", "y"],
    "card_model": lambda: hopper(),
    "cards": lambda: torch.tensor([1, 10, 19, 28, 37, 46, 55, 56]),
    "query": lambda: [1.0, 2.0],
    "queries": lambda: torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 2.0], [1.0, 1.0], [0.0, -1.0], [-2.0, 0.5]]),
    "keys": lambda: torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 0.0], [-1.0, 1.0], [0.5, -1.5], [3.0, 3.0]]),
    "values": lambda: torch.tensor([[4.0, 0.0], [0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [3.0, 1.0], [0.5, 0.5]]),
}


def variants():
    """A function that makes each of the course's explorers, and each with a switch the other way round."""
    for name, make in explore.EXPLORERS.items():
        parameters = signature(make).parameters.values()
        wanted = [p.name for p in parameters if p.default is p.empty]
        switches = [(p.name, not p.default) for p in parameters if isinstance(p.default, bool)]

        def made(make=make, wanted=wanted, **options):
            return make(**{name: GIVEN[name]() for name in wanted} | options)

        yield name, made
        for switch, value in switches:
            yield f"{name} {switch}={value}", partial(made, **{switch: value})


EXPLORERS = dict(variants())
heads = EXPLORERS["heads"]


def picture(explorer):
    """All that the reader sees: the current frame of every panel with the labels of its boxes, or the PNG."""
    if explorer._view is None:
        return explorer._picture
    labels = repr([getattr(panel, "labels", None) for panel in explorer._view.panels]).encode()
    return labels + b"".join(panel.frame(explorer._frame).tobytes() for panel in explorer._view.panels)


def ends(explorer):
    """The two ends of every control."""
    return {name: ends_of(control) for name, control in explorer._by_name.items()}


def ends_of(control):
    """The two ends of one control; a text is empty, or as long as the control takes it."""
    if isinstance(control, Range):
        return control.min, control.max
    if isinstance(control, Select):
        return control.options[0], control.options[-1]
    return (False, True) if isinstance(control, Checkbox) else ("", "a b " * (control.max_length // 4))


def filler(**settings):
    """An untrained model that fills gaps, and a sample of held-out text."""
    torch.manual_seed(0)
    encoder = TransformerEncoder(letters.GAP + 1, 2, 16, 2, 32, positional="rotary", **settings)
    whole = letters.manual()[1][:480].view(20, 24)
    hidden = torch.rand(whole.shape) < 0.2
    sample = Sample(whole.masked_fill(hidden, letters.GAP), whole.masked_fill(~hidden, IGNORE_INDEX), None)
    return torch.nn.Sequential(encoder, torch.nn.Linear(16, letters.GAP)).float(), sample


def trained_filler(text, *, steps=6, every=2, **settings):
    """A short training of a model that fills gaps, with its sample and its recording."""
    model, sample = filler(**settings)
    recording = Recording(model, sample, text, every=every)
    fit(model, lambda: sample, steps=steps, callback=recording)
    return model, sample, recording
