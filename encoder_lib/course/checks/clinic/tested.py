"""The check of a test: it has to leave sound encoders alone, and to notice faulty ones."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import torch
from torch import Tensor

from encoder_lib.course.checks.clinic import patients
from encoder_lib.course.checks.clinic.patients import Patient
from encoder_lib.course.checks.clinic.rounds import ROUNDING, SOUND, cut_with, in_float64, numbers_found, patient
from encoder_lib.course.checks.verdict import Probe, Told, Verdict, diagnose, written
from encoder_lib.model.encoder import TransformerEncoder

CUT_B = cut_with(lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], -1))


def check_repeats(thing: Callable) -> Verdict:
    """repeats(build): a test that notices a model which, in `eval()`, answers the same ids in two ways."""

    def moving(*by: float) -> Patient:
        """A sound encoder but for the first numbers of each token, which move by so much from answer to answer."""
        answers = count()
        return _changed(lambda ids, y: _shifted(y, torch.full_like(ids, next(answers)), by))

    noticed = partial(_noticed, "its answers differ")
    probes = (
        Probe("a sound encoder", _quiet(SOUND)),
        Probe("a sound encoder, drawn anew whenever it is built", _quiet(_drawn_anew)),
        Probe("numbers that fall", noticed(moving(-1.0))),
        Probe("numbers that rise", noticed(moving(1.0))),
        Probe("one that rises and one that falls", noticed(moving(1.0, -1.0))),
        Probe("case 1, dropout that is left on", noticed(patient(1))),
    )
    return diagnose("Your turn, my_repeats", thing, probes)


def check_parity(thing: Callable) -> Verdict:
    """parity(build): a test that notices where a model and `build.twin()`, with the same parameters, part at a word."""

    def at_padding(ids: Tensor, y: Tensor) -> Tensor:
        return y + (ids == 0)[..., None]

    def moved(word: int, *by: float) -> Patient:
        """A sound encoder but for the first numbers of one word, which are off by so much."""
        return _changed(lambda ids, y: _shifted(y, (ids == word).long(), by))

    noticed = partial(_noticed, "its words are not the twin's")
    probes = (
        Probe("a sound encoder", _quiet(SOUND)),
        Probe("a sound encoder of two heads", _quiet(Patient(patients.no_fault, n_heads=2))),
        Probe("a sound encoder that says something else at padding", _quiet(_changed(at_padding))),
        Probe("case 5, a wrong table of positions", noticed(patient(5))),
        Probe("words twice as long", noticed(Patient(_doubled_words))),
        Probe("cut B", noticed(CUT_B)),
        Probe("a number that falls", noticed(moved(9, -1.0))),
        Probe("a number that rises", noticed(moved(9, 1.0))),
        Probe("one that rises and one that falls", noticed(moved(9, 1.0, -1.0))),
        Probe("a word of the first sentence", noticed(moved(5, 1.0))),
        Probe("the last word of the second", noticed(moved(6, 1.0))),
        Probe("NaN", noticed(moved(2, float("nan")))),
    )
    return diagnose("Your turn, my_parity", thing, probes)


def _found(thing: Callable, build: Callable) -> list[str]:
    """What a test finds, in words: each number that is more than rounding."""
    with in_float64():
        got = written(thing(build), thing)
        try:
            numbers = numbers_found(got)
        except (TypeError, ValueError) as error:
            raise Told(str(error)) from error
    return [f"{name}: {value:.2g}" for name, value in numbers.items() if not abs(value) < ROUNDING]


def _quiet(build: Callable) -> Callable[[Callable], str]:
    """A look at a test that has to find nothing in what `build` makes."""

    def look(thing: Callable) -> str:
        found = _found(thing, build)
        return f"nothing is wrong with it, and the test found {found[0]}" if found else ""

    return look


def _noticed(fault: str, build: Callable) -> Callable[[Callable], str]:
    """A look at a test that has to find the fault in what `build` makes."""
    return lambda thing: "" if _found(thing, build) else f"{fault}, and the test found nothing"


def _drawn_anew() -> TransformerEncoder:
    sizes = patients.VOCAB, patients.LAYERS, patients.D, 1, patients.D_FF
    return TransformerEncoder(*sizes, padding_idx=0, final_norm=False)


def _changed(change: Callable[[Tensor, Tensor], Tensor]) -> Patient:
    """A sound encoder whose answer y to `ids` becomes `change(ids, y)`."""

    def inject(model: TransformerEncoder) -> None:
        model.register_forward_hook(lambda module, given, y: change(given[0], y))

    return Patient(inject)


def _shifted(y: Tensor, times: Tensor, by: Sequence[float]) -> Tensor:
    """The answer y (B, T, D) with the first numbers of some tokens moved, so many times (B, T)."""
    y = y.clone()
    y[..., : len(by)][times > 0] += times[times > 0][:, None] * y.new_tensor(by)
    return y


def _doubled_words(model: TransformerEncoder) -> None:
    model.embedding.token.register_forward_hook(lambda module, given, vectors: 2 * vectors)
