"""Checks of the exercises: `check_x(attempt)` tries what the learner wrote and answers with a verdict."""

from encoder_lib.course.checks.attention import (
    check_head_by_hand,
    check_mask_future,
    check_mask_padding,
    check_multi_head,
)
from encoder_lib.course.checks.block import check_count_parameters, check_encoder_layer
from encoder_lib.course.checks.build import (
    check_own_attention,
    check_own_block,
    check_own_embedding,
    check_own_encoder,
    check_own_feed_forward,
    check_own_norm,
    check_own_positions,
    check_vectors_of,
)
from encoder_lib.course.checks.embedding import check_descend, check_padded_embedding, check_table_gradient
from encoder_lib.course.checks.fast import check_join, check_packed
from encoder_lib.course.checks.feed_forward import check_larger
from encoder_lib.course.checks.norm import check_largest
from encoder_lib.course.checks.positional import check_clock_table, check_look_back
from encoder_lib.course.checks.pretrained import check_by_luck, check_carry, check_pair_loss
from encoder_lib.course.checks.stack import check_reach, check_stack
from encoder_lib.course.checks.start_here import check_hide, check_take
from encoder_lib.course.checks.training import check_forward_with, check_hide_for_bert, check_learn

__all__ = [
    "check_by_luck", "check_carry", "check_clock_table", "check_count_parameters", "check_descend",
    "check_encoder_layer", "check_forward_with", "check_head_by_hand", "check_hide", "check_hide_for_bert",
    "check_join", "check_larger", "check_largest", "check_learn", "check_look_back", "check_mask_future",
    "check_mask_padding", "check_multi_head", "check_own_attention", "check_own_block", "check_own_embedding",
    "check_own_encoder", "check_own_feed_forward", "check_own_norm", "check_own_positions", "check_packed",
    "check_padded_embedding", "check_pair_loss", "check_reach", "check_stack", "check_table_gradient", "check_take",
    "check_vectors_of",
]  # fmt: skip
