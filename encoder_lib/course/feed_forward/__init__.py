"""Lesson 05_feed_forward: the network at each token."""
