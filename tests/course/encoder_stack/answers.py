"""What learners answer in 07_encoder_stack: right answers, and wrong ones by the mistake that each makes."""

import torch
from source_edits import folded, wrong
from torch import nn  # noqa: F401 (the notebook's answer wants it)

from encoder_lib import Encoder, EncoderLayer  # noqa: F401
from encoder_lib.course import checks

(_Stack,) = folded("07", __name__, "Stack")


def _reach(arrows, n_layers, step=lambda has, arrows: has[arrows[has]]):
    has = torch.arange(len(arrows))
    for _ in range(n_layers):
        has = step(has, arrows)
    return has


def _one_after_the_other(arrows, n_layers):
    has = torch.arange(len(arrows))
    for _ in range(n_layers):
        for card in range(len(arrows)):
            has[card] = has[arrows[has[card]]]  # of what others have taken in this very layer
    return has


ANSWERS = {
    checks.check_stack: (
        {"a loop": _Stack, "the library's": lambda *sizes: Encoder(*sizes[:-1], norm_first=sizes[-1])},
        wrong(_Stack, {
            "a plain list": {"nn.ModuleList(": "list("},
            "one layer, again and again": {
                "EncoderLayer(d_model, n_heads, d_ff, norm_first=norm_first)\n            for _ in range(n_layers)":
                    "n_layers * [EncoderLayer(d_model, n_heads, d_ff, norm_first=norm_first)]"},
            "each gets the input": {"x = layer(x, mask)": "y = layer(x, mask)", "self.norm(x)": "self.norm(y)"},
            "the mask is forgotten": {"layer(x, mask)": "layer(x)"},
            "always post-norm": {", norm_first=norm_first": ""},
            "no final norm": {"nn.LayerNorm(d_model) if norm_first else nn.Identity()": "nn.Identity()"},
            "always a final norm": {" if norm_first else nn.Identity()": ""},
            "the norm is not called": {"self.norm(x)": "x"},
            "each layer reads detached vectors": {"layer(x, mask)": "layer(x.detach(), mask)"},
            "only the last layer learns": {
                "x = layer(x, mask)": "y, x = x, layer(x, mask).detach()", "self.norm(x)": "self.norm(layer(y, mask))"},
            "without gradients": {"x = layer(x, mask)": "x = torch.no_grad()(layer)(x, mask)"},
            "back after one layer": {"        return self.norm(x)": "            return self.norm(x)"},
            "an error caught": {"x = layer(x, mask)": """
            try:
                x = layer(x, msk)
            except NameError:
                x = layer(x)"""},
            "the mask in place": {"        return": "        mask is None or mask.fill_(True)\n        return"},
        }),
    ),
    checks.check_reach: (
        {
            "by what they have": _reach,
            "a NumPy array": lambda arrows, n: _reach(arrows, n).numpy(),
            "arrow by arrow": lambda arrows, n: _reach(arrows, 2**n - 1, lambda has, arrows: arrows[has]),
        },
        {
            "an arrow a layer": lambda arrows, n: _reach(arrows, n, lambda has, arrows: arrows[has]),
            "without a look": lambda arrows, n: _reach(arrows, n, lambda has, arrows: has[has]),
            "two more a layer": lambda arrows, n: _reach(arrows, max(0, 2 * n - 1), lambda has, arrows: arrows[has]),
            "a layer too many": lambda arrows, n: _reach(arrows, n + 1),
            "one after the other": _one_after_the_other,
            "how many arrows": lambda arrows, n: 2**n - 1,
            "card 0 alone": lambda arrows, n: _reach(arrows, n)[0],
        },
    ),
}  # fmt: skip
