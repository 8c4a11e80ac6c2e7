"""Checkpoints: a model's weights in a file that is whole or not there, and from which nothing is ever unpickled."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from encoder_lib.bert_weights import open_safetensors


def save_checkpoint(model: nn.Module, path: str | Path, *, notes: Mapping[str, str] | None = None) -> None:
    """Write the weights of `model`, and `notes` on it, to a safetensors file.

    The file is written beside its place under another name, brought to the disk, and then takes the place in one step:
    whoever looks there finds the old file or the new one, and never a part, also after a power cut.

    Raises: TypeError for a model that is no torch module, notes that are not strings; ValueError for weights that are
    not finite; FileNotFoundError or IsADirectoryError for a place where no file can be.
    """
    tensors = {name: x.detach().cpu().contiguous().clone() for name, x in _weights(model).items()}
    notes = {} if notes is None else notes
    if not isinstance(notes, Mapping):
        raise TypeError(f"notes: expected names and texts, got {type(notes).__name__}; try {{'task': 'reversal'}}")
    notes = dict(notes)
    if not all(isinstance(text, str) for pair in notes.items() for text in pair):
        raise TypeError(f"notes: expected names and texts, all of them strings, got {notes}; try str(...)")
    for name, tensor in tensors.items():
        _expect_finite(name, tensor)
    path = _place(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        save_file(tensors, part, metadata=notes or None)  # an empty one cannot be read back
        _to_disk(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    if os.name == "posix":  # elsewhere a folder cannot be opened
        _to_disk(path.parent)


def load_checkpoint(model: nn.Module, path: str | Path) -> dict[str, str]:
    """Put the weights of a file into `model`, and return the notes on it. Either all weights change or none.

    Raises: TypeError for a model that is no torch module, weights of another dtype; FileNotFoundError for a path
    without a file; KeyError for a weight that the file lacks; ValueError for a file that is no safetensors file, or
    not all of one, weights that the model lacks, other shapes, weights that are not finite.
    """
    weights, path = _weights(model), Path(path)
    with open_safetensors(path) as file:
        names = set(file.keys())
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
        notes = file.metadata() or {}
    for name, tensor in read.items():
        if tensor.dtype != weights[name].dtype:
            raise TypeError(
                f"{path}: {name}: expected {weights[name].dtype}, got {tensor.dtype}; try model.to({tensor.dtype})"
            )
        _expect_finite(f"{path}: {name}", tensor)
    model.load_state_dict(read)
    return notes


def _weights(model: nn.Module) -> dict[str, Tensor]:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: expected a torch module, got {type(model).__name__}")
    return model.state_dict()


def _expect_finite(name: str, tensor: Tensor) -> None:
    if tensor.is_floating_point() and not torch.isfinite(tensor).all():
        raise ValueError(f"{name}: expected finite numbers, got non-finite ones (NaN or infinity)")


def _place(path: str | Path) -> Path:
    """Where the file will be: the end of a link, in a folder that is there."""
    path = Path(path).resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path}: expected the name of a file, got a folder; try {path / 'model.safetensors'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: expected a folder, got none; try mkdir(parents=True) on it first")
    return path


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
