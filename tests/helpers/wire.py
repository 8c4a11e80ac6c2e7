"""A widget's connection to its front end, without a browser: messages go in, and what the widget sends is kept."""

from comm.base_comm import BaseComm


class Wire(BaseComm):
    """Keeps what a widget sends: the contents of messages with their buffers, and the traits that Python changes."""

    def __init__(self):
        self.messages, self.traits = [], {}
        super().__init__()

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        if data and data.get("method") == "custom":
            self.messages.append((data["content"], buffers))
        elif data and data.get("method") == "update":
            self.traits |= data["state"]


def wired(widget):
    """The widget, with a wire."""
    widget.comm = Wire()
    return widget


def hear(widget, content):
    """A message from the front end, as the kernel hands it on; gives the messages that are sent back."""
    widget.comm.messages.clear()
    widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    return widget.comm.messages
