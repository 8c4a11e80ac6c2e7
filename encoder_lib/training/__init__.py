"""Training: the loop, tasks with known answers, and `python -m encoder_lib.training`, alone or under torchrun."""
