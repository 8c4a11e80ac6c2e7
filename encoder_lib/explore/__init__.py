"""Live pictures for the notebooks: `Explorer`, the views and controls it is made of, and prediction questions."""

from encoder_lib.explore.attentions import heads
from encoder_lib.explore.controls import Checkbox, Control, Number, Range, Select, Text
from encoder_lib.explore.embeddings import look_up, similarity
from encoder_lib.explore.explorer import Explorer
from encoder_lib.explore.positions import clocks, positional
from encoder_lib.explore.predict import Prediction, judge, predict
from encoder_lib.explore.questions import Question
from encoder_lib.explore.views import Heatmap, View

__all__ = [
    "Checkbox", "Control", "Explorer", "Heatmap", "Number", "Prediction", "Question", "Range", "Select", "Text", "View",
    "clocks", "heads", "judge", "look_up", "positional", "predict", "similarity",
]  # fmt: skip
