"""The explorers of 13: the probabilities that the classifiers give, and where the vectors of the texts are."""

import pytest
import torch
from explorers import SENTENCE, classifiers, minilm

from encoder_lib.course import explore
from encoder_lib.course.your_own_task.few_labels import below


def test_each_row_shows_the_probabilities_of_one_epoch():
    explorer = explore.which_library(minilm(), classifiers(), SENTENCE)
    (panel,) = explorer._view.panels
    for row, classifier in zip(panel.frame(0), classifiers(), strict=True):
        probabilities = classifier.scores(below(minilm(), [SENTENCE]))[0].softmax(dim=0)
        torch.testing.assert_close(torch.tensor(row), probabilities, atol=1e-5, rtol=0)
    assert explorer.description.startswith("Before fine-tuning: IPython ") and "After 1 epoch: " in explorer.description


def test_one_classifier_is_refused():
    with pytest.raises(ValueError, match="at least two epochs, got 1"):
        explore.which_library(minilm(), classifiers()[:1], SENTENCE)


def test_the_map_shows_every_text_in_the_plane_that_spreads_most():
    """Dots in the two largest principal components of all epochs, and in each epoch the mean of each library."""
    texts = ["Draw a line.", "Plot some points.", "Sort the rows.", "Join two tables."]
    hidden, labels = below(minilm(), texts), torch.tensor([1, 1, 2, 2])
    explorer = explore.text_map(classifiers(), {"training": (hidden, labels)})
    (plane,) = explorer._view.panels
    vectors = torch.cat([each.text_vectors(hidden) for each in classifiers()]).double()  # (epochs · N, D)
    wanted = torch.linalg.svdvals(vectors - vectors.mean(dim=0))[:2].square().sum()
    points = torch.from_numpy(plane.values).double()  # (epochs, libraries + N, 2)
    assert plane.names == ["Matplotlib", "pandas", "", "", "", ""] and plane.dots
    torch.testing.assert_close(points[:, 2:].square().sum(), wanted, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(points[:, 0], points[:, 2:4].mean(dim=1), atol=1e-5, rtol=0)
    assert explorer.description.startswith("Before the fine-tuning, two texts of the same library have a mean cosine")


def test_a_map_of_nothing_is_refused():
    with pytest.raises(ValueError, match="some texts, got 2 and 0"):
        explore.text_map(classifiers(), {})
