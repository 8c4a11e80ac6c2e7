"""Checks of the exercises: `check_x(attempt)` tries what the learner wrote and answers with a verdict."""

from encoder_lib.checks.embedding import check_gets_gradient, check_look_up, check_most_similar
from encoder_lib.checks.positional import check_rotate, check_shift_matrix, check_sinusoidal_table
from encoder_lib.checks.pretrained import check_looks_back, check_pool, check_search
from encoder_lib.checks.start_here import check_mean_vector, check_unit

__all__ = [
    "check_gets_gradient", "check_look_up", "check_looks_back", "check_mean_vector", "check_most_similar", "check_pool",
    "check_rotate", "check_search", "check_shift_matrix", "check_sinusoidal_table", "check_unit",
]  # fmt: skip
