"""Checkpoints: a model's weights in a file that is whole or not there, and from which nothing is ever unpickled.

`save_training` adds what a training needs to go on as if nothing had ended it. `load_checkpoint` reads its files too.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.files import atomic_write, open_safetensors

TRAINING = "training."  # begins the name of what is no weight; in a model that name is taken by the train mode
LOG, OPTIMISER, RANDOM = (f"{TRAINING}{kind}." for kind in ("log", "optimiser", "random"))


def save_checkpoint(model: nn.Module, path: str | Path, *, notes: Mapping[str, str] | None = None) -> None:
    """Write the weights of `model`, and `notes` on it, to a safetensors file.

    The file is written beside its place under another name, brought to the disk, and then takes the place in one step:
    whoever looks there finds the old file or the new one, and never a part, also after a power cut.

    Raises: TypeError for a model that is no torch module, notes that are not strings; ValueError for weights that are
    not finite; FileNotFoundError or IsADirectoryError for a place where no file can be.
    """
    _write(_weights(model), path, notes)


def save_training(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    path: str | Path,
    *,
    log: Mapping[str, Sequence[float]] | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write all that a training needs to go on: weights, the optimiser's memory of them, random state, and a `log`.

    A log holds lists of numbers by name, such as the losses so far. The file is written as `save_checkpoint` does it.

    Raises: as `save_checkpoint`; TypeError for an optimiser that is none, or remembers what is no tensor.
    """
    names: dict[Tensor, str] = {w: _memory_of(optimiser) + name for name, w in _trained(model, optimiser).items()}
    tensors = dict(_weights(model))
    for weight, memory in optimiser.state.items():
        for key, value in memory.items():
            if not isinstance(value, Tensor):
                raise TypeError(f"optimiser: expected tensors to remember, got {key}={value!r}; try torch.optim.Adam")
            tensors[f"{names[weight]}.{key}"] = value
    tensors |= {LOG + name: torch.tensor(list(x), dtype=torch.float64) for name, x in (log or {}).items()}
    tensors |= {RANDOM + kind: state for kind, state in _random_states(model).items()}
    _write(tensors, path, notes)


def load_checkpoint(model: nn.Module, path: str | Path) -> dict[str, str]:
    """Put the weights of a file into `model`, and return the notes on it. Either all weights change or none.

    Raises: TypeError for a model that is no torch module, weights of another dtype; FileNotFoundError for a path
    without a file; KeyError for a weight that the file lacks; ValueError for a file that is no safetensors file, or
    not all of one, weights that the model lacks, other shapes, weights that are not finite.
    """
    _weights(model)
    with open_safetensors(expect.path(path)) as file:
        read, notes = _read_weights(model, file, path), file.metadata() or {}
    model.load_state_dict(read)
    return notes


def load_training(model: nn.Module, optimiser: torch.optim.Optimizer, path: str | Path) -> dict[str, list[float]]:
    """Take up a training where `save_training` left it, random numbers included, and return its log.

    The optimiser is one like that of the training, with settings such as lr as they should be now. All or nothing
    changes.

    Raises: as `load_checkpoint`; ValueError for a file with weights alone, or what another kind of optimiser remembers.
    """
    trained = _trained(model, optimiser)
    with open_safetensors(expect.path(path)) as file:
        read = _read_weights(model, file, path)
        extra = {name: file.get_tensor(name) for name in file.keys() if name.startswith(TRAINING)}  # noqa: SIM118
    if RANDOM + "cpu" not in extra:
        raise ValueError(f"{path}: expected a training to go on with, got weights alone; try load_checkpoint")
    memories: dict[str, dict[str, Tensor]] = {name: {} for name in trained}
    for name in [name for name in extra if name.startswith(OPTIMISER)]:
        weight, _, key = name.removeprefix(_memory_of(optimiser)).rpartition(".")
        if weight not in trained or extra[name].shape not in (torch.Size([]), trained[weight].shape):
            kind = type(optimiser).__name__
            raise ValueError(f"{path}: expected what {kind} remembers of these weights, got {name!r}; try another file")
        _expect_finite(f"{path}: {name}", extra[name])
        memories[weight][key] = extra[name]
    states = _random_states(model)
    random = {kind: extra[RANDOM + kind] for kind in states if RANDOM + kind in extra}
    for kind, state in random.items():
        if (state.dtype, state.shape) != (states[kind].dtype, states[kind].shape):
            raise ValueError(f"{path}: {RANDOM}{kind}: expected a random state, got {tuple(state.shape)}")
    model.load_state_dict(read)
    _remember(optimiser, trained, memories)
    torch.set_rng_state(random["cpu"])
    if "cuda" in random:
        torch.cuda.set_rng_state(random["cuda"], _device(model))
    return {name.removeprefix(LOG): x.tolist() for name, x in extra.items() if name.startswith(LOG)}


def read_notes(path: str | Path) -> dict[str, str]:
    """The notes on a checkpoint, without its weights. Raises: FileNotFoundError, ValueError as `load_checkpoint`."""
    with open_safetensors(expect.path(path)) as file:
        return file.metadata() or {}


def _write(tensors: Mapping[str, Tensor], path: str | Path, notes: Mapping[str, str] | None) -> None:
    """Check everything, then write it all and put it in its place in one step."""
    tensors = {name: x.detach().cpu().contiguous().clone() for name, x in tensors.items()}
    notes = {} if notes is None else notes
    if not isinstance(notes, Mapping):
        raise TypeError(f"notes: expected names and texts, got {type(notes).__name__}; try {{'task': 'reversal'}}")
    notes = dict(notes)
    if not all(isinstance(text, str) for pair in notes.items() for text in pair):
        raise TypeError(f"notes: expected names and texts, all of them strings, got {notes}; try str(...)")
    for name, tensor in tensors.items():
        _expect_finite(name, tensor)
    with atomic_write(path) as part:
        save_file(tensors, part, metadata=notes or None)  # an empty one cannot be read back


def _read_weights(model: nn.Module, file: safe_open, path: str | Path) -> dict[str, Tensor]:
    """Every weight of `model` from an open file, none of them used yet."""
    weights = _weights(model)
    names = {name for name in file.keys() if not name.startswith(TRAINING)}  # noqa: SIM118 (it is no dict)
    if missing := weights.keys() - names:
        raise KeyError(f"{path}: expected a weight named {min(missing)!r}, got none; {len(missing)} are missing")
    if unknown := names - weights.keys():
        raise ValueError(f"{path}: expected the weights of this model, got {sorted(unknown)[:3]} too")
    for name, weight in weights.items():  # shapes are read before any numbers
        if (got := tuple(file.get_slice(name).get_shape())) != weight.shape:
            raise ValueError(
                f"{path}: {name}: expected shape {tuple(weight.shape)}, got {got}; "
                "try a model of the sizes that were saved"
            )
    read = {name: file.get_tensor(name) for name in weights}
    for name, tensor in read.items():
        if tensor.dtype != weights[name].dtype:
            raise TypeError(
                f"{path}: {name}: expected {weights[name].dtype}, got {tensor.dtype}; try model.to({tensor.dtype})"
            )
        _expect_finite(f"{path}: {name}", tensor)
    return read


def _trained(model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, nn.Parameter]:
    """The weights that the optimiser moves, by their names in the model."""
    _weights(model)
    if not isinstance(optimiser, torch.optim.Optimizer):
        raise TypeError(f"optimiser: expected a torch optimiser, got {type(optimiser).__name__}; try torch.optim.Adam")
    moved = {id(weight) for group in optimiser.param_groups for weight in group["params"]}
    named = {name: weight for name, weight in model.named_parameters() if id(weight) in moved}
    if len(named) != len(moved):
        raise ValueError(
            f"optimiser: expected one of this model's weights, got {len(moved) - len(named)} others too; "
            "try torch.optim.Adam(model.parameters())"
        )
    return named


def _remember(optimiser: torch.optim.Optimizer, trained: dict[str, nn.Parameter], memories: dict[str, dict]) -> None:
    """Give an optimiser its memories of each weight; it numbers the weights in the order of its groups."""
    names = {id(weight): name for name, weight in trained.items()}
    order = [names[id(weight)] for group in optimiser.param_groups for weight in group["params"]]
    state = {i: memories[name] for i, name in enumerate(order) if memories[name]}
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})


def _memory_of(optimiser: torch.optim.Optimizer) -> str:
    """How the names of an optimiser's memories begin."""
    return f"{OPTIMISER}{type(optimiser).__name__}."


def _random_states(model: nn.Module) -> dict[str, Tensor]:
    """Where the random numbers stand, on the CPU and, for a model on a GPU, there."""
    states, device = {"cpu": torch.get_rng_state()}, _device(model)
    return states | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def _device(model: nn.Module) -> torch.device:
    return next((weight.device for weight in model.parameters()), torch.device("cpu"))


def _weights(model: nn.Module) -> dict[str, Tensor]:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: expected a torch module, got {type(model).__name__}")
    return model.state_dict()


def _expect_finite(name: str, tensor: Tensor) -> None:
    if tensor.is_floating_point() and not torch.isfinite(tensor).all():
        raise ValueError(f"{name}: expected finite numbers, got non-finite ones (NaN or infinity)")
