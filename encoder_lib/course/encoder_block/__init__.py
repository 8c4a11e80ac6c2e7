"""Lesson 06_encoder_block: residual connections, and the order of the norms."""
