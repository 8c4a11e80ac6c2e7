"""Going back in the notebooks where it takes more memory than the poorest machine has, on this machine."""

import pytest
from notebook_rules import code_cells
from reading import FOLDER, LARGE, reading, sections


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_sections_run_again_from_the_last_to_the_first(name):
    """After the whole run, each section shows what is stored once more."""
    with reading(FOLDER / name) as reader:
        assert reader.run_and_compare(code_cells(reader.notebook)) == {}
        _, *others = sections(reader.notebook)
        assert reader.go_back(others) == {}
