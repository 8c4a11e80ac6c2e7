"""`python -m encoder_lib.training`: learn a task of notebook 08 from the command line, alone or under torchrun."""

import argparse
import json
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import torch
from torch import Tensor, nn

from encoder_lib.files import atomic_write, destination
from encoder_lib.seeded import seeded
from encoder_lib.training import distributed
from encoder_lib.training.checkpoint import load_training, read_notes, save_training
from encoder_lib.training.distributed import SINGLE_PROCESS, Workers
from encoder_lib.training.fit import History, evaluate, fit
from encoder_lib.training.tasks import TASKS, solver

PROGRAM = "python -m encoder_lib.training"
HELD_OUT = 1000  # sequences that are drawn to be tried alone
LARGER = {"brackets": (2, 4), "padded": (2, 4)}  # layers and heads; the other tasks make do with one
DECIDES = ("task", "seed", "batch_size", "lr", "layers", "heads", "width")  # the options that decide the numbers

DESCRIPTION = """\
Train a Transformer encoder on one of the tasks of notebook 08, and say how well it does on sequences kept apart.

  reverse    write the sequence backwards        brackets   find each bracket's partner
  pointer    follow arrows to words              padded     backwards, in batches of many lengths
"""
EXAMPLES = """\
examples:
  python -m encoder_lib.training reverse
  python -m encoder_lib.training padded --steps 400 --checkpoint run.safetensors --resume --history run.json
  torchrun --standalone --nproc-per-node 2 -m encoder_lib.training reverse

Under torchrun each process takes its share of every batch, and the gradients are added up: any number of processes
does the same training as one, and can go on where another number of them ended. Ctrl+C saves before it ends the run.
"""


class _Stopped(Exception):
    """Somebody asked the run to stop, and all processes have, after the same step."""


class _Run:
    """One training: what it needs, and what is done after each step."""

    def __init__(self, options: argparse.Namespace, stop: threading.Event):
        """Draw and read everything, so that what can be wrong with the options is found before the processes meet."""
        self.options, self.stop, self.workers = options, stop, SINGLE_PROCESS
        self.device, self.task = distributed.local_device(options.device), TASKS[options.task]
        sizes = {"n_layers": options.layers, "n_heads": options.heads, "d_model": options.width}
        self.model = solver(self.task, **sizes).to(self.device)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=options.lr)
        self.held_out = self.task.draw(HELD_OUT)
        self.history = History(options.steps)
        self.tokens: list[int] = []  # of each step, without padding
        self.seconds: list[float] = []  # that it took
        self.gradient_norms: list[float] = []
        if options.resume and options.checkpoint.exists():
            self._resume(options.checkpoint)
        self.begun, self.clock = len(self.history), 0.0

    def train(self, workers: Workers) -> int:
        """Do the steps and report; return the exit status."""
        self.workers = workers
        self._introduce()
        try:
            fit(
                self.model,
                self._draw,
                steps=self.options.steps,
                optimiser=self.optimiser,
                history=self.history,
                callback=self._after_step,
                workers=workers,
            )
        except _Stopped:
            self.history.stop_reason = "stopped by hand"
            self._save()
            done = f"{len(self.history)} of {self.options.steps} steps"
            print(f"Stopped by hand after {done}. {self._what_is_kept()}", flush=True)
            self.workers.all_reduce(torch.zeros((), device=self.device))  # nobody goes before the first has saved
            return 128 + signal.SIGINT
        if self.history.eval_steps[-1:] != [len(self.history)]:  # a run that went on with nothing left to do
            evaluate(self.model, self.held_out, self.history)
        self._write_history()
        self._sum_up()
        return 0

    def _draw(self) -> tuple[Tensor, Tensor]:
        """The whole batch: every process draws the same one, and `fit` takes its rows of it."""
        ids, targets, _ = self.task.draw(self.options.batch_size)
        padding = self.task.padding_idx
        self.tokens.append(ids.numel() if padding is None else int((ids != padding).sum()))
        return ids, targets

    def _after_step(self) -> None:
        """Measure, and from time to time try the held-out data, report and save; called before the first step too."""
        step, options = len(self.history), self.options
        if step > self.begun:
            self.seconds.append(perf_counter() - self.clock)
            gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
            self.gradient_norms.append(nn.utils.get_total_norm(gradients).item())
            if step % options.every == 0 or step == options.steps:
                evaluate(self.model, self.held_out, self.history)
                self._save()
                share = self.history.accuracies[-1]
                print(f"step {step:>6}: loss {self.history[-1]:.4f}, held-out accuracy {share:.1%}", flush=True)
            if self._asked_to_stop() and step < options.steps:
                raise _Stopped
        self.clock = perf_counter()

    def _asked_to_stop(self) -> bool:
        """Whether any of the processes was asked to: then all stop here."""
        asked = torch.tensor(float(self.stop.is_set()), device=self.device)
        return self.workers.all_reduce(asked).item() > 0

    def _log(self) -> dict[str, list[float]]:
        """All that was measured: a number for each step, or for each evaluation on the held-out data."""
        by_step = {name: getattr(self, name) for name in ("tokens", "seconds", "gradient_norms")}
        by_evaluation = {name: getattr(self.history, name) for name in ("eval_steps", "accuracies", "held_out_losses")}
        return {"losses": list(self.history)} | by_step | by_evaluation

    def _save(self) -> None:
        """Write the checkpoint and the history, if they are wanted: the first process does it for all."""
        if self.options.checkpoint and self.workers.rank == 0:
            notes = _decided(self.options)
            save_training(self.model, self.optimiser, self.options.checkpoint, log=self._log(), notes=notes)
        self._write_history()

    def _write_history(self) -> None:
        if self.options.history and self.workers.rank == 0:
            about = {name: getattr(self.options, name) for name in (*DECIDES, "steps", "threads")}
            about |= {"processes": self.workers.world_size, "device": self.device.type, "begun": self.begun}
            with atomic_write(self.options.history) as part:
                part.write_text(json.dumps(about | {"stop_reason": self.history.stop_reason} | self._log()) + "\n")

    def _resume(self, path: Path) -> None:
        """Take up the training in a checkpoint, which must have been given the same options."""
        saved = read_notes(path)
        for name, value in _decided(self.options).items():
            if saved.get(name, value) != value:
                option = name if name == "task" else f"--{name.replace('_', '-')}"
                raise ValueError(
                    f"{path}: expected a training with {option} {value}, got one with {saved[name]}; "
                    f"try {option} {saved[name]}, or another --checkpoint"
                )
        log = load_training(self.model, self.optimiser, path)
        if missing := self._log().keys() - log.keys():
            raise ValueError(f"{path}: expected a checkpoint of this script, got one without {sorted(missing)}")
        self.history.extend(log["losses"])
        self.history.eval_steps = [int(step) for step in log["eval_steps"]]
        self.history.accuracies, self.history.held_out_losses = log["accuracies"], log["held_out_losses"]
        self.tokens = [int(number) for number in log["tokens"]]
        self.seconds, self.gradient_norms = log["seconds"], log["gradient_norms"]

    def _introduce(self) -> None:
        options, count = self.options, self.workers.world_size
        least, more = divmod(options.batch_size, count)
        each = f"{least} or {least + 1}" if more else f"{least}"
        whose = "in one process" if count == 1 else f"{each} in each of {count} processes"
        threads = f"{options.threads} thread{'s' * (options.threads > 1)}{' each' * (count > 1)}"
        weights = sum(p.numel() for p in self.model.parameters())
        print(
            f"{options.task}: {options.batch_size} sequences a step, {whose} ({self.device.type}, {threads}); "
            f"{weights:,} weights, seed {options.seed}",
            flush=True,
        )
        if options.resume:
            before = f"{self.begun} steps are done" if self.begun else "no step is done yet, so it begins"
            print(f"{options.checkpoint}: {before}", flush=True)

    def _sum_up(self) -> None:
        seconds, tokens = sum(self.seconds[self.begun :]), sum(self.tokens[self.begun :])
        if seconds:
            print(f"{len(self.seconds) - self.begun} steps in {seconds:.1f} s, {tokens / seconds:,.0f} tokens a second")
        right = f"{self.history.accuracies[-1]:.1%} of the answers in {HELD_OUT} sequences kept apart are right"
        print(f"{right}. {self._what_is_kept()}", flush=True)

    def _what_is_kept(self) -> str:
        kept = [str(path) for path in (self.options.checkpoint, self.options.history) if path]
        hint = "" if self.history.stop_reason == "all steps done" else "; the same command with --resume goes on"
        return f"Saved: {', '.join(kept)}{hint * bool(self.options.checkpoint)}." if kept else "Nothing was saved."


def main(arguments: list[str] | None = None) -> int:
    """Run the script with the command line's arguments, or with others; return the exit status."""
    parser = _parser()
    with _one_voice(), _interrupts() as stop:
        options = parser.parse_args(arguments)
        try:
            with seeded(options.seed):
                run = _prepared(options, stop, parser)
                with distributed.process_group(run.device) as workers:
                    return run.train(workers)
        except (FloatingPointError, ValueError, OSError) as error:
            if distributed.rank():
                distributed.wait_to_be_ended()  # the first process says the same
            return _fail(str(error))
        except RuntimeError as error:
            if "allocate" in str(error):
                return _fail(f"expected enough memory, got {_gist(error)}; try a smaller --batch-size or --width")
            if distributed.world_size() == 1:
                raise
            kept = options.checkpoint and options.checkpoint.exists()
            hint = f"; {options.checkpoint} is whole: go on with --resume" if kept else ""
            _fail(f"process {distributed.rank()} lost another one, so the run ends ({_gist(error)}){hint}")
            distributed.wait_to_be_ended()
            return 1


def _prepared(options: argparse.Namespace, stop: threading.Event, parser: argparse.ArgumentParser) -> _Run:
    """Everything that the training needs, or what is wrong with the options."""
    try:
        _complete(options)
        torch.set_num_threads(options.threads)
        return _Run(options, stop)
    except (ValueError, TypeError, KeyError, OSError) as error:
        parser.error(str(error.args[0] if isinstance(error, KeyError) else error))


def _fail(message: str) -> int:
    print(f"{PROGRAM}: error: {message}", file=sys.stderr, flush=True)
    return 1


def _gist(error: RuntimeError) -> str:
    """The first sentence of torch's own words, without the place in its sources."""
    return re.sub(r"^\[\S+:\d+\] ", "", str(error)).partition(". ")[0].partition("\n")[0]


@contextmanager
def _one_voice() -> Iterator[None]:
    """Only the first process prints; errors are written by any."""
    if distributed.rank() == 0:
        yield
        return
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        yield


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """What a first Ctrl+C sets, instead of breaking into a step; a second one ends the process on the spot."""
    asked = threading.Event()

    def ask(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


class _Parser(argparse.ArgumentParser):
    """All processes find the same fault in their options: the first one tells it."""

    def error(self, message: str) -> NoReturn:
        if distributed.rank():
            distributed.wait_to_be_ended()
        super().error(f"{message}\nTry {self.prog} --help.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    option = parser.add_argument
    option("task", type=_one_of(*TASKS), metavar="TASK", help=f"what to learn: {', '.join(TASKS)}")
    option("--steps", type=_whole(1), default=300, metavar="N", help="steps in all, those of a resumed run too (300)")
    option("--batch-size", type=_whole(1), default=64, metavar="N", help="sequences a step, of all processes (64)")
    option("--seed", type=_whole(0, 2**63 - 1), default=0, metavar="N", help="what all random numbers come from (0)")
    option("--lr", type=_positive, default=3e-3, metavar="X", help="the learning rate of Adam (0.003)")
    option("--layers", type=_whole(1), metavar="N", help="layers of the encoder (1; 2 for brackets and padded)")
    option("--heads", type=_whole(1), metavar="N", help="heads of each layer (1; 4 for brackets and padded)")
    option("--width", type=_whole(1), default=64, metavar="N", help="width of a token's vector (64)")
    option("--every", type=_whole(1), default=50, metavar="N", help="steps between reports, and checkpoints (50)")
    option("--checkpoint", type=Path, metavar="FILE", help="keep weights and all else of the training here")
    option("--resume", action="store_true", help="go on from --checkpoint if it is there already")
    option("--history", type=Path, metavar="FILE", help="keep losses, gradient norms and times here (JSON)")
    option("--threads", type=_whole(1), metavar="N", help="threads of each process (its share of this machine's cores)")
    option(
        "--device",
        type=_one_of("cpu", "cuda"),
        metavar="NAME",
        help="cpu or cuda (a GPU for each, where there are any)",
    )
    return parser


def _complete(options: argparse.Namespace) -> None:
    """Fill in what depends on other options, and refuse what does not go together."""
    layers, heads = LARGER.get(options.task, (1, 1))
    options.layers, options.heads = options.layers or layers, options.heads or heads
    options.threads = options.threads or max(1, _cores() // distributed.local_world_size())
    if options.batch_size < distributed.world_size():
        raise ValueError(
            f"argument --batch-size: expected at least one sequence for each of {distributed.world_size()} processes, "
            f"got {options.batch_size}; try --batch-size {distributed.world_size()}, or fewer processes"
        )
    if options.resume and not options.checkpoint:
        raise ValueError("argument --resume: expected a --checkpoint to go on from; try --checkpoint run.safetensors")
    if options.width % options.heads:
        raise ValueError(
            f"argument --heads: expected a number that divides the width, {options.width}, got {options.heads}; "
            "try --heads 1"
        )
    files = [_file(name, path) for name, path in vars(options).items() if name in ("checkpoint", "history") and path]
    if len(set(files)) < len(files):
        raise ValueError(f"argument --history: expected another file than --checkpoint, got {files[0]} twice")


def _file(name: str, path: Path) -> Path:
    """Where the file of an option will be."""
    try:
        return destination(path)
    except OSError as error:
        raise ValueError(f"argument --{name}: {error}") from error


def _decided(options: argparse.Namespace) -> dict[str, str]:
    return {name: str(getattr(options, name)) for name in DECIDES}


def _cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one_of(*choices: str) -> Callable[[str], str]:
    """A reader of one of a few words."""

    def read(text: str) -> str:
        if text not in choices:
            raise argparse.ArgumentTypeError(f"expected one of {', '.join(choices)}, got {text!r}; try {choices[0]}")
        return text

    return read


def _whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """A reader of whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,30}", text) else None
        if number is None or not least <= number <= most:
            bound = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"expected a whole number {bound}, got {text!r}; try {max(least, 1)}")
        return number

    return read


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}; try 0.003")
    return number
