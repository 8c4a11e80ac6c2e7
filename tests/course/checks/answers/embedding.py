"""What learners answer in 01_embedding: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from edits import wrong

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


def _train(model, inputs, targets, steps, lr):
    optimiser = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    return losses


def _train_by_hand(model, inputs, targets, steps, lr):
    losses = []
    for _ in range(steps):
        model.zero_grad()
        losses.append(F.cross_entropy(model(inputs), targets))
        losses[-1].backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= lr * parameter.grad
    return losses


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
    checks.check_training_loop: (
        {"the loop": _train, "by hand": _train_by_hand},
        wrong(_train, {
            "never clears the gradients": {"        optimiser.zero_grad()\n": ""},
            "clears them before the step": {"loss.backward()\n": "loss.backward()\n        optimiser.zero_grad()\n",
                                            "step()\n        optimiser.zero_grad()": "step()"},
            "Adam": {"SGD": "Adam"},
            "a step too few": {"range(steps)": "range(steps - 1)"},
            "gives nothing back": {"    return losses": ""},
        }),
    ),
}  # fmt: skip
