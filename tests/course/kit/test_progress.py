"""The progress bar: it moves where it is asked for, and goes when it is done."""

import pytest

from encoder_lib.course.kit import progress as progress_bar


def test_a_bar_in_a_notebook_makes_room_when_it_is_done(monkeypatch):
    """With tqdm's notebook bar: shown once under an id, whose place is empty afterwards, also after an error."""
    shown, updates = [], []

    class Place:
        def update(self, data, raw):
            updates.append((data, raw))

    def display(thing, display_id):
        shown.append(type(thing).__name__)
        return Place()

    monkeypatch.setattr(progress_bar, "tqdm", progress_bar.tqdm_notebook)
    monkeypatch.setattr(progress_bar, "display", display)
    with progress_bar.bar(3, "Counting", shown=True) as bar:
        bar.update(2)
    assert shown == ["TqdmHBox"] and updates == [(progress_bar.EMPTY, True)] and bar.total == 2
    with pytest.raises(KeyError), progress_bar.bar(3, "Counting", shown=True):
        raise KeyError
    assert len(shown) == len(updates) == 2
    with progress_bar.bar(3, "Counting", shown=False):
        pass
    assert len(shown) == 2


def test_a_bar_in_a_terminal_says_how_far_it_came(capsys):
    """On the error stream, under its name, and at the end of what was done, also after an early end."""
    with progress_bar.bar(8, "Counting", shown=True) as bar:
        bar.update(3)
    out, err = capsys.readouterr()
    assert out == "" and "Counting" in err and err.rstrip().splitlines()[-1].count("3/3") == 1


def test_a_bar_that_is_not_asked_for_writes_nothing(capsys):
    with progress_bar.bar(8, "Counting", shown=False) as bar:
        bar.update(8)
    assert capsys.readouterr() == ("", "")
