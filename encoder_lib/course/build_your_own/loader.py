"""An encoder built by hand: python my_encoder.py "a text" "another one" prints a vector for each."""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from encoder_lib.course.kit.checking.parts import (
    Attention,
    Block,
    Embedding,
    Encoder,
    FeedForward,
    Norm,
    Positions,
    vectors_of,
)


def load(folder: Path = Path(__file__).parent) -> tuple[nn.Module, Tokenizer]:
    """The encoder with its parameters, and the tokenizer, from the files in a folder: this one, if none is named."""
    sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    d_model, eps = sizes["d_model"], sizes["eps"]
    blocks = []
    for _ in range(sizes["n_layers"]):
        attention, feed_forward = Attention(d_model, sizes["n_heads"]), FeedForward(d_model, sizes["d_ff"])
        blocks.append(Block(attention, feed_forward, Norm(d_model, eps), Norm(d_model, eps)))
    embedding, positions = Embedding(sizes["vocab_size"], d_model), Positions(sizes["max_len"], d_model)
    encoder = Encoder(embedding, positions, Norm(d_model, eps), blocks).float()
    encoder.load_state_dict(load_file(folder / "model.safetensors"))
    return encoder.eval(), Tokenizer.from_file(str(folder / "tokenizer.json"))


@torch.no_grad()
def encode(texts: list[str], encoder: nn.Module, tokenizer: Tokenizer) -> torch.Tensor:
    """A vector of length 1 for each text. (N, D)"""
    return vectors_of(encoder, [torch.tensor(tokenizer.encode(text).ids) for text in texts])


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit('usage: python my_encoder.py "a text" "another one"')
    for vector in encode(sys.argv[1:], *load()):
        print(*(f"{x:.6f}" for x in vector.tolist()))
