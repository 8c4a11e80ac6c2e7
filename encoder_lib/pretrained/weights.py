"""The numbers of a folder of the BERT family, by our names: from safetensors alone, and nothing is ever unpickled."""

import re
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from encoder_lib.files import open_safetensors

# our names -> theirs; `encoder.layers.3.norm1.bias` is `encoder.layer.3.attention.output.LayerNorm.bias`
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
UNUSED = re.compile(r"pooler\.|cls\.|embeddings\.(position|token_type)_ids$")  # heads for other tasks, and constants

DTYPES = ("F64", "F32", "F16", "BF16")


def read(folder: Path, shapes: dict[str, tuple[int, ...]], dtype: torch.dtype) -> dict[str, Tensor]:
    """Each weight in `shapes`, by our name, from `model.safetensors`. In the file's dtype it is mapped, not copied.

    The vector of token type 0, which every token of a single text gets, is added to the positions.
    """
    path = folder / "model.safetensors"
    with open_safetensors(path) as file:
        theirs = {_plain(name): name for name in file.keys()}  # noqa: SIM118 (it is no dict)
        if len(theirs) < len(file.keys()):
            raise ValueError(f"{path}: expected each weight once, got one twice, with and without 'bert.' for instance")
        ours = {_published(name): name for name in shapes}
        if unknown := [name for name in theirs.keys() - ours.keys() - {TYPES} if not UNUSED.match(name)]:
            raise ValueError(f"{path}: expected the weights of config.json's layers, got {sorted(unknown)[:3]} too")
        if missing := (ours.keys() | {TYPES}) - theirs.keys():
            raise KeyError(f"{path}: expected a weight named {min(missing)!r}, got none; {len(missing)} are missing")
        tensors = {name: _tensor(path, file, theirs[name], shapes[ours[name]]).to(dtype) for name in ours}
        types = _tensor(path, file, theirs[TYPES], (None, tensors[POSITIONS].shape[1])).to(dtype)
    tensors[POSITIONS] = tensors[POSITIONS] + types[0]  # (max_len, D)
    return {ours[name]: tensor for name, tensor in tensors.items()}


def _published(name: str) -> str:
    """Their name for a weight of ours."""
    module, _, kind = name.rpartition(".")
    if not module.startswith("encoder.layers."):
        return f"{OUTSIDE[module]}.{kind}"
    _, _, layer, part = module.split(".", 3)
    return f"encoder.layer.{layer}.{INSIDE[part]}.{kind}"


def _plain(name: str) -> str:
    """A name as MiniLM has it: BERT's own files put "bert." before it and call a norm's weights gamma and beta."""
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _tensor(path: Path, file: safe_open, name: str, shape: tuple[int | None, ...]) -> Tensor:
    """One tensor, whose shape is read before the numbers; None stands for any size of at least 1."""
    stored = file.get_slice(name)
    if stored.get_dtype() not in DTYPES:
        raise ValueError(
            f"{path}: {name}: expected floating-point numbers ({', '.join(DTYPES)}), got {stored.get_dtype()}"
        )
    got = tuple(stored.get_shape())
    if len(got) != len(shape) or any(n != m and (m is not None or n < 1) for n, m in zip(got, shape, strict=True)):
        raise ValueError(f"{path}: {name}: expected shape {shape}, got {got}")
    tensor = file.get_tensor(name)
    if not all(bound.isfinite() for bound in tensor.aminmax()):  # both are NaN when any number is
        raise ValueError(f"{path}: {name}: expected finite numbers, got non-finite ones (NaN or infinity)")
    return tensor
