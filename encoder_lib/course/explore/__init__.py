"""Live pictures for the notebooks: `Explorer`, the views and controls it is made of, and prediction questions."""

from encoder_lib.course.explore.attention import attend, head_slices
from encoder_lib.course.explore.block import block_steps
from encoder_lib.course.explore.embedding import look_up, similarity
from encoder_lib.course.explore.fast import cost
from encoder_lib.course.explore.feed_forward import fit_curve
from encoder_lib.course.explore.norm import normalise
from encoder_lib.course.explore.positional import clocks, positional
from encoder_lib.course.explore.pretrained import heads
from encoder_lib.course.explore.questions import predict
from encoder_lib.course.explore.stack import depth
from encoder_lib.course.explore.start_here import walk
from encoder_lib.course.explore.training import training_maps
from encoder_lib.course.explore.widget.controls import Checkbox, Control, Range, Select, Text
from encoder_lib.course.explore.widget.explorer import Explorer
from encoder_lib.course.explore.widget.prediction import Prediction, Question
from encoder_lib.course.explore.widget.views import Heatmap, View

__all__ = [
    "Checkbox", "Control", "Explorer", "Heatmap", "Prediction", "Question", "Range", "Select", "Text",
    "View", "attend", "block_steps", "clocks", "cost", "depth", "fit_curve", "head_slices", "heads",
    "look_up", "normalise", "positional", "predict", "similarity", "training_maps", "walk",
]  # fmt: skip
