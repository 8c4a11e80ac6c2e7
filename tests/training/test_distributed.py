"""Processes that share a training do what one does alone: the same rows, the same loss, the same gradients."""

import os
import subprocess
import sys

import pytest
import torch
from places import ROOT
from safetensors.torch import load_file
from shared_training import CASES, outcome
from torch import nn

from encoder_lib.training import distributed
from encoder_lib.training.distributed import (
    SINGLE_PROCESS,
    Workers,
    local_device,
    local_world_size,
    process_group,
    rank,
)
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, solver


class Apart(Workers):
    """One of several workers that is run without the others: only what is its own comes out."""

    def all_reduce(self, x):
        """What it brings itself."""
        return x.detach().clone()

    def data_parallel(self, model):
        """The model as it is."""
        return model


def gradients(task, batch, workers):
    """The gradients of one step of a model with the same weights and batch whoever works, and its loss."""
    torch.manual_seed(3)
    model, kept = solver(task, n_layers=2, n_heads=4, d_model=16).double(), []

    def keep():
        """All gradients of the step in one vector."""
        kept[:] = [torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None] or [torch.empty(0)])]

    (loss,) = fit(model, lambda: batch, steps=1, callback=keep, workers=workers)
    return kept[0], loss


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(("count", "rows"), [(1, 4), (2, 8), (2, 7), (3, 7), (3, 3)])
def test_the_shares_of_a_batch_add_up_to_it(name, count, rows):
    batch = TASKS[name].draw(rows)
    expected, loss = gradients(TASKS[name], batch, SINGLE_PROCESS)
    parts = [gradients(TASKS[name], batch, Apart(i, count)) for i in range(count)]
    mean = torch.stack([part for part, _ in parts]).mean(0)
    assert (mean - expected).abs().max() < 1e-14 < expected.abs().max()
    assert sum(part for _, part in parts) == pytest.approx(loss, abs=1e-14)


def test_the_mean_of_the_workers_means_would_be_another_gradient():
    ids, targets, _ = TASKS["padded"].draw(6)
    targets[:3, 1:] = IGNORE_INDEX  # the first worker has three answers to give, the second one many
    expected, _ = gradients(TASKS["padded"], (ids, targets), SINGLE_PROCESS)
    halves = [
        gradients(TASKS["padded"], (ids[rows], targets[rows]), SINGLE_PROCESS)[0] for rows in (slice(3), slice(3, 6))
    ]
    assert (torch.stack(halves).mean(0) - expected).abs().max() > 1e-3
    shares = [gradients(TASKS["padded"], (ids, targets), Apart(i, 2))[0] for i in range(2)]
    assert (torch.stack(shares).mean(0) - expected).abs().max() < 1e-14


def test_a_worker_may_have_nothing_to_answer():
    ids, targets, _ = TASKS["padded"].draw(4)
    targets[2:] = IGNORE_INDEX
    expected, loss = gradients(TASKS["padded"], (ids, targets), SINGLE_PROCESS)
    (first, part), (second, nothing) = (gradients(TASKS["padded"], (ids, targets), Apart(i, 2)) for i in range(2))
    assert nothing == 0.0 and part == pytest.approx(loss, abs=1e-14) and not second.any()
    assert (first / 2 - expected).abs().max() < 1e-14


@pytest.mark.parametrize(("rows", "count", "sizes"), [(8, 2, [4, 4]), (7, 2, [4, 3]), (3, 3, [1, 1, 1]), (5, 1, [5])])
def test_every_row_is_one_workers_and_the_shares_differ_by_one_at_most(rows, count, sizes):
    batch = torch.arange(rows), torch.arange(rows)[:, None]
    shares = [Workers(i, count).shard(batch) for i in range(count)]
    assert [len(ids) for ids, _ in shares] == sizes
    assert all(torch.equal(torch.cat(parts), x) for parts, x in zip(zip(*shares, strict=True), batch, strict=True))


def test_fewer_rows_than_workers_are_refused():
    with pytest.raises(ValueError, match="at least one sequence for each of 3 processes, got 2; try a larger batch"):
        Workers(0, 3).shard((torch.zeros(2), torch.zeros(2)))


def test_alone_there_is_nothing_to_share():
    model, x = nn.Linear(1, 1), torch.ones((), requires_grad=True)
    with process_group(torch.device("cpu")) as workers:
        assert workers is SINGLE_PROCESS and workers.data_parallel(model) is model
        assert workers.all_reduce(x) == 1 and not workers.all_reduce(x).requires_grad
    assert not torch.distributed.is_initialized()
    assert (rank(), distributed.world_size(), local_world_size()) == (0, 1, 1)


def pretend(monkeypatch, gpus, **environment):
    """A machine with some GPUs, and what torchrun says of the processes."""
    taken = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    for name, value in environment.items():
        monkeypatch.setenv(name, str(value))
    return taken


def test_each_process_takes_its_own_gpu(monkeypatch):
    taken = pretend(monkeypatch, 2, RANK=3, WORLD_SIZE=4, LOCAL_RANK=1, LOCAL_WORLD_SIZE=2)
    assert local_device() == local_device("cuda") == torch.device("cuda", 1)
    assert set(taken) == {torch.device("cuda", 1)}
    assert local_device("cpu") == torch.device("cpu")
    assert (rank(), distributed.world_size(), local_world_size()) == (3, 4, 2)


def test_without_a_gpu_it_is_the_cpu(monkeypatch):
    assert not pretend(monkeypatch, 0, LOCAL_WORLD_SIZE=2) and local_device() == torch.device("cpu")


@pytest.mark.parametrize(
    ("gpus", "name", "words"),
    [
        (0, "cuda", "expected a GPU for each process, got 0 for 2; try --device cpu$"),
        (1, None, "expected a GPU for each process, got 1 for 2; try --device cpu, or --nproc-per-node 1"),
    ],
)
def test_too_few_gpus_are_refused(monkeypatch, gpus, name, words):
    pretend(monkeypatch, gpus, LOCAL_WORLD_SIZE=2)
    with pytest.raises(ValueError, match=words):
        local_device(name)


def test_only_one_of_several_waits_to_be_ended(monkeypatch):
    waits = []
    monkeypatch.setattr(distributed.time, "sleep", waits.append)
    distributed.wait_to_be_ended()
    monkeypatch.setenv("WORLD_SIZE", "2")
    distributed.wait_to_be_ended()
    assert waits == [distributed.GRACE]


@pytest.mark.long
def test_two_processes_train_as_one_does(tmp_path):
    script = ROOT / "tests/helpers/shared_training.py"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", script, tmp_path]
    subprocess.run(command, check=True, timeout=120, env=os.environ | {"OMP_NUM_THREADS": "1"})
    first, second = (load_file(tmp_path / f"{i}.safetensors") for i in range(2))
    assert len(first) == 3 * len(CASES)
    for case in CASES:
        bound = 1e-12 if case[1] == torch.float64 else 1e-6
        for name, expected in outcome(*case).items():
            one, other = (kept[f"{'/'.join(map(str, case))}/{name}"] for kept in (first, second))
            assert torch.equal(one, other), "both processes have the same numbers"
            assert (one - expected).abs().max() < bound < expected.abs().max(), f"{case}: {name}"
