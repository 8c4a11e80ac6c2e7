"""Lesson 02_positional_encoding: sinusoids, rotary positions and ALiBi."""
