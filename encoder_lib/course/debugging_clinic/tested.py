"""The check of a test: the test must find nothing in correct encoders, and something in faulty ones."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.debugging_clinic.patients import correct_encoder, in_float64
from encoder_lib.course.debugging_clinic.rounds import ROUNDING, cut_with, numbers_found, patient
from encoder_lib.course.kit.checking.verdict import Feedback, Probe, Verdict, diagnose, require_written
from encoder_lib.model.encoder import TransformerEncoder


def check_parity(thing: Callable) -> Verdict:
    """parity(model): notices where a model and the reference, with the same parameters, give different words."""

    def at_padding(ids: Tensor, y: Tensor) -> Tensor:
        return y + (ids == 0)[..., None]

    def at_the_end(ids: Tensor, y: Tensor) -> Tensor:
        return torch.cat([y[..., :-1], y[..., -1:] + (ids == 4)[..., None]], dim=-1)

    def cut_b(x: Tensor, n_heads: int) -> Tensor:
        return x.reshape(len(x), n_heads, x.shape[1], -1)

    def moved(word: int, *by: float) -> Callable[[], TransformerEncoder]:
        """A correct encoder, except that the first components of one word are off by `by`."""

        def change(ids: Tensor, y: Tensor) -> Tensor:
            y = y.clone()
            y[..., : len(by)][ids == word] += y.new_tensor(by)
            return y

        return partial(_changed, change)

    probes = (
        Probe("a correct encoder", _quiet(correct_encoder)),
        Probe("a correct encoder that says something else at padding", _quiet(partial(_changed, at_padding))),
        Probe("case 4, a wrong table of positions", _noticed(partial(patient, 4))),
        Probe("word vectors twice as long", _noticed(partial(correct_encoder, _double_words))),
        Probe("cut B", _noticed(partial(cut_with, cut_b))),
        Probe("a number that falls", _noticed(moved(9, -1.0))),
        Probe("a number that rises", _noticed(moved(9, 1.0))),
        Probe("one that rises and one that falls", _noticed(moved(9, 1.0, -1.0))),
        Probe("a word of the first sentence", _noticed(moved(5, 1.0))),
        Probe("the last word of the second", _noticed(moved(6, 1.0))),
        Probe("NaN", _noticed(moved(2, float("nan")))),
        Probe("a wrong component at the end of a vector", _noticed(partial(_changed, at_the_end))),
        Probe("a model that stops with an error", _stops),
    )
    return diagnose("Your turn, my_parity", thing, probes)


def _found(thing: Callable, build: Callable) -> list[str]:
    """What a test finds, as text: each number that is more than rounding."""
    with in_float64():
        got = require_written(thing(build()), thing)
        try:
            numbers = numbers_found(got)
        except (TypeError, ValueError) as error:
            raise Feedback(str(error)) from error
    return [f"{name}: {value:.2g}" for name, value in numbers.items() if not abs(value) < ROUNDING]


def _quiet(build: Callable) -> Callable[[Callable], str]:
    """Ask a test about what `build` makes; it must find nothing."""

    def ask(thing: Callable) -> str:
        found = _found(thing, build)
        return f"nothing is wrong with it, but the test found {found[0]}" if found else ""

    return ask


def _noticed(build: Callable) -> Callable[[Callable], str]:
    """Ask a test about what `build` makes; it must find the fault."""
    missed = "its words differ from the reference's, but the test found nothing"
    return lambda thing: "" if _found(thing, build) else missed


def _stops(thing: Callable) -> str:
    """What is wrong if a test hides an error of the model; empty if it lets it through or reports it."""

    def stop(ids: Tensor, y: Tensor) -> Tensor:
        raise RuntimeError("the model stops")

    try:
        found = _found(thing, partial(_changed, stop))
    except Exception:
        return ""
    return "" if found else "the test caught the error, but found nothing"


def _changed(change: Callable[[Tensor, Tensor], Tensor]) -> TransformerEncoder:
    """A correct encoder whose output y for `ids` becomes `change(ids, y)`."""
    model = correct_encoder()
    model.register_forward_hook(lambda module, given, y: change(given[0], y))
    return model


def _double_words(model: TransformerEncoder) -> None:
    model.embedding.token.register_forward_hook(lambda module, given, vectors: 2 * vectors)
