"""A reader's encoder in a folder of its own: it reads texts in a Python that has no encoder_lib."""

import inspect
import json
import runpy

import pytest
import torch
from answers import answers_of
from notebook_run import evaluate
from own_parts import ONE, OTHER, SIZES, made, run_exported, tokenizer
from source_edits import source_of

from encoder_lib.course.build_your_own import Workshop, loader, take_away
from encoder_lib.course.build_your_own.own import CHECKS, KINDS
from encoder_lib.course.build_your_own.take_away import program
from encoder_lib.course.kit.checking import parts

TEXTS = ["a dog", "dog a dog a dog"]
IMPORTS = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
"""

ANSWERS = answers_of("build_your_own").ANSWERS  # without those of `learn`


def cells(*sources, before=IMPORTS):
    """The names of a notebook in which these cells have run."""
    names = {"__name__": "__main__"}
    for source in (before, *sources):
        evaluate(source, names)
    return names


def written(answers):
    """The classes of a table of answers, as a notebook's cells make them, each under the name of its part."""
    sources = {name: source_of(answers[check]) for name, check in CHECKS.items() if check in ANSWERS}
    classes = [f"{source}\n\n{name} = {answers[CHECKS[name]].__name__}" for name, source in sources.items()]
    return cells(*classes)


def workshop(names):
    return Workshop(*(names.get(name) for name in CHECKS))


def taken_away(names, folder):
    """Export the encoder of a notebook with these names; gives the encoder."""
    mine = workshop(names)
    encoder = made(mine).float()
    take_away(mine, encoder, tokenizer(), SIZES, folder)
    return encoder


def test_it_encodes_texts_without_the_course(tmp_path):
    """Parts of the reader's own, all of them, none, one, or one that uses what stands elsewhere in the notebook."""
    notebooks = written(ONE), written(OTHER), {}, {"Norm": written(ONE)["Norm"]}, cells(BASE, HELPED, before=BEFORE)
    folders = [tmp_path / str(n) for n in range(len(notebooks))]
    encoders = [taken_away(names, folder) for names, folder in zip(notebooks, folders, strict=True)]
    vectors = run_exported(TEXTS, *folders)
    with torch.no_grad():
        expected = [parts.vectors_of(e, [torch.tensor([1, 2]), torch.tensor([2, 1, 2, 1, 2])]) for e in encoders]
    torch.testing.assert_close(vectors, torch.stack(expected), atol=1e-5, rtol=0)
    assert vectors.shape == (5, 2, 6) and (vectors.norm(dim=-1) - 1).abs().max() < 1e-4


def test_without_a_text_it_says_how_to_use_it(tmp_path, monkeypatch):
    taken_away({}, tmp_path / "mine")
    monkeypatch.setattr("sys.argv", ["my_encoder.py"])
    with pytest.raises(SystemExit, match=r"usage: python my_encoder\.py"):
        runpy.run_path(str(tmp_path / "mine" / "my_encoder.py"), run_name="__main__")


def test_it_holds_the_readers_classes_as_they_wrote_them_and_the_loader_and_names_what_is_lent():
    names = written(ONE) | {"Block": None}
    text = program(workshop(names))
    assert "encoder_lib" not in text and max(map(len, text.splitlines())) <= 120
    for name in KINDS.keys() | {"Encoder"}:
        assert f"\n\n\n{source_of(ONE[CHECKS[name]])}\n\n\n" in text
    assert text.count("# lent by the course\n") == 2 and "# lent by the course\nclass Block(nn.Module):" in text
    assert text.endswith(inspect.getsource(loader).split("\n\n\n", 1)[1]) and text.count("import torch\n") == 1
    imports, _, _ = text.partition("\n\n\n")
    assert imports.count("from torch import nn") == 1 and "from torch import Tensor" in imports


HELPED = """
def centred(x):
    return x - x.mean(dim=AXIS, keepdim=True)


class Norm(Base):
    def forward(self, x):
        real = centred(x)  # a name that is the notebook's as well
        variance = real.square().mean(dim=AXIS, keepdim=True)
        return self.weight * real / sqrt(variance + self.eps) + self.bias
"""
BASE = """
class Base(nn.Module):
    def __init__(self, d_model: int, eps: float = math.inf):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps
"""


BEFORE = f"{IMPORTS}import math\nfrom torch import sqrt\nAXIS = -1\nreal = torch.ones(3)"


def test_what_a_part_uses_comes_along_and_stands_above_it():
    mine = workshop(cells(BASE, HELPED, before=BEFORE))
    assert mine.own == ["Norm"]
    text = program(mine)
    assert "\nimport math\n" in text and "\nfrom torch import sqrt\n" in text
    places = [text.index(line) for line in ("AXIS = -1", "class Base", "def centred", "class Norm(Base)")]
    assert places == sorted(places) and "real = torch.ones" not in text


FEED_FORWARD = source_of(ONE[CHECKS["FeedForward"]])


@pytest.mark.parametrize(
    ("before", "source", "words"),
    [
        ("half = torch.ones(())", FEED_FORWARD.replace("F.gelu", "half * F.gelu"), "FeedForward: .* uses half"),
        (
            "from encoder_lib.model import feed_forward as ours",
            FEED_FORWARD.replace("F.gelu", "ours.F.gelu"),
            "uses ours",
        ),
        (
            "",
            "FeedForward = lambda d, f: nn.Sequential(nn.Linear(d, f), nn.GELU(), nn.Linear(f, d))",
            "a def or a class",
        ),
    ],
    ids=["a tensor", "the library", "a lambda"],
)
def test_what_cannot_be_written_down_is_refused_before_anything_is_written(tmp_path, before, source, words):
    mine = workshop(cells(source, before=f"{IMPORTS}{before}"))
    assert mine.own == ["FeedForward"]
    with pytest.raises(ValueError, match=words):
        take_away(mine, made(mine).float(), tokenizer(), SIZES, tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_and_an_encoder_of_other_parts_is_refused(tmp_path):
    mine = workshop({})
    (tmp_path / "mine").write_text("a diary")
    with pytest.raises(FileExistsError, match="folder: expected a name that is free, got 'mine'"):
        take_away(mine, made(mine).float(), tokenizer(), SIZES, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "a diary"
    with pytest.raises(ValueError, match="got another in place of Encoder; was it made before the workshop"):
        take_away(mine, made(workshop(written(ONE))), tokenizer(), SIZES, tmp_path / "other")
    take_away(mine, made(mine).float(), tokenizer(), SIZES, tmp_path / "other")
    assert json.loads((tmp_path / "other" / "config.json").read_text()) == SIZES
