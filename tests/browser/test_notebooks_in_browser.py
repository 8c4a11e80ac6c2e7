"""Every notebook as its reader meets it: in JupyterLab, in a browser, by keyboard."""

import os
import re
import shutil
from pathlib import Path

import nbformat
import notebook_rules
import pytest
from accessibility import axe_faults, fold_faults, key_faults, notebook_faults, reflow_faults, tab_faults
from fast_training import FAST_TRAINING
from labserver import lab
from notebook_page import NotebookPage
from places import NOTEBOOKS, ROOT
from record_all import needed
from sample_notebooks import AXE_FAULTS, EVERY_CONTROL, FAULTS, specimen_notebook
from spoilers import answers_in, asked, normal

from encoder_lib.course.kit.questions import QUESTIONS


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """JupyterLab on a copy of the notebooks, so that nothing here can change them."""
    folder = tmp_path_factory.mktemp("notebooks")
    shutil.copytree(ROOT / "notebooks", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
    nbformat.write(specimen_notebook(), folder / "specimens.ipynb")
    with lab(folder) as address:
        yield address


# The kernel keeps what each question shows; a question that is asked again shows that, without its cell's trainings.
KEEP = """
from encoder_lib.course import explore
def predict(name, show, ask=explore.predict, kept={}):
    if show:
        kept[name] = show()
    return ask(name, lambda: kept[name])
explore.predict = predict
"""
REPEAT = """() => {
  const {kernel} = jupyterapp.shell.currentWidget.sessionContext.session, ask = kernel.requestExecute.bind(kernel);
  kernel.requestExecute = ({code, ...rest}, ...more) => {
    const name = /\\bpredict\\(\\s*["'](\\w+)/.exec(code)?.[1];
    return ask({code: name ? `explore.predict("${name}", None)` : code, ...rest}, ...more);
  };
}"""
LIVE = re.compile(r"\bexplore\.")


@pytest.fixture(scope="module", params=[pytest.param(path.name, marks=pytest.mark.long) for path in NOTEBOOKS])
def notebook(request, browser, server):
    """A notebook that was opened and looked at, and in which what is live was run."""
    page = NotebookPage(browser, server, request.param)
    page.stored = nbformat.read(ROOT / "notebooks" / request.param, as_version=4)
    page.shown_before_run = page.pictures_with_alt_text()
    cells = notebook_rules.code_cells(page.stored)
    page.execute(FAST_TRAINING + KEEP)
    page.run([cell.id for cell in needed(cells, lambda cell: LIVE.search(cell.source))])
    page.page.evaluate(REPEAT)
    page.shown_early = [text for text in findings(page.stored) if page.page.get_by_text(text).count()]
    yield page
    page.close()


def findings(notebook):
    """What is found out in each question that a notebook asks."""
    code = "\n".join(cell.source for cell in notebook_rules.code_cells(notebook))
    return [QUESTIONS[name].finding for name in re.findall(r"""predict\(\s*["'](\w+)["']""", code)]


def test_findings_are_not_on_the_page_before_the_answer(notebook):
    """Not even out of sight, where a search of the page would find it."""
    assert len(findings(notebook.stored)) >= 2 and notebook.shown_early == []


@pytest.mark.parametrize("size", [(1400, 900), (1000, 700)], ids=str)
def test_running_a_question_shows_it_and_hides_its_answer(notebook, size):
    """Each question, run as a reader runs it: what JupyterLab brings into the window gives nothing away."""
    notebook.page.set_viewport_size({"width": size[0], "height": size[1]})
    found = []
    for cell in notebook.stored.cells:
        for name, _ in asked(cell):
            before, after, out = notebook.ask_anew(cell.id)
            found += [f"{name}: {words!r}" for text in (before, after) for words in answers_in(normal(text), name)]
            found += [f"{name} sticks out by {out} pixels"] if out > 1 else []
    notebook.page.set_viewport_size({"width": 1400, "height": 900})
    assert found == []


def test_stored_pictures_show_before_anything_runs(notebook):
    """A clone that has not run yet shows every stored picture with its alt text."""
    stored = sum(map(notebook_rules.has_picture, notebook_rules.code_cells(notebook.stored)))
    assert notebook.shown_before_run >= stored


def test_runs_without_an_error(notebook):
    assert notebook.errors() == []


def test_all_explorers_are_shown(notebook):
    expected = sum(map(notebook_rules.is_explorer, notebook_rules.code_cells(notebook.stored)))
    assert len(notebook.explorers()) + notebook.page.locator("section:is(.alive, .search-bars)").count() >= expected
    assert [problem for explorer in notebook.explorers() for problem in explorer.check_at_rest()] == []


def test_every_control_changes_picture_and_words(notebook):
    found = [
        problem
        for explorer in notebook.explorers()
        for name in explorer.controls()
        for problem in explorer.check_control(name)
    ]
    assert found == []


def test_heatmaps_are_read_by_arrow_keys(notebook):
    assert [problem for explorer in notebook.explorers() for problem in explorer.check_cells()] == []


def test_typing_stays_in_the_explorer(notebook):
    found = [problem for explorer in notebook.explorers() for problem in key_faults(notebook.page, explorer.root)]
    assert found + list(notebook.check_predictions()) == []


def test_tab_stops_at_every_control_and_leaves(notebook):
    """In the order of the page, with a visible focus and without a trap."""
    found = [fault for explorer in notebook.explorers() for fault in tab_faults(notebook.page, explorer.root)]
    assert found == []


def test_folded_answers_open_by_keyboard(notebook):
    """In the light: in JupyterLab's dark theme the browser draws the focus of a fold, and newer ones draw it dark."""
    notebook.use_theme("light")
    assert fold_faults(notebook.page) == []


def test_nothing_is_cut_off_in_a_narrow_window(notebook):
    """Explorers and questions take the room that there is, also when the page is enlarged to 200 %."""
    assert reflow_faults(notebook) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast(notebook, theme):
    """Explorers are legible in both themes. SCREENSHOTS=folder keeps a picture of each."""
    notebook.use_theme(theme)
    found = []
    for number, explorer in enumerate(notebook.explorers()):
        found += explorer.check_contrast(theme)
        if folder := os.environ.get("SCREENSHOTS"):
            name = f"{Path(notebook.page.url.split('?')[0]).stem}-{number}-{theme}.png"
            explorer.root.screenshot(path=Path(folder) / name)
    assert found == []
    assert notebook_faults(notebook, only=None if theme == "light" else ["color-contrast"]) == []  # else they are alike


def test_no_external_requests(notebook):
    """After all of the above, all requests went to the server, and no output holds a script, a frame or a form."""
    assert notebook.external == [] and notebook.own > 20
    assert notebook.intruders() == []
    assert notebook.errors() == []


# Every kind of control; and the checks themselves, on explorers that each have one fault.


@pytest.fixture(scope="module")
def specimens(browser, server):
    """The notebook of specimens."""
    page = NotebookPage(browser, server, "specimens.ipynb")
    page.run_all()
    yield page
    page.close()


def test_every_kind_of_control_works_in_jupyterlab(specimens):
    """In each version of JupyterLab that CI installs; the notebooks are opened in one."""
    explorer = specimens.explorer(EVERY_CONTROL)
    found = [problem for name in explorer.controls() for problem in explorer.check_control(name)]
    assert [*found, *explorer.check_at_rest(), *specimens.errors()] == []


def test_typing_stays_in_every_kind_of_control(specimens):
    """In texts as well, which the notebooks' own tests leave as they are."""
    assert key_faults(specimens.page, specimens.explorer(EVERY_CONTROL).root, texts=True) == []


def test_controls_are_visible_with_forced_colours(specimens):
    """In high contrast a slider is the system's own, since its painted track would be gone; words keep their shade."""
    shape = "all => [...new Set(all.map((e) => getComputedStyle(e).appearance))]"
    sliders = specimens.explorer(EVERY_CONTROL).root.locator("input[type=range]")
    assert sliders.evaluate_all(shape) == ["none"]
    specimens.page.emulate_media(forced_colors="active")
    assert sliders.evaluate_all(shape) == ["auto"]
    specimens.page.emulate_media(forced_colors="none")


@pytest.mark.long
def test_axe_detects_known_faults(specimens):
    """Each fault of the specimens is found, with its rule; and that it sees nothing in JupyterLab as it is."""
    specimens.use_theme("light")
    found = "\n".join(notebook_faults(specimens))
    assert [rule for rule in AXE_FAULTS if f": {rule}: " not in found] == [], found
    assert "blind" not in found and "pale on pale" not in found
    specimens.use_theme("dark")
    assert "color-contrast" in "\n".join(notebook_faults(specimens, only=["color-contrast"]))
    as_it_is = axe_faults(specimens.page, css="", only=["color-contrast"])
    assert "blind: 0 of 2" in "\n".join(as_it_is)
    specimens.use_theme("light")


@pytest.mark.long
@pytest.mark.parametrize(("fault", "words"), FAULTS.items(), ids=FAULTS)
def test_explorer_checks_detect(specimens, fault, words):
    specimens.use_theme("light")
    explorer = specimens.explorer(fault)
    found = [*explorer.check_at_rest(), *explorer.check_cells(), *explorer.check_contrast("light")]
    found += [*explorer.check_control("x"), *tab_faults(specimens.page, explorer.root)]
    found += key_faults(specimens.page, explorer.root)
    report = "\n".join(found)
    assert (report == "") if words is None else (words in report), report
