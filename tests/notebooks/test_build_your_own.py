"""12_build_your_own with its answers in place, all of them or some: what is the reader's own is said to be."""

import re
from itertools import pairwise

import nbformat
import pytest
import torch
from notebook_rules import tags
from notebook_run import Run
from own_parts import run_exported
from places import ROOT
from torch import nn

from encoder_lib.course.build_your_own import take_away
from encoder_lib.course.build_your_own.own import CHECKS
from encoder_lib.course.kit import ladder
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes half a minute each time

STEM = "12_build_your_own"
LINES = range(73, 86)  # what "some eighty lines" may be


def answered(*names, stopped=()):
    """The notebook with the folded answers of these exercises in the places of the stubs; all when none is named.

    A cell that stopped with a SyntaxError leaves nothing behind: those of the exercises `stopped` are empty.
    """
    notebook = nbformat.read(ROOT / "notebooks" / f"{STEM}.ipynb", as_version=4)
    for above, cell in pairwise(notebook.cells):
        if "exercise" in tags(cell):
            answer = re.search(r'<details class="answer">.*?```python\n(.*?)```', above.source, re.DOTALL).group(1)
            *_, call = cell.source.splitlines()
            name = re.search(r"^(?:class|def) (\w+)", cell.source, re.MULTILINE).group(1)
            if name in names or not names:
                cell.source = f"{answer}\n\n{call}"
            if name in stopped:
                cell.source = ""
    return notebook


@pytest.fixture(scope="module")
def whole():
    """The notebook, run with all answers in place."""
    before = torch.get_default_dtype()
    yield Run(answered())
    torch.set_default_dtype(before)
    torch.set_printoptions(profile="default")


def test_with_all_answers_every_part_and_stage_is_the_readers(whole):
    mine = whole["mine"]
    assert mine.own == list(CHECKS)
    assert all(value.correct for value in whole.values if hasattr(value, "correct"))
    assert sum(hasattr(value, "correct") for value in whole.values) == 10
    assert whole.shown("loaded by my own names") and whole.shown("parameters loaded by: my own names")
    assert whole.shown("A Transformer encoder: 9 of 9 parts written by hand")
    assert all(getattr(mine, name) is whole[name] for name in CHECKS)


def test_the_stages_reach_what_the_prose_says(whole):
    assert whole["accuracy"] > 0.99 and whole["difference"] < 1e-13
    assert (whole["vectors"] - whole["expected"]).abs().max() < 5e-7


FAULTS = {  # part, line, what it becomes, the largest differences as the stages print them, questions answered
    "no root": ("Attention", " / q.shape[-1] ** 0.5", "", 0.04, 0.1, 3),
    "no mask": ("Attention", "if mask is not None", "if False", 0.06, 0.2, 2),
    "wrong cut": ("Attention", "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
                  "x.reshape(len(x), self.n_heads, x.shape[1], -1)", 0.6, 0.2, 1),
    "ReLU": ("FeedForward", "F.gelu", "F.relu", 0.1, 0.3, 2),
    "no positions": ("Positions", "x + self.weight[: x.shape[1]]", "x", 0, 0.1, 2),
}  # fmt: skip


def cards(run, seed):
    """How many cards the run's parts answer with that seed, and how many of the letters guessed lie there."""
    with seeded(seed):
        encoder = run["make"](**run["small"])
        reader = nn.Sequential(encoder, nn.Linear(64, ladder.N_LETTERS).float()).cpu()
        run["mine"].learn(reader, lambda: ladder.deal(128), steps=400, lr=0.003)
        dealt, answers = ladder.deal(4000)
    with torch.no_grad():
        guessed = reader(dealt).argmax(dim=-1)
    letters = dealt // 8
    there = (letters[:, None] == (guessed ^ (letters & 1))[..., None]).any(dim=-1)
    return (guessed == answers).double().mean(), there.double().mean()


@pytest.mark.parametrize("seeds", [[0], pytest.param(range(8), marks=pytest.mark.weekly)], ids=["one", "eight"])
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_seen_where_the_prose_says(fault, seeds):
    part, line, becomes, torchs, minilms, found = FAULTS[fault]
    notebook = answered()
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith(f"class {part}("):
            assert line in cell.source
            cell.source = cell.source.replace(line, becomes)
        cell.source = cell.source.replace("broken=[]", f"broken=[{part!r}]")
    last = next(n for n, cell in enumerate(notebook.cells) if cell.source.startswith("questions = "))
    notebook.cells = notebook.cells[: last + 1]
    run = Run(notebook)
    assert run["mine"].named("yours, broken") == [part] and len(run["mine"].own) == 8
    for seed in seeds:
        right, there = cards(run, seed)
        assert 0.2 < right < 0.37 and there > 0.8 if fault == "no positions" else right > 0.9, seed
    assert run["reference"].abs().mean().item() == pytest.approx(0.27, abs=0.01)
    assert float(f"{run['difference']:.0e}") == pytest.approx(torchs, abs=1e-12)
    assert float(f"{(run['vectors'] - run['expected']).abs().max():.0e}") == minilms
    right = ("watch out of its waistcoat-pocket", "centre of the earth", "ORANGE MARMALADE")
    assert [words in text for words, text in zip(right, run["best"], strict=True)].count(True) == found


def test_the_answers_take_some_seventy_or_eighty_lines(whole):
    lines = whole["mine"].lines()
    assert lines in LINES and whole.shown(f"lines in my parts: {lines}")
    assert [int(count) for count in whole["mine"].board()["lines"]] and all(whole["mine"].board()["lines"] > "0")


def test_exported_encoder_gives_the_notebooks_vectors(whole, tmp_path):
    take_away(whole["mine"], whole["encoder"], whole["tokenizer"], whole["config"], tmp_path / "mine")
    text = (tmp_path / "mine" / "my_encoder.py").read_text(encoding="utf-8")
    answers = [cell.source.partition("\n\n\nchecks.")[0].strip() for cell in whole.cells if "exercise" in tags(cell)]
    assert all(answer in text for answer in answers[: len(CHECKS)]) and "lent by the course" not in text
    (vectors,) = run_exported(whole["sentences"][:3], tmp_path / "mine")
    torch.testing.assert_close(vectors, whole["vectors"][:3], atol=2e-6, rtol=0, check_dtype=False)


def test_half_of_the_answers_and_errors_in_others():
    run = Run(answered("Embedding", "Norm", "Attention", "vectors_of", stopped=("Block", "learn", "my_name")))
    assert run["mine"].own == ["Embedding", "Norm", "Attention", "vectors_of"]
    assert run["mine"].board().loc["Block", "because"] == "its cell has not run, or stopped with an error"
    assert run.shown("loaded by the library") and run.shown("A Transformer encoder: 4 of 9 parts written by hand")
    assert (run["vectors"] - run["expected"]).abs().max() < 5e-7
