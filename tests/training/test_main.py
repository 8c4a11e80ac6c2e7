"""`python -m encoder_lib.training`: several processes do what one does, and a killed run can be continued."""

import itertools
import os
import pickle
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import nn

from encoder_lib.training.__main__ import load_training, main
from encoder_lib.training.tasks import TASKS

TWO = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def options(path, *others):
    """Padding and an odd batch size, so that two processes have different numbers of targets."""
    return ["padded", "--batch-size", "7", "--checkpoint", str(path), *map(str, others)]


def start(launcher, path, *others):
    """The program in its own processes, with as many threads as here."""
    command = [sys.executable, *launcher, "-m", "encoder_lib.training", *options(path, *others)]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def trained(path, *others):
    """The tensors of the final checkpoint, of the program run in this process."""
    main(options(path, *others))
    return load_file(path)


def difference(one, other):
    """The largest difference between the weights of two checkpoints.

    The key's bias is left out. It has no effect after the softmax, so its gradient is rounding error alone, which Adam
    scales up to whole steps.
    """
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in ("step", "random"))
    weights = [name for name in one if name.startswith("model.") and not name.endswith("k_proj.bias")]
    return max((one[name] - other[name]).abs().max().item() for name in weights)


def test_it_learns_and_prints_its_progress(capsys):
    main(["reverse", "--steps", "60", "--lr", "0.01", "--every", "25", "--batch-size", "32"])
    first, *steps, last = capsys.readouterr().out.splitlines()
    assert first == "reverse, batch size 32, lr 0.01, seed 0: 1 process, 0 steps done"
    assert [line.partition(":")[0] for line in steps] == ["step 25", "step 50", "step 60"]
    assert float(last.removeprefix("held-out accuracy: ").removesuffix(" %")) > 95 and not dist.is_initialized()


def test_load_training_refuses_another_trainings_checkpoint(tmp_path):
    trained(path := tmp_path / "run", "--steps", 1)
    model = nn.Linear(1, 1)
    before = model.weight.clone()
    with pytest.raises(ValueError, match=r"expected the training 'mine', got 'padded.*try another --checkpoint"):
        load_training(path, model, torch.optim.Adam(model.parameters()), "mine")
    assert torch.equal(model.weight, before)


@pytest.mark.long
def test_two_processes_make_the_steps_of_one(tmp_path):
    process = start(TWO, tmp_path / "two", "--steps", 9)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.count("2 processes, 0 steps done") == out.count("step 9: ") == 1, "only one of them prints"
    assert difference(load_file(tmp_path / "two"), trained(tmp_path / "one", "--steps", 9)) < 1e-12


def test_a_continued_run_equals_an_uninterrupted_one(tmp_path, capsys):
    whole = trained(tmp_path / "whole", "--steps", 8, "--every", 3)
    trained(tmp_path / "parts", "--steps", 5)
    parts = trained(tmp_path / "parts", "--steps", 8)
    assert "5 steps done" in capsys.readouterr().out
    assert all(torch.equal(x, parts[name]) for name, x in whole.items()) and whole.keys() == parts.keys()
    other = trained(tmp_path / "other", "--steps", 8, "--seed", 1)
    assert not torch.isclose(other["model.1.weight"], whole["model.1.weight"]).any(), "the seed decides the numbers"
    before = (tmp_path / "parts").read_bytes()
    trained(tmp_path / "parts", "--steps", 8)
    assert "8 steps done" in capsys.readouterr().out and (tmp_path / "parts").read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize(("launcher", "bound"), [([], 0.0), (TWO, 1e-9)], ids=["alone", "two"])
def test_a_killed_run_continues_to_the_same_numbers(tmp_path, launcher, bound):
    path, limit = tmp_path / "killed", time.monotonic() + 60
    with start(launcher, path, "--steps", 10**6, "--every", 4) as process:
        while not path.exists() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
        children = psutil.Process(process.pid).children()
        (*children, process)[0].kill()  # SIGKILL
        process.communicate(timeout=60)
    assert process.returncode != 0 and not any(child.is_running() for child in children)
    done = int(load_file(path)["step"])
    assert done % 4 == 0
    assert difference(trained(path, "--steps", done + 6), trained(tmp_path / "whole", "--steps", done + 6)) <= bound
    assert set(tmp_path.iterdir()) == {path, tmp_path / "whole"}, "what the killed run left is gone"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: content[:-1], "not all of it"),
        (lambda content: b"", "not a safetensors file"),
        (lambda content: pickle.dumps({}), "it is a pickle"),
        (lambda content: content[:-9] + bytes([content[-9] ^ 64]) + content[-8:], "it is damaged"),  # one bit
    ],
)
def test_a_damaged_checkpoint_is_refused_and_left_alone(tmp_path, spoil, words):
    trained(path := tmp_path / "run", "--steps", 1)
    path.write_bytes(spoiled := spoil(path.read_bytes()))
    with pytest.raises(SystemExit, match=words):
        trained(path, "--steps", 2)
    assert path.read_bytes() == spoiled and not dist.is_initialized()


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    trained(path := tmp_path / "run", "--steps", 1)
    with pytest.raises(SystemExit, match=r"expected the training 'padded, .* seed 3', got 'padded, .* seed 0'"):
        trained(path, "--seed", 3)
    save_file({"weight": torch.ones(2)}, path)
    with pytest.raises(SystemExit, match="got 'a file of another program'"):
        trained(path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reverse", "--checkpoint", "/no/x"], "expected a folder, got none"),
        (["reverse", "--lr", "1e300", "--steps", "3"], "loss: expected a finite number"),
    ],
)
def test_a_run_that_fails_ends_with_the_reason(arguments, words):
    with pytest.raises(SystemExit, match=f"python -m encoder_lib.training: error: .*{words}"):
        main(arguments)


def test_running_out_of_memory_is_named(monkeypatch):
    """2⁵⁰ numbers are more than any machine can hold; an error of another kind keeps its traceback."""
    reverse = TASKS["reverse"]
    for size, error, words in (
        (2**50, SystemExit, "out of memory with --batch-size 64"),
        (-1, RuntimeError, "negative"),
    ):
        monkeypatch.setitem(TASKS, "reverse", replace(reverse, draw=lambda rows, size=size: torch.empty(size)))
        with pytest.raises(error, match=words):
            main(["reverse"])
        assert not dist.is_initialized()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("revers", "invalid choice: 'revers'"),
        ("reverse --steps 0", "--steps: expected a whole number from 1 to 2147483647, got '0'"),
        ("reverse --every 1e3", "--every: expected a whole number"),
        (
            "reverse --batch-size 99999999999",
            "--batch-size: expected a whole number from 1 to 16384, got '99999999999'",
        ),
        (f"reverse --steps {'9' * 5000}", "--steps: expected a whole number"),
        ("reverse --seed -1", "--seed: expected a whole number from 0 to 18446744073709551615, got '-1'"),
        (f"reverse --seed {2**64}", "--seed: expected a whole number"),
        ("reverse --lr nan", "--lr: expected a number above 0, got 'nan'; try 0.003"),
        ("reverse --lr inf", "--lr: expected a number above 0"),
        ("reverse --lr 0", "--lr: expected a number above 0"),
        ("reverse --lr fast", "--lr: expected a number above 0"),
    ],
    ids=lambda text: text[:40],
)
def test_wrong_options_are_named_below_the_usage(options, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(options.split())
    error = capsys.readouterr().err
    assert "usage: python -m encoder_lib.training" in error and words in error.replace("argument ", "")
    assert len(error) < 1000


def test_the_largest_options_are_accepted(capsys):
    main(["reverse", "--steps", "1", "--batch-size", "1", "--seed", str(2**64 - 1), "--every", str(2**31 - 1)])
    assert "step 1: loss" in capsys.readouterr().out


def test_more_processes_than_sequences_are_refused(monkeypatch):
    monkeypatch.setattr(dist, "get_world_size", lambda: 9)
    with pytest.raises(SystemExit, match="one sequence for each process, got 7 for 9 processes"):
        main(["reverse", "--batch-size", "7"])


def interrupt_at(step, monkeypatch):
    """Press Ctrl+C in a step of the optimiser, counted from 1."""
    real, calls = torch.optim.Adam.step, itertools.count(1)

    def interrupted(*arguments):
        if next(calls) == step:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(torch.optim.Adam, "step", interrupted)


@pytest.mark.parametrize(
    ("step", "checkpoint", "words"),
    [
        (1, [], "nothing is kept, because there was no --checkpoint"),
        (2, ["--checkpoint", "run"], "nothing is kept, because no checkpoint was due yet"),
        (3, ["--checkpoint", "run"], "the same command continues from the last checkpoint"),
    ],
)
def test_an_interrupted_run_says_what_is_kept(step, checkpoint, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["reverse", "--every", "2", "--steps", "4", *checkpoint]
    with monkeypatch.context() as patch, pytest.raises(SystemExit, match=f"interrupted; {words}"):
        interrupt_at(step, patch)
        main(arguments)
    capsys.readouterr()
    main(arguments)
    assert f"{2 if 'continues' in words else 0} steps done" in capsys.readouterr().out


def test_an_interrupt_before_the_training_is_named_alone(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(dist, "init_process_group", lambda *_, **__: interrupt())
    with pytest.raises(SystemExit, match=r"python -m encoder_lib\.training: interrupted$"):
        main(["reverse"])
