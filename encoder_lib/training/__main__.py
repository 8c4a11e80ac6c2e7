"""Train a model on a task of notebook 08, in one process or, under torchrun, in several that share each batch.

    python -m encoder_lib.training reverse
    torchrun --standalone --nproc-per-node 2 -m encoder_lib.training reverse --checkpoint run.safetensors

Every process has a copy of the model, draws the same batch and works on its own rows of it. DistributedDataParallel
averages the gradients, so that all processes make the same step: the one that a single process would make. The first
process prints, and writes the checkpoint. The same command continues from it, in any number of processes. (Li et al.
2020, "PyTorch Distributed", arXiv 2006.15704.)
"""

import argparse
import gc
import hashlib
import math
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from encoder_lib import expect
from encoder_lib.files import atomic_write, destination, open_safetensors
from encoder_lib.training.fit import accuracy
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, solver

PROGRAM = "python -m encoder_lib.training"
ADAM = ("step", "exp_avg", "exp_avg_sq")  # the state that it keeps for each weight
MAX_STEPS = 2**31 - 1
MAX_BATCH_SIZE = 2**14  # a step then takes 10 GB; a program killed for lack of memory could not say why


def main(arguments: list[str] | None = None) -> None:
    """Run the program with these arguments, or with those of the command line."""
    options = _options(arguments)
    problem = ""
    try:
        if dist.is_torchelastic_launched():
            dist.init_process_group("gloo")  # torchrun tells each process how to find the others
        else:
            dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        _train(options)
    except (ValueError, OSError, FloatingPointError) as error:
        problem = f"error: {error}"
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, RuntimeError) and "tried to allocate" not in str(error):
            raise
        problem = f"error: out of memory with --batch-size {options.batch_size}; try a smaller one"
    except KeyboardInterrupt as interrupt:
        problem = str(interrupt) or "interrupted"
    finally:
        gc.collect()  # DistributedDataParallel must go before its process group; otherwise the end may wait forever
        if dist.is_initialized():
            dist.destroy_process_group()
    if problem:
        raise SystemExit(f"{PROGRAM}: {problem}")


def _train(options: argparse.Namespace) -> None:
    """The whole training, as each process runs it.

    It is in float64, so that results with different numbers of processes agree up to the last digits.
    """
    rank, count, task = dist.get_rank(), dist.get_world_size(), TASKS[options.task]
    if options.batch_size < count:
        got = f"got {options.batch_size} for {count} processes"
        raise ValueError(f"--batch-size: expected at least one sequence for each process, {got}")
    torch.manual_seed(options.seed)  # the same parameters and the same batches in every process
    model = solver(task, n_layers=2, n_heads=4).double()
    optimiser = torch.optim.Adam(model.parameters(), lr=options.lr)
    held_out = task.draw(500)
    training = f"{options.task}, batch size {options.batch_size}, lr {options.lr}, seed {options.seed}"
    done = 0
    if options.checkpoint and destination(options.checkpoint).exists():
        done = load_training(options.checkpoint, model, optimiser, training)
    if rank == 0:
        print(f"{training}: {count} process{'es' * (count > 1)}, {done} steps done")
    shared = DistributedDataParallel(model)
    try:
        for step in range(done + 1, options.steps + 1):
            ids, targets, _ = task.draw(options.batch_size)  # (B, T) each
            n_targets = (targets != IGNORE_INDEX).sum()  # in the rows of all processes
            ids, targets = ids[rank::count], targets[rank::count]  # the rows of this process
            loss = F.cross_entropy(shared(ids).flatten(0, 1), targets.flatten(), reduction="sum") / n_targets
            optimiser.zero_grad()
            (loss * count).backward()  # averaged over the processes, the gradient of the sum of their losses
            optimiser.step()
            if step % options.every == 0 or step == options.steps:
                dist.all_reduce(loss := loss.detach())
                if not loss.isfinite():
                    raise FloatingPointError(f"loss: expected a finite number, got {loss.item()}; try a smaller --lr")
                if rank == 0:
                    print(f"step {step}: loss {loss:.3f}")
                    if options.checkpoint:
                        save_training(options.checkpoint, model, optimiser, training, step)
    except KeyboardInterrupt:
        if options.checkpoint is None:
            kept = "nothing is kept, because there was no --checkpoint"
        elif not options.checkpoint.exists():
            kept = "nothing is kept, because no checkpoint was due yet; try a smaller --every"
        else:  # it is this training's own
            kept = "the same command continues from the last checkpoint"
        raise KeyboardInterrupt(f"interrupted; {kept}") from None
    if rank == 0:
        print(f"held-out accuracy: {100 * accuracy(model, *held_out[:2]):.0f} %")


def save_training(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, training: str, step: int) -> None:
    """Write a checkpoint from which the training can continue. The old file stays until the new one is complete.

    It is a safetensors file with the model's weights, the optimiser's state, the number of steps and the state of the
    random number generator. Its metadata hold a description of the training, and the SHA-256 of the tensors.
    """
    state = {f"model.{name}": x for name, x in model.state_dict().items()}
    for i, memory in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{i}.{name}": x for name, x in memory.items()}
    state |= {"step": torch.tensor(step), "random": torch.get_rng_state()}
    with atomic_write(path) as part:
        part.write_bytes(save(state, metadata={"training": training, "sha256": _digest(state)}))


def load_training(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, training: str) -> int:
    """Restore what `save_training` wrote, random numbers included, and return the number of steps done.

    Raises: ValueError for the checkpoint of another training, and for a file that is damaged, incomplete or not a
    safetensors file.
    """
    with open_safetensors(path) as file:
        metadata = file.metadata() or {}
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is not a dict)
    if metadata.get("training") != training:
        got = metadata.get("training", "a file of another program")
        raise ValueError(f"{path}: expected the training {training!r}, got {got!r}; try another --checkpoint")
    if metadata.get("sha256") != _digest(state):
        raise ValueError(f"{path}: expected the numbers that were written, got others: it is damaged; try a copy of it")
    memories = {i: {key: state[f"optimiser.{i}.{key}"] for key in ADAM} for i, _ in enumerate(model.parameters())}
    model.load_state_dict({name: state[f"model.{name}"] for name in model.state_dict()})
    optimiser.load_state_dict(optimiser.state_dict() | {"state": memories})
    torch.set_rng_state(state["random"])
    return int(state["step"])


def _digest(state: dict[str, Tensor]) -> str:
    return hashlib.sha256(save(state)).hexdigest()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(PROGRAM, description=__doc__.split("\n")[0], allow_abbrev=False)
    add, steps = parser.add_argument, _integer(1, MAX_STEPS)
    add("task", choices=TASKS, help="the task to learn")
    add("--steps", type=steps, default=200, help="number of steps, those in the checkpoint included (200)")
    rows = _integer(1, MAX_BATCH_SIZE)
    add("--batch-size", type=rows, default=64, help="sequences in a batch, over all processes (64)")
    add("--lr", type=_learning_rate, default=3e-3, help="learning rate of Adam (0.003)")
    add("--seed", type=_integer(0, expect.SEEDS - 1), default=0, help="seed of all random numbers (0)")
    add("--every", type=steps, default=50, help="steps from one checkpoint to the next (50)")
    add("--checkpoint", type=Path, help="file to save the training to, and to continue from if it exists")
    return parser.parse_args(arguments)


def _integer(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if len(text) > len(str(most)) or not text.isdecimal() or not least <= int(text) <= most:
            wanted = f"a whole number from {least} to {most}"
            raise argparse.ArgumentTypeError(f"expected {wanted}, got {expect.short_repr(text)}")
        return int(text)

    return parse


def _learning_rate(text: str) -> float:
    try:
        lr = float(text)
    except ValueError:
        lr = math.nan
    if not 0 < lr < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {expect.short_repr(text)}; try 0.003")
    return lr


if __name__ == "__main__":
    main()
