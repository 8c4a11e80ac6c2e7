"""Texts in batches: each once, longest first, hardly any padding, and all threads at work."""

from hypothesis import given
from hypothesis import strategies as st

from encoder_lib.pretrained.batching import bucket_by_length


@given(st.lists(st.integers(0, 256), max_size=80), st.integers(1, 2000))
def test_packing(lengths, batch_tokens):
    """Every text once, longest first, within the limit, with at most a quarter of padding."""
    batches = bucket_by_length(lengths, batch_tokens)
    packed = [i for batch in batches for i in batch]
    assert sorted(packed) == list(range(len(lengths)))
    assert [lengths[i] for i in packed] == sorted(lengths, reverse=True)
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
        assert sum(lengths[i] for i in batch) >= 0.75 * len(batch) * longest
