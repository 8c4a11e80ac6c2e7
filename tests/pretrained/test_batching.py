"""Texts in windows and batches: each text once, hardly any padding, and all of torch's threads at work."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from encoder_lib.pretrained import batching
from encoder_lib.pretrained.batching import bucket_by_length, one_ahead, parallel_map, split_into_windows

CPU = torch.device("cpu")


def in_new_thread(function, *arguments):
    """What the function returns in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


@given(st.lists(st.integers(0, 12), max_size=40))
def test_windows_hold_each_text_once_within_both_limits(lengths):
    """At most 5 texts and 20 characters here; a window ends only where the next text would break a limit."""
    texts = ["x" * n for n in lengths]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "WINDOW_TEXTS", 5)
        patch.setattr(batching, "WINDOW_CHARACTERS", 20)
        windows = [list(window) for window in split_into_windows(texts)]
    assert [i for window in windows for i in window] == list(range(len(texts)))
    sums = [sum(lengths[i] for i in window) for window in windows]
    assert all(0 < len(window) <= 5 and total <= 20 for window, total in zip(windows, sums, strict=True))
    for window, total, after in zip(windows, sums, windows[1:], strict=False):
        assert len(window) == 5 or total + lengths[after[0]] > 20


def test_a_very_long_text_has_a_window_of_its_own(monkeypatch):
    monkeypatch.setattr(batching, "WINDOW_CHARACTERS", 20)
    assert list(split_into_windows(["x" * 99, "x" * 99, "x"])) == [range(0, 1), range(1, 2), range(2, 3)]


@given(st.lists(st.integers(0, 256), max_size=80), st.integers(1, 2000))
def test_batches_hold_each_text_once_with_little_padding(lengths, batch_tokens):
    """Longest first, within the limit, with at most a quarter of padding."""
    batches = bucket_by_length(lengths, batch_tokens)
    indices = [i for batch in batches for i in batch]
    assert sorted(indices) == list(range(len(lengths)))
    assert [lengths[i] for i in indices] == sorted(lengths, reverse=True)
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
        assert sum(lengths[i] for i in batch) >= 0.75 * len(batch) * longest


@pytest.mark.parametrize("n", range(4))
def test_one_ahead_makes_the_next_item_early(n):
    made, used = [], []
    for item in one_ahead(made.append(i) or i for i in range(n)):
        used.append(item)
        assert len(made) == min(item + 2, n)
    assert used == list(range(n))


@pytest.mark.parametrize(("threads", "jobs", "each"), [(4, 2, 2), (4, 9, 1), (1, 9, 1), (4, 1, 4), (4, 0, 4)])
def test_jobs_share_the_threads(threads, jobs, each):
    """One thread a job while there are more jobs than threads, and all of them for one job alone."""
    torch.set_num_threads(threads)
    with parallel_map(jobs, CPU) as run:
        done = list(run(lambda job: (job, torch.get_num_threads()), range(jobs)))
    assert done == [(job, each) for job in range(jobs)]
    assert torch.get_num_threads() == threads


def test_other_threads_keep_their_number():
    """The caller's own number, 4 here, and the one that new threads start with, 3 here, are left alone."""
    torch.get_num_threads()
    torch.set_num_threads(4)
    in_new_thread(torch.set_num_threads, 3)
    with parallel_map(8, CPU) as run:
        seen = list(run(lambda _: (torch.get_num_threads(), in_new_thread(torch.get_num_threads)), range(8)))
        assert (torch.get_num_threads(), in_new_thread(torch.get_num_threads)) == (4, 3)
    assert set(seen) == {(1, 3)}
    assert (torch.get_num_threads(), in_new_thread(torch.get_num_threads)) == (4, 3)


def test_two_calls_at_once_keep_the_process_number():
    torch.set_num_threads(3)

    def call(_):
        torch.set_num_threads(3)
        for _ in range(30):
            with parallel_map(3, CPU) as run:
                assert list(run(lambda _: torch.get_num_threads(), range(3))) == [1, 1, 1]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(call, range(3)))
    assert in_new_thread(torch.get_num_threads) == 3


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_arrives_and_the_number_is_as_before(error):
    """An error of a job, and one in the middle of the results."""

    def fail(job):
        if job == 1:
            raise error

    torch.set_num_threads(2)
    with pytest.raises(error), parallel_map(9, CPU) as run:
        list(run(fail, range(9)))
    with pytest.raises(error), parallel_map(9, CPU) as run:
        for job in run(int, range(9)):
            fail(job)
    assert torch.get_num_threads() == in_new_thread(torch.get_num_threads) == 2


def test_workers_that_cannot_start_leave_the_number(monkeypatch):
    """A machine may refuse another thread: the error arrives, and nothing waits for ever."""
    torch.set_num_threads(3)
    submit, calls = ThreadPoolExecutor.submit, []

    def refuse(pool, function, *arguments):
        calls.append(function)
        if [call.__name__ for call in calls].count("start") == 2:
            calls.clear()
            raise RuntimeError("can't start new thread")
        return submit(pool, function, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="can't start"), parallel_map(3, CPU):
        pass
    assert threading.active_count() == before
    assert torch.get_num_threads() == in_new_thread(torch.get_num_threads) == 3


def test_workers_run_under_the_callers_autocast():
    def state(_=None):
        return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()

    torch.set_num_threads(2)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype, cache_enabled=False), parallel_map(4, CPU) as run:
            assert list(run(state, range(4))) == [(True, dtype, False)] * 4 == [state()] * 4
    with parallel_map(4, CPU) as run:
        assert list(run(state, range(4))) == [state()] * 4 and not state()[0]
