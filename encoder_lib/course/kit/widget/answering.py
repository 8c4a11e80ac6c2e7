"""What the widgets have in common whose front end asks questions by messages."""

from typing import Any

import anywidget
from traitlets import Bytes, Dict, Unicode

from encoder_lib.course.kit import plots


class Answering(anywidget.AnyWidget):
    """A widget that answers its front end.

    The front end sends {"id", "question"}, and gets {"id", "answer"} with one buffer of numbers, or {"id", "error"}
    with words. `_question` is the current question; when Python changes it, the front end asks it in turn, and when the
    front end asks, it isn't sent back. From `_answer` and `_data` the front end draws its first picture.
    """

    title = Unicode().tag(sync=True)
    _question = Dict().tag(sync=True)
    _answer = Dict().tag(sync=True)
    _data = Bytes().tag(sync=True)
    _options = Dict().tag(sync=True)

    def __init__(self, **state: Any) -> None:
        super().__init__(**state)
        self.on_msg(self._hear)

    def set_state(self, sync_data: dict) -> None:
        """Accept no traits from the front end, which asks by messages."""

    def _reply(self, message: object) -> tuple[dict, bytes, dict[str, Any]]:
        """Return the answer to a question, as a header and its numbers, and the traits once it is the current one."""
        raise NotImplementedError

    def _hear(self, _: object, content: object, buffers: object) -> None:
        """Answer a question of the front end; whatever is wrong with it is said in words."""
        if not isinstance(content, dict) or "question" not in content:
            self.send({})  # an echo, so that the front end knows that the kernel is there
            return
        number = content.get("id")
        try:
            header, data, state = self._reply(content["question"])
        except Exception as problem:
            words = problem.args[0] if isinstance(problem, KeyError) and problem.args else problem
            self.send({"id": number, "error": plots.readable(words, 500)})
            return
        with self._lock_property(**state):  # the front end has them, and may have gone on meanwhile
            for name, value in state.items():
                setattr(self, name, value)
        self.send({"id": number, "answer": header}, [data])
