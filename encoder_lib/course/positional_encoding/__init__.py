"""Lesson 02_positional_encoding: sinusoidal encodings, rotary position embedding and ALiBi."""
