"""Checks of 10_debugging_clinic: each takes a function or class that looks right, and shows where it is not.

`patient(case)` is an encoder with the broken piece of a case in it; `visit` and `fault_matrix` let tests look at them.
"""

from encoder_lib.course.checks.clinic.crashes import (
    check_embedding,
    check_feed_forward,
    check_half_precision,
    check_split,
)
from encoder_lib.course.checks.clinic.differs import check_empty_text, check_quiet_rows, check_self_attention
from encoder_lib.course.checks.clinic.introduced import (
    check_evaluation,
    check_positions,
    check_stack,
    check_table,
    check_torch_mask,
)
from encoder_lib.course.checks.clinic.missing import (
    check_batch_mask,
    check_context,
    check_mixture,
    check_padding,
    check_padding_row,
)
from encoder_lib.course.checks.clinic.rounds import (
    SOUND,
    TITLES,
    cut_with,
    fault_matrix,
    notices,
    patient,
    train,
    visit,
)
from encoder_lib.course.checks.clinic.subtle import check_biased_variance, check_reread, check_wide
from encoder_lib.course.checks.clinic.tested import check_more_padding, check_parity

__all__ = [
    "SOUND", "TITLES", "check_batch_mask", "check_biased_variance", "check_context", "check_embedding",
    "check_empty_text", "check_evaluation", "check_feed_forward", "check_half_precision", "check_mixture",
    "check_more_padding", "check_padding", "check_padding_row", "check_parity", "check_positions",
    "check_quiet_rows", "check_reread", "check_self_attention", "check_split", "check_stack", "check_table",
    "check_torch_mask", "check_wide", "cut_with", "fault_matrix", "notices", "patient", "train", "visit",
]  # fmt: skip
