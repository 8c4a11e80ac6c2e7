"""The training script: what it says and keeps, what it refuses, and how it ends when something ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import psutil
import pytest
import torch
from safetensors.torch import load_file

from encoder_lib.training import cli, distributed
from encoder_lib.training.checkpoint import load_checkpoint, read_notes
from encoder_lib.training.cli import main
from encoder_lib.training.fit import accuracy
from encoder_lib.training.tasks import TASKS, solver

SMALL = ["--width", "16", "--batch-size", "7", "--threads", "1", "--lr", "0.01"]
BY_STEP, BY_LOOK = ("losses", "gradient_norms", "tokens", "seconds"), ("eval_steps", "accuracies", "held_out_losses")


def run(folder, *options, task="padded"):
    """Run the script here with both files kept; return the exit status and the history."""
    files = ["--checkpoint", str(folder / "run.safetensors"), "--history", str(folder / "run.json")]
    status = main([task, *SMALL, *files, *map(str, options)])
    return status, json.loads((folder / "run.json").read_text())


def numbers(history):
    """What must be the same in the same training, however long it takes."""
    return {name: history[name] for name in (*BY_STEP[:3], *BY_LOOK)}


def refused(capsys, *arguments):
    """The error that the script ends with, by status 2."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert end.value.code == 2
    out, err = capsys.readouterr()
    assert not out and "Traceback" not in err and err.startswith("usage: python -m encoder_lib.training")
    return err


def test_a_run_reports_and_keeps_what_happened(tmp_path, capsys):
    torch.manual_seed(4)
    before = torch.get_rng_state()
    status, history = run(tmp_path, "--steps", 5, "--every", 2, "--heads", 2, task="reverse")
    lines = capsys.readouterr().out.splitlines()
    assert status == 0 and torch.equal(before, torch.get_rng_state())
    assert lines[0].startswith("reverse: 7 sequences a step, in one process (cpu, 1 thread); ") and "seed 0" in lines[0]
    looks = [
        f"{h:.4f}, held-out accuracy {a:.1%}"
        for h, a in zip(history["losses"][1::2], history["accuracies"], strict=False)
    ]
    assert [line.partition("loss ")[2] for line in lines[1:3]] == looks
    assert lines[3].startswith("step      5: loss ") and " tokens a second" in lines[4]
    right = f"{history['accuracies'][-1]:.1%} of the answers in 1000 sequences kept apart are right."
    assert lines[5] == f"{right} Saved: {tmp_path / 'run.safetensors'}, {tmp_path / 'run.json'}."
    assert [len(history[name]) for name in (*BY_STEP, *BY_LOOK)] == [5, 5, 5, 5, 3, 3, 3]
    assert history["eval_steps"] == [2, 4, 5] and history["tokens"] == [7 * 16] * 5 and min(history["seconds"]) > 0
    assert (history["stop_reason"], history["processes"], history["device"]) == ("all steps done", 1, "cpu")
    assert {path.name for path in tmp_path.iterdir()} == {"run.safetensors", "run.json"}


def test_the_model_that_is_kept_is_the_one_that_was_reported(tmp_path):
    _, history = run(tmp_path, "--steps", 12, "--seed", 3)
    torch.manual_seed(3)
    model = solver(TASKS["padded"], n_layers=2, n_heads=4, d_model=16)
    held_out = TASKS["padded"].draw(cli.HELD_OUT)
    notes = load_checkpoint(model, tmp_path / "run.safetensors")
    assert accuracy(model, *held_out[:2]) == history["accuracies"][-1]
    assert notes["task"] == "padded" and notes["layers"] == "2" and notes["heads"] == "4"
    assert max(history["tokens"]) < 7 * 12, "padding is not counted"


def test_gradient_norms_are_those_of_the_whole_gradient(tmp_path, monkeypatch):
    norms, step = [], torch.optim.Adam.step

    def watched(optimiser):
        norms.append(sum(p.grad.square().sum() for g in optimiser.param_groups for p in g["params"]).sqrt().item())
        return step(optimiser)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    assert run(tmp_path, "--steps", 3)[1]["gradient_norms"] == pytest.approx(norms, rel=1e-5)


def test_a_run_learns(capsys):
    assert main(["reverse", "--steps", "60", "--threads", "1", "--batch-size", "32", "--lr", "0.01"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert float(last.partition("%")[0]) > 95 and last.endswith("Nothing was saved.")


def test_a_resumed_run_is_the_run_that_was_never_ended(tmp_path, capsys):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    _, expected = run(whole, "--steps", 8, "--every", 2)
    run(parts, "--steps", 4, "--every", 2, "--resume")
    out = capsys.readouterr().out
    assert f"{parts / 'run.safetensors'}: no step is done yet, so it begins" in out
    status, history = run(parts, "--steps", 8, "--every", 2, "--resume")
    assert status == 0 and f"{parts / 'run.safetensors'}: 4 steps are done" in capsys.readouterr().out
    assert numbers(history) == numbers(expected) and history["begun"] == 4
    kept, same = (load_file(folder / "run.safetensors") for folder in (whole, parts))
    assert kept.keys() == same.keys() and "training.optimiser.Adam.1.bias.exp_avg" in kept
    assert all(torch.equal(x, same[name]) for name, x in kept.items() if name != "training.log.seconds")


def test_nothing_is_left_to_do(tmp_path, capsys):
    _, done = run(tmp_path, "--steps", 4)
    before = (tmp_path / "run.safetensors").read_bytes()
    status, history = run(tmp_path, "--steps", 4, "--resume")
    assert status == 0 and numbers(history) == numbers(done) and "4 steps are done" in capsys.readouterr().out
    assert (tmp_path / "run.safetensors").read_bytes() == before


def test_without_resume_a_run_begins_anew(tmp_path):
    first, second = (run(tmp_path, "--steps", 3)[1] for _ in range(2))
    assert numbers(first) == numbers(second) and second["begun"] == 0


def test_ctrl_c_saves_after_the_step_and_says_so(tmp_path, monkeypatch, capsys):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    _, expected = run(whole, "--steps", 6, "--every", 6)
    step, handler = torch.optim.Adam.step, signal.getsignal(signal.SIGINT)

    def interrupted(optimiser):
        """The third step is hit in its middle."""
        if optimiser.state and next(iter(optimiser.state.values()))["step"] == 2:
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL, "a second one ends it on the spot"
        return step(optimiser)

    monkeypatch.setattr(torch.optim.Adam, "step", interrupted)
    status, history = run(parts, "--steps", 6, "--every", 6)
    assert status == 130 and len(history["losses"]) == 3 and history["stop_reason"] == "stopped by hand"
    assert "Stopped by hand after 3 of 6 steps. Saved: " in (out := capsys.readouterr().out)
    assert out.endswith("; the same command with --resume goes on.\n") and signal.getsignal(signal.SIGINT) == handler
    monkeypatch.undo()
    assert numbers(run(parts, "--steps", 6, "--every", 6, "--resume")[1]) == numbers(expected)


def test_ctrl_c_in_the_last_step_comes_too_late(tmp_path, monkeypatch):
    evaluate = cli.evaluate
    monkeypatch.setattr(cli, "evaluate", lambda *a: (signal.raise_signal(signal.SIGINT), evaluate(*a)))
    status, history = run(tmp_path, "--steps", 2)
    assert status == 0 and history["stop_reason"] == "all steps done"


def test_a_run_that_was_stopped_before_its_first_look_can_end_there(tmp_path, monkeypatch):
    monkeypatch.setattr(cli._Run, "_asked_to_stop", lambda run: len(run.history) == 2)
    assert run(tmp_path, "--steps", 9)[1]["eval_steps"] == []
    status, history = run(tmp_path, "--steps", 2, "--resume")
    assert status == 0 and history["eval_steps"] == [2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: TASK"),
        (["revers"], "TASK: expected one of reverse, pointer, brackets, padded, got 'revers'; try reverse"),
        (["reverse", "--steps", "0"], "--steps: expected a whole number of at least 1, got '0'; try 1"),
        (["reverse", "--steps", "1e3"], "--steps: expected a whole number of at least 1, got '1e3'"),
        (["reverse", "--batch-size", "many"], "--batch-size: expected a whole number of at least 1, got 'many'"),
        (["reverse", "--every", "-1"], "--every: expected a whole number of at least 1, got '-1'"),
        (["reverse", "--seed", "9" * 20], "--seed: expected a whole number from 0 to 9223372036854775807, got '999"),
        (["reverse", "--seed", "9" * 5000], "--seed: expected a whole number from 0"),
        (["reverse", "--layers", "²"], "--layers: expected a whole number of at least 1, got '²'"),
        (["reverse", "--lr", "nan"], "--lr: expected a number above 0, got 'nan'; try 0.003"),
        (["reverse", "--lr", "fast"], "--lr: expected a number above 0, got 'fast'"),
        (["reverse", "--heads", "3"], "--heads: expected a number that divides the width, 64, got 3; try --heads 1"),
        (["reverse", "--device", "tpu"], "--device: expected one of cpu, cuda, got 'tpu'; try cpu"),
        (["reverse", "--resume"], "--resume: expected a --checkpoint to go on from; try --checkpoint"),
        (["reverse", "--checkpoint", "/no/x"], "--checkpoint: /no: expected a folder, got none; try"),
        (["reverse", "--history", "/"], "--history: /: expected the name of a file, got a folder; try"),
        (["reverse", "--history", "a", "--checkpoint", "./a"], "--history: expected another file than --checkpoint"),
        (["reverse", "--step", "3"], "unrecognized arguments: --step 3"),
    ],
)
def test_bad_options_are_refused_with_a_way_out(arguments, words, capsys):
    err = refused(capsys, *arguments)
    assert words in err and err.endswith("Try python -m encoder_lib.training --help.\n")


def test_without_a_gpu_cuda_is_refused(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "expected a GPU for each process, got 0 for 1; try --device cpu" in refused(
        capsys, "reverse", "--device", "cuda"
    )


def test_fewer_sequences_than_processes_are_refused(capsys, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    err = refused(capsys, "reverse", "--batch-size", "3")
    assert "--batch-size: expected at least one sequence for each of 4 processes, got 3; try --batch-size 4" in err


def test_a_checkpoint_of_another_training_is_refused_and_stays(tmp_path, capsys):
    run(tmp_path, "--steps", 1)
    path, whole = tmp_path / "run.safetensors", (tmp_path / "run.safetensors").read_bytes()
    resume = [*SMALL, "--checkpoint", str(path), "--resume"]
    capsys.readouterr()
    assert "expected a training with task reverse, got one with padded; try task padded" in refused(
        capsys, "reverse", *resume
    )
    err = refused(capsys, "padded", *resume, "--batch-size", "8")
    assert "expected a training with --batch-size 8, got one with 7; try --batch-size 7, or another --checkpoint" in err
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-9])
    assert "not a safetensors file, or not all of it" in refused(capsys, "padded", *resume)


def test_help_tells_every_option_and_shows_how_to_share(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0 and "torchrun --standalone --nproc-per-node 2 -m encoder_lib.training" in out
    for option in ("--steps", "--batch-size", "--checkpoint", "--resume", "--history", "--threads", "--device"):
        assert f"\n  {option} " in out


class Second(distributed.Workers):
    """The second of two processes, without the first."""

    def all_reduce(self, x):
        """What it brings itself."""
        return x.detach().clone()

    def data_parallel(self, model):
        """The model as it is."""
        return model


def test_only_the_first_process_prints_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(distributed, "process_group", lambda device: nullcontext(Second(1, 2)))
    monkeypatch.setenv("RANK", "1")
    files = ["--checkpoint", str(tmp_path / "run.safetensors"), "--history", str(tmp_path / "run.json")]
    assert main(["padded", *SMALL, *files, "--steps", "2"]) == 0
    assert capsys.readouterr() == ("", "") and not list(tmp_path.iterdir())


def test_a_loss_that_is_no_number_ends_the_run_with_one_line(capsys):
    assert main(["reverse", "--steps", "5", "--lr", "1e30", "--threads", "1"]) == 1
    err = capsys.readouterr().err
    assert err == "python -m encoder_lib.training: error: loss: expected a finite number, got nan; try a smaller lr\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            RuntimeError("[alloc.cpp:9] DefaultCPUAllocator: can't allocate memory. Buy more."),
            "got DefaultCPUAllocator: ",
        ),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_a_machine_that_is_too_small_ends_the_run_with_one_line(error, words, monkeypatch, capsys):
    def too_small(*arguments):
        raise error

    monkeypatch.setattr(cli, "evaluate", too_small)
    assert main(["reverse", *SMALL, "--steps", "1"]) == 1
    err = capsys.readouterr().err
    assert words in err and len(err.splitlines()) == 1 and "Buy" not in err


def test_any_other_error_goes_through(monkeypatch):
    def broken(*arguments):
        raise RuntimeError("a fault of the script")

    monkeypatch.setattr(cli, "evaluate", broken)
    with pytest.raises(RuntimeError, match="a fault of the script"):
        main(["reverse", *SMALL, "--steps", "1"])


def test_the_module_is_the_script():
    end = subprocess.run(
        [sys.executable, "-m", "encoder_lib.training", "revers"], capture_output=True, text=True, timeout=60
    )
    assert end.returncode == 2 and "got 'revers'; try reverse" in end.stderr
    assert "Traceback" not in end.stderr and "Warning" not in end.stderr and not end.stdout


class Shared:
    """The script in two processes under torchrun; at the end of the block none of them is left."""

    def __init__(self, folder, *options, launcher=()):
        self.checkpoint, self.history = folder / "two.safetensors", folder / "two.json"
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        command += [*launcher, "-m", "encoder_lib.training", "padded", *SMALL, "--checkpoint", self.checkpoint]
        command += ["--history", self.history, *map(str, options)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        self.seen = {}

    def __enter__(self):
        return self

    def workers(self):
        """Both processes, the first one first, as soon as there is a checkpoint."""
        limit = time.monotonic() + 60
        while not self.checkpoint.exists():
            assert self.process.poll() is None and time.monotonic() < limit, self.process.communicate()
            time.sleep(0.02)
        workers = psutil.Process(self.process.pid).children()
        self.seen = {int(worker.environ()["RANK"]): worker for worker in workers}
        return [self.seen[0], self.seen[1]]

    def end(self, timeout=60):
        """What was printed, once it has ended by itself."""
        return self.process.communicate(timeout=timeout)

    def __exit__(self, *error):
        left = [worker for worker in self.seen.values() if worker.is_running()]
        for process in [*left, self.process]:
            process.kill()
        self.process.communicate()
        assert not left or error[0], "a process is left"


@pytest.mark.long
def test_two_processes_are_the_run_that_one_is_and_either_takes_up_what_the_other_left(tmp_path):
    options = ["--steps", 24, "--every", 8]
    _, expected = run(tmp_path, *options)
    with Shared(tmp_path, *options[:1], 16, *options[2:]) as shared:
        out, err = shared.end()
    assert shared.process.returncode == 0, err
    assert out.count("padded: 7 sequences a step, 3 or 4 in each of 2 processes (cpu, 1 thread each)") == 1
    assert out.count("step     16: ") == out.count(" tokens a second") == 1
    load_file(shared.checkpoint)
    (tmp_path / "run.safetensors").write_bytes(shared.checkpoint.read_bytes())
    _, history = run(tmp_path, *options, "--resume")
    assert json.loads(shared.history.read_text())["processes"] == 2 and history["begun"] == 16
    assert history["tokens"] == expected["tokens"] and history["eval_steps"] == expected["eval_steps"]
    for name in ("losses", "gradient_norms", "held_out_losses"):
        assert history[name] == pytest.approx(expected[name], abs=1e-4), name
    assert history["losses"][0] == pytest.approx(expected["losses"][0], abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_process_ends_the_run_and_the_last_checkpoint_goes_on(tmp_path, killed):
    slow = "--monitor-interval", "1"  # torchrun ends the other one a second later: on a busy machine too it has its say
    with Shared(tmp_path, "--steps", 100_000, "--every", 3, launcher=slow) as shared:
        shared.workers()[killed].kill()
        begin = time.monotonic()
        _, err = shared.end()
        assert time.monotonic() - begin < 20, "it takes seconds"
    assert shared.process.returncode == 1 and "Signal 9 (SIGKILL) received" in err
    assert f"python -m encoder_lib.training: error: process {1 - killed} lost another one, so the run ends (" in err
    assert f"{shared.checkpoint} is whole: go on with --resume" in err
    done = len(load_file(shared.checkpoint)["training.log.losses"])
    assert done % 3 == 0 and read_notes(shared.checkpoint)["task"] == "padded"
    (tmp_path / "run.safetensors").write_bytes(shared.checkpoint.read_bytes())
    status, history = run(tmp_path, "--steps", done + 2, "--resume")
    assert status == 0 and len(history["losses"]) == done + 2


@pytest.mark.long
@pytest.mark.parametrize("whom", ["torchrun", "one of them"])
def test_ctrl_c_saves_once_for_both_processes(tmp_path, whom):
    with Shared(tmp_path, "--steps", 100_000, "--every", 5) as shared:
        _, second = shared.workers()
        (shared.process if whom == "torchrun" else second).send_signal(signal.SIGINT)
        out, _ = shared.end()
    assert shared.process.returncode != 0 and out.count("Stopped by hand after ") == 1
    history = json.loads(shared.history.read_text())
    done = len(load_file(shared.checkpoint)["training.log.losses"])
    assert history["stop_reason"] == "stopped by hand" and len(history["losses"]) == done
    assert f"Stopped by hand after {done} of 100000 steps. Saved: " in out


@pytest.mark.long
def test_bad_options_are_told_once_by_two_processes(tmp_path):
    with Shared(tmp_path, "--heads", 5) as shared:
        out, err = shared.end()
    assert shared.process.returncode == 1 and not out
    assert err.count("argument --heads: expected a number that divides the width, 16, got 5; try --heads 1") == 1
