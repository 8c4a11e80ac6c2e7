"""What the kernel and the picture of `alive.py` tell each other: questions as JSON, answers with numbers as bytes.

An answer is a JSON header in which each array of numbers is {"at": offset, "size": count}, and one buffer of
little-endian float32 numbers that the offsets count. The names are those of `front_end/alive.d.ts`.
"""

import gzip
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.interventions import Answer, Cut, Knockout, Question
from encoder_lib.course.kit.plots import readable

KEPT_BITS = 11  # of the 23 after a number's first, in a recording: an error of at most 1 in 4096
Entry = TypeVar("Entry", Cut, Knockout)


def read_question(message: object) -> Question:
    """The question in a message, whose texts lose their control characters.

    Whether it has an answer, `Intervened.check` finds out.
    Raises: TypeError or ValueError for what is no question; KeyError for a field that a question does not have.
    """
    expect.instance("question", message, Mapping, "a mapping with the fields of a question")
    assert isinstance(message, Mapping)
    _known("question", message, [field.name for field in fields(Question)])
    texts = _sequence("texts", message.get("texts"))
    word, detail = message.get("word") or "", message.get("detail")
    if detail is not None:
        detail = _sequence("detail", detail)
        if len(detail) != 2:
            raise ValueError(f"detail: expected a layer and a head, got {expect.short_repr(detail)}")
    return Question(
        tuple(readable(text, len(text)) if isinstance(text, str) else text for text in texts),
        word,
        tuple(_entry(Cut, one) for one in _sequence("cuts", message.get("cuts", ()))),
        tuple(_entry(Knockout, one) for one in _sequence("knockouts", message.get("knockouts", ()))),
        detail if detail is None else tuple(detail),
    )


def _sequence(name: str, value: object) -> Sequence:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"{name}: expected a list, got {expect.short_repr(value)}")
    return value


def _entry(kind: type[Entry], value: object) -> Entry:
    """A cut or a knockout, given as one or as a mapping. Raises: TypeError, or KeyError for a missing field."""
    if isinstance(value, kind):
        return value
    name = kind.__name__.lower()
    expect.instance(name, value, Mapping, f"a {kind.__name__} or a mapping with its fields")
    assert isinstance(value, Mapping)
    wanted = [field.name for field in fields(kind)]
    _known(name, value, wanted)
    if missing := [field for field in wanted if field not in value]:
        raise KeyError(f"{name}: expected the fields {', '.join(wanted)}, got none named {missing[0]!r}")
    return kind(**value)


def _known(name: str, value: Mapping, wanted: Sequence[str]) -> None:
    if unknown := [field for field in value if field not in wanted]:
        raise KeyError(f"{name}: expected the fields {', '.join(wanted)}, got {expect.short_repr(unknown[0])}")


def question_message(question: Question) -> dict:
    """The question as JSON has it: lists in place of tuples."""
    return json.loads(json.dumps(asdict(question)))


class Numbers:
    """Arrays of float32 numbers, one after another."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._size = 0

    def add(self, values: Tensor) -> dict[str, int]:
        """Append an array, and say where it is."""
        self._parts.append(values.numpy().astype("<f4").ravel())
        self._size += self._parts[-1].size
        return {"at": self._size - self._parts[-1].size, "size": self._parts[-1].size}

    def array(self) -> np.ndarray:
        """All of them in one."""
        return np.concatenate([np.zeros(0, "<f4"), *self._parts])


def header_of(value: Any, numbers: Numbers) -> Any:
    """An answer, or a part of it, as JSON; its arrays go to `numbers`."""
    if isinstance(value, Tensor):
        return numbers.add(value)
    if is_dataclass(value):
        return {field.name: header_of(getattr(value, field.name), numbers) for field in fields(value)}
    if isinstance(value, list):
        return [header_of(one, numbers) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no such number
    return readable(value, len(value)) if isinstance(value, str) else value


def answer_message(answer: Answer) -> tuple[dict, bytes]:
    """The header of an answer, and its buffer."""
    numbers = Numbers()
    header = header_of(answer, numbers)
    return header, numbers.array().tobytes()


def recording(title: str, options: Mapping[str, Any], answers: Sequence[tuple[Question, Answer]]) -> bytes:
    """The file from which a page of the web edition shows the picture before it computes anything.

    Its header has `title`, `options` and `answers`, a list of {"question", "answer"}.
    """
    numbers = Numbers()
    recorded = [
        {"question": question_message(asked), "answer": header_of(answer, numbers)} for asked, answer in answers
    ]
    return packed({"title": title, "options": dict(options), "answers": recorded}, numbers)


def packed(header: Mapping[str, Any], numbers: Numbers) -> bytes:
    """A file of a header and the numbers that it refers to, for a page of the web edition.

    Unzipped: the length of the header as uint32, the header, padded to whole numbers, and one buffer. The numbers are
    rounded to `KEPT_BITS` binary digits, because what is left compresses well.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return gzip.compress(struct.pack("<I", len(text)) + text + _rounded(numbers.array()).tobytes(), 9, mtime=0)


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """Float32 numbers to the nearest with `KEPT_BITS` binary digits; −∞ stays."""
    dropped = 23 - KEPT_BITS
    bits = numbers.view("<u4").astype(np.uint64)
    finite = np.isfinite(numbers)
    near = ((bits + (1 << (dropped - 1))) >> dropped << dropped).astype("<u4").view("<f4")
    return np.where(finite, near, numbers).astype("<f4")
