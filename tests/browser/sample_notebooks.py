"""A notebook of explorers: a real one with every kind of control, and small ones with one fault each."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

SPECIMEN = '''
import anywidget
import traitlets


class Specimen(anywidget.AnyWidget):
    _esm = """
export default {render({model, el}) {
  const fault = model.get('fault');
  el.innerHTML = `<section class="explorer" aria-label="${fault}"><label for="${fault}-x">x</label>
    <input id="${fault}-x" type="range" data-control="x" min="0" max="7" value="3"><output data-for="x"></output>
    <canvas class="explorer-picture" width="8" height="8" tabindex="0" role="application"></canvas>
    <p class="explorer-readout"></p>
    <p class="explorer-description"></p><p class="explorer-error" role="alert" hidden>It failed.</p></section>`;
  const get = (selector) => el.querySelector(selector);
  const input = get('input'), canvas = get('canvas'), context = canvas.getContext('2d');
  let row = 0, column = 0, moves = 0;
  const show = () => {
    const value = fault === 'stuck' ? 3 : +input.value;
    context.fillStyle = fault === 'empty' ? '#0000' : 'green';
    context.clearRect(0, 0, 8, 8);
    context.fillRect(0, 0, 1 + value + (fault === 'drifts' ? moves++ / 10 : 0), 8);
    if (fault !== 'output') get('output').textContent = value;
    get('.explorer-description').textContent = fault === 'description' ? 'A bar.' : `A bar of length ${value}.`;
    canvas.setAttribute('aria-label', fault === 'nameless' ? '' : get('.explorer-description').textContent);
    get('.explorer-error').hidden = !(fault === 'error' && value === 7);
  };
  input.addEventListener('input', () => {
    show();
  });
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowRight') column++;
    if (event.key === 'ArrowDown') row++;
    if (fault !== 'readout') get('.explorer-readout').textContent = `row ${row}, column ${column}`;
  });
  if (fault !== 'keys') el.addEventListener('keydown', (event) => event.stopPropagation());
  if (fault === 'label') get('label').remove();
  if (fault === 'unseen') input.style.outline = 'none';
  if (fault === 'trap') canvas.addEventListener('keydown', (event) => event.key === 'Tab' && event.preventDefault());
  if (fault === 'colours') get('.explorer-description').style.color = '#808080';
  show();
}};
"""
    fault = traitlets.Unicode().tag(sync=True)
'''

EVERY_CONTROL = "Attention, word by word, with masks"  # the title of one that has them
REAL = "from encoder_lib.course import explore\nexplore.attend()"

# fault -> what the checks have to say about it
FAULTS = {
    "none": None,
    "stuck": "picture is the same",
    "output": "output is the same",
    "description": "description is the same",
    "drifts": "coming back",
    "nameless": "no name",
    "error": "It failed.",
    "label": "no label",
    "readout": "arrow keys",
    "colours": "contrast",
    "unseen": "the focus on x is not seen",
    "trap": "Tab does not leave canvas",
    "keys": "keys on range are commands to the notebook",  # which they change: the last
}
# rule of axe-core -> what breaks it
AXE_FAULTS = {
    "color-contrast": '<p style="color: #999; background: #aaa">pale</p>',
    "label": '<input type="text">',
    "landmark-unique": '<section aria-label="twice">one</section><section aria-label="twice">two</section>',
}
# Questions of every kind. What they reveal is written backwards, so that the code on the page does not hold it.
ASKED = """
import matplotlib.pyplot as plt
import pandas as pd
from encoder_lib.course import explore
from encoder_lib.course.explore import Prediction, Question


def ask(kind, show=None):
    finding = f"The {kind} shows that " + ".esir eerht lla"[::-1]
    return Prediction(Question(f"What does the {kind} show?", ("nothing", "a rise", "a fall"), 1, finding), show)


def picture():
    figure, ax = plt.subplots(figsize=(7, 3))
    ax.plot([0, 1], [0, 1])
    return ax


table = pd.DataFrame({"share": [0.25, 0.75], "word": ["7revir"[::-1], "7yenom"[::-1]]}, index=["first", "second"])
broad = pd.DataFrame({f"a column with a long name, {n}": ["daorb etiuq"[::-1]] for n in range(4)}, index=["layer 1"])
wide = pd.DataFrame({f"column {n}": [5 * "_ediw_yrev"[::-1]] for n in range(5)})
"""
QUESTIONS = {
    "picture": "ask('picture', picture)",
    "table": "ask('table', lambda: table)",
    "broad table": "ask('broad table', lambda: broad)",
    "wide table": "ask('wide table', lambda: wide)",
    "number": "ask('number', lambda: 7.6e-6 * 2)",
    "text": "ask('text', lambda: 'enil tsrif\\nenil dnoces'[::-1])",
    "words alone": "ask('words alone')",
}


class Prepared:
    """A browser on whose pages a script runs before all others."""

    def __init__(self, browser, script):
        self.browser, self.script = browser, script

    def new_context(self, **settings):
        context = self.browser.new_context(**settings)
        context.add_init_script(self.script)
        return context


def notebook_of(*cells):
    """A notebook of these cells; texts are code."""
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [new_code_cell(cell.strip()) if isinstance(cell, str) else cell for cell in cells]
    return new_notebook(cells=cells, metadata=spec)


def fold(kind):
    """What explains the result of a question."""
    text = f'<details class="after"><summary>What it means</summary>\n\n{kind}, explained\n\n</details>\n\nOn.'
    return new_markdown_cell(text)


def question_notebook(stored=False):
    """One cell for each question; with what is stored of them, or each with its fold below it.

    Then come one that another cell reveals, between two folds, and one that has not been run.
    """
    cells = [new_code_cell(ASKED.strip()), *map(new_code_cell, QUESTIONS.values())]
    if stored:
        names = {}
        exec(ASKED, names)
        for cell in cells[1:]:
            data = eval(cell.source, names)._repr_mimebundle_()[0]
            kept = {mime: data[mime] for mime in ("text/html", "text/plain")}
            cell.outputs = [new_output("execute_result", kept, execution_count=1)]
    else:
        cells = [cells[0], *(part for pair in zip(cells[1:], map(fold, QUESTIONS), strict=True) for part in pair)]
        cells += ["asked = ask('kernel', lambda: 'eulav'[::-1])\nasked", fold("kernel"), "asked.revealed = True"]
        cells += [fold("kernel again"), "explore.predict('shuffle')", fold("not run")]
    return notebook_of(new_markdown_cell("# Questions"), *cells)


def specimen_notebook():
    """One cell for the explorer, and one for each fault."""
    cells = [REAL, SPECIMEN, *(f"Specimen(fault={fault!r})" for fault in FAULTS)]
    cells += ["from IPython.display import HTML", *(f"HTML({html!r})" for html in AXE_FAULTS.values())]
    return notebook_of(new_markdown_cell("# Specimens"), *cells)
