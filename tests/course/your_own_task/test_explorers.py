"""The explorer of 13 shows the probabilities that the classifiers give."""

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
