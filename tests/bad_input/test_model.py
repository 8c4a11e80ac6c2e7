"""Bad input: each mistake raises the right exception, and its message says what was expected and what came."""

import numpy as np
import pytest
import torch
from tables_model import (
    CASES,
    CHOICES,
    COUNTS,
    FLAGS,
    FUNCTIONS,
    MODULES_OF_IDS,
    MODULES_OF_VECTORS,
    NO_CHOICES,
    NO_COUNTS,
    NO_FLAGS,
    NO_IDS,
    NO_LAYER_MASKS,
    NO_MASKS,
    NO_SIZES,
    NO_VECTORS,
    NUMBERS,
    OF_ANOTHER_DTYPE,
    OPTIONAL_COUNTS,
    OPTIONAL_FLAGS,
    SIZES,
    SQUARE,
    D,
    T,
    X,
    heads,
    mask_takers,
    ones,
    table_of,
)

from encoder_lib import (
    LayerNorm,
    attention_scores,
    causal_mask,
    sinusoidal_table,
)


@pytest.mark.parametrize(("call", "name", "value"), table_of(SIZES, NO_SIZES))
def test_sizes(call, name, value):
    """A size is an integer of at least 1: numbers below get ValueError, everything else TypeError."""
    wrong_number = type(value) is int
    with pytest.raises(ValueError if wrong_number else TypeError) as error:
        call(value)
    assert f"{name}: expected an integer" in str(error.value) and f"got {value!r}" in str(error.value)
    assert "at least 1" in str(error.value) or not wrong_number


@pytest.mark.parametrize(
    ("call", "name", "value"), table_of(COUNTS, [*NO_COUNTS, None]) + table_of(OPTIONAL_COUNTS, NO_COUNTS)
)
def test_counts(call, name, value):
    """A length, a start or an id is an integer of at least 0."""
    wrong_number = type(value) is int
    with pytest.raises(ValueError if wrong_number else TypeError) as error:
        call(value)
    assert f"{name}: expected an integer" in str(error.value)
    assert "at least 0, got" in str(error.value) or not wrong_number


@pytest.mark.parametrize("call", [call for name in SIZES for call in SIZES[name]])
def test_numpy_integers_are_sizes(call):
    """A size that numpy counted is as good as Python's own."""
    call(np.int64(8))
    call(np.int32(8))


@pytest.mark.parametrize(
    ("call", "name", "value"),
    [
        pytest.param(call, name, value, id=f"{name}-{i}-{str(value)[:20]}")
        for name, calls, values in NUMBERS
        for i, call in enumerate(calls)
        for value in values
    ],
)
def test_numbers(call, name, value):
    """Dropout from 0 to 1, eps from 0 on, base above 0, scale finite; what is no number gets TypeError."""
    with pytest.raises(ValueError if type(value) in (int, float) else TypeError) as error:
        call(value)
    assert f"{name}: expected a" in str(error.value) and "got " in str(error.value)


@pytest.mark.parametrize(
    ("call", "name", "value"), table_of(FLAGS, [*NO_FLAGS, None]) + table_of(OPTIONAL_FLAGS, NO_FLAGS)
)
def test_flags(call, name, value):
    """A flag is True or False, and no word or number that merely counts as one."""
    with pytest.raises(TypeError, match=f"{name}: expected True or False, got"):
        call(value)


@pytest.mark.parametrize(("call", "name", "value"), table_of(CHOICES, NO_CHOICES))
def test_choices(call, name, value):
    """Anything but one of the names is answered with the names."""
    with pytest.raises(ValueError, match=f"{name}: expected one of '.*', got ") as error:
        call(value)
    assert ("'gelu'" if name == "activation" else "'none'") in str(error.value)


@pytest.mark.parametrize("module", MODULES_OF_VECTORS.values(), ids=MODULES_OF_VECTORS)
@pytest.mark.parametrize(("x", "exception", "words"), NO_VECTORS.values(), ids=NO_VECTORS)
def test_vectors(module, x, exception, words):
    """Each module that takes vectors (B, T, D) names what it got in their place."""
    with pytest.raises(exception) as error:
        module(x)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("module", OF_ANOTHER_DTYPE.values(), ids=OF_ANOTHER_DTYPE)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_another_dtype(module, dtype):
    """Vectors in another dtype than the weights' are refused, with the way out."""
    with pytest.raises(TypeError, match=r"expected torch.float32 like the weights, got torch\.\w+; try \.to\("):
        module(X.to(dtype))


@pytest.mark.parametrize("module", MODULES_OF_IDS.values(), ids=MODULES_OF_IDS)
@pytest.mark.parametrize(("ids", "exception", "words"), NO_IDS.values(), ids=NO_IDS)
def test_ids(module, ids, exception, words):
    """Each module that takes ids names what it got in their place."""
    with pytest.raises(exception) as error:
        module(ids)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("call", [*mask_takers().values(), *FUNCTIONS.values()], ids=[*mask_takers(), *FUNCTIONS])
@pytest.mark.parametrize(("mask", "exception", "words"), NO_MASKS.values(), ids=NO_MASKS)
def test_masks(call, mask, exception, words):
    """Masks are boolean and broadcast to the scores; torch would take most of these, and compute something else."""
    with pytest.raises(exception) as error:
        call(mask)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("call", mask_takers().values(), ids=mask_takers())
@pytest.mark.parametrize(("mask", "exception", "words"), NO_LAYER_MASKS.values(), ids=NO_LAYER_MASKS)
def test_layer_masks(call, mask, exception, words):
    """A layer takes (query, key) or all four dimensions, and nothing that it would have to guess at."""
    with pytest.raises(exception) as error:
        call(mask)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("call", mask_takers(square=True).values(), ids=mask_takers(square=True))
@pytest.mark.parametrize("mask", [causal_mask(T), ones(T, T), ones(T, 1)], ids=["causal", "padding", "column"])
def test_ambiguous_masks(call, mask):
    """With B = T, two dimensions could be (query, key) or (B, T)."""
    with pytest.raises(
        ValueError, match=r"ambiguous with 3 sequences and 3 queries.*try mask\[None, None\].*mask\[:, None, None, :\]"
    ):
        call(mask)


def test_ambiguous_mask_in_cross_attention():
    """As many queries as sequences, and keys of another length: a (B, key) padding mask would pass as (query, key)."""
    with pytest.raises(ValueError, match="ambiguous"):
        heads(SQUARE, torch.zeros(T, 5, D), torch.zeros(T, 5, D), ones(T, 5))


@pytest.mark.parametrize(("call", "exception", "words"), CASES.values(), ids=CASES)
def test_everything_else(call, exception, words):
    """Each mistake on its own."""
    with pytest.raises(exception) as error:
        call()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_numpy_numbers_are_numbers():
    """Floats that numpy counted are as good as Python's own."""
    for kind in (np.float32, np.float64, np.int64):
        assert torch.equal(sinusoidal_table(T, D, base=kind(100)), sinusoidal_table(T, D, base=100))
        assert isinstance(LayerNorm(D, eps=kind(1))(X), torch.Tensor)
        assert isinstance(attention_scores(X, X, scale=kind(2)), torch.Tensor)
        assert torch.isfinite(heads(dropout=kind(0))).all()
