"""What learners answer in 06_encoder_block: right answers, and wrong ones by the mistake that each makes."""

from encoder_lib import checks


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
