"""The front end of a prediction on a page without a kernel: what it sends, and what it shows when."""

import pytest

pytestmark = pytest.mark.browser

# A question on the page, with `look`, which tells what can be seen of it, and `told`, what the kernel sends.
ASK = """
window.ask = ({prediction}, room = {kind: 'text', lines: 2}) => {
  const model = new Model({choice: null, committed: false, revealed: false, _prompt: 'Is <b> bold?',
    _choices: ['yes', '<i>never</i>'], _room: room, _told: {}});
  const el = document.body.appendChild(document.createElement('div'));
  const stop = prediction.default.render({model, el});
  const find = (selector) => el.querySelector(selector);
  const look = () => ({
    message: find('.prediction-message').textContent.trim(),
    room: find('.prediction-room').textContent,
    buttons: [...el.querySelectorAll('button')].filter((e) => !e.hidden).map((e) => [e.textContent, e.disabled]),
    locked: [...el.querySelectorAll('input')].every((e) => e.disabled),
    right: [...el.querySelectorAll('.prediction-right')].map((e) => e.textContent),
    focus: document.activeElement.className,
  });
  return {model, el, find, look, stop};
};
window.told = (result) => ({verdict: 'You said “yes”.', finding: '<b>Text</b> is text.', answer: 1, result});
"""


@pytest.fixture(scope="module")
def page(modules):
    """The modules, with the helpers above."""
    modules.page.evaluate(ASK + "0")
    return modules


def test_nothing_is_shown_until_the_kernel_tells(page):
    """A choice enables the commitment; both are sent; the focus stays, and the reader is told of a long wait."""
    start, chosen, sent, asked, waiting, shown = page.run("""async (modules) => {
      const {model, find, look} = ask(modules), start = look();
      find('input').click();
      const chosen = look();
      find('.prediction-commit').click();
      const asked = look(), sent = model.sent.map(({choice, committed, revealed}) => [choice, committed, revealed]);
      await new Promise((done) => setTimeout(done, 1200));
      const waiting = look();
      model.message({revealed: true, _told: told({kind: 'text', text: 'one\\ntwo'})});
      return [start, chosen, sent, asked, waiting, look()];
    }""")
    assert start["buttons"] == [["Commit", True], ["Show me", False]] and start["message"] == ""
    assert chosen["buttons"] == [["Commit", False], ["Show me", False]] and not chosen["locked"]
    assert sent == [[0, False, False], [0, True, False]]
    assert asked["buttons"] == [] and asked["locked"] and asked["message"] == ""
    assert asked["focus"] == "prediction-message" and asked["room"] == start["room"]
    assert waiting["message"] == "Waiting for the kernel …" and waiting["right"] == []
    assert shown["message"] == "You said “yes”. <b>Text</b> is text." and shown["room"] == "one\ntwo"
    assert shown["right"] == ["<i>never</i>"] and shown["focus"] == "prediction-message"


def test_show_me_needs_no_choice(page):
    """And sends none."""
    sent, shown = page.run("""(modules) => {
      const {model, find, look} = ask(modules);
      find('.prediction-show').click();
      model.message({_told: told({kind: 'text', text: '3'})});
      return [model.sent.map(({choice, committed, revealed}) => [choice, committed, revealed]), look()];
    }""")
    assert sent == [[None, False, True]] and shown["locked"] and shown["room"] == "3"


def test_a_view_that_opens_after_the_reveal_shows_all_of_it(page):
    """Without a click, and without taking the focus."""
    shown = page.run("""(modules) => {
      document.activeElement.blur();
      const {model, el} = ask(modules);
      model.message({choice: 0, committed: true, revealed: true, _told: told({kind: 'text', text: 'again'})});
      const second = document.body.appendChild(document.createElement('div'));
      modules.prediction.default.render({model, el: second});
      return [el, second].map((e) => [e.textContent.replace(/\\s+/g, ' '), document.activeElement.localName]);
    }""")
    assert shown[0] == shown[1] and "again" in shown[0][0] and shown[0][1] == "body"


@pytest.mark.parametrize(
    ("room", "style"),
    [
        ({"kind": "picture", "width": 700, "height": 350}, {"width": "700px", "aspectRatio": "700 / 350"}),
        ({"kind": "table", "lines": 4}, {"minHeight": "132px"}),
        ({"kind": "text", "lines": 4}, {"minHeight": "100px"}),
    ],
)
def test_room_is_kept_for_every_kind(page, room, style):
    """As much as the result will take; for a question without one there is none."""
    script = """(modules, [room, names]) => {
      const box = ask(modules, room).find('.prediction-room');
      return [box.hidden, Object.fromEntries(names.map((name) => [name, box.style[name]]))];
    }"""
    assert page.run(script, [room, list(style)]) == [False, style]
    assert page.run(script, [{}, ["minHeight"]]) == [True, {"minHeight": ""}]


def test_a_picture_is_shown_with_its_finding_and_let_go(page):
    """Its bytes come with the reveal; a view that closes forgets them."""
    shown = page.run("""async (modules) => {
      const canvas = new OffscreenCanvas(30, 20);
      canvas.getContext('2d').fillRect(0, 0, 30, 20);
      const png = new DataView(await (await canvas.convertToBlob()).arrayBuffer());
      const {model, find, stop} = ask(modules, {kind: 'picture', width: 30, height: 20});
      model.message({revealed: true, _told: told({kind: 'picture', png})});
      const img = find('img');
      await img.decode();
      const size = [img.naturalWidth, img.naturalHeight, img.alt];
      stop();
      model.message({_told: told({kind: 'text', text: 'later'})});
      const gone = await new Promise((done) => {
        const again = new Image();
        again.onload = () => done(false);
        again.onerror = () => done(true);
        again.src = img.src;
      });
      return [...size, gone, !!find('pre')];
    }""")
    assert shown == [30, 20, "<b>Text</b> is text.", True, False]
    page.problems[:] = [said for said in page.problems if "ERR_FILE_NOT_FOUND" not in said]  # the one that is gone


def test_a_table_is_made_of_text(page):
    """Names of rows and columns are headers; markup is none."""
    cells = page.run("""(modules) => {
      const {model, find} = ask(modules, {kind: 'table', lines: 2});
      const result = {kind: 'table', head: ['', '<b>a'], body: [['<i>r', '<img src=x>']]};
      model.message({revealed: true, _told: told(result)});
      return [...find('table').querySelectorAll('th, td')].map((e) => [e.localName, e.scope ?? null, e.textContent]);
    }""")
    assert cells == [["td", "", ""], ["th", "col", "<b>a"], ["th", "row", "<i>r"], ["td", "", "<img src=x>"]]
