"""Time and memory are measured as promised, and what a layer costs by count is what torch counts."""

import time

import pytest
import torch
import torch.nn.functional as F

from encoder_lib import EncoderLayer, attention, trace
from encoder_lib.course.fast_encoder import timing
from encoder_lib.course.fast_encoder.timing import benchmark, layer_parts, machine, peak_bytes


class Clock:
    """A clock that stands still unless somebody works, and who worked."""

    def __init__(self, monkeypatch):
        self.now, self.log = 0.0, []
        monkeypatch.setattr(timing.time, "process_time", lambda: self.now)
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def worker(self, name, seconds):
        """A function that takes so long each time; the last of several numbers for ever."""
        left = list(seconds)

        def work():
            self.log.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return work


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(timing, "BUDGET", 1e9)
    return Clock(monkeypatch)


def test_the_rounds_give_a_median(clock):
    """Of 3, 1, 2, 50 and 4 seconds; the first two calls do not count."""
    slow_start = [9.0, 1.0, 3.0, 1.0, 2.0, 50.0, 4.0]
    seconds = benchmark({"a": clock.worker("a", slow_start), "b": clock.worker("b", [1.0])}, rounds=5)
    assert seconds == {"a": 3.0, "b": 1.0}


def test_contestants_take_turns(clock):
    benchmark({name: clock.worker(name, [1.0]) for name in "abc"}, rounds=3)
    assert "".join(clock.log) == "abc" * 5


def test_what_is_quick_is_called_more_often_in_each_round(clock):
    seconds = benchmark({"quick": clock.worker("quick", [0.001]), "slow": clock.worker("slow", [1.0])}, rounds=2)
    assert clock.log.count("quick") == 2 + 2 * 5 and clock.log.count("slow") == 4
    assert seconds["quick"] == pytest.approx(0.001)


def test_benchmark_stops_at_its_budget_after_one_round(clock, monkeypatch):
    monkeypatch.setattr(timing, "BUDGET", 5)
    benchmark({"a": clock.worker("a", [1.0]), "b": clock.worker("b", [1.0])}, rounds=100)
    assert clock.log.count("a") == 5
    clock.log.clear()
    assert benchmark({"a": clock.worker("a", [60.0])}, rounds=100) == {"a": 60.0}
    assert clock.log.count("a") == 3


@pytest.mark.parametrize("threads", [1, 2])
def test_one_thread_counts_cpu_time_and_two_wall_time(monkeypatch, threads):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    assert (benchmark({"sleep": lambda: time.sleep(0.002)}, rounds=1)["sleep"] < 0.0018) == (threads == 1)


def test_a_race_waits_for_the_gpu(monkeypatch):
    waits = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: waits.append(1))
    assert benchmark({"sleep": lambda: time.sleep(0.01)}, rounds=2)["sleep"] >= 0.009
    assert len(waits) == 8  # before and after each of two calls and two rounds


def test_neither_time_nor_memory_is_spent_on_gradients():
    seen, weight = [], torch.ones(3, requires_grad=True)
    for measure in (benchmark, lambda ways: peak_bytes(ways["product"])):
        measure({"product": lambda: seen.append((2 * weight).requires_grad)})
    assert seen and not any(seen)


# What the races of the notebook are run with.


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_parts_of_a_layer_do_what_the_layer_does(activation):
    layer, x = EncoderLayer(12, 3, 20, activation=activation), torch.randn(2, 5, 12)
    with trace(layer) as t, torch.no_grad():
        layer(x)
    parts = {name: [y.detach() for y in part()] for name, part in layer_parts(layer, x).items()}
    assert list(parts) == ["projections", "attention", "feed-forward", "norms, sums"]
    for name, y in zip(("q_proj", "k_proj", "v_proj"), parts["projections"], strict=False):
        torch.testing.assert_close(y, t[f"attention.{name}"])
    torch.testing.assert_close(parts["projections"][3], layer.attention.out_proj(x).detach())
    torch.testing.assert_close(parts["attention"], [t["attention.heads"]])
    torch.testing.assert_close(parts["feed-forward"], [layer.feed_forward(x).detach()])
    torch.testing.assert_close(parts["norms, sums"], [layer.norm1(2 * x).detach(), layer.norm2(2 * x).detach()])


def test_the_machine_is_named_as_the_system_names_it(monkeypatch):
    said = machine()
    assert f", {torch.get_num_threads()} thread" in said and said.endswith(f"torch {torch.__version__}")
    monkeypatch.setattr(timing.Path, "exists", lambda path: True)
    monkeypatch.setattr(
        timing.Path, "read_text", lambda path, **_: "processor\t: 0\nmodel name\t: A  Chip\nflags\t: x\n"
    )
    assert machine().startswith("A Chip, ")
    monkeypatch.setattr(timing.Path, "exists", lambda path: False)
    monkeypatch.setattr(timing.platform, "processor", lambda: "")
    monkeypatch.setattr(timing.platform, "machine", lambda: "arm64")
    monkeypatch.setattr(timing.torch, "get_num_threads", lambda: 2)
    assert machine().startswith("arm64, 2 threads, torch ")


# Memory.


def test_peak_bytes_ignores_freed_tensors():
    x = torch.zeros(1000, dtype=torch.float32)

    def in_a_row():
        for _ in range(10):
            x + 1  # dropped at once

    assert peak_bytes(in_a_row) == 4000
    assert peak_bytes(lambda: [x + i for i in range(10)]) == 40_000
    assert peak_bytes(lambda: x.double()) == 8000
    assert peak_bytes(lambda: torch.ones(5, dtype=torch.bool)) == 5


def test_views_and_changes_in_place_take_nothing():
    x = torch.zeros(10, 100)
    assert peak_bytes(lambda: [x.view(100, 10), x.t(), x[2:], x[0].expand(50, 100), x.add_(1)]) == 0
    assert peak_bytes(lambda: (x + 1).t().add_(1)[3:]) == x.nbytes
    assert peak_bytes(lambda: None) == 0


def test_only_explicit_attention_holds_scores():
    query, key, value = (torch.randn(2, 3, 256, 8) for _ in range(3))
    scores = 2 * 3 * 256 * 256 * query.element_size()
    assert scores * 2 <= peak_bytes(lambda: attention(query, key, value)) < scores * 2.01
    assert peak_bytes(lambda: F.scaled_dot_product_attention(query, key, value)) < 3 * query.nbytes < scores / 5
