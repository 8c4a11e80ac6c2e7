"""What learners answer in 09_pretrained: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F

from encoder_lib import checks


def _pool(x, real):
    return F.normalize((x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True), dim=-1)


def _pool_by_loop(x, real):
    return F.normalize(torch.stack([a[r].mean(dim=0) for a, r in zip(x, real, strict=True)]), dim=-1)


ANSWERS = {
    checks.check_pool: (
        {"masked mean": _pool, "loop": _pool_by_loop},
        {
            "padding counted in": lambda x, real: F.normalize(x.mean(dim=1), dim=-1),
            "first token": lambda x, real: F.normalize(x[:, 0], dim=-1),
            "not brought to length 1": lambda x, real: (x * real[..., None]).sum(1) / real.sum(1, keepdim=True),
            "padding alone": lambda x, real: _pool(x, ~real),
            "largest": lambda x, real: F.normalize(x.masked_fill(~real[..., None], -1e9).amax(dim=1), dim=-1),
            "over the batch": lambda x, real: F.normalize((x * real[..., None]).mean(dim=0), dim=-1),
            "each token at length 1 first": lambda x, real: _pool(F.normalize(x, dim=-1), real),
            "last token": lambda x, real: F.normalize(x[:, -1], dim=-1),
            "length over the batch": lambda x, real: F.normalize((x * real[..., None]).sum(1), dim=0),
        },
    ),
    checks.check_search: (
        {
            "topk": lambda query, vectors, k: (vectors @ query).topk(k).indices,
            "argsort": lambda query, vectors, k: (vectors @ query).argsort(descending=True)[:k],
        },
        {
            "worst first": lambda query, vectors, k: (vectors @ query).argsort()[:k],
            "best last": lambda query, vectors, k: (vectors @ query).argsort()[-k:],
            "cosines": lambda query, vectors, k: (vectors @ query).topk(k).values,
            "only the best": lambda query, vectors, k: (vectors @ query).argmax(),
            "largest absolute": lambda query, vectors, k: (vectors @ query).abs().topk(k).indices,
            "the vectors": lambda query, vectors, k: vectors[(vectors @ query).topk(k).indices],
            "largest distance": lambda query, vectors, k: (vectors - query).norm(dim=-1).topk(k).indices,
            "the first k": lambda query, vectors, k: torch.arange(k),
            "one too few": lambda query, vectors, k: (vectors @ query).topk(k).indices[1:],
        },
    ),
    checks.check_looks_back: (
        {
            "diagonal": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).mean(-1),
            "by index": lambda w: w[..., torch.arange(1, w.shape[-1]), torch.arange(w.shape[-1] - 1)].mean(dim=-1),
        },
        {
            "the token after": lambda w: w.diagonal(1, dim1=-2, dim2=-1).mean(-1),
            "the token itself": lambda w: w.diagonal(dim1=-2, dim2=-1).mean(-1),
            "divided by T": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).sum(-1) / w.shape[-1],
            "sum": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).sum(-1),
            "the first two dimensions": lambda w: w.diagonal(-1).mean(-1),
            "largest": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).amax(-1),
            "everything before": lambda w: w.tril(-1).sum(-1).mean(-1),
            "averaged over heads": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).mean(-1).mean(1),
            "two tokens before": lambda w: w.diagonal(-2, dim1=-2, dim2=-1).mean(-1),
        },
    ),
}  # fmt: skip
