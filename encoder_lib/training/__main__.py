"""Learn a task of notebook 08, in one process or, under torchrun, in several that share each step.

    python -m encoder_lib.training reverse
    torchrun --standalone --nproc-per-node 2 -m encoder_lib.training reverse --checkpoint run.safetensors

Every process has the whole model, draws the same batch, and works on its own rows of it. DistributedDataParallel takes
the mean of their gradients, so that all make the same step: the one that a process alone would make. The first process
prints, and writes the checkpoint, from which the same command goes on, in as many processes as one likes. (Li et al.
2020, "PyTorch Distributed", arXiv 2006.15704.)
"""

import argparse
import gc
import hashlib
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from encoder_lib.files import atomic_write, destination, open_safetensors
from encoder_lib.training.fit import accuracy
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, solver

PROGRAM = "python -m encoder_lib.training"
ADAM = ("step", "exp_avg", "exp_avg_sq")  # what it remembers of each weight


def main(arguments: list[str] | None = None) -> None:
    """Run the program with the command line's arguments, or with others."""
    options = _options(arguments)
    if dist.is_torchelastic_launched():
        dist.init_process_group("gloo")  # torchrun has told each process of the others
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    wrong = ""
    try:
        _train(options)
    except (ValueError, OSError, FloatingPointError) as error:
        wrong = f"error: {error}"
    except KeyboardInterrupt:
        wrong = "stopped by hand; the same command goes on from its checkpoint"
    finally:
        gc.collect()  # DistributedDataParallel goes before its group: the other way round, its end may wait for ever
        dist.destroy_process_group()
    if wrong:
        raise SystemExit(f"{PROGRAM}: {wrong}")


def _train(options: argparse.Namespace) -> None:
    """All of a training, as each of the processes does it.

    In float64, so that the share of a batch that a process works on makes no difference but in the last digits.
    """
    rank, count, task = dist.get_rank(), dist.get_world_size(), TASKS[options.task]
    if options.batch_size < count:
        raise ValueError(f"--batch-size: expected a row for each of {count} processes, got {options.batch_size}")
    torch.manual_seed(options.seed)  # the same parameters and the same batches in every process
    model = solver(task, n_layers=2, n_heads=4).double()
    optimiser = torch.optim.Adam(model.parameters(), lr=options.lr)
    apart = task.draw(500)  # rows that are tried alone
    training = f"{options.task}, {options.batch_size} rows a step, lr {options.lr}, seed {options.seed}"
    done = 0
    if options.checkpoint and destination(options.checkpoint).exists():
        done = load_training(options.checkpoint, model, optimiser, training)
    if rank == 0:
        print(f"{training}: {count} process{'es' * (count > 1)}, {done} steps done")
    shared = DistributedDataParallel(model)
    for step in range(done + 1, options.steps + 1):
        ids, targets, _ = task.draw(options.batch_size)  # (B, T) each
        asked = (targets != IGNORE_INDEX).sum()  # in all rows, whoever works on them
        ids, targets = ids[rank::count], targets[rank::count]  # its own rows
        loss = F.cross_entropy(shared(ids).flatten(0, 1), targets.flatten(), reduction="sum") / asked
        optimiser.zero_grad()
        (loss * count).backward()  # the mean of these over the processes is the gradient of the sum of the losses
        optimiser.step()
        if step % options.every == 0 or step == options.steps:
            dist.all_reduce(loss := loss.detach())
            if not loss.isfinite():
                raise FloatingPointError(f"loss: expected a finite number, got {loss.item()}; try a smaller --lr")
            if rank == 0:
                print(f"step {step}: loss {loss:.3f}")
                if options.checkpoint:
                    save_training(options.checkpoint, model, optimiser, training, step)
    if rank == 0:
        print(f"{100 * accuracy(model, *apart[:2]):.0f} % of the answers in rows kept apart are right")


def save_training(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, training: str, step: int) -> None:
    """Write all that a training needs to go on, in one step: the old file stays until the new one is whole.

    The file is a safetensors file with the model's weights, what the optimiser remembers of each, the number of steps
    and where the random numbers stand. Its notes say in words of which training it is, and the SHA-256 of its tensors.
    """
    state = {f"model.{name}": x for name, x in model.state_dict().items()}
    for number, memory in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{number}.{name}": x for name, x in memory.items()}
    state |= {"step": torch.tensor(step), "random": torch.get_rng_state()}
    with atomic_write(path) as part:
        part.write_bytes(save(state, metadata={"training": training, "sha256": _digest(state)}))


def load_training(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, training: str) -> int:
    """Take up a training where `save_training` left it, random numbers included; return the number of its steps.

    Raises: ValueError for a file of another training, or one that is no safetensors file, damaged, or not all there.
    """
    with open_safetensors(path) as file:
        notes = file.metadata() or {}
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
    if notes.get("training") != training:
        got = notes.get("training", "a file of another program")
        raise ValueError(f"{path}: expected the training {training!r}, got {got!r}; try another --checkpoint")
    if notes.get("sha256") != _digest(state):
        raise ValueError(f"{path}: expected the numbers that were written, got others: it is damaged; try a copy")
    weights = {name: state[f"model.{name}"] for name in model.state_dict()}
    memories = {i: {key: state[f"optimiser.{i}.{key}"] for key in ADAM} for i, _ in enumerate(model.parameters())}
    model.load_state_dict(weights)
    optimiser.load_state_dict(optimiser.state_dict() | {"state": memories})
    torch.set_rng_state(state["random"])
    return int(state["step"])


def _digest(state: dict[str, Tensor]) -> str:
    return hashlib.sha256(save(state)).hexdigest()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(PROGRAM, description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("task", choices=TASKS, help="what to learn")
    parser.add_argument("--steps", type=_count, default=200, help="in all, those of a checkpoint too (200)")
    parser.add_argument("--batch-size", type=_count, default=64, help="rows a step, of all processes together (64)")
    parser.add_argument("--lr", type=float, default=3e-3, help="the learning rate of Adam (0.003)")
    parser.add_argument("--seed", type=int, default=0, help="what all random numbers come from (0)")
    parser.add_argument("--every", type=_count, default=50, help="steps from one checkpoint to the next (50)")
    parser.add_argument("--checkpoint", type=Path, help="where to keep the training, and to go on from if it is there")
    return parser.parse_args(arguments)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


if __name__ == "__main__":
    main()
