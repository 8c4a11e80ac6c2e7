"""Code for a kernel in which the course's own trainings take twenty steps: what comes of all is tested as claims.

No output that is compared hangs on them, and no explorer. There is no bar: one that goes before its parts are drawn
makes ipywidgets (8.1.9, in its box) look into a view that is gone, as after any quick training.
"""

HURRIED = """
from encoder_lib.course.lab.ladder import climb, train
from encoder_lib.course.lab.warm_up import learn_to_reverse
for training in (climb, train, learn_to_reverse):
    training.__kwdefaults__["steps"] = 20
climb.__kwdefaults__["progress"] = False
del climb, learn_to_reverse, train, training
"""
