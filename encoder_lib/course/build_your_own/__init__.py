"""The reader's own encoder, put together and put to work: what 12_build_your_own needs beside the reader's code."""

from encoder_lib.course.build_your_own.earlier import earlier_work, show_earlier
from encoder_lib.course.build_your_own.own import Workshop
from encoder_lib.course.build_your_own.page import Page
from encoder_lib.course.build_your_own.take_away import take_away

__all__ = ["Page", "Workshop", "earlier_work", "show_earlier", "take_away"]
