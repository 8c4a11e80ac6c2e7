"""The front end of a prediction on a page without a kernel: what it sends, and what it shows when."""

import pytest

pytestmark = pytest.mark.browser

# A question on the page, with `look`, which gives what can be seen of it, and `reveal`, what the kernel sends.
ASK = """
window.ask = ({prediction}) => {
  const model = new Model({choice: null, committed: false, revealed: false, _prompt: 'Is <b> bold?',
    _choices: ['yes', '<i>never</i>'], _outcome: {}});
  const el = document.body.appendChild(document.createElement('div'));
  const stop = prediction.default.render({model, el});
  const find = (selector) => el.querySelector(selector);
  const look = () => ({
    message: find('.prediction-message').textContent.trim(),
    stale: el.firstElementChild.classList.contains('prediction-stale'),
  });
  return {model, el, find, look, stop};
};
window.reveal = (result) => ({finding: '<b>Text</b> is text.', answer: 1, result});
"""


@pytest.fixture(scope="module")
def page(modules):
    """The modules, with the helpers above."""
    modules.page.evaluate(ASK + "0")
    return modules


def test_silence_is_reported_until_an_acknowledgement(page):
    """After two seconds, with or without a commitment; an answer that comes later is shown as usual."""
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
      model.message({_outcome: reveal({kind: 'text', text: '3'})});
      return [early, silent, heard, look()];
    }""")
    assert [(state["message"], state["stale"]) for state in (early, heard)] == [("", False)] * 2
    assert silent["message"].endswith("run this cell again.") and silent["stale"]
    assert shown["message"].startswith("Not this one.") and not shown["stale"]


SEEN = """async (modules, above) => {
  document.body.replaceChildren(Object.assign(document.createElement('div'), {style: `height: ${above}px`}));
  const {model, find, el} = ask(modules), text = 'line\\n'.repeat(30);
  document.body.append(Object.assign(document.createElement('div'), {style: 'height: 3000px'}));
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  await wait(50);
  scrollTo(0, 0);
  find('input').click();
  find('.prediction-commit').click();
  model.message({committed: true, revealed: true, _outcome: reveal({kind: 'text', text})});
  await wait(100);
  const {top, bottom} = find('.prediction-result').getBoundingClientRect();
  const seen = top >= 0 && bottom <= innerHeight;
  dispatchEvent(new Event('wheel'));
  scrollTo(0, 0);
  find('pre').append(text);
  await wait(100);
  return [seen, scrollY];
}"""


@pytest.mark.parametrize("above", [300, 2000])
def test_an_answer_brings_its_result_into_view(page, above):
    """And leaves the page where a reader moves it after that, even if something still grows."""
    assert page.run(SEEN, above) == [True, 0]


def test_a_view_that_opens_after_the_reveal_shows_all_of_it(page):
    """Without a click, and without taking the focus."""
    shown = page.run("""(modules) => {
      document.activeElement.blur();
      const {model, el} = ask(modules);
      model.message({choice: 0, committed: true, revealed: true, _outcome: reveal({kind: 'text', text: 'again'})});
      const second = document.body.appendChild(document.createElement('div'));
      modules.prediction.default.render({model, el: second});
      return [el, second].map((e) => [e.textContent.replace(/\\s+/g, ' '), document.activeElement.localName]);
    }""")
    assert shown[0] == shown[1] and "again" in shown[0][0] and shown[0][1] == "body"


MARKED = """(modules, choice) => {
  const {model, find, el} = ask(modules);
  const marks = () => [...el.querySelectorAll('label')].map((e) => e.className.replace('prediction-', ''));
  if (choice === null) find('.prediction-show').click();
  else {
    el.querySelectorAll('input')[choice].click();
    find('.prediction-commit').click();
  }
  const before = marks();
  model.message({_outcome: reveal({})});
  return [before, marks(), find('.prediction-message').innerText.trim()];
}"""


@pytest.mark.parametrize(
    ("choice", "marks", "said"),
    [(0, ["wrong", "right"], "Not this one. "), (1, ["", "right"], "Correct. "), (None, ["", "right"], "")],
)
def test_the_choices_are_marked_in_place(page, choice, marks, said):
    """The right one, and the reader's own if it is wrong; so that what is said below repeats neither."""
    before, after, message = page.run(MARKED, choice)
    assert (before, after) == (["", ""], marks)
    assert message.replace("The answer is: <i>never</i>. ", "") == f"{said}<b>Text</b> is text."
