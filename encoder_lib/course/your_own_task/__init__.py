"""Lesson 13_your_own_task: what to do with an encoder when labels are few, and how to measure a search."""
