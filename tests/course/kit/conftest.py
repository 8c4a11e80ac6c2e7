"""What tests of the kit share: MiniLM with interventions, and no figure that stays open."""

import matplotlib.pyplot as plt
import pytest
from explorers import minilm

from encoder_lib.course.kit.interventions import Intervened


@pytest.fixture(scope="module")
def intervened():
    return Intervened(minilm())


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
