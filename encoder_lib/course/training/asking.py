"""A question that can be read while its answer is computed."""

from collections.abc import Iterator
from contextlib import contextmanager

from IPython.display import display
from tqdm.auto import tqdm

from encoder_lib.course.kit import progress
from encoder_lib.course.kit.questions import QUESTIONS
from encoder_lib.course.kit.widget.prediction import card


@contextmanager
def asking(name: str, total: int, work: str) -> Iterator[tqdm]:
    """Show the question `name` at once, and below it a bar for the work that a `with` block does before it is asked.

    When the block ends, both disappear, and `predict` asks in their place.
    """
    question = QUESTIONS[name]
    wait = "Decide while it is being computed; then you can choose."
    shown = {"text/html": card(question, wait), "text/plain": f"{question.prompt} {wait}"}
    place = display(shown, raw=True, display_id=True)
    try:
        with progress.bar(total, work, shown=True) as bar:
            yield bar
    finally:
        if place is not None:  # in a notebook
            place.update(progress.EMPTY, raw=True)
