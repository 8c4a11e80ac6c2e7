"""The cases of notebook 10, and what its tests find in them.

A test takes an encoder, which it may change, and gives what it has found: names and numbers. It notices something when
one of them is 10⁻¹⁰ or more, or NaN, or when the encoder stops with an error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.course.debugging_clinic import broken, patients
from encoder_lib.course.debugging_clinic.patients import correct_encoder, in_float64, torch_counterpart
from encoder_lib.course.kit.checking.limit import TimeUp, run_within
from encoder_lib.course.kit.checking.verdict import PATIENCE
from encoder_lib.course.kit.notebook import table
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.model.masks import lengths_mask
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import reversal

if TYPE_CHECKING:
    import pandas as pd

Test = Callable[[nn.Module], Mapping[str, Tensor | float]]
ROUNDING = 1e-10  # what is less is no finding: float64 keeps about 16 digits
IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]])  # (B, T), what the notebook asks; 0 is padding


@dataclass(frozen=True)
class Case:
    """What it looks like from outside, the broken piece, and how a piece of that kind gets into an encoder."""

    title: str
    piece: Callable
    inject: Callable[[Callable, TransformerEncoder], None]


CASES = (
    Case("Too many parameters", broken.WithATemplate, patients.inject_stack),
    Case("NaN in the longest sentence", broken.attend_with_the_mask_turned, patients.inject_torch_attend),
    Case("Fine until it moves", broken.TableLeftBehind, patients.inject_positions),
    Case("Nearly the same waves", broken.positions_with_a_frequency_a_column, patients.inject_table),
    Case("An unknown patient", broken.heads_joined_as_they_lie, patients.inject_heads),
)


def patient(case: int, piece: Callable | None = None) -> TransformerEncoder:
    """The encoder of a case, counted from 1; with `piece` in the place of the broken one, if there is one.

    Raises: TypeError or ValueError for no such case.
    """
    if expect.integer("case", case, least=1) > len(CASES):
        raise ValueError(f"case: expected 1 to {len(CASES)}, got {case}")
    chosen = CASES[case - 1]
    return correct_encoder(partial(chosen.inject, chosen.piece if piece is None else piece))


def cut_with(cut: Callable[[Tensor, int], Tensor]) -> TransformerEncoder:
    """An encoder whose attention cuts its vectors into heads with `cut(x, n_heads)`: (B, T, D) -> (B, H, T, K).

    Raises: TypeError for what is no function.
    """
    expect.instance("cut", cut, Callable, "a function")
    return correct_encoder(partial(patients.inject_cut, cut))


def parity(model: nn.Module) -> dict[str, Tensor]:
    """The test of `my_parity`: how far a model and its twin, which hold the same parameters, part at a word."""
    (words, theirs), real = torch_counterpart(model), IDS != 0
    x = words[IDS] + sinusoidal_table(5, patients.D)  # (B, T, D)
    difference = model(IDS) - theirs(x, src_key_padding_mask=~real)  # (B, T, D)
    return {"beside PyTorch's": difference[real].abs().max()}


def visit(test: Test, case: int) -> "pd.DataFrame":
    """What a test finds in a correct encoder, and in the patient of a case.

    A row for each, a column for each thing that the test looks at. Where the encoder stops with an error, its name.
    Raises: TypeError for a test that nobody can call, or that gives no mapping; TypeError or ValueError for no such
    case; whatever the test raises on the correct encoder.
    """
    expect.instance("test", test, Callable, "a function")
    well = _findings(test, correct_encoder())
    ill = _findings(test, patient(case), well)
    return table({name: [well[name], ill[name]] for name in well}, rows=["a correct encoder", f"patient {case}"])


def notices(test: Test, model: nn.Module) -> bool:
    """Whether a test finds something: a number that is more than rounding, NaN, or an error.

    Raises: TypeError for a test that nobody can call, or that gives no names with numbers.
    """
    expect.instance("test", test, Callable, "a function")
    try:
        found = _ask(test, model)
    except (Exception, SystemExit, TimeUp):
        return True
    return not all(abs(value) < ROUNDING for value in numbers_found(found).values())


def fault_matrix(tests: Sequence[Test]) -> "pd.DataFrame":
    """Which tests notice something in which patients: a row of truth values for each case, a column for each test.

    Raises: TypeError for tests that are no functions; ValueError for no tests.
    """
    if not isinstance(tests, list | tuple):
        raise TypeError(f"tests: expected a list of functions, got {expect.short_repr(tests)} ({type(tests).__name__})")
    if not tests:
        raise ValueError("tests: expected at least one, got none")
    rows = [[notices(test, patient(number)) for test in tests] for number, _ in enumerate(CASES, start=1)]
    import pandas as pd  # here, since it takes half a second that the first cell of a notebook need not wait for

    names = [getattr(test, "__name__", type(test).__name__) for test in tests]
    titles = [f"{number} {case.title}" for number, case in enumerate(CASES, start=1)]
    return pd.DataFrame(rows, index=titles, columns=names)


def _findings(test: Test, model: nn.Module, columns: Iterable[str] = ()) -> dict[str, str]:
    """What a test finds, in words, or the name of the error under each of its columns, if there are any."""
    try:
        found = _ask(test, model)
    except (Exception, SystemExit, TimeUp) as error:
        if not columns:
            raise
        return dict.fromkeys(columns, type(error).__name__)
    return {name: f"{value:.2g}" for name, value in numbers_found(found).items()}


def numbers_found(found: Any) -> dict[str, float]:
    """What a test gave, as Python's numbers with their names. NaN is one of them."""
    example = "; try {'asked twice': difference}"
    expect.instance("what the test gives", found, Mapping, "a dictionary", example)
    if not found:
        raise ValueError(f"what the test gives: expected at least one number, got none{example}")
    numbers = {}
    for name, value in found.items():
        number = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
        if not isinstance(number, Real):
            given = f"{expect.short_repr(value)} ({type(value).__name__})"
            raise TypeError(f"what the test gives, {name!r}: expected a number, got {given}")
        numbers[name] = float(number)
    return numbers


def _ask(test: Test, model: nn.Module) -> object:
    with seeded(0), in_float64():
        return run_within(PATIENCE, test, deepcopy(model))


def train(
    cut: Callable[[Tensor, int], Tensor], *, n_heads: int = 4, steps: int = 120, seed: int = 0
) -> tuple[Tensor, Callable[..., float]]:
    """Train an encoder of one layer, D = 32, F = 64, that cuts as `cut_with` says, to read 8 symbols of 10 backwards.

    Each of the 120 steps takes 64 sequences and Adam's step of 0.003. Returns every step's loss (steps,), and
    `read(padding=0)`, the share of symbols of 500 fresh sequences that it then names: as in training, or with up to
    three padding tokens after each, hidden by the mask.
    Raises: TypeError for a cut that is no function; TypeError or ValueError for heads or steps that are no positive
    integers, heads that 32 cannot be cut into, or a seed that is no integer.
    """
    expect.instance("cut", cut, Callable, "a function")
    with seeded(seed):
        encoder = TransformerEncoder(10, 1, 32, n_heads, 64, positional="learned", max_len=11)
        patients.inject_cut(cut, encoder)
        torch.manual_seed(seed)  # whatever was drawn, head and batches are the same
        model = nn.Sequential(encoder, nn.Linear(32, 10)).float()
        losses = fit(model, lambda: reversal(64, 8, 10), steps=steps)
        ids, targets = reversal(500, 8, 10)  # (B, T) each

    @torch.no_grad()
    def read(padding: int = 0) -> float:
        mask = lengths_mask(torch.full((500,), 8), 8 + padding)
        scores = model[1](encoder(F.pad(ids, (0, padding)), mask))[:, :8]  # (B, T, 10)
        return (scores.argmax(dim=-1) == targets).double().mean().item()

    return torch.tensor(losses), read
