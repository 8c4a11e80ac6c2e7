"""How smoothly the whole encoder's picture plays in software rendering: frames a second, beside a page that is idle."""

import os
from statistics import median

import pytest
from explorers import PAIR, minilm
from served import served

from encoder_lib.course import explore
from encoder_lib.course.kit.widget import front_end

ROUNDS, SECONDS = 5, 4
LEAST = 0.5  # of the frames of an idle page: 30 a second where that shows 60
MOUNT = """async ({ question, answer, bytes, options }) => {
  const [{ mount }, { unpack }] = await Promise.all(['alive', 'kernel'].map((name) => import(`/${name}.js`)));
  const numbers = new DataView(Uint8Array.from(bytes).buffer);
  const root = document.body.appendChild(document.createElement('section'));
  mount(root, { question, answer: unpack(answer, numbers), options, compute: () => new Promise(() => {}) });
}"""
FRAMES = """(seconds) => new Promise((done) => {
  let [count, begun] = [-1, 0];
  const frame = (now) => {
    begun ||= now;
    count++;
    if (now - begun < 1000 * seconds) requestAnimationFrame(frame);
    else done(1000 * count / (now - begun));
  };
  requestAnimationFrame(frame);
})"""


@pytest.mark.parametrize("opened", [None, 1], ids=["closed", "a layer open"])
def test_frames_while_it_plays(browser, opened):
    """Idle and playing take turns, since other programs load the machine too."""
    alive = explore.alive(minilm(), *PAIR, open=opened)
    message = {"question": alive._question, "answer": alive._answer, "options": alive._options}
    processors = browser.new_browser_cdp_session()

    def used():
        processes = processors.send("SystemInfo.getProcessInfo")["processInfo"]
        return 1000 * sum(process["cpuTime"] for process in processes)

    idle, playing, spent = [], [], []
    with served(front_end.FOLDER) as address:
        page = browser.new_page(viewport={"width": 1000, "height": 1100})
        page.goto(f"{address}alive.css")  # any page of the same origin
        page.add_style_tag(content=front_end.style("palette.css", "alive.css"))
        page.evaluate(MOUNT, message | {"bytes": list(alive._data)})
        for _ in range(ROUNDS):
            idle.append(page.evaluate(FRAMES, SECONDS))
            page.locator("[data-name=play]").click()
            before = used()
            playing.append(page.evaluate(FRAMES, SECONDS))
            spent.append((used() - before) / (SECONDS * playing[-1]))
            page.locator("[data-name=play]").click()
        page.close()
    shares = [frames / most for frames, most in zip(playing, idle, strict=True)]
    print(
        f"{median(playing):.0f} frames a second ({min(playing):.0f} to {max(playing):.0f}), "
        f"{100 * median(shares):.0f} % of the idle page's {median(idle):.0f}; "
        f"{median(spent):.1f} ms of processor time a frame, at load {os.getloadavg()[0]:.1f}"
    )
    assert median(shares) >= LEAST
