"""Lesson 09_pretrained: the published parameters of all-MiniLM-L6-v2 in our classes."""
