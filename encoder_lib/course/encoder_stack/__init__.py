"""Lesson 07_encoder_stack: what depth does."""
