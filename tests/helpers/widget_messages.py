"""Messages between a widget and its front end, without a browser: those to the widget are sent, those from it kept."""

from comm.base_comm import BaseComm


class RecordingComm(BaseComm):
    """Keeps what a widget sends: the contents of messages with their buffers, and the traits that Python changes."""

    def __init__(self):
        self.messages, self.traits = [], {}
        super().__init__()

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        if data and data.get("method") == "custom":
            self.messages.append((data["content"], buffers))
        elif data and data.get("method") == "update":
            self.traits |= data["state"]


def connect(widget):
    """Give the widget a connection that records."""
    widget.comm = RecordingComm()
    return widget


def send(widget, content):
    """Send the widget a message as its front end does; returns the messages that the widget sends back."""
    widget.comm.messages.clear()
    widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    return widget.comm.messages
