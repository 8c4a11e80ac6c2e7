"""Checks of 10_debugging_clinic: each takes a function or class that looks right, and shows where it is not.

`fault_matrix()` puts the faulty pieces into whole encoders and lets the five tests of `fault_injection` look at them.
"""

# The modules are imported in the order of the cases, which is that of `FAULTS`.
from encoder_lib.checks.clinic.crashes import (
    check_embedding,
    check_feed_forward,
    check_half_precision,
    check_positions,
    check_split,
)
from encoder_lib.checks.clinic.differs import (
    check_empty_text,
    check_evaluation,
    check_quiet_rows,
    check_self_attention,
    check_torch_mask,
)
from encoder_lib.checks.clinic.missing import (
    check_batch_mask,
    check_context,
    check_mixture,
    check_padding,
    check_padding_row,
    check_reread,
    check_stack,
)
from encoder_lib.checks.clinic.registry import FAULTS, fault_matrix, faulty_model
from encoder_lib.checks.clinic.subtle import (
    check_biased_variance,
    check_table,
    check_wide,
)

__all__ = [
    "FAULTS",
    "check_batch_mask",
    "check_biased_variance",
    "check_context",
    "check_embedding",
    "check_empty_text",
    "check_evaluation",
    "check_feed_forward",
    "check_half_precision",
    "check_mixture",
    "check_padding",
    "check_padding_row",
    "check_positions",
    "check_quiet_rows",
    "check_reread",
    "check_self_attention",
    "check_split",
    "check_stack",
    "check_table",
    "check_torch_mask",
    "check_wide",
    "fault_matrix",
    "faulty_model",
]
