"""Film an explorer as it is used in JupyterLab, for the README: `make film` writes .github/explorer.webp."""

import io
import tempfile
from pathlib import Path

import nbformat
from labserver import BROWSER_ARGS, find_browser, lab
from notebook_page import NotebookPage
from PIL import Image
from places import ROOT
from playwright.sync_api import sync_playwright

NAME, EXPLORER = "02_positional_encoding.ipynb", "explore.positional()"
DRAGS = [("length", 0.15, 0.8), ("shift", 0.02, 0.7), ("shift", 0.7, 0.3)]  # from and to, as parts of a slider
DOT = "position:fixed;z-index:9999;padding:9px;margin:-9px;border-radius:50%;pointer-events:none;background:#d55e00cc"
POINTER = """look => { const dot = document.body.appendChild(document.createElement('div')); dot.style = look;
  addEventListener('mousemove', (e) => { dot.style.left = `${e.x}px`; dot.style.top = `${e.y}px`; }, true); }"""


def film(folder, browser):
    """The frames of a used explorer, as pictures."""
    notebook = nbformat.read(ROOT / "notebooks" / NAME, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "setup(" in cell.source or cell.source == EXPLORER]
    nbformat.write(notebook, folder / NAME)
    with lab(folder) as server:
        opened = NotebookPage(browser, server, NAME)
        opened.run_all()
        (explorer,) = opened.explorers()
        explorer.root.scroll_into_view_if_needed()
        opened.page.evaluate(POINTER, DOT)
        for name, start, end in DRAGS:
            box = explorer.control(name).bounding_box()
            for step in range(13):
                x = box["x"] + box["width"] * (start + (end - start) * step / 12)
                opened.page.mouse.move(x, box["y"] + box["height"] / 2)
                if step == 0:
                    opened.page.mouse.down()
                explorer.state()  # at rest
                yield Image.open(io.BytesIO(explorer.root.screenshot())).convert("RGB")
            opened.page.mouse.up()
        opened.close()


with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
    chromium = playwright.chromium.launch(executable_path=find_browser(playwright), args=BROWSER_ARGS)
    first, *more = film(Path(folder), chromium)
once = {"duration": 128, "loop": 1}  # in five seconds: what moves longer needs a way to stop it
first.save(ROOT / ".github/explorer.webp", append_images=more, save_all=True, quality=55, method=6, **once)
