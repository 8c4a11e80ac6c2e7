"""Bad input by the tables: each mistake raises the right exception, which says what was expected and what it got."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import tables_explorers
import tables_model
import tables_tools
from bad_values import cases, check_refusal

AS_NUMPY = {int: np.int32, float: np.float32}
ENTRIES = [*tables_model.ENTRIES, *tables_tools.ENTRIES, *tables_explorers.ENTRIES]


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if not entry.long], ids=repr)
def test_right_arguments_are_accepted(entry):
    """Otherwise a wrong value could be refused for another reason. Numpy's numbers are as good as Python's."""
    good = entry.good()
    entry.call(**good)
    entry.call(**{name: AS_NUMPY.get(type(value), lambda x: x)(value) for name, value in good.items()})
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("entry", "name", "wrong"), cases(ENTRIES))
def test_a_wrong_value_is_refused_and_nothing_else_happens(entry, name, wrong, capsys):
    """The exception names the parameter, what was expected and what came; torch would take many, and compute on."""
    check_refusal(entry, name, wrong)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("call", "exception", "words"), tables_model.CASES.values(), ids=tables_model.CASES)
def test_mistakes_whose_messages_name_something_else(call, exception, words):
    with pytest.raises(exception, match=words):
        call()
