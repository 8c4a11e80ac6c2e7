"""Lesson 03_layer_norm: what layer norm does, over which axis, and what it does for training."""
