"""Several processes that train one model together: who they are, whose rows are whose, and what they add up.

`torchrun` starts the processes and tells each its number; torch's DistributedDataParallel adds their gradients up. The
rest is here. A process that nobody else works with is the same thing with a count of one: `SINGLE_PROCESS`.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

TIMEOUT = timedelta(minutes=3)  # how long a process waits for one that neither answers nor ends
GRACE = 10  # seconds that a process which must end leaves to torchrun to end it


@dataclass(frozen=True)
class Workers:
    """The processes that share each step, seen from one of them: number `rank` of `world_size`."""

    rank: int = 0
    world_size: int = 1

    def shard(self, batch: Sequence[Tensor]) -> Sequence[Tensor]:
        """This process's rows of a batch that all of them drew: as many as the others get, or one fewer.

        Raises: ValueError for fewer rows than processes.
        """
        if self.world_size == 1:
            return batch
        if len(batch[0]) < self.world_size:
            raise ValueError(
                f"batch: expected at least one sequence for each of {self.world_size} processes, got {len(batch[0])}; "
                "try a larger batch, or fewer processes"
            )
        return [x.tensor_split(self.world_size)[self.rank] for x in batch]

    def all_reduce(self, x: Tensor) -> Tensor:
        """The sum of what all processes bring, which must be of one shape; each waits here for the others."""
        x = x.detach().clone()
        if self.world_size > 1:
            dist.all_reduce(x)
        return x

    def data_parallel(self, model: nn.Module) -> nn.Module:
        """The model with the first process's weights, and gradients that are the mean over all processes."""
        return model if self.world_size == 1 else DistributedDataParallel(model)


SINGLE_PROCESS = Workers()


def rank() -> int:
    """The number that torchrun gave this process; 0 without torchrun."""
    return int(os.environ.get("RANK", 0))


def world_size() -> int:
    """How many processes torchrun started, on all machines; 1 without torchrun."""
    return int(os.environ.get("WORLD_SIZE", 1))


def local_world_size() -> int:
    """How many of the processes run on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def local_device(name: str | None = None) -> torch.device:
    """The GPU that is this process's own, where there are any, or the CPU; `name` ("cpu", "cuda") insists on one.

    Raises: ValueError when there are no GPUs, or fewer than processes.
    """
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "cpu" or (name is None and not gpus):
        return torch.device("cpu")
    if local_world_size() > gpus:
        raise ValueError(
            f"device: expected a GPU for each process, got {gpus} for {local_world_size()}; try --device cpu"
            + (f", or --nproc-per-node {gpus}" if gpus else "")
        )
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    return device


@contextmanager
def process_group(device: torch.device) -> Iterator[Workers]:
    """Join the processes that torchrun started, and part from them in the end; without torchrun there is nobody."""
    if world_size() == 1:
        yield SINGLE_PROCESS
        return
    if device.type == "cuda":
        dist.init_process_group("nccl", timeout=TIMEOUT, device_id=device)
    else:
        dist.init_process_group("gloo", timeout=TIMEOUT)
    try:
        yield Workers(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def wait_to_be_ended() -> None:
    """Leave it to torchrun to end this process, which it does as soon as it sees that another one has failed.

    So what failed first is what torchrun tells. Alone, nobody waits.
    """
    if world_size() > 1:
        time.sleep(GRACE)
