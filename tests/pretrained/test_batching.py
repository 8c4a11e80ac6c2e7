"""Texts in batches: each once, longest first, hardly any padding, and all threads at work."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from encoder_lib.pretrained.batching import bucket_by_length, parallel_map


@given(st.lists(st.integers(0, 256), max_size=80), st.integers(1, 2000))
def test_packing(lengths, batch_tokens):
    """Every text once, longest first, within the limit, with at most a quarter of padding."""
    batches = bucket_by_length(lengths, batch_tokens)
    packed = [i for batch in batches for i in batch]
    assert sorted(packed) == list(range(len(lengths)))
    assert [lengths[i] for i in packed] == sorted(lengths, reverse=True)
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
        assert sum(lengths[i] for i in batch) >= 0.75 * len(batch) * longest


@pytest.mark.parametrize(("threads", "jobs", "each"), [(4, 2, 2), (4, 9, 1), (1, 9, 1), (4, 1, 4), (4, 0, 4)])
def test_jobs_share_the_threads_which_are_as_before_afterwards(threads, jobs, each):
    """One thread a job while there are more jobs than threads, and all of them for a job alone."""
    torch.set_num_threads(threads)
    with parallel_map(jobs, torch.device("cpu")) as run:
        done = list(run(lambda job: (job, torch.get_num_threads()), range(jobs)))
    assert done == [(job, each) for job in range(jobs)]
    assert torch.get_num_threads() == threads


def test_an_error_of_a_job_arrives_and_the_threads_come_back():
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError), parallel_map(2, torch.device("cpu")) as run:
        list(run(lambda job: 1 // job, range(2)))
    assert torch.get_num_threads() == 2
