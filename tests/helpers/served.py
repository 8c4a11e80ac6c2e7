"""A folder served to this machine alone, as a web host serves it."""

import contextlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    protocol_version = "HTTP/1.1"  # connections stay open

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def served(folder):
    """Serve a folder; gives its address, which ends in a slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
