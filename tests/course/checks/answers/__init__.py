"""What learners answer, one module for each notebook: check -> (right answers, wrong ones), each by name."""

from answers import (
    attention,
    block,
    build,
    embedding,
    fast,
    feed_forward,
    norm,
    positional,
    pretrained,
    stack,
    start_here,
    training,
)

ANSWERS = {
    **start_here.ANSWERS,
    **embedding.ANSWERS,
    **positional.ANSWERS,
    **norm.ANSWERS,
    **attention.ANSWERS,
    **feed_forward.ANSWERS,
    **block.ANSWERS,
    **stack.ANSWERS,
    **training.ANSWERS,
    **pretrained.ANSWERS,
    **fast.ANSWERS,
    **build.ANSWERS,
}
