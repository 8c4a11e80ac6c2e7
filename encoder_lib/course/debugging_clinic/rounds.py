"""The cases of notebook 10, and what its tests find in the patients.

A test takes an encoder, which it may change, and returns what it has found: a number under each name. It has noticed
something if a number is 10⁻¹⁰ or more, or NaN, or if the encoder stops with an error.
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
ROUNDING = 1e-10  # anything smaller is rounding: float64 keeps about 16 digits
IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]])  # (B, T), the input of the notebook's tests; 0 is padding


@dataclass(frozen=True)
class Case:
    """A case's symptom as its title, the broken piece, and the function that puts such a piece into an encoder."""

    title: str
    piece: Callable
    inject: Callable[[Callable, TransformerEncoder], None]


CASES = (
    Case("Too many parameters", broken.StackWithATemplate, patients.inject_stack),
    Case("NaN in the longest sentence", broken.attend_with_inverted_mask, patients.inject_torch_attend),
    Case("Fine until it moves", broken.TableLeftBehind, patients.inject_positions),
    Case("Nearly the same waves", broken.positions_with_one_frequency_per_column, patients.inject_table),
    Case("An unknown patient", broken.heads_joined_without_transpose, patients.inject_heads),
)


def patient(case: int, piece: Callable | None = None) -> TransformerEncoder:
    """The encoder of a case, counted from 1, with its broken piece in it, or with `piece` instead.

    Raises: TypeError or ValueError if there is no such case.
    """
    if expect.integer("case", case, least=1) > len(CASES):
        raise ValueError(f"case: expected 1 to {len(CASES)}, got {case}")
    chosen = CASES[case - 1]
    return correct_encoder(partial(chosen.inject, chosen.piece if piece is None else piece))


def cut_with(cut: Callable[[Tensor, int], Tensor]) -> TransformerEncoder:
    """An encoder whose attention cuts its vectors into heads with `cut(x, n_heads)`: (B, T, D) -> (B, H, T, K).

    Raises: TypeError if `cut` is not a function.
    """
    expect.instance("cut", cut, Callable, "a function")
    return correct_encoder(partial(patients.inject_cut, cut))


def parity(model: nn.Module) -> dict[str, Tensor]:
    """A differential test, as `my_parity` should be: the largest difference, at a word, between a model and PyTorch."""
    (words, reference), real = torch_counterpart(model), IDS != 0
    x = words[IDS] + sinusoidal_table(5, patients.D)  # (B, T, D)
    difference = model(IDS) - reference(x, src_key_padding_mask=~real)  # (B, T, D)
    return {"difference from PyTorch": difference[real].abs().max()}


def visit(test: Test, case: int) -> "pd.DataFrame":
    """What a test finds in a correct encoder, and in the patient of a case.

    There is a row for each encoder, and a column for each name in what the test returns. If the patient stops with an
    error, its row shows the error's name.
    Raises: TypeError for a test that cannot be called, or that returns no mapping; TypeError or ValueError if there is
    no such case; whatever the test raises on the correct encoder.
    """
    expect.instance("test", test, Callable, "a function")
    well = _findings(test, correct_encoder())
    ill = _findings(test, patient(case), well)
    return table({name: [well[name], ill[name]] for name in well}, rows=["a correct encoder", f"patient {case}"])


def notices(test: Test, model: nn.Module) -> bool:
    """Whether a test notices something: a number that is more than rounding, NaN, or an error.

    Raises: TypeError for a test that cannot be called, or that does not return names with numbers.
    """
    expect.instance("test", test, Callable, "a function")
    try:
        found = _ask(test, model)
    except (Exception, SystemExit, TimeUp):
        return True
    return not all(abs(value) < ROUNDING for value in numbers_found(found).values())


def fault_matrix(tests: Sequence[Test]) -> "pd.DataFrame":
    """Which tests notice something in which patients: a row of truth values for each case, a column for each test.

    Raises: TypeError for anything but a list of functions; ValueError for an empty one.
    """
    if not isinstance(tests, list | tuple):
        raise TypeError(f"tests: expected a list of functions, got {expect.short_repr(tests)} ({type(tests).__name__})")
    if not tests:
        raise ValueError("tests: expected at least one, got none")
    rows = [[notices(test, patient(number)) for test in tests] for number, _ in enumerate(CASES, start=1)]
    import pandas as pd  # here, since it takes half a second, and a notebook's first cell should not wait for it

    names = [getattr(test, "__name__", type(test).__name__) for test in tests]
    titles = [f"{number} {case.title}" for number, case in enumerate(CASES, start=1)]
    return pd.DataFrame(rows, index=titles, columns=names)


def _findings(test: Test, model: nn.Module, columns: Iterable[str] = ()) -> dict[str, str]:
    """What a test finds, as text; after an error, the error's name under each of `columns`, if any are given."""
    try:
        found = _ask(test, model)
    except (Exception, SystemExit, TimeUp) as error:
        if not columns:
            raise
        return dict.fromkeys(columns, type(error).__name__)
    return {name: f"{value:.2g}" for name, value in numbers_found(found).items()}


def numbers_found(found: Any) -> dict[str, float]:
    """What a test returned, as Python floats under their names; NaN counts as a number."""
    example = "; for example {'sent alone': difference}"
    expect.instance("what the test returns", found, Mapping, "a dictionary", example)
    if not found:
        raise ValueError(f"what the test returns: expected at least one number, got none{example}")
    numbers = {}
    for name, value in found.items():
        number = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
        if not isinstance(number, Real):
            given = f"{expect.short_repr(value)} ({type(value).__name__})"
            raise TypeError(f"what the test returns, {name!r}: expected a number, got {given}")
        numbers[name] = float(number)
    return numbers


def _ask(test: Test, model: nn.Module) -> object:
    with seeded(0), in_float64():
        return run_within(PATIENCE, test, deepcopy(model))


def train(
    cut: Callable[[Tensor, int], Tensor], *, n_heads: int = 4, steps: int = 120, seed: int = 0
) -> tuple[Tensor, Callable[..., float]]:
    """Train an encoder of one layer, D = 32, F = 64, with this cut, to reverse sequences of 8 symbols out of 10.

    Each step is one of Adam, with batch size 64 and learning rate 0.003. Returns every step's loss (steps,), and
    `accuracy(padding=0)`: the fraction of symbols that the encoder then gets right in 500 new sequences, with up to
    three padding tokens after each, which the mask hides.
    Raises: TypeError if `cut` is not a function; TypeError or ValueError if heads or steps are not positive integers,
    32 cannot be divided into that number of heads, or the seed is not an integer.
    """
    expect.instance("cut", cut, Callable, "a function")
    with seeded(seed):
        encoder = TransformerEncoder(10, 1, 32, n_heads, 64, positional="learned", max_len=11)
        patients.inject_cut(cut, encoder)
        torch.manual_seed(seed)  # so that output layer and batches do not depend on what was drawn before
        model = nn.Sequential(encoder, nn.Linear(32, 10)).float()
        losses = fit(model, lambda: reversal(64, 8, 10), steps=steps)
        ids, targets = reversal(500, 8, 10)  # (B, T) each

    @torch.no_grad()
    def accuracy(padding: int = 0) -> float:
        mask = lengths_mask(torch.full((500,), 8), 8 + padding)
        scores = model[1](encoder(F.pad(ids, (0, padding)), mask))[:, :8]  # (B, T, 10)
        return (scores.argmax(dim=-1) == targets).double().mean().item()

    return torch.tensor(losses), accuracy
