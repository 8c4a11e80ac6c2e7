"""What learners answer in 01_embedding: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from edits import wrong
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.course import checks


def rows(ids, vocab_size, padding_idx):
    rows = torch.zeros(vocab_size, dtype=torch.bool)
    rows[ids.flatten()] = True
    if padding_idx is not None:
        rows[padding_idx] = False
    return rows


def _rows_by_set(ids, vocab_size, padding_idx):
    used = set(ids.flatten().tolist()) - {padding_idx}
    return torch.tensor([i in used for i in range(vocab_size)])


def _cosine(table, word):
    return F.cosine_similarity(table, table[word], dim=-1)


def _nearest(table, word):
    cosine = _cosine(table, word)
    cosine[word] = -torch.inf
    return cosine.argmax()


def _nearest_by_loop(table, word):
    others = [i for i in range(len(table)) if i != word]
    return max(others, key=lambda i: (table[i] @ table[word] / table[i].norm()).item())


class _Embedding(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        if padding_idx is not None:
            with torch.no_grad():
                self.weight[padding_idx] = 0

    def forward(self, ids):
        return F.embedding(ids, self.weight, self.padding_idx)


class _Masked(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx=None):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocab_size, d_model))
        self.keep = torch.ones(vocab_size, 1)
        if padding_idx is not None:
            self.keep[padding_idx] = 0

    def forward(self, ids):
        return (self.keep * self.table)[ids]


def _library(vocab_size, d_model, padding_idx=None):
    return TokenEmbedding(vocab_size, d_model, padding_idx=padding_idx)


def _spoils_its_input(table, ids):
    rows = table[ids]
    table.zero_()
    return rows


ANSWERS = {
    checks.check_look_up: (
        {
            "one-hot product": lambda table, ids: F.one_hot(ids, len(table)).to(table.dtype) @ table,
            "indexing": lambda table, ids: table[ids],
        },
        {
            "the first rows": lambda table, ids: table[: len(ids)],
            "transposed table": lambda table, ids: table.T[ids % table.shape[1]],
            "sorted ids": lambda table, ids: table[ids.sort().values],
            "whole numbers": lambda table, ids: F.one_hot(ids, len(table)) @ table,
            "row by row": lambda table, ids: torch.stack([table[i] for i in ids]),
            "changes the table": _spoils_its_input,
        },
    ),
    checks.check_gets_gradient: (
        {"by index": rows, "by set": _rows_by_set},
        {
            "padding counted in": lambda ids, v, p: rows(ids, v, None),
            "counts": lambda ids, v, p: torch.bincount(ids.flatten(), minlength=v),
            "ids, not rows": lambda ids, v, p: ids.unique(),
            "id 0 is always padding": lambda ids, v, p: rows(ids, v, 0),
            "crashes without padding": lambda ids, v, p: rows(ids, v, p + 0),
        },
    ),
    checks.check_most_similar: (
        {"cosine": _nearest, "loop": _nearest_by_loop},
        {
            "itself": lambda table, word: _cosine(table, word).argmax(),
            "dot product": lambda table, word: (table @ table[word]).index_fill(0, torch.tensor(word), -1e9).argmax(),
            "smallest distance": lambda table, word: (
                (table - table[word]).norm(dim=-1).index_fill(0, torch.tensor(word), 1e9).argmin()
            ),
            "largest absolute cosine": lambda table, word: (
                _cosine(table, word).abs().index_fill(0, torch.tensor(word), -1).argmax()
            ),
            "always the next word": lambda table, word: (word + 1) % len(table),
        },
    ),
    checks.check_padded_embedding: (
        {"F.embedding": _Embedding, "a mask": _Masked, "torch's own": nn.Embedding, "the library's": _library},
        wrong(_Embedding, {
            "no parameter": {"nn.Parameter(torch.randn(vocab_size, d_model))": "torch.randn(vocab_size, d_model)"},
            "from 0 to 1": {"randn": "rand"},
            "all zeros": {"randn": "zeros"},
            "0 taken for no": {"if padding_idx is not None": "if padding_idx"},
            "padding learns": {"self.weight, self.padding_idx": "self.weight"},
            "padding not zero": {"self.weight[padding_idx] = 0": "pass"},
            "no gradient at all": {"ids, self.weight,": "ids, self.weight.detach(),"},
            "row 0 is always padding": {"self.weight[padding_idx] = 0": "self.weight[0] = 0"},
            "gives nothing back": {"return F": "F"},
        }),
    ),
}  # fmt: skip
