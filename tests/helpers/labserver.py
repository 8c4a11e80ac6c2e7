"""A real JupyterLab or Notebook 7 on this machine alone, with settings of its own, and the browser that drives it."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
BROWSER_ARGS = [
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    *(["--no-sandbox"] if AS_ROOT else []),
]
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # keep every cell in the page
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


def find_browser(playwright):
    """The path of a Chromium: the system's, else the one that playwright installed; None without either."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_up(address, process, log, seconds=60):
    """Ask until the server answers; raise with its log when it ends or stays silent."""
    for _ in range(seconds * 10):
        if process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(address, timeout=2).close()
            return
        time.sleep(0.1)
    raise RuntimeError(f"Jupyter did not start:\n{log.read_text()[-4000:]}")


@contextlib.contextmanager
def lab(root, *options, app="jupyterlab"):
    """Serve the folder `root`, with more options of the command line; gives the server's URL and its token.

    `app` is the package that serves it: jupyterlab, or notebook.
    """
    port, token = free_port(), secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as own:
        own = Path(own)
        (own / "config/labconfig").mkdir(parents=True)
        (own / "config/labconfig/default_setting_overrides.json").write_text(json.dumps(SETTINGS))
        places = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
        }
        command = [sys.executable, "-m", app, "--no-browser", "--expose-app-in-browser"]
        command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
        command += [*(["--allow-root"] if AS_ROOT else []), *options]
        environment = os.environ | {name: str(own / place) for name, place in places.items()}
        log = own / "log"
        with log.open("w") as sink:
            process = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_up(f"{url}/api/status?token={token}", process, log)
            yield url, token
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
