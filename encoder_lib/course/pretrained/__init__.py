"""Lesson 09_pretrained: MiniLM's published weights in our classes."""
