"""The weights of a BERT-style folder under our names: read from safetensors alone, and nothing is ever unpickled.

Everything here works in small blocks. For a larger tensor torch would start OpenMP's threads, which a fork doesn't
copy: a server that loads a model and then forks its workers would wait for them for ever.
"""

import math
import re
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from encoder_lib.files import open_safetensors

# our names -> theirs: `encoder.layers.3.norm1.bias` is `encoder.layer.3.attention.output.LayerNorm.bias`
OUTSIDE = {
    "embedding.token": "embeddings.word_embeddings",
    "embedding.position": "embeddings.position_embeddings",
    "embedding.norm": "embeddings.LayerNorm",
}
INSIDE = {
    "attention.q_proj": "attention.self.query",
    "attention.k_proj": "attention.self.key",
    "attention.v_proj": "attention.self.value",
    "attention.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "feed_forward.linear1": "intermediate.dense",
    "feed_forward.linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
POSITIONS, TYPES = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"
UNUSED = re.compile(r"pooler\.|cls\.|embeddings\.(position|token_type)_ids$")  # heads of other tasks, and constants

DTYPES = ("F64", "F32", "F16", "BF16")
BLOCK = 2**14  # numbers; torch starts threads from 2**15


def read(folder: Path, shapes: dict[str, tuple[int, ...]], dtype: torch.dtype) -> dict[str, Tensor]:
    """Each weight in `shapes`, under our name, from `model.safetensors`. In the file's dtype it is mapped, not copied.

    Every token of a single text has token type 0, so that type's vector is added to the positions.
    """
    path = folder / "model.safetensors"
    with open_safetensors(path) as file:
        theirs = {_without_prefix(name): name for name in file.keys()}  # noqa: SIM118 (it is not a dict)
        if len(theirs) < len(file.keys()):
            raise ValueError(f"{path}: expected each weight once, got one twice, such as with and without 'bert.'")
        ours = {_published(name): name for name in shapes}
        if unknown := [name for name in theirs.keys() - ours.keys() - {TYPES} if not UNUSED.match(name)]:
            raise ValueError(f"{path}: expected the weights of config.json's layers, got also {sorted(unknown)[:3]}")
        if missing := (ours.keys() | {TYPES}) - theirs.keys():
            raise KeyError(f"{path}: expected a weight named {min(missing)!r}, got none; {len(missing)} are missing")
        tensors = {name: _convert(_tensor(path, file, theirs[name], shapes[ours[name]]), dtype) for name in ours}
        types = _convert(_tensor(path, file, theirs[TYPES], (None, tensors[POSITIONS].shape[1])), dtype)
    positions = torch.empty_like(tensors[POSITIONS])  # (max_len, D)
    for total, position in zip(positions, tensors[POSITIONS], strict=True):  # (D,) each
        torch.add(position, types[0], out=total)
    tensors[POSITIONS] = positions
    return {ours[name]: tensor for name, tensor in tensors.items()}


def _published(name: str) -> str:
    """The published name of one of our weights."""
    module, _, kind = name.rpartition(".")
    if not module.startswith("encoder.layers."):
        return f"{OUTSIDE[module]}.{kind}"
    _, _, layer, part = module.split(".", 3)
    return f"encoder.layer.{layer}.{INSIDE[part]}.{kind}"


def _without_prefix(name: str) -> str:
    """A name as in MiniLM's file: BERT's own files prefix it with "bert." and call a norm's weights gamma and beta."""
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _tensor(path: Path, file: safe_open, name: str, shape: tuple[int | None, ...]) -> Tensor:
    """One tensor, mapped into memory. Its shape is checked before its numbers are read; None is any size from 1."""
    stored = file.get_slice(name)
    got, dtype = tuple(stored.get_shape()), stored.get_dtype()
    if dtype not in DTYPES:
        raise ValueError(f"{path}: {name}: expected floating-point numbers ({', '.join(DTYPES)}), got {dtype}")
    if len(got) != len(shape) or any(n != m and (m is not None or n < 1) for n, m in zip(got, shape, strict=True)):
        raise ValueError(f"{path}: {name}: expected shape {shape}, got {got}")
    tensor = file.get_tensor(name)
    bounds = (bound.item() for block in _blocks(tensor) for bound in block.aminmax())  # NaN if any number is NaN
    if not all(map(math.isfinite, bounds)):
        raise ValueError(f"{path}: {name}: expected finite numbers, got non-finite ones (NaN or infinity)")
    return tensor


def _convert(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """The tensor itself if it has that dtype, else a converted copy."""
    if tensor.dtype == dtype:
        return tensor
    converted = torch.empty_like(tensor, dtype=dtype)
    for target, source in zip(_blocks(converted), _blocks(tensor), strict=True):
        target.copy_(source)
    return converted


def _blocks(tensor: Tensor) -> tuple[Tensor, ...]:
    """Views of a contiguous tensor, small enough for torch to use one thread. Shapes: -> (BLOCK,), the last shorter."""
    return tensor.view(-1).split(BLOCK)
