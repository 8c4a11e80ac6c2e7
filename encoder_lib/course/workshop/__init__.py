"""The reader's own encoder, put together and put to work: what 12_build_your_own needs beside the reader's code."""

from encoder_lib.course.workshop.earlier import earlier_work, show_earlier
from encoder_lib.course.workshop.own import Workshop
from encoder_lib.course.workshop.page import Page
from encoder_lib.course.workshop.take_away import take_away

__all__ = ["Page", "Workshop", "earlier_work", "show_earlier", "take_away"]
