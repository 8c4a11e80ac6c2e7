"""The front end of a prediction on a page without a kernel: what it sends, and what it shows when."""

import pytest

pytestmark = pytest.mark.browser

# A question on the page, with `look`, which tells what can be seen of it, and `told`, what the kernel sends.
ASK = """
window.ask = ({prediction}) => {
  const model = new Model({choice: null, committed: false, revealed: false, _prompt: 'Is <b> bold?',
    _choices: ['yes', '<i>never</i>'], _told: {}});
  const el = document.body.appendChild(document.createElement('div'));
  const stop = prediction.default.render({model, el});
  const find = (selector) => el.querySelector(selector);
  const look = () => ({
    message: find('.prediction-message').textContent.trim(),
    result: find('.prediction-result')?.textContent,
    stale: el.firstElementChild.classList.contains('prediction-stale'),
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
    """A choice enables the commitment; both are sent; the focus stays."""
    start, chosen, sent, asked, shown = page.run("""(modules) => {
      const {model, find, look} = ask(modules), start = look();
      find('input').click();
      const chosen = look();
      find('.prediction-commit').click();
      const asked = look(), sent = model.sent.map(({choice, committed, revealed}) => [choice, committed, revealed]);
      model.message({revealed: true, _told: told({kind: 'text', text: 'one\\ntwo'})});
      return [start, chosen, sent, asked, look()];
    }""")
    assert start["buttons"] == [["Commit", True], ["Show me", False]] and start["message"] == ""
    assert chosen["buttons"] == [["Commit", False], ["Show me", False]] and not chosen["locked"]
    assert sent == [[0, False, False], [0, True, False]]
    assert asked["buttons"] == [] and asked["locked"] and asked["message"] == ""
    assert asked["focus"] == "prediction-message" and asked["result"] is None and asked["right"] == []
    assert shown["message"] == "You said “yes”. <b>Text</b> is text." and shown["result"] == "one\ntwo"
    assert shown["right"] == ["<i>never</i>"] and shown["focus"] == "prediction-message"


def test_silence_is_told_until_there_is_an_echo(page):
    """After two seconds, with or without a commitment; an answer that comes then is told as ever."""
    early, silent, heard, shown = page.run("""async (modules) => {
      const {model, find, look} = ask(modules), wait = (time) => new Promise((done) => setTimeout(done, time));
      find('input').click();
      await wait(1500);
      const early = look();
      find('.prediction-commit').click();
      await wait(700);
      const silent = look();
      model.echo();
      const heard = look();
      model.message({_told: told({kind: 'text', text: '3'})});
      return [early, silent, heard, look()];
    }""")
    assert [(state["message"], state["stale"]) for state in (early, heard)] == [("", False)] * 2
    assert silent["message"].endswith("run this cell again.") and silent["stale"]
    assert shown["message"].startswith("You said “yes”.") and not shown["stale"]


def test_show_me_needs_no_choice(page):
    """And sends none."""
    sent, shown = page.run("""(modules) => {
      const {model, find, look} = ask(modules);
      find('.prediction-show').click();
      model.message({_told: told({kind: 'text', text: '3'})});
      return [model.sent.map(({choice, committed, revealed}) => [choice, committed, revealed]), look()];
    }""")
    assert sent == [[None, False, True]] and shown["locked"] and shown["result"] == "3"


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
