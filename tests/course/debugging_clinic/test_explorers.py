"""The explorers of 10_debugging_clinic: whose numbers a row holds, and a grid that fills run by run."""

import pandas as pd

from encoder_lib.course import explore
from encoder_lib.course.debugging_clinic.explorers import CUTS

NOTICED = pd.DataFrame([[True, False], [False, False], [True, True]], columns=["one", "other"])


def test_a_row_says_whose_numbers_it_holds():
    explorer = explore.two_cuts(rows=2, cut=CUTS[1])
    assert "Row 2 of head 1 holds numbers 4 to 6 of x, which belong to token 1, but" in explorer.description
    explorer.cut = CUTS[0]
    assert "numbers 7 to 9 of x, which belong to token 2, as it should" in explorer.description
    assert explorer.description.endswith("So far 2 of 2 rows hold a slice of their own token.")


def test_grid_is_filled_test_by_test():
    """In each step one patient more; the last one says who has not been noticed."""
    explorer = explore.who_notices(NOTICED)
    (panel,) = explorer._view.panels
    found = [labels.count("yes") for labels in panel.labels]
    missed = [labels.count("no") for labels in panel.labels]
    assert found == [0, 1, 1, 2, 2, 2, 3] and missed == [0, 0, 1, 1, 2, 3, 3]
    assert panel.labels[-1].count("none") == 1 and "none" not in panel.labels[-2]
    explorer.runs = 6
    assert explorer.description == "All 6 runs of 2 tests are done. No test notices patient 2."


def test_a_test_that_is_left_out_finds_nothing():
    explorer = explore.who_notices(NOTICED, runs=6, without="one")
    (panel,) = explorer._view.panels
    assert panel.labels[-1].count("yes") == 1 and panel.labels[-1].count("no") == 2
    assert explorer.description.endswith("tests are done without one. No test notices patient 1 and patient 2.")
    explorer.runs = 2
    assert explorer.description == "Run 2: one is left out."


def test_patients_who_are_all_noticed_are_said_to_be():
    explorer = explore.who_notices(NOTICED.iloc[[0, 2]], runs=4)
    assert explorer.description == "All 4 runs of 2 tests are done. Each patient is noticed by at least one test."
