"""What two processes and one process are compared by: run under torchrun, or called, it trains and keeps what came out.

Each case is a task, a dtype and a batch size. Kept are the gradients of the first step and the weights after a few.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

from encoder_lib.training.distributed import SINGLE_PROCESS, local_device, process_group
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import TASKS, solver

CASES = [(task, dtype, 7) for task in TASKS for dtype in (torch.float32, torch.float64)]
CASES += [("padded", torch.float64, 2)]
STEPS = 10


def outcome(task, dtype, batch, workers=SINGLE_PROCESS, device="cpu"):
    """The gradients of the first step, and the losses and weights after STEPS, each in one vector.

    The keys' bias is left out of the weights: softmax takes it away again, so its gradient is nothing but rounding,
    which Adam blows up to whole steps.
    """
    torch.manual_seed(workers.rank)  # DistributedDataParallel hands out the first process's weights
    task, first = TASKS[task], []
    model = solver(task, n_layers=2, n_heads=4, d_model=16).to(device, dtype)

    def keep():
        """Note the gradients of the first step, which are there after it."""
        if not first and all(p.grad is not None for p in model.parameters()):
            first.append(torch.cat([p.grad.flatten() for p in model.parameters()]))

    losses = fit(model, lambda: task.draw(batch), steps=STEPS, seed=5, callback=keep, workers=workers)
    moved = model.named_parameters()
    return {
        "gradients": first[0].cpu(),
        "losses": torch.tensor(losses, dtype=torch.float64),
        "weights": torch.cat([p.detach().cpu().flatten() for name, p in moved if "k_proj.bias" not in name]),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    device = local_device("cpu")
    with process_group(device) as workers:
        kept = {}
        for case in CASES:
            kept |= {f"{'/'.join(map(str, case))}/{name}": x for name, x in outcome(*case, workers, device).items()}
        save_file(kept, Path(sys.argv[1]) / f"{workers.rank}.safetensors")
