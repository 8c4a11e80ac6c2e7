"""What learners answer in 11_fast_encoder: right answers, and wrong ones by the mistake that each makes."""

import torch
from source_edits import folded, wrong
from torch.nn.utils.rnn import pad_sequence

from encoder_lib import lengths_mask
from encoder_lib.course import checks

_join, _packed = folded("11", __name__, "join", "packed")


def _measured(y, a, z, b):
    largest = a.maximum(b)
    f, g = (a - largest).exp(), (b - largest).exp()
    return (f * y + g * z) / (f + g)


def _blocks(layer, x, lengths):
    sizes = lengths.tolist()
    strip = torch.cat([text[:size] for text, size in zip(x, sizes, strict=True)])
    mask = torch.block_diag(*[torch.ones(size, size) for size in sizes]) == 1
    return pad_sequence(layer(strip[None], mask[None, None])[0].split(sizes), batch_first=True)


ANSWERS = {
    checks.check_join: (
        {
            "softmax over the workers": _join,
            "measured against the larger": _measured,
            "a NumPy array": lambda *given: _measured(*given).numpy(),
        },
        wrong(_measured, {
            "the plain mean": {"(f * y + g * z) / (f + g)": "(y + z) / 2"},
            "e to the log itself": {"a - largest": "a", "b - largest": "b"},
            "the logs as shares": {"(f * y + g * z) / (f + g)": "(a * y + b * z) / (a + b)"},
            "one measure for all queries": {"a.maximum(b)": "max(a.max(), b.max())"},
            "the first one as measure": {"a.maximum(b)": "a"},
            "the second one as measure": {"a.maximum(b)": "b"},
            "not divided": {" / (f + g)": ""},
            "shares over the queries": {"(f * y + g * z) / (f + g)": "a.softmax(dim=0) * y + b.softmax(dim=0) * z"},
            "the mean as measure": {"a.maximum(b)": "(a + b) / 2"},
            "half of a thousand as measure": {"a.maximum(b)": "500"},
            "in place": {"(f * y + g * z) / (f + g)": "y.mul_(f).add_(g * z) / (f + g)"},
            "the half with the larger total": lambda y, a, z, b: torch.where(a > b, y, z),
        }),
    ),
    checks.check_packed: (
        {"texts numbered": _packed, "blocks": _blocks},
        wrong(_packed, {
            "no mask": {", same[None, None]": ""},
            "the mask turned round": {"number[:, None] == number": "number[:, None] != number"},
            "texts before it, too": {"number[:, None] == number": "number[:, None] >= number"},
            "lengths in place of numbers": {"torch.arange(len(x)).repeat": "lengths.repeat"},
            "the token's place in its text": {"torch.arange(len(x)).repeat_interleave(lengths)":
                                              "torch.arange(x.shape[1]).repeat(len(x), 1)[real]"},
            "the packed sequence as it comes": {"return y": "return y[real]"},
            "padding kept": {"torch.zeros_like(x)": "x.clone()"},
            "put back from the first place on": {"y[real] =": "y.view(-1, 4)[:len(number)] ="},
            "two calls": {"    y[real]": "    layer(x[real][None], same[None, None])\n    y[real]"},
            "the packed sequence detached": {"x[real][None]": "x[real][None].detach()"},
            "without gradients": {"    y[real] =": "    with torch.no_grad():\n        y[real] ="},
            "lengths changed": {"    return y": "    lengths.zero_()\n    return y"},
            "an error caught": {"    y[real]": """    try:
        layer(x, lengths_mask(lengths))
    except Exception:
        pass
    y[real]"""},
            "the rectangle": lambda layer, x, lengths: layer(x, lengths_mask(lengths)),
            "text by text": lambda layer, x, lengths: pad_sequence(
                [layer(text[None, :size])[0] for text, size in zip(x, lengths, strict=True)], batch_first=True),
        }),
    ),
}  # fmt: skip
