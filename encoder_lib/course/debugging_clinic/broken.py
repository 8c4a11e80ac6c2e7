"""The broken piece of each case, as the cells of notebook 10 show it before anybody has mended it."""

# mypy: ignore-errors

from copy import deepcopy

import torch
from torch import nn

from encoder_lib.model.attention import masked_softmax
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.positional import sinusoidal_table


class StackWithATemplate(nn.Module):
    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__()
        self.layer = EncoderLayer(d_model, n_heads, d_ff)
        self.layers = nn.ModuleList(deepcopy(self.layer) for _ in range(n_layers))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)  # (B, T, D)
        return x


def attend_with_inverted_mask(attention, x, real):  # an nn.MultiheadAttention; real (B, T): True = a word
    return attention(x, x, x, key_padding_mask=real)[0]  # (B, T, D)


class TableLeftBehind(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.table = sinusoidal_table(100, d_model)

    def forward(self, x):
        return x + self.table[: x.shape[1]]  # (B, T, D)


def positions_with_one_frequency_per_column(length, d_model):
    t, i = torch.arange(length)[:, None], torch.arange(d_model)
    angle = t / 10_000 ** (2 * i / d_model)  # (T, D)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def heads_joined_without_transpose(layer, query, key, value, mask):
    slices = layer.n_heads, -1  # (H, K)
    q = layer.q_proj(query).unflatten(-1, slices).transpose(1, 2)  # (B, H, T, K)
    k = layer.k_proj(key).unflatten(-1, slices).transpose(1, 2)
    v = layer.v_proj(value).unflatten(-1, slices).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, H, T, T)
    heads = masked_softmax(scores, mask) @ v  # (B, H, T, K)
    return layer.out_proj(heads.reshape(query.shape))  # (B, T, D)
