"""The broken piece of each case, as the cells of notebook 10 show it before anybody mends it."""

# mypy: ignore-errors

from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib.model.attention import masked_softmax
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.positional import sinusoidal_table


class DropsAlways(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = dropout

    def forward(self, x):
        hidden = F.dropout(self.linear1(x).relu(), self.dropout)  # (B, T, F)
        return self.linear2(hidden)  # (B, T, D)


class WithATemplate(nn.Module):
    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__()
        self.layer = EncoderLayer(d_model, n_heads, d_ff)
        self.layers = nn.ModuleList(deepcopy(self.layer) for _ in range(n_layers))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)  # (B, T, D)
        return x


def attend_with_the_mask_turned(attention, x, real):  # an nn.MultiheadAttention; real (B, T): True = a word
    return attention(x, x, x, key_padding_mask=real)[0]  # (B, T, D)


class TableLeftBehind(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.table = sinusoidal_table(100, d_model)

    def forward(self, x):
        return x + self.table[: x.shape[1]]  # (B, T, D)


def positions_with_a_frequency_a_column(length, d_model):
    t, i = torch.arange(length)[:, None], torch.arange(d_model)
    angle = t / 10_000 ** (2 * i / d_model)  # (T, D)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def split_by_the_query(query, key, value, n_heads):
    B, T, D = query.shape
    heads = [x.reshape(B, T, n_heads, D // n_heads) for x in (query, key, value)]
    return [x.transpose(1, 2) for x in heads]  # (B, H, T, K) each


class AddsTheIds(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.register_buffer("table", sinusoidal_table(100, d_model))

    def position(self, x):
        return x + self.table[: x.shape[1]]

    def forward(self, ids):
        return self.token(ids) + self.position(ids)  # (B, T, D)


class PaddingOverwritten(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        for weight in self.parameters():
            nn.init.xavier_uniform_(weight)

    def forward(self, ids):
        return self.table(ids)  # (B, T, D)


def attend_to_the_past(query, key, value, mask):
    past = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril()
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, q, k)
    return masked_softmax(scores, mask & past) @ value  # (B, q, K)


def attend_with_a_flat_mask(query, key, value, real):  # real (B, T): True = a word
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, q, k)
    return masked_softmax(scores, real) @ value  # (B, q, K)


def encode_without_a_mask(ids, embedding, layers):  # id 0 is padding; its row of the embedding is zero
    x = embedding(ids)  # (B, T, D)
    for layer in layers:
        x = layer(x)  # (B, T, D)
    return x


def block_with_two_streams(x, attend, network, norm1, norm2):
    x = x + attend(x)
    y = norm1(x)
    return norm2(y + network(x))
