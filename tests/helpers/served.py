"""A folder served to this machine alone, as a web host serves it."""

import contextlib
import gzip
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PACKED = {".html", ".css", ".js", ".svg", ".txt"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    protocol_version = "HTTP/1.1"  # connections stay open

    def log_message(self, *arguments):
        pass


class Packing(Quiet):
    """Also packs texts with gzip, as web hosts do."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if path.suffix not in PACKED or not path.is_file():
            super().do_GET()
            return
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def served(folder, *, packed=False):
    """Serve a folder, packed or as it is; gives its address, which ends in a slash."""
    handler = partial(Packing if packed else Quiet, directory=folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
