"""The check of a test: it has to leave sound encoders alone, and to notice faulty ones."""

from collections.abc import Callable

from torch import Tensor

from encoder_lib.checks.clinic import patients
from encoder_lib.checks.clinic.rounds import ROUNDING, SOUND, cut_with, in_float64, numbers_found, patient
from encoder_lib.checks.verdict import UNWRITTEN, Probe, Verdict, diagnose
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded

LENGTH = 5  # the columns of the notebook's `ids`


@seeded(0)
def check_more_padding(thing: Callable) -> Verdict:
    """more_padding(build): a test that notices words which move when columns of padding come in behind the batch."""

    def found(thing: Callable, build: Callable) -> dict[str, float] | None:
        with in_float64():
            got = thing(build)
            return None if got is None or got is ... else numbers_found(got)

    def quiet(build: Callable) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            numbers = found(thing, build)
            if numbers is None:
                return UNWRITTEN
            wrong = [f"{name}: {value:.2g}" for name, value in numbers.items() if not abs(value) < ROUNDING]
            return f"nothing is wrong with it, and the test found {wrong[0]}" if wrong else ""

        return look

    def noticed(build: Callable) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            numbers = found(thing, build)
            if numbers is None:
                return UNWRITTEN
            missed = all(abs(value) < ROUNDING for value in numbers.values())
            return "its words move with the padding behind them, and the test found nothing" if missed else ""

        return look

    def at_padding(ids: Tensor, y: Tensor) -> Tensor:
        return y + ids.shape[1] * (ids == 0)[..., None]

    def moved(sentence: int, token: int, *by: float) -> Callable:
        """A sound encoder but for the first numbers of one word, which move with each column of padding put in."""

        def change(ids: Tensor, y: Tensor) -> Tensor:
            y, more = y.clone(), ids.shape[1] - LENGTH
            if more > 0:
                y[sentence, token, : len(by)] += y.new_tensor(by) * more
            return y

        return _changed(change)

    signs = "One number of a word has moved, up or down. Does your test see a step in each direction?"
    everywhere = "Here one word of one sentence moves. Which words does your test look at?"
    probes = (
        Probe("a sound encoder", quiet(SOUND)),
        Probe(
            "a sound encoder, drawn anew whenever it is built",
            quiet(_drawn_anew),
            "Each call of build makes an encoder. Compare two answers of one and the same.",
        ),
        Probe(
            "a sound encoder that says something else at padding",
            quiet(_changed(at_padding)),
            "What comes out at padding nobody reads. `real` says where the words are.",
        ),
        Probe("an encoder that counts the columns", noticed(_changed(lambda ids, y: y + ids.shape[1]))),
        Probe("a number that falls", noticed(moved(1, 0, -1.0)), signs),
        Probe("a number that rises", noticed(moved(1, 0, 1.0)), signs),
        Probe(
            "one that rises and one that falls",
            noticed(moved(1, 0, 1.0, -1.0)),
            "Two changes of opposite sign. Added up, they are nothing: take their sizes first.",
        ),
        Probe("a word of the first sentence", noticed(moved(0, 4, 1.0)), everywhere),
        Probe("the last word of the second", noticed(moved(1, 2, 1.0)), everywhere),
        Probe("NaN", noticed(moved(1, 1, float("nan"))), "NaN is a find as well: leave it in what you return."),
        Probe("an encoder without a padding mask", noticed(patient(16))),
        Probe("cut B", noticed(cut_with(lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], -1)))),
    )
    hints = (
        "Ask one model twice: with `ids`, and with `ids` that have columns of padding behind them. What may differ?",
        "In use nothing is random: eval(). And new columns stand on the right; F.pad(ids, (0, 3)) fills them with 0.",
        "Cut the longer answer to the five columns that were there before, and subtract.",
    )
    return diagnose("Your turn, more_padding", thing, probes, hints)


def _drawn_anew() -> TransformerEncoder:
    sizes = patients.VOCAB, patients.LAYERS, patients.D, 1, patients.D_FF
    return TransformerEncoder(*sizes, padding_idx=0, final_norm=False)


def _changed(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], TransformerEncoder]:
    """Builds a sound encoder whose answer y to `ids` becomes `change(ids, y)`."""

    def build() -> TransformerEncoder:
        model = SOUND()
        model.register_forward_hook(lambda module, given, y: change(given[0], y))
        return model

    return build
