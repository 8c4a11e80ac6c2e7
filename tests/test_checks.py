"""Each check accepts right answers in more than one style and rejects what learners get wrong."""

import math

import pytest
import torch
import torch.nn.functional as F

from encoder_lib import checks, sinusoidal_table

# --- the answers: check -> two right ones, and wrong ones with the mistake that each makes ----------------------------


def _speed(d_model, base=10_000.0):
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def _angles(length, d_model, base=10_000.0):
    return torch.arange(length, dtype=torch.float64)[:, None] * _speed(d_model, base)


def _interleave(sin, cos):
    return torch.stack([sin, cos], dim=-1).flatten(-2)


def _table_by_loop(length, d_model, base):
    return torch.tensor(
        [
            [(math.cos if i % 2 else math.sin)(t / base ** (i // 2 * 2 / d_model)) for i in range(d_model)]
            for t in range(length)
        ],
        dtype=torch.float64,
    )


def _literal(length, d_model, base):
    i = torch.arange(d_model)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * base ** (-2 * i / d_model)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def _blocks(k, d_model, block):
    return torch.block_diag(*(torch.tensor(block(k * w), dtype=torch.float64) for w in _speed(d_model).tolist()))


def _turn(a):
    return [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]


def _mirror(a):
    return [[math.cos(a), math.sin(a)], [math.sin(a), -math.cos(a)]]


def _exchanged(a):
    return [[math.sin(a), math.cos(a)], [-math.cos(a), math.sin(a)]]


def _fill_shift(k, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, w in enumerate(_speed(d_model).tolist()):
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(_turn(k * w))
    return matrix


def _rotate(x, angle=None, sign=1):
    angle = _angles(*x.shape) if angle is None else angle
    a, b = x[:, 0::2], x[:, 1::2]
    return _interleave(a * angle.cos() - sign * b * angle.sin(), sign * a * angle.sin() + b * angle.cos())


def _rotate_complex(x):
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) * torch.exp(1j * _angles(*x.shape))
    return torch.view_as_real(turned).flatten(-2)


def _rotate_halves(x):
    angle, (a, b) = _angles(*x.shape), x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


def _rows(ids, vocab_size, padding_idx):
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


def _pool(x, real):
    return F.normalize((x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True), dim=-1)


def _pool_by_loop(x, real):
    return F.normalize(torch.stack([a[r].mean(dim=0) for a, r in zip(x, real, strict=True)]), dim=-1)


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
            "as many classes as ids seen": lambda table, ids: F.one_hot(ids).to(table.dtype) @ table,
            "transposed table": lambda table, ids: table.T[ids % table.shape[1]],
            "sorted ids": lambda table, ids: table[ids.sort().values],
            "each id once": lambda table, ids: table[ids.unique()],
            "scaled by id": lambda table, ids: table[ids] * ids[..., None],
            "the one-hot rows themselves": lambda table, ids: F.one_hot(ids, len(table)).to(table.dtype),
            "sum over the sequence": lambda table, ids: table[ids].sum(-2),
            "changes the table": _spoils_its_input,
        },
    ),
    checks.check_gets_gradient: (
        {"by index": _rows, "by set": _rows_by_set},
        {
            "padding counted in": lambda ids, v, p: _rows(ids, v, None),
            "every row": lambda ids, v, p: torch.ones(v, dtype=torch.bool),
            "counts": lambda ids, v, p: torch.bincount(ids.flatten(), minlength=v),
            "ids, not rows": lambda ids, v, p: ids.unique(),
            "inverted": lambda ids, v, p: ~_rows(ids, v, p),
            "id 0 is always padding": lambda ids, v, p: _rows(ids, v, 0),
            "rows up to the largest id": lambda ids, v, p: _rows(ids, int(ids.max()) + 1, None),
            "only the first sentence": lambda ids, v, p: _rows(ids[:1], v, p),
            "crashes without padding": lambda ids, v, p: _rows(ids, v, p + 0),
        },
    ),
    checks.check_most_similar: (
        {"cosine": _nearest, "loop": _nearest_by_loop},
        {
            "itself": lambda table, word: _cosine(table, word).argmax(),
            "dot product": lambda table, word: (table @ table[word]).index_fill(0, torch.tensor(word), -1e9).argmax(),
            "least similar": lambda table, word: _cosine(table, word).argmin(),
            "smallest distance": lambda table, word: (
                (table - table[word]).norm(dim=-1).index_fill(0, torch.tensor(word), 1e9).argmin()
            ),
            "the cosine, not its place": lambda table, word: _cosine(table, word).sort().values[-2],
            "largest absolute cosine": lambda table, word: (
                _cosine(table, word).abs().index_fill(0, torch.tensor(word), -1).argmax()
            ),
            "counted without the word": lambda table, word: (
                torch.cat([_cosine(table, word)[:word], _cosine(table, word)[word + 1 :]]).argmax()
            ),
            "always the next word": lambda table, word: (word + 1) % len(table),
        },
    ),
    checks.check_sinusoidal_table: (
        {"angles": lambda n, d, base: _interleave(_angles(n, d, base).sin(), _angles(n, d, base).cos()),
         "loop": _table_by_loop},
        {
            "column number in place of pair number": _literal,
            "sines first, then cosines": lambda n, d, b: torch.cat([_angles(n, d, b).sin(), _angles(n, d, b).cos()], 1),
            "cosines in the even columns": lambda n, d, b: _interleave(_angles(n, d, b).cos(), _angles(n, d, b).sin()),
            "positions from 1": lambda n, d, b: _table_by_loop(n + 1, d, b)[1:],
            "base fixed at 10,000": lambda n, d, b: _table_by_loop(n, d, 10_000),
            "exponent without the minus": lambda n, d, b: _table_by_loop(n, d, 1 / b),
            "exponent k/D in place of 2k/D": lambda n, d, b: _table_by_loop(n, d, math.sqrt(b)),
            "degrees": lambda n, d, b: _interleave(_angles(n, d, b).deg2rad().sin(), _angles(n, d, b).deg2rad().cos()),
            "all sines": lambda n, d, b: _interleave(_angles(n, d, b).sin(), _angles(n, d, b).sin()),
            "transposed": lambda n, d, b: _table_by_loop(n, d, b).T,
            "a list": lambda n, d, b: _table_by_loop(n, d, b).tolist(),
        },
    ),
    checks.check_shift_matrix: (
        {"blocks": lambda k, d: _blocks(k, d, _turn), "filled": _fill_shift},
        {
            "turned the wrong way": lambda k, d: _blocks(k, d, _turn).T,
            "one speed for all clocks": lambda k, d: torch.block_diag(*[torch.tensor(_turn(float(k)))] * (d // 2)),
            "only the first clock": lambda k, d: torch.block_diag(torch.tensor(_turn(float(k))), torch.eye(d - 2)),
            "no shift": lambda k, d: torch.eye(d),
            "a reflection": lambda k, d: _blocks(k, d, _mirror),
            "one step in place of k": lambda k, d: _blocks(1, d, _turn),
            "row k of the table": lambda k, d: sinusoidal_table(k + 1, d, dtype=torch.float64)[k],
            "sines and cosines exchanged": lambda k, d: _blocks(k, d, _exchanged),
        },
    ),
    checks.check_rotate: (
        {"pairs": _rotate, "complex numbers": _rotate_complex},
        {
            "the other way round": lambda x: _rotate(x, sign=-1),
            "halves in place of pairs": _rotate_halves,
            "positions from 1": lambda x: _rotate(x, _angles(len(x) + 1, x.shape[1])[1:]),
            "position forgotten": lambda x: _rotate(x, _speed(x.shape[1])),
            "one speed": lambda x: _rotate(x, torch.arange(len(x))[:, None].double()),
            "added, not turned": lambda x: x + sinusoidal_table(*x.shape),
            "nothing": lambda x: x,
            "second number not turned": lambda x: _interleave(_rotate(x)[:, 0::2], x[:, 1::2]),
            "pairs left apart": lambda x: torch.cat([_rotate(x)[:, 0::2], _rotate(x)[:, 1::2]], dim=-1),
        },
    ),
    checks.check_mean_vector: (
        {"mean": lambda x: x.mean(dim=0), "by hand": lambda x: sum(x) / len(x)},
        {
            "over the numbers": lambda x: x.mean(dim=1),
            "over everything": lambda x: x.mean(),
            "sum": lambda x: x.sum(dim=0),
            "largest": lambda x: x.max(dim=0).values,
            "first token": lambda x: x[0],
            "last token": lambda x: x[-1],
            "median": lambda x: x.median(dim=0).values,
            "dimension kept": lambda x: x.mean(dim=0, keepdim=True),
            "divided by T − 1": lambda x: x.sum(dim=0) / (len(x) - 1),
        },
    ),
    checks.check_unit: (
        {"norm": lambda x: x / x.norm(dim=-1, keepdim=True), "normalize": lambda x: F.normalize(x, dim=-1)},
        {
            "over the vectors": lambda x: x / x.norm(dim=0),
            "one length for all": lambda x: x / x.norm(),
            "sum 1": lambda x: x / x.sum(dim=-1, keepdim=True),
            "squared length": lambda x: x / x.square().sum(dim=-1, keepdim=True),
            "absolute sum 1": lambda x: x / x.abs().sum(dim=-1, keepdim=True),
            "dimension not kept": lambda x: x / x.norm(dim=-1),
            "softmax": lambda x: x.softmax(dim=-1),
            "largest number 1": lambda x: x / x.abs().amax(dim=-1, keepdim=True),
            "in place": lambda x: x.div_(x.norm(dim=-1, keepdim=True)),
            "unchanged": lambda x: x,
        },
    ),
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

RIGHT = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (right, _) in ANSWERS.items() for n, f in right.items()]
WRONG = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (_, wrong) in ANSWERS.items() for n, f in wrong.items()]
CHECKS = [pytest.param(c, id=c.__name__) for c in ANSWERS]


def test_every_check_is_tried_here_with_enough_mistakes():
    assert {name for name in dir(checks) if name.startswith("check_")} == {check.__name__ for check in ANSWERS}
    assert all(len(right) >= 2 and len(wrong) >= 8 for right, wrong in ANSWERS.values())


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_is_accepted(check, answer):
    verdict = check(answer)
    assert verdict.correct, verdict
    assert len(verdict.passed) >= 5 and not verdict.hint


@pytest.mark.parametrize(("check", "answer"), WRONG)
def test_a_wrong_answer_is_rejected_with_an_example_and_a_hint(check, answer):
    verdict = check(answer)
    assert not verdict.correct
    assert verdict.problem and verdict.hint


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_right_answers_pass_whatever_the_default_dtype(check, dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert all(check(answer).correct for answer in ANSWERS[check][0].values())
    finally:
        torch.set_default_dtype(before)


def _fails(*_):
    raise RuntimeError("<b>no</b>")


def _leaves(*_):
    raise SystemExit("bye")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "attempt",
    [
        _fails, _leaves, lambda: 1, lambda *_: "text", lambda *_: object(), lambda *_: torch.tensor(float("nan")),
        lambda *_: torch.empty(0),
        lambda *_: torch.ones(1, dtype=torch.complex64), lambda *_: torch.ones(1, device="meta"),
        lambda *_: [], 3, "look_up",
    ],
)  # fmt: skip
def test_nothing_that_an_attempt_does_makes_a_check_raise(check, attempt):
    verdict = check(attempt)
    assert not verdict.correct and verdict.problem


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("attempt", [lambda *_: ..., lambda *_: None])
def test_a_placeholder_is_not_a_mistake(check, attempt):
    verdict = check(attempt)
    assert not verdict.correct and "nothing yet" in verdict.problem and not verdict.hint


def test_hints_grow_stronger_and_start_over_after_success():
    checks._tries.clear()
    wrong, right = lambda table, ids: table[:1], lambda table, ids: table[ids]
    first, second, third, fourth = (checks.check_look_up(wrong).hint for _ in range(4))
    assert len({first, second, third}) == 3 and fourth == third
    assert checks.check_look_up(right).correct
    assert checks.check_look_up(wrong).hint == first


def test_a_verdict_shows_the_smallest_input_with_expected_and_got():
    text = repr(checks.check_look_up(lambda table, ids: table[: len(ids)]))
    assert "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1]" in text
    assert "expected [[3.0, 4.0]]" in text and "got      [[1.0, 2.0]]" in text


def test_a_verdict_is_escaped_text_for_screen_readers():
    html = checks.check_look_up(_fails)._repr_html_()
    assert html.startswith('<div role="status"') and "&lt;b&gt;no&lt;/b&gt;" in html and "<b>" not in html


def test_keyboard_interrupts_pass_through():
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checks.check_look_up(interrupted)


def test_a_branch_without_return_is_a_mistake():
    verdict = checks.check_gets_gradient(lambda ids, v, p: _rows(ids, v, p) if p is None else None)
    assert len(verdict.passed) == 3 and "returns nothing; is a `return` missing" in verdict.problem and verdict.hint


def test_an_answer_in_float32_is_right_too():
    def in_float32(length, d_model, base):
        speed = base ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
        angles = torch.arange(length, dtype=torch.float32)[:, None] * speed
        return _interleave(angles.sin(), angles.cos())

    assert checks.check_sinusoidal_table(in_float32).correct


def test_a_large_result_is_shown_where_it_differs_most():
    problem = checks.check_sinusoidal_table(lambda n, d, base: _table_by_loop(n, d, base) + (n > 100)).problem
    assert "at (" in problem and "expected" in problem and "got" in problem
