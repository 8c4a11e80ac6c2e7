"""Lesson 03_layer_norm: what layer norm does, and over which axis."""
