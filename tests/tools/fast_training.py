"""Code for a kernel in which most trainings take twenty steps and timed functions run once.

It shortens the course's own trainings, and those that a cell calls in a loop or a function. No compared output and no
explorer depends on them, and the tests of the claims run them all in full. Progress bars are off: ipywidgets (8.1.9)
fails when a bar is gone before it is drawn, as after any quick training.
"""

FAST_TRAINING = r"""
def shorten():
    import re
    import torch
    from encoder_lib.course import debugging_clinic as clinic
    from encoder_lib.course.kit import ladder
    from encoder_lib.course.layer_norm import plain_stack
    from encoder_lib.course.positional_encoding import positions
    from encoder_lib.course.fast_encoder import timing
    from encoder_lib.course.encoder_stack import warm_up

    trainings = (
        ladder.climb, ladder.train, plain_stack.plain_stack_accuracy, positions.accuracy_by_position,
        positions.accuracy_by_length, warm_up.learn_to_reverse, clinic.train,
    )
    for training in trainings:
        training.__kwdefaults__["steps"] = 20
    ladder.climb.__kwdefaults__["progress"] = False

    @torch.no_grad()
    def once(functions, rounds=1):
        return {name: timing._seconds(function) for name, function in functions.items()}

    timing.benchmark = once

    def fewer(lines):
        return [re.sub(r"^( +.*\bsteps=)\d{3}\b", r"\g<1>20", line) for line in lines]

    get_ipython().input_transformers_post.append(fewer)


shorten()
del shorten
"""
