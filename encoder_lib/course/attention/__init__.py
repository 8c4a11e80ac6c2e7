"""Lesson 04_attention: scores, masks, weights and heads."""
