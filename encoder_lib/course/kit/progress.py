"""A progress bar that is shown while it moves and leaves nothing behind in a stored notebook."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.display import display
from tqdm.auto import tqdm
from tqdm.notebook import tqdm_notebook

from encoder_lib import expect
from encoder_lib.training.loading import load_optimisers

EMPTY = {"text/html": "<!-- -->", "text/plain": ""}  # takes no space
LOADING = "the first time: loading PyTorch's optimisers, a few seconds"


@contextmanager
def bar(total: int, name: str, *, shown: bool) -> Iterator[tqdm]:
    """A tqdm bar for a `with` block. In a notebook it disappears when the block ends; in a terminal it stays.

    Raises: TypeError if `shown` is neither True nor False.
    """
    expect.flags(shown=shown)
    in_notebook = shown and issubclass(tqdm, tqdm_notebook)
    options = {"leave": False, "display": False} if in_notebook else {}
    moving = tqdm(total=total, desc=name, unit="step", disable=not shown, **options)
    place = display(moving.container, display_id=True) if in_notebook else None
    try:
        if "torch._dynamo" not in sys.modules:
            moving.set_postfix_str(LOADING)
            load_optimisers()
            moving.set_postfix_str("")
        yield moving
    finally:
        moving.total = moving.n  # so that tqdm does not colour an early end red, as a failure
        moving.close()
        if place is not None:
            place.update(EMPTY, raw=True)
