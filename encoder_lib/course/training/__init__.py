"""Lesson 08_training: masked letters, and claims from a few seeds."""
