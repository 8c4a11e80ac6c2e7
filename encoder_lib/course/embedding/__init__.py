"""Lesson 01_embedding: look-up tables, and a training loop."""
