"""The web edition as `make site` has built it, served to a browser."""

import json
import os

import pytest
from minilm import write_minilm
from places import ROOT
from served import served

from encoder_lib.course.kit.widget import front_end

HTML = ROOT / "build/site/html"
PLAY = """async ([kind, markup]) => {
  const { [`play${kind[0].toUpperCase()}${kind.slice(1)}`]: play } = await import(`/player/${kind}.js`);
  const place = document.createElement('main');
  place.innerHTML = markup;
  document.body.replaceChildren(place);
  window.done = [];
  play(place.querySelector('.exercise'), (address) => window.done.push(address));
}"""


@pytest.fixture(scope="session")
def html():
    """The folder of the pages. Without one the tests are skipped, except in CI, where they fail."""
    if not (HTML / "index.html").is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no web edition here: run `make site` first")
    return HTML


@pytest.fixture(scope="module")
def address(html):
    """Where the pages are served."""
    with served(html) as address:
        yield address


@pytest.fixture(scope="module")
def player(browser, tmp_path_factory):
    """A page beside the player's modules, which lie in `player`, and the folder that it is served from."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "player").mkdir()
    for source in (front_end.FOLDER, ROOT / "site/player"):
        for path in source.glob("*.js"):
            (folder / "player" / path.name).write_bytes(path.read_bytes())
    (folder / "index.html").write_text("<!doctype html><title>player</title><body></body>")
    with served(folder) as address:
        page = browser.new_page()
        page.goto(address)
        yield page, folder
        page.close()


@pytest.fixture(params=["desk", "phone"])
def exercise_page(request, browser, player):
    """A page that plays an exercise and notes that it is done: at a desk, or on a phone with a touch screen."""
    served, folder = player
    phone = request.param == "phone"
    context = browser.new_context(viewport={"width": 390 if phone else 900, "height": 800}, has_touch=phone)
    page = context.new_page()
    page.goto(served.url)
    styles = [ROOT / f"site/{name}.css" for name in ("site", "pages")]
    page.add_style_tag(content=front_end.STYLE + "".join(path.read_text() for path in styles))

    def play(kind, markup, answer):
        (folder / f"{kind}.json").write_text(json.dumps(answer))
        page.evaluate(PLAY, [kind, markup])

    page.play, page.kind, page.press = play, request.param, "tap" if phone else "click"
    yield page
    context.close()


@pytest.fixture(scope="session")
def minilm_files(tmp_path_factory):
    """The weights of MiniLM as the web edition has them."""
    folder = tmp_path_factory.mktemp("weights") / "minilm"
    write_minilm(folder)
    for path in folder.rglob("*.*"):
        os.utime(path, (0, 0))  # old, because a browser asks again for files that have changed lately
    return folder


@pytest.fixture(scope="module")
def minilm_player(player, minilm_files):
    """The page and its folder, where the weights of MiniLM are, too."""
    (player[1] / "minilm").symlink_to(minilm_files)
    return player
