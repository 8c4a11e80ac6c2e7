"""Lesson 00_start_here: a word followed through two sentences."""
