"""The explorers of 13: the probabilities that the classifiers give, and where the vectors of the texts are."""

import pytest
import torch
from explorers import GIVEN, SENTENCE

from encoder_lib.course import explore


def test_each_column_shows_the_probabilities_of_one_epoch():
    explorer = explore.which_library(GIVEN["probabilities"](), SENTENCE)
    (panel,), rows = explorer._view.panels, GIVEN["probabilities"]()(SENTENCE)
    torch.testing.assert_close(torch.tensor(panel.frame(0)), rows.T)
    assert f"Before fine-tuning: IPython {100 * rows[0, 0]:.0f} %, " in explorer.description
    assert f"After 1 epochs: IPython {100 * rows[1, 0]:.0f} %, " in explorer.description


def test_the_map_shows_every_text_in_the_plane_that_spreads_most():
    """Dots in the two largest principal components of all epochs, and in each epoch the mean of each library."""
    vectors, labels = GIVEN["texts"]()["training"]  # (2, 4, 5), (4,)
    explorer = explore.text_map({"training": (vectors, labels)})
    (plane,) = explorer._view.panels
    points = torch.from_numpy(plane.values)  # (epochs, libraries + N, 2)
    spread = torch.linalg.svdvals(vectors.flatten(0, 1) - vectors.mean(dim=(0, 1)))[:2].square().sum()
    assert plane.names == ["Matplotlib", "pandas", "", "", "", ""] and plane.dots
    torch.testing.assert_close(points[:, 2:].square().sum(), spread)
    torch.testing.assert_close(points[:, 0], points[:, 2:4].mean(dim=1))
    (a, b, c, d), between = vectors[0], (vectors[0, :2] @ vectors[0, 2:].T).mean()
    words = f"Before the fine-tuning, two texts of the same library have a mean cosine of {(a @ b + c @ d) / 2:.2f}, "
    assert explorer.description.replace("−", "-") == words + f"and two texts of different libraries {between:.2f}."


@pytest.mark.parametrize("labels", [[2, 2, 4, 4], [4, 4, 2, 2]])
def test_pandas_is_on_the_right_of_the_map_and_pytorch_below(labels):
    """The components are the same for both, so if the map left their signs alone, one of the two would be mirrored."""
    vectors = GIVEN["texts"]()["training"][0]
    plane = explore.text_map({"training": (vectors, torch.tensor(labels))})._view.panels[0]
    pandas, pytorch = torch.from_numpy(plane.values)[:, :2].mean(dim=0)  # of both epochs
    assert pandas[0] > 0 > pytorch[1]
