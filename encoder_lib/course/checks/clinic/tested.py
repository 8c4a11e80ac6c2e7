"""The check of a test: it has to leave sound encoders alone, and to notice faulty ones."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from encoder_lib.course.checks.clinic import patients
from encoder_lib.course.checks.clinic.patients import Patient
from encoder_lib.course.checks.clinic.rounds import ROUNDING, SOUND, cut_with, in_float64, numbers_found, patient
from encoder_lib.course.checks.verdict import Probe, Verdict, diagnose, written
from encoder_lib.model.encoder import TransformerEncoder

LENGTH = 5  # the columns of the notebook's `ids`
CUT_B = cut_with(lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], -1))


def check_more_padding(thing: Callable) -> Verdict:
    """more_padding(build): a test that notices words which move when columns of padding come in behind the batch."""

    def at_padding(ids: Tensor, y: Tensor) -> Tensor:
        return y + ids.shape[1] * (ids == 0)[..., None]

    def moved(sentence: int, token: int, *by: float) -> Patient:
        """A sound encoder but for the first numbers of one word, which move with each column of padding put in."""

        def change(ids: Tensor, y: Tensor) -> Tensor:
            more = ids.shape[1] - LENGTH
            return _shifted(y, sentence, token, [step * more for step in by]) if more > 0 else y

        return _changed(change)

    noticed = partial(_noticed, "its words move with the padding behind them")
    probes = (
        Probe("a sound encoder", _quiet(SOUND)),
        Probe("a sound encoder, drawn anew whenever it is built", _quiet(_drawn_anew)),
        Probe("a sound encoder that says something else at padding", _quiet(_changed(at_padding))),
        Probe("an encoder that counts the columns", noticed(_changed(lambda ids, y: y + ids.shape[1]))),
        Probe("a number that falls", noticed(moved(1, 0, -1.0))),
        Probe("a number that rises", noticed(moved(1, 0, 1.0))),
        Probe("one that rises and one that falls", noticed(moved(1, 0, 1.0, -1.0))),
        Probe("a word of the first sentence", noticed(moved(0, 4, 1.0))),
        Probe("the last word of the second", noticed(moved(1, 2, 1.0))),
        Probe("NaN", noticed(moved(1, 1, float("nan")))),
        Probe("an encoder without a padding mask", noticed(patient(16))),
        Probe("cut B", noticed(CUT_B)),
    )
    return diagnose("Your turn, more_padding", thing, probes)


def check_parity(thing: Callable) -> Verdict:
    """parity(build): a test that notices where a model and `build.twin()`, with the same parameters, part at a word."""

    def at_padding(ids: Tensor, y: Tensor) -> Tensor:
        return y + (ids == 0)[..., None]

    def moved(sentence: int, token: int, *by: float) -> Patient:
        """A sound encoder but for the first numbers of one word, which are off by so much."""
        return _changed(lambda ids, y: _shifted(y, sentence, token, by))

    noticed = partial(_noticed, "its words are not the twin's")
    probes = (
        Probe("a sound encoder", _quiet(SOUND)),
        Probe("a sound encoder of two heads", _quiet(Patient(patients.no_fault, n_heads=2))),
        Probe("a sound encoder that says something else at padding", _quiet(_changed(at_padding))),
        Probe("case 5, a wrong table of positions", noticed(patient(5))),
        Probe("words twice as long", noticed(Patient(_doubled_words))),
        Probe("cut B", noticed(CUT_B)),
        Probe("a number that falls", noticed(moved(1, 0, -1.0))),
        Probe("a number that rises", noticed(moved(1, 0, 1.0))),
        Probe("one that rises and one that falls", noticed(moved(1, 0, 1.0, -1.0))),
        Probe("a word of the first sentence", noticed(moved(0, 4, 1.0))),
        Probe("the last word of the second", noticed(moved(1, 2, 1.0))),
        Probe("NaN", noticed(moved(1, 1, float("nan")))),
    )
    return diagnose("Your turn, my_parity", thing, probes)


def _found(thing: Callable, build: Callable) -> list[str]:
    """What a test finds, in words: each number that is more than rounding."""
    with in_float64():
        numbers = numbers_found(written(thing(build)))
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


def _shifted(y: Tensor, sentence: int, token: int, by: Sequence[float]) -> Tensor:
    """The answer y with the first numbers of one token moved; (B, T, D)."""
    y = y.clone()
    y[sentence, token, : len(by)] += y.new_tensor(by)
    return y


def _doubled_words(model: TransformerEncoder) -> None:
    model.embedding.token.register_forward_hook(lambda module, given, vectors: 2 * vectors)
