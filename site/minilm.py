"""MiniLM's weights as a browser fetches them: rounded to ten bits, one file for each layer, many for the tokens.

Ten bits, with one scale for each 64 numbers, need a third of the space of float32, and change cosines by a thousandth.
"""

from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from encoder_lib import load_pretrained

GROUP = 64  # numbers of a row with one scale
LARGEST = 511  # the largest code of ten bits
ROWS = 32  # of the embedding table in a file
SOURCE = {"source": "sentence-transformers/all-MiniLM-L6-v2, rounded to ten bits", "license": "Apache-2.0"}


def write_minilm(folder: Path) -> None:
    """Write the published weights, whose SHA-256 the library checks, and the vocabulary into a new folder."""
    model = load_pretrained()
    (folder / "words").mkdir(parents=True)
    ids = model.tokenizer.get_vocab()
    (folder / "vocabulary.txt").write_text("\n".join(sorted(ids, key=ids.__getitem__)), encoding="utf-8")
    embedding, encoder = model.encoder.embedding, model.encoder.encoder
    for n, rows in enumerate(embedding.token.weight.split(ROWS)):
        _save(folder / f"words/{n}.safetensors", {"weight": rows})
    for n, layer in enumerate(encoder.layers):
        _save(folder / f"layer{n + 1}.safetensors", layer.state_dict())
    table = embedding.position.weight
    position = {
        "position.weight": table[: model.tokenizer.truncation["max_length"]],
        "position.mean": table.mean(dim=0),
    }
    norm = {f"norm.{name}": weight for name, weight in embedding.norm.state_dict().items()}
    _save(folder / "embedding.safetensors", position | norm)


def _save(path: Path, weights: dict[str, Tensor]) -> None:
    parts = {}
    for name, weight in weights.items():
        weight = weight.detach()
        split = packed(weight) if weight.ndim == 2 else {"": weight}
        parts |= {name + kind: part.contiguous() for kind, part in split.items()}
    path.write_bytes(save(parts, SOURCE))


def packed(matrix: Tensor) -> dict[str, Tensor]:
    """Quantise a matrix (O, I): number = code · scale of its group, code = 4 · high + low.

    Shapes: -> .high (O, I), int8; .low (O, I / 4), four times two bits, the first the lowest; .scale (O, I / 64).
    """
    groups = matrix.unflatten(1, (-1, GROUP))  # (O, I / 64, 64)
    scale = groups.abs().amax(dim=-1, keepdim=True) / LARGEST
    scale = (scale * (1 + 2**-8)).bfloat16()  # bfloat16 keeps eight bits; a scale rounded down would need a larger code
    codes = (groups / scale.float()).nan_to_num().round().to(torch.int16).flatten(1)  # (O, I)
    low = (codes & 3).unflatten(1, (-1, 4)) << torch.tensor([0, 2, 4, 6])  # (O, I / 4, 4)
    return {".high": (codes >> 2).to(torch.int8), ".low": low.sum(dim=-1).to(torch.uint8), ".scale": scale[..., 0]}
