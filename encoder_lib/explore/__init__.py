"""Live pictures for the notebooks: `Explorer`, the views and controls it is made of, and prediction questions."""

from encoder_lib.explore.attention import attend, head_slices
from encoder_lib.explore.block import block_steps
from encoder_lib.explore.embedding import look_up, similarity
from encoder_lib.explore.fast import cost
from encoder_lib.explore.feed_forward import fit_curve
from encoder_lib.explore.norm import normalise
from encoder_lib.explore.positional import clocks, positional
from encoder_lib.explore.pretrained import heads
from encoder_lib.explore.questions import predict
from encoder_lib.explore.stack import depth
from encoder_lib.explore.training import training_maps
from encoder_lib.explore.widget.controls import Checkbox, Control, Number, Range, Select, Text
from encoder_lib.explore.widget.explorer import Explorer
from encoder_lib.explore.widget.prediction import Prediction, Question, judge
from encoder_lib.explore.widget.views import Heatmap, Tokens, View

__all__ = [
    "Checkbox", "Control", "Explorer", "Heatmap", "Number", "Prediction", "Question", "Range", "Select", "Text",
    "Tokens", "View", "attend", "block_steps", "clocks", "cost", "depth", "fit_curve", "head_slices", "heads", "judge",
    "look_up", "normalise", "positional", "predict", "similarity", "training_maps",
]  # fmt: skip
