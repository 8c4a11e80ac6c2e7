"""Letters: the text is prose, only gaps are filled, and counting predicts what was found there most often."""

from collections import Counter

import pytest
import torch

from encoder_lib.course.training.letters import GAP, LETTERS, by_counts, fill, manual, to_ids, to_text


def test_texts_become_lowercase_letters_and_spaces():
    ids = to_ids("It's _ gap")
    assert to_text(ids) == "it s _ gap" and ids[5] == GAP and to_ids(LETTERS).tolist() == list(range(27))
    assert to_ids("").shape == (0,)


def test_the_manual_is_prose_and_a_tenth_of_it_is_held_out():
    text, held_out = manual()
    assert len(text) > 180_000 and 0.06 < len(held_out) / len(text) < 0.16
    assert set(text.tolist()) == set(range(27)) and "  " not in to_text(text)
    words = Counter(to_text(text).split())
    assert next(word for word, _ in words.most_common(1)) == "the" and words["function"] > 100
    pieces = to_text(text)
    assert not any(to_text(held_out)[start : start + 200] in pieces for start in range(0, len(held_out) - 200, 97))


class SameLetter(torch.nn.Module):
    """Answers with the same letter everywhere."""

    def forward(self, ids):
        return torch.nn.functional.one_hot(torch.full_like(ids, 5), 27).double()


def test_gaps_are_filled_in_uppercase_and_all_else_stays():
    assert fill(SameLetter(), "th_ f_nction") == "thE fEnction"
    assert fill(SameLetter(), "No gap.") == "no gap "


def answers(text, gapped, left, right):
    """The letters at the gaps of a text, by counting in another one."""
    ids = to_ids(gapped)
    return to_text(by_counts(to_ids(text), ids[None], left, right)[0][ids == GAP])


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ((0, 0), "a"),  # the most common letter
        ((1, 0), "c"),  # after b
        ((0, 1), "a"),  # before d
        ((1, 1), "x"),  # between b and d
    ],
)
def test_counting_takes_the_most_frequent_letter(sides, expected):
    assert answers("aaaadadbcbcbcbxd", "b_d", *sides) == expected


def test_fewer_neighbours_count_where_the_text_never_has_all_of_them():
    assert answers("abcabcabcxz", "zb_az", 2, 2) == "c"  # only b and a are known
    assert answers("abcabcabc", "_bc", 3, 3) == "a"  # no neighbour on the left
    assert answers("abcabcabc", "__c", 1, 1) == "ab"  # a gap is not a neighbour
    assert answers("abcabcabcbb", "_", 3, 3) == "b"


@pytest.mark.parametrize(("left", "right"), [(2, 1), (1, 2), (2, 2)])
def test_counting_does_what_a_dictionary_of_counters_does(left, right):
    torch.manual_seed(0)
    text = torch.randint(4, (3000,))
    ids = torch.randint(4, (5, 30))
    seen = {}
    for i in range(left, len(text) - right):
        key = (*text[i - left : i].tolist(), *text[i + 1 : i + right + 1].tolist())
        seen.setdefault(key, Counter())[text[i].item()] += 1
    found = by_counts(text, ids, left, right)
    for row, answer in zip(ids.tolist(), found.tolist(), strict=True):
        for i in range(left, len(row) - right):
            counter = seen[(*row[i - left : i], *row[i + 1 : i + right + 1])]
            assert counter[answer[i]] == max(counter.values())
