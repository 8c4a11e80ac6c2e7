"""Lesson 08_training: an encoder learns to fill gaps in text, and what its attention maps seem to say is tested."""
