"""Checks of 10_debugging_clinic: each takes a function or class that looks right, and shows where it is wrong.

`patient(case)` is an encoder with the broken piece of a case in it; `visit` and `fault_matrix` run tests on patients.
"""

from encoder_lib.course.debugging_clinic.cases import (
    check_positions,
    check_stack,
    check_table,
    check_torch_mask,
    check_unknown,
)
from encoder_lib.course.debugging_clinic.patients import correct_encoder, torch_counterpart
from encoder_lib.course.debugging_clinic.rounds import (
    cut_with,
    fault_matrix,
    notices,
    parity,
    patient,
    train,
    visit,
)
from encoder_lib.course.debugging_clinic.tested import check_parity

__all__ = [
    "check_parity",
    "check_positions",
    "check_stack",
    "check_table",
    "check_torch_mask",
    "check_unknown",
    "correct_encoder",
    "cut_with",
    "fault_matrix",
    "notices",
    "parity",
    "patient",
    "torch_counterpart",
    "train",
    "visit",
]  # fmt: skip
