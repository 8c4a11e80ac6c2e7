"""The check of a test: it has to leave sound encoders alone, and to notice faulty ones."""

from collections.abc import Callable, Sequence

from torch import Tensor

from encoder_lib.checks.clinic import patients
from encoder_lib.checks.clinic.patients import Patient
from encoder_lib.checks.clinic.rounds import ROUNDING, SOUND, cut_with, in_float64, numbers_found, patient
from encoder_lib.checks.verdict import UNWRITTEN, Probe, Verdict, diagnose
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded

LENGTH = 5  # the columns of the notebook's `ids`
SIGNS = "One number of a word has moved, up or down. Does your test see a step in each direction?"
EVERYWHERE = "Here one word of one sentence moves. Which words does your test look at?"
OPPOSITE = "Two changes of opposite sign. Added up, they are nothing: take their sizes first."
AT_PADDING = "What comes out at padding nobody reads. `real` says where the words are."
KEEP_NAN = "NaN is a find as well: leave it in what you return."
CUT_B = cut_with(lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], -1))


@seeded(0)
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

    def noticed(build: Callable) -> Callable[[Callable], str]:
        return _noticed(build, "its words move with the padding behind them")

    probes = (
        Probe("a sound encoder", _quiet(SOUND)),
        Probe(
            "a sound encoder, drawn anew whenever it is built",
            _quiet(_drawn_anew),
            "Each call of build makes an encoder. Compare two answers of one and the same.",
        ),
        Probe(
            "a sound encoder that says something else at padding",
            _quiet(_changed(at_padding)),
            AT_PADDING,
        ),
        Probe("an encoder that counts the columns", noticed(_changed(lambda ids, y: y + ids.shape[1]))),
        Probe("a number that falls", noticed(moved(1, 0, -1.0)), SIGNS),
        Probe("a number that rises", noticed(moved(1, 0, 1.0)), SIGNS),
        Probe(
            "one that rises and one that falls",
            noticed(moved(1, 0, 1.0, -1.0)),
            OPPOSITE,
        ),
        Probe("a word of the first sentence", noticed(moved(0, 4, 1.0)), EVERYWHERE),
        Probe("the last word of the second", noticed(moved(1, 2, 1.0)), EVERYWHERE),
        Probe("NaN", noticed(moved(1, 1, float("nan"))), KEEP_NAN),
        Probe("an encoder without a padding mask", noticed(patient(16))),
        Probe("cut B", noticed(CUT_B)),
    )
    hints = (
        "Ask one model twice: with `ids`, and with `ids` that have columns of padding behind them. What may differ?",
        "In use nothing is random: eval(). And new columns stand on the right; F.pad(ids, (0, 3)) fills them with 0.",
        "Cut the longer answer to the five columns that were there before, and subtract.",
    )
    return diagnose("Your turn, more_padding", thing, probes, hints)


@seeded(0)
def check_parity(thing: Callable) -> Verdict:
    """parity(build): a test that notices where a model and `build.twin()`, with the same parameters, part at a word."""

    def at_padding(ids: Tensor, y: Tensor) -> Tensor:
        return y + (ids == 0)[..., None]

    def moved(sentence: int, token: int, *by: float) -> Patient:
        """A sound encoder but for the first numbers of one word, which are off by so much."""
        return _changed(lambda ids, y: _shifted(y, sentence, token, by))

    def noticed(build: Callable) -> Callable[[Callable], str]:
        return _noticed(build, "its words are not the twin's")

    probes = (
        Probe("a sound encoder", _quiet(SOUND)),
        Probe("a sound encoder of two heads", _quiet(Patient(patients.no_fault, n_heads=2))),
        Probe("a sound encoder that says something else at padding", _quiet(_changed(at_padding)), AT_PADDING),
        Probe(
            "case 5, a wrong table of positions",
            noticed(patient(5)),
            "Whose positions did the twin get? If the model that is tested made them, its fault stands on both sides.",
        ),
        Probe(
            "words twice as long",
            noticed(Patient(_doubled_words)),
            "Whose words did the twin get? Take them out of the table that both were given, not through the model.",
        ),
        Probe("cut B", noticed(CUT_B)),
        Probe("a number that falls", noticed(moved(1, 0, -1.0)), SIGNS),
        Probe("a number that rises", noticed(moved(1, 0, 1.0)), SIGNS),
        Probe("one that rises and one that falls", noticed(moved(1, 0, 1.0, -1.0)), OPPOSITE),
        Probe("a word of the first sentence", noticed(moved(0, 4, 1.0)), EVERYWHERE),
        Probe("the last word of the second", noticed(moved(1, 2, 1.0)), EVERYWHERE),
        Probe("NaN", noticed(moved(1, 1, float("nan"))), KEEP_NAN),
    )
    hints = (
        "The same parameters, the same input, and eval(): which of the three may be missing?",
        "The twin's mask is True where it is to ignore a token. And which answers does nobody read?",
        "The twin reads vectors: each id's row of `words`, and added to it the row that the library has for its place.",
    )
    return diagnose("Your turn, my_parity", thing, probes, hints)


def _found(thing: Callable, build: Callable) -> dict[str, float] | None:
    """What a test finds, or None where it is not written yet."""
    with in_float64():
        got = thing(build)
        return None if got is None or got is ... else numbers_found(got)


def _quiet(build: Callable) -> Callable[[Callable], str]:
    """A look at a test that has to find nothing in what `build` makes."""

    def look(thing: Callable) -> str:
        numbers = _found(thing, build)
        if numbers is None:
            return UNWRITTEN
        wrong = [f"{name}: {value:.2g}" for name, value in numbers.items() if not abs(value) < ROUNDING]
        return f"nothing is wrong with it, and the test found {wrong[0]}" if wrong else ""

    return look


def _noticed(build: Callable, fault: str) -> Callable[[Callable], str]:
    """A look at a test that has to find the fault in what `build` makes."""

    def look(thing: Callable) -> str:
        numbers = _found(thing, build)
        if numbers is None:
            return UNWRITTEN
        missed = all(abs(value) < ROUNDING for value in numbers.values())
        return f"{fault}, and the test found nothing" if missed else ""

    return look


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
