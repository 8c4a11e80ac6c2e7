"""Explorers of a few numbers, and what the front end gets of them."""

import numpy as np

from encoder_lib.course.explore import Explorer, Heatmap, View

HOSTILE = ["$x^$", "<b>", "<img src=x onerror=alert(1)>", "😀", "你好", "\ud800", "", "a\nb\x00", "w" * 1_000_000]


def numbers(explorer, panel=0, frame=0):
    """Decode the matrix that the front end draws for one frame, as the front end does."""
    data = np.frombuffer(explorer._data, dtype=np.float32)
    for spec in explorer._panels[:panel]:
        data = data[(spec["frames"] - 1) * spec["stride"] + spec["rows"] * spec["columns"] :]
    spec = explorer._panels[panel]
    start = min(frame, spec["frames"] - 1) * spec["stride"]
    return data[start : start + spec["rows"] * spec["columns"]].reshape(spec["rows"], spec["columns"])


def view_of(values, **heatmap):
    return View(Heatmap(values, **heatmap), description="A picture.")


def still(values, **heatmap):
    """An explorer without controls."""
    return Explorer(lambda: view_of(values, **heatmap), title="Still")


class Counted:
    """A `show` that remembers what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, **values):
        self.calls.append(values)
        return View(Heatmap(np.full((2, 3), len(self.calls))), description=f"Call {len(self.calls)}.")
