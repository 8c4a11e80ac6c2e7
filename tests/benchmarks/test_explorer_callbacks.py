"""How long the kernel works on one move of a control, for every explorer at its largest sizes."""

import time
from statistics import median, quantiles

import pytest
from explorers import EXPLORERS, ends

REPEATS = 12


def step(explorer, name, low, high):
    """Seconds that each move of one control between its ends takes, the picture included."""
    seconds = []
    for value in (low, high) * REPEATS:
        begun = time.perf_counter()
        explorer.set(**{name: value})
        seconds.append(time.perf_counter() - begun)
    return seconds


@pytest.mark.parametrize("name", EXPLORERS)
def test_callback(name, capsys):
    """Print the median and the 90th percentile over all controls, and which control is slowest."""
    explorer = EXPLORERS[name]()
    both = ends(explorer)
    explorer.set(**{control: high for control, (_, high) in both.items()})
    taken = {}
    for control, (low, high) in both.items():
        taken[control] = step(explorer, control, low, high)
        explorer.set(**{control: high})
    everything = [1e3 * second for seconds in taken.values() for second in seconds]
    slowest = max(taken, key=lambda control: median(taken[control]))
    kind = "figure" if explorer._view is None else "matrices"
    numbers = f"median {median(everything):5.1f} ms, p90 {quantiles(everything, n=10)[-1]:5.1f} ms"
    with capsys.disabled():
        print(f"\n{name:<20} {kind:<8} {numbers}; slowest {slowest}: {1e3 * median(taken[slowest]):.1f} ms", end="")
    assert not explorer.error
