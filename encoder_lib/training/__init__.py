"""Training: the loop, tasks with known answers, checkpoints that go on, several processes that share a model.

`python -m encoder_lib.training --help` trains a task from the command line, alone or under torchrun.
"""
