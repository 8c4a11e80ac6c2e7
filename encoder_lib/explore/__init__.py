"""Live pictures for the notebooks: `Explorer`, the views and controls it is made of, and prediction questions."""

from encoder_lib.explore.attentions import heads
from encoder_lib.explore.bends import fit_curve
from encoder_lib.explore.blocks import block_steps
from encoder_lib.explore.controls import Checkbox, Control, Number, Range, Select, Text
from encoder_lib.explore.costs import cost
from encoder_lib.explore.depths import depth
from encoder_lib.explore.embeddings import look_up, similarity
from encoder_lib.explore.explorer import Explorer
from encoder_lib.explore.looking import attend, head_slices
from encoder_lib.explore.norms import normalise
from encoder_lib.explore.positions import clocks, positional
from encoder_lib.explore.predict import Prediction, judge, predict
from encoder_lib.explore.questions import Question
from encoder_lib.explore.training import training_maps
from encoder_lib.explore.views import Heatmap, Tokens, View

__all__ = [
    "Checkbox", "Control", "Explorer", "Heatmap", "Number", "Prediction", "Question", "Range", "Select", "Text",
    "Tokens", "View", "attend", "block_steps", "clocks", "cost", "depth", "fit_curve", "head_slices", "heads", "judge",
    "look_up", "normalise", "positional", "predict", "similarity", "training_maps",
]  # fmt: skip
