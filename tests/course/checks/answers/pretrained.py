"""What learners answer in 09_pretrained: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F

from encoder_lib.course import checks


def _pool(x, real):
    return F.normalize((x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True), dim=-1)


def _pool_by_loop(x, real):
    return F.normalize(torch.stack([a[r].mean(dim=0) for a, r in zip(x, real, strict=True)]), dim=-1)


def _choose_floor(answered, unanswered):
    floors = torch.cat([answered, unanswered, torch.tensor([2.0])])
    wrong = [(answered < floor).sum() + (unanswered >= floor).sum() for floor in floors]
    return floors[torch.stack(wrong).argmin()]


def _translate(theirs):
    query, key, value = theirs["in_proj_weight"].chunk(3)
    query_bias, key_bias, value_bias = theirs["in_proj_bias"].chunk(3)
    return {
        "q_proj.weight": query, "q_proj.bias": query_bias,
        "k_proj.weight": key, "k_proj.bias": key_bias,
        "v_proj.weight": value, "v_proj.bias": value_bias,
        "out_proj.weight": theirs["out_proj.weight"], "out_proj.bias": theirs["out_proj.bias"],
    }  # fmt: skip


def _translate_by_loop(theirs):
    width = theirs["out_proj.bias"].shape[0]
    ours = {name: tensor for name, tensor in theirs.items() if name.startswith("out_proj")}
    for i, letter in enumerate("qkv"):
        rows = slice(i * width, (i + 1) * width)
        ours[f"{letter}_proj.weight"] = theirs["in_proj_weight"][rows]
        ours[f"{letter}_proj.bias"] = theirs["in_proj_bias"][rows]
    return ours


def _translated(change):
    """The right answer, with a change."""

    def answer(theirs):
        ours = _translate(theirs)
        return ours | change(ours, theirs)

    return answer


def _exchanged(one, other):
    return _translated(lambda ours, _: {one: ours[other], other: ours[one]})


ANSWERS = {
    checks.check_translate: (
        {"chunk": _translate, "loop": _translate_by_loop},
        {
            "their names": lambda theirs: theirs,
            "keys and queries exchanged": _exchanged("q_proj.weight", "k_proj.weight"),
            "keys and values exchanged": _exchanged("k_proj.weight", "v_proj.weight"),
            "biases exchanged": _exchanged("q_proj.bias", "v_proj.bias"),
            "columns for rows": _translated(lambda ours, _: {"q_proj.weight": ours["q_proj.weight"].T}),
            "the output map turned": _translated(lambda ours, _: {"out_proj.weight": ours["out_proj.weight"].T}),
            "renames in place": lambda theirs: _translate(theirs | {"out_proj.bias": theirs.pop("out_proj.bias")}),
            "theirs besides": lambda theirs: theirs | _translate(theirs),
            "width fixed at two": _translated(
                lambda _, theirs: {
                    f"{x}_proj.weight": theirs["in_proj_weight"][2 * i : 2 * i + 2] for i, x in enumerate("qkv")
                }
            ),
        },
    ),
    checks.check_pool: (
        {"masked mean": _pool, "loop": _pool_by_loop},
        {
            "padding counted in": lambda x, real: F.normalize(x.mean(dim=1), dim=-1),
            "not brought to length 1": lambda x, real: (x * real[..., None]).sum(1) / real.sum(1, keepdim=True),
            "over the batch": lambda x, real: F.normalize((x * real[..., None]).mean(dim=0), dim=-1),
            "each token at length 1 first": lambda x, real: _pool(F.normalize(x, dim=-1), real),
            "one mean for all": lambda x, real: F.normalize(x[real].mean(dim=0), dim=-1).expand(len(x), -1),
        },
    ),
    checks.check_choose_floor: (
        {
            "every cosine tried": _choose_floor,
            "in between": lambda a, u: _choose_floor(a, u).item() - 1e-6,
        },
        {
            "the smallest answered": lambda a, u: a.min(),
            "above all unanswered": lambda a, u: u.max() + 1e-6,
            "the mean": lambda a, u: (a.mean() + u.mean()) / 2,
            "one half": lambda a, u: 0.5,
            "always something": lambda a, u: -1.0,
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
            "sum": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).sum(-1),
            "the first two dimensions": lambda w: w.diagonal(-1).mean(-1),
            "largest": lambda w: w.diagonal(-1, dim1=-2, dim2=-1).amax(-1),
        },
    ),
}  # fmt: skip
