"""Film the picture of the encoder in JupyterLab, for the README: `make film` writes .github/encoder.webp."""

import io
import tempfile
import time
from pathlib import Path

import nbformat
from labserver import BROWSER_ARGS, find_browser, lab
from notebook_page import NotebookPage
from PIL import Image
from places import ROOT
from playwright.sync_api import sync_playwright
from sample_notebooks import notebook_of

CELL = """from encoder_lib import load_pretrained
from encoder_lib.course import explore
explore.alive(load_pretrained(), "The river bank was flooded.", "The big bank raised its interest rates.")"""
RISING, CHANGING = 25, 8  # frames while Play brings the text to the top, and after a ribbon is cut
PLAYED, CHANGED = 580, 160  # milliseconds of the page's clock between two of these frames
FRAME = 140  # milliseconds in the film: less than five seconds in all, since what moves longer needs a way to stop it
CUT = 'svg [data-act="ribbon 0 0 3 2"]'  # from *river* to *bank*, in the first layer
DOT = "position:fixed;z-index:9999;padding:9px;margin:-9px;border-radius:50%;pointer-events:none;background:#d55e00cc"
POINTER = """look => { const dot = document.body.appendChild(document.createElement('div')); dot.style = look;
  addEventListener('mousemove', (e) => { dot.style.left = `${e.x}px`; dot.style.top = `${e.y}px`; }, true); }"""


def film(folder, browser):
    """The frames: the text rises through the layers, then the reader cuts what *river* brings to *bank*."""
    nbformat.write(notebook_of(CELL), folder / "film.ipynb")
    with lab(folder) as server:
        opened = NotebookPage(browser, server, "film.ipynb")
        page = opened.page
        page.set_viewport_size({"width": 1400, "height": 1100})
        opened.run_all()
        picture = page.locator("section.alive")
        picture.locator("svg").first.wait_for()
        picture.scroll_into_view_if_needed()
        box, tower = picture.bounding_box(), picture.locator("svg").first.bounding_box()
        box["height"] = tower["y"] + tower["height"] - box["y"]  # without the controls below

        def frame(wait=0):
            page.clock.run_for(wait)
            return Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")

        page.clock.install(time=0)  # so that a slow machine misses no frame
        page.clock.pause_at(1000)
        yield frame()
        picture.get_by_role("button", name="Play").click()
        for _ in range(RISING):
            yield frame(PLAYED)
        page.evaluate(POINTER, DOT)
        ribbon = picture.locator(CUT).first
        ribbon.hover(force=True)
        yield frame(CHANGED)
        ribbon.click(force=True)
        time.sleep(2)  # for the kernel's answer, in a time that is not the page's
        for _ in range(CHANGING):
            yield frame(CHANGED)
        opened.close()


with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
    chromium = playwright.chromium.launch(executable_path=find_browser(playwright), args=BROWSER_ARGS)
    first, *more = film(Path(folder), chromium)
once = {"duration": FRAME, "loop": 1}
first.save(ROOT / ".github/encoder.webp", append_images=more, save_all=True, quality=55, method=6, **once)
