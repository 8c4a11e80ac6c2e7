"""What learners answer in 06_encoder_block: right answers, and wrong ones by the mistake that each makes."""

from torch import nn

from encoder_lib import EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention, checks


def _post(x, attention, feed_forward, norm1, norm2):
    y = norm1(x + attention(x))
    return norm2(y + feed_forward(y))


def _post_by_loop(x, attention, feed_forward, norm1, norm2):
    for branch, norm in ((attention, norm1), (feed_forward, norm2)):
        x = norm(branch(x) + x)
    return x


def _pre(x, attention, feed_forward, norm1, norm2):
    y = x + attention(norm1(x))
    return y + feed_forward(norm2(y))


def _pre_by_loop(x, attention, feed_forward, norm1, norm2):
    for branch, norm in ((attention, norm1), (feed_forward, norm2)):
        x = branch(norm(x)) + x
    return x


def _in_place(x, a, f, n1, n2):
    x += a(x)
    x = n1(x)
    return n2(x + f(x))


def _then(value, function):
    return function(value)


WRONG_BLOCKS = {
    "no residual": lambda x, a, f, n1, n2: n2(f(n1(a(x)))),
    "no first residual": lambda x, a, f, n1, n2: _then(n1(a(x)), lambda y: n2(y + f(y))),
    "no second residual": lambda x, a, f, n1, n2: n2(f(n1(x + a(x)))),
    "the input in the second half": lambda x, a, f, n1, n2: _then(n1(x + a(x)), lambda y: n2(x + f(y))),
    "the attention as residual": lambda x, a, f, n1, n2: _then(a(x), lambda y: n2(n1(x + y) + f(y))),
    "norms exchanged": lambda x, a, f, n1, n2: _post(x, a, f, n2, n1),
    "the first norm twice": lambda x, a, f, n1, n2: _post(x, a, f, n1, n1),
    "the second norm twice": lambda x, a, f, n1, n2: _post(x, a, f, n2, n2),
    "feed-forward before attention": lambda x, a, f, n1, n2: _post(x, f, a, n1, n2),
    "feed-forward reads the sum": lambda x, a, f, n1, n2: _then(x + a(x), lambda s: n2(n1(s) + f(s))),
    "feed-forward reads the input": lambda x, a, f, n1, n2: n2(n1(x + a(x)) + f(x)),
    "attention skipped": lambda x, a, f, n1, n2: _then(n1(x), lambda y: n2(y + f(y))),
    "feed-forward skipped": lambda x, a, f, n1, n2: n2(n1(x + a(x))),
    "norm before adding": lambda x, a, f, n1, n2: _then(x + n1(a(x)), lambda y: y + n2(f(y))),
    "double residual": lambda x, a, f, n1, n2: _then(n1(x + a(x)), lambda y: n2(x + y + f(y))),
    "residual added twice": lambda x, a, f, n1, n2: _then(n1(x + x + a(x)), lambda y: n2(y + y + f(y))),
    "no norms": lambda x, a, f, n1, n2: _then(x + a(x), lambda y: y + f(y)),
    "first norm left out": lambda x, a, f, n1, n2: _then(x + a(x), lambda y: n2(y + f(y))),
    "second norm left out": lambda x, a, f, n1, n2: _then(n1(x + a(x)), lambda y: y + f(y)),
    "in place": _in_place,
    "three inputs": lambda x, a, f, n1, n2: n1(x + a(x, x, x)),
    "only the first half": lambda x, a, f, n1, n2: n1(x + a(x)),
}

WRONG_PRE_NORM = {
    "as it was": lambda x, a, f, n1, n2: _then(n1(x), lambda y: _then(y + a(y), lambda z: z + f(n1(z)))),
    "residual of the normalised": lambda x, a, f, n1, n2: _then(
        n1(x), lambda y: _then(y + a(y), lambda z: z + f(n2(z)))
    ),
    "residual of the normalised, later": lambda x, a, f, n1, n2: _then(n2(x + a(n1(x))), lambda y: y + f(y)),
    "the first norm twice": lambda x, a, f, n1, n2: _pre(x, a, f, n1, n1),
    "norms exchanged": lambda x, a, f, n1, n2: _pre(x, a, f, n2, n1),
    "post-norm": _post,
    "the input in the second half": lambda x, a, f, n1, n2: x + f(n2(x + a(n1(x)))),
    "no residual": lambda x, a, f, n1, n2: f(n2(a(n1(x)))),
    "the branch is normalised": lambda x, a, f, n1, n2: _then(x + n1(a(x)), lambda y: y + n2(f(y))),
    "feed-forward reads the stream": lambda x, a, f, n1, n2: _then(x + a(n1(x)), lambda y: y + f(y)),
    "feed-forward reads the first norm": lambda x, a, f, n1, n2: x + a(n1(x)) + f(n1(x)),
    "side by side": lambda x, a, f, n1, n2: x + a(n1(x)) + f(n2(x)),
    "a norm at the end": lambda x, a, f, n1, n2: n2(_pre(x, a, f, n1, n2)),
    "double residual": lambda x, a, f, n1, n2: x + _pre(x, a, f, n1, n2),
    "attention skipped": lambda x, a, f, n1, n2: x + f(n2(x)),
}


class _Block(nn.Module):
    """A layer as the course writes it; the wrong ones below change a line of it."""

    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    def attend(self, x, mask):
        return self.attention(x, x, x, mask)

    def post(self, x, mask):
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.feed_forward(x))

    def pre(self, x, mask):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.feed_forward(self.norm2(x))

    def forward(self, x, mask=None):
        return self.pre(x, mask) if self.norm_first else self.post(x, mask)


class _BlockOfTorchsNorms(_Block):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__(d_model, n_heads, d_ff, norm_first)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)


class _BlockInOneForward(_Block):
    def forward(self, x, mask=None):
        read = self.norm1(x) if self.norm_first else x
        x = x + self.attention(read, read, read, mask)
        x = x if self.norm_first else self.norm1(x)
        made = self.feed_forward(self.norm2(x) if self.norm_first else x)
        return x + made if self.norm_first else self.norm2(x + made)


def _block(**methods):
    """The block with some of its methods replaced."""
    return type("Block", (_Block,), methods)


def _block_with(change, like=_Block):
    """The block, changed after it was built: change(block, d_model, n_heads, d_ff)."""

    def build(d_model, n_heads, d_ff, norm_first=False):
        block = like(d_model, n_heads, d_ff, norm_first)
        change(block, d_model, n_heads, d_ff)
        return block

    return build


def _set(name, make):
    return _block_with(lambda block, d, h, f: setattr(block, name, make(d, h, f)))


def _keep_norms_in_a_list(block, d_model, *_):
    norms = [block.norm1, block.norm2]
    del block.norm1, block.norm2
    block.__dict__.update(norm1=norms[0], norm2=norms[1])


class _NeverInitialised(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        self.attention = MultiHeadAttention(d_model, n_heads)


class _PartsInForward(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.sizes = d_model, n_heads, d_ff, norm_first

    def forward(self, x, mask=None):
        return _Block(*self.sizes).double()(x, mask)


def _adds_in_place(self, x, mask):
    x += self.attend(x, mask)
    x = self.norm1(x)
    return self.norm2(x + self.feed_forward(x))


WRONG_BLOCK_CLASSES = {
    "no super().__init__()": _NeverInitialised,
    "parts made in forward": _PartsInForward,
    "parts that no module knows": _block_with(_keep_norms_in_a_list),
    "one norm for both": _block_with(lambda block, *_: setattr(block, "norm2", block.norm1)),
    "always four times as wide": _set("feed_forward", lambda d, h, f: FeedForward(d, 4 * d)),
    "GELU": _set("feed_forward", lambda d, h, f: FeedForward(d, f, activation="gelu")),
    "always one head": _set("attention", lambda d, h, f: MultiHeadAttention(d, 1)),
    "a part too many": _set("norm3", lambda d, h, f: LayerNorm(d)),
    "a tiny feed-forward": _set("feed_forward", lambda d, h, f: nn.Linear(d, d)),
    "the mask is forgotten": _block(attend=lambda self, x, mask: self.attention(x, x, x)),
    "attention of one tensor": _block(attend=lambda self, x, mask: self.attention(x)),
    "always post-norm": _block(pre=_Block.post),
    "always pre-norm": _block(post=_Block.pre),
    "the orders exchanged": _block(pre=_Block.post, post=_Block.pre),
    "no residual": _block(post=lambda self, x, mask: self.norm2(self.feed_forward(self.norm1(self.attend(x, mask))))),
    "only the first half": _block(post=lambda self, x, mask: self.norm1(x + self.attend(x, mask))),
    "the first norm twice": _block(post=lambda self, x, mask: _post(
        x, lambda y: self.attend(y, mask), self.feed_forward, self.norm1, self.norm1)),
    "the network reads the sum": _block(post=lambda self, x, mask: _then(
        x + self.attend(x, mask), lambda s: self.norm2(self.norm1(s) + self.feed_forward(s)))),
    "the input in the second half": _block(post=lambda self, x, mask: _then(
        self.norm1(x + self.attend(x, mask)), lambda y: self.norm2(x + self.feed_forward(y)))),
    "pre-norm adds the normalised": _block(pre=lambda self, x, mask: _then(
        self.norm1(x), lambda y: _then(y + self.attend(y, mask), lambda z: z + self.feed_forward(self.norm2(z))))),
    "pre-norm with the first norm twice": _block(pre=lambda self, x, mask: _then(
        x + self.attend(self.norm1(x), mask), lambda y: y + self.feed_forward(self.norm1(y)))),
    "the mask is forgotten in pre-norm": _block(pre=lambda self, x, mask: _Block.pre(self, x, None)),
    "a norm at the end": _block(pre=lambda self, x, mask: self.norm2(_Block.pre(self, x, mask))),
    "in place": _block(post=_adds_in_place),
    "forward gives nothing back for pre-norm": _block(pre=lambda self, x, mask: None),
    "a function": lambda d_model, n_heads, d_ff, norm_first: lambda x, mask=None: x,
    "the library's layer, always post-norm": lambda d, h, f, norm_first: EncoderLayer(d, h, f),
    "norm_first forgotten": lambda d_model, n_heads, d_ff: _Block(d_model, n_heads, d_ff),
}  # fmt: skip


def _count(d, h, f):
    return 4 * (d * d + d) + 2 * d * f + f + d + 4 * d


def _count_by_layers(d, h, f):
    def linear(rows, columns):
        return rows * columns + columns

    head = 3 * h * linear(d, d // h) + linear(d, d)
    return head + linear(d, f) + linear(f, d) + 2 * (d + d)


ANSWERS = {
    checks.check_block: (
        {
            "two lines": _post,
            "loop": _post_by_loop,
            "one line": lambda x, a, f, n1, n2: n2((y := n1(x + a(x))) + f(y)),
        },
        WRONG_BLOCKS | {"pre-norm": _pre},
    ),
    checks.check_pre_norm_block: (
        {
            "two lines": _pre,
            "loop": _pre_by_loop,
            "one line": lambda x, a, f, n1, n2: (y := x + a(n1(x))) + f(n2(y)),
        },
        WRONG_PRE_NORM,
    ),
    checks.check_encoder_layer: (
        {
            "two methods": _Block,
            "torch's norms": _BlockOfTorchsNorms,
            "one forward": _BlockInOneForward,
            "the library's": lambda d, h, f, norm_first: EncoderLayer(d, h, f, norm_first=norm_first),
        },
        WRONG_BLOCK_CLASSES,
    ),
    checks.check_count_parameters: (
        {"formula": _count, "layer by layer": _count_by_layers, "as a float": lambda d, h, f: float(_count(d, h, f))},
        {
            "heads multiply": lambda d, h, f: h * 4 * (d * d + d) + 2 * d * f + f + d + 4 * d,
            "heads multiply the projections": lambda d, h, f: _count(d, h, f) + 3 * (h - 1) * (d * d + d),
            "heads divide": lambda d, h, f: 4 * (d * d // h + d) + 2 * d * f + f + d + 4 * d,
            "biases forgotten": lambda d, h, f: 4 * d * d + 2 * d * f + 4 * d,
            "attention's biases forgotten": lambda d, h, f: _count(d, h, f) - 4 * d,
            "feed-forward's biases forgotten": lambda d, h, f: _count(d, h, f) - f - d,
            "norms forgotten": lambda d, h, f: _count(d, h, f) - 4 * d,
            "one norm": lambda d, h, f: _count(d, h, f) - 2 * d,
            "norms with a gain alone": lambda d, h, f: 4 * (d * d + d) + 2 * d * f + f + d + 2 * d,
            "three projections": lambda d, h, f: _count(d, h, f) - d * d - d,
            "one linear map in the network": lambda d, h, f: _count(d, h, f) - d * f - d,
            "both biases of width F": lambda d, h, f: _count(d, h, f) + f - d,
            "both biases of width D": lambda d, h, f: _count(d, h, f) - f + d,
            "a norm of one number": lambda d, h, f: _count(d, h, f) - 4 * d + 4,
            "F is four times D": lambda d, h, f: _count(d, h, 4 * d),
        },
    ),
}
