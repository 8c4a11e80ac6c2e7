"""Bad input to the model: each mistake raises the right exception, and its message says what was expected and came."""

import numpy as np
import pytest
from bad_values import cases, check_refusal
from tables_model import CASES, ENTRIES

AS_NUMPY = {int: np.int32, float: np.float32}


@pytest.mark.parametrize("entry", ENTRIES, ids=repr)
def test_the_arguments_that_are_right_are_taken(entry):
    """Without this, a wrong value could be refused for another's sake. Numpy's numbers are as good as Python's."""
    good = entry.good()
    entry.function(**good)
    entry.function(**{name: AS_NUMPY.get(type(value), lambda x: x)(value) for name, value in good.items()})


@pytest.mark.parametrize(("entry", "name", "wrong"), cases(ENTRIES))
def test_a_wrong_value_is_refused_in_words(entry, name, wrong):
    """The exception names the parameter, what was expected and what came; torch would take many, and compute on."""
    check_refusal(entry, name, wrong)


@pytest.mark.parametrize(("call", "exception", "words"), CASES.values(), ids=CASES)
def test_a_mistake_that_is_told_in_other_words(call, exception, words):
    with pytest.raises(exception, match=words):
        call()
