"""The program `python -m encoder_lib.training`: several processes do what one does, and a killed run goes on."""

import os
import pickle
import subprocess
import sys
import time

import psutil
import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file

from encoder_lib.training.__main__ import main

TWO = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def options(path, *others):
    """Padding and an odd number of rows: two processes have different numbers of answers to give."""
    return ["padded", "--batch-size", "7", "--checkpoint", str(path), *map(str, others)]


def start(launcher, path, *others):
    """The program in processes of its own, with as many threads as it has here."""
    command = [sys.executable, *launcher, "-m", "encoder_lib.training", *options(path, *others)]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def trained(path, *others):
    """All tensors that the program, run here, has written in the end."""
    main(options(path, *others))
    return load_file(path)


def apart(one, other):
    """How far two checkpoints are from each other.

    A key's bias is left out: the softmax takes it away again, so its gradient is nothing but rounding, which Adam blows
    up to whole steps.
    """
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in ("step", "random"))
    weights = [name for name in one if name.startswith("model.") and not name.endswith("k_proj.bias")]
    return max((one[name] - other[name]).abs().max().item() for name in weights)


def test_it_learns_and_says_how_far_it_is(capsys):
    main(["reverse", "--steps", "60", "--lr", "0.01", "--every", "25", "--batch-size", "32"])
    first, *steps, last = capsys.readouterr().out.splitlines()
    assert first == "reverse, 32 rows a step, lr 0.01, seed 0: 1 process, 0 steps done"
    assert [line.partition(":")[0] for line in steps] == ["step 25", "step 50", "step 60"]
    assert float(last.partition(" %")[0]) > 95 and not dist.is_initialized()


@pytest.mark.long
def test_two_processes_make_the_steps_of_one(tmp_path):
    process = start(TWO, tmp_path / "two", "--steps", 9)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.count("2 processes, 0 steps done") == out.count("step 9: ") == 1, "one of them speaks"
    assert apart(load_file(tmp_path / "two"), trained(tmp_path / "one", "--steps", 9)) < 1e-12


def test_a_run_in_two_parts_is_the_run_in_one(tmp_path, capsys):
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
def test_a_killed_run_goes_on_and_ends_with_the_same_numbers(tmp_path, launcher, bound):
    path, limit = tmp_path / "killed", time.monotonic() + 60
    with start(launcher, path, "--steps", 10**6, "--every", 4) as process:
        while not path.exists() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
        children = psutil.Process(process.pid).children()
        (*children, process)[0].kill()  # SIGKILL
        process.communicate(timeout=60)
    assert process.returncode != 0 and not any(child.is_running() for child in children)
    done = int(load_file(path)["step"])
    assert done % 4 == 0 and [file for file in tmp_path.iterdir() if file.suffix != ".part"] == [path]
    assert apart(trained(path, "--steps", done + 6), trained(tmp_path / "whole", "--steps", done + 6)) <= bound


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: content[:-1], "not all of it"),
        (lambda content: b"", "not a safetensors file"),
        (lambda content: pickle.dumps({}), "it is a pickle"),
        (lambda content: content[:-9] + bytes([content[-9] ^ 64]) + content[-8:], "it is damaged"),  # one bit
    ],
)
def test_a_damaged_checkpoint_is_refused_and_stays(tmp_path, spoil, words):
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
        (["reverse", "--lr", "nan"], "learning rate"),
        (["reverse", "--lr", "1e300", "--steps", "3"], "loss: expected a finite number"),
    ],
)
def test_a_run_that_cannot_be_ends_in_words(arguments, words):
    with pytest.raises(SystemExit, match=f"python -m encoder_lib.training: error: .*{words}"):
        main(arguments)


@pytest.mark.parametrize("arguments", [["revers"], ["reverse", "--steps", "0"], ["reverse", "--every", "1e3"]])
def test_bad_options_are_told_with_the_usage(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "usage: python -m encoder_lib.training" in capsys.readouterr().err


def test_more_processes_than_rows_and_a_stop_by_hand_end_in_words(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(SystemExit, match="a row for each of 9 processes, got 7"):
        patch.setattr(dist, "get_world_size", lambda: 9)
        main(["reverse", "--batch-size", "7"])
    monkeypatch.setattr(torch.optim.Adam, "step", stop)
    with pytest.raises(SystemExit, match="stopped by hand"):
        main(["reverse"])
