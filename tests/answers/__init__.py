"""What learners answer, one module for each notebook: check -> (right answers, wrong ones), each by name."""

from answers import embedding, positional, pretrained, start_here

ANSWERS = {
    **start_here.ANSWERS,
    **embedding.ANSWERS,
    **positional.ANSWERS,
    **pretrained.ANSWERS,
}
