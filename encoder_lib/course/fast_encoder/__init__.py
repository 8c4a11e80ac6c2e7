"""Lesson 11_fast_encoder: what an encoder costs, and how it gets faster."""
