"""Accessibility of a notebook's page: low vision, keyboard alone, zoom. Each check gives its faults as text."""

import contextlib
from pathlib import Path

AXE = (Path(__file__).parent / "vendor/axe-core/axe.min.js").read_text()

# What is ours in a notebook's page: what cells show, and rendered prose. The rest is JupyterLab's, and so are these:
OURS = (".jp-OutputArea-output", ".jp-RenderedMarkdown")
THEIRS = (
    ".jp-InternalAnchorLink",  # the mark beside a heading, there while one points at it
    "[class*=ansi-]",  # the colours of a traceback
)
THEIR_RULES = ("link-in-text-block",)  # the themes do not underline links in prose

# axe passes over what it takes to be out of sight, and in JupyterLab, whose body has no height, that is everything. So
# the body gets a height, the notebook no scroll bar of its own, and the window is made as tall as the notebook.
IN_SIGHT = "body { height: 100vh !important } .jp-WindowedPanel-outer { overflow: visible !important }"
UNDECIDED = 12  # texts, of hundreds, whose ground axe may fail to find

# Ask axe about what is ours. Words too pale to read are put at both ends of the page first: they have to be found.
ASK = """
async ({ours, theirs, theirRules, inSight, undecided, only}) => {
  const style = document.head.appendChild(document.createElement('style'));
  style.textContent = inSight;
  const places = [...document.querySelectorAll('.jp-RenderedMarkdown')];
  const canaries = [places.at(0), places.at(-1)].map((place) => {
    const canary = document.createElement('p');
    canary.textContent = 'pale on pale';
    canary.style = 'color: #888; background: #777; width: fit-content';
    return place.appendChild(canary);
  });
  await new Promise(requestAnimationFrame);
  const include = ours.filter((selector) => document.querySelector(selector)).map((selector) => [selector]);
  const {violations, incomplete} = await axe.run(
    {include, exclude: theirs.map((selector) => [selector])},
    {
      elementRef: true,
      ...(only && {runOnly: only}),
      resultTypes: ['violations', 'incomplete'],
      rules: only ? {} : Object.fromEntries(theirRules.map((rule) => [rule, {enabled: false}])),
    });
  const problems = violations.flatMap(({id, impact, nodes}) => nodes.map(({element, html, any, none}) => ({
    element, text: `${impact}: ${id}: ${html.slice(0, 120)}: ${(any[0] ?? none[0])?.message ?? ''}`})));
  const seen = canaries.filter((canary) => problems.some(({element}) => element === canary)).length;
  const faults = problems.filter(({element}) => !canaries.includes(element)).map(({text}) => text);
  const unsure = incomplete.filter(({id}) => id === 'color-contrast').flatMap(({nodes}) => nodes)
    .filter(({element, any}) => any[0]?.data?.messageKey !== 'nonBmp'  // a sign such as ☐, which is no text
      && !element.closest('.alive svg')).length;  // tests/project/test_colours.py judges those
  if (seen < canaries.length) faults.push(`blind: ${seen} of ${canaries.length} pale texts were found`);
  if (unsure > undecided) faults.push(`blind: the contrast of ${unsure} texts could not be judged`);
  canaries.forEach((canary) => canary.remove());
  style.remove();
  return faults;
}
"""

# The places where Tab stops in an element, in the order of the page; of radio buttons only one is a stop.
STOPS = """
(root) => {
  const radios = new Set();
  const stops = [...root.querySelectorAll('input, select, textarea, button, summary, a[href], [tabindex]')]
    .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility())
    .filter((e) => e.type !== 'radio' || (!radios.has(e.name) && radios.add(e.name)));
  root.stops = stops;
  return stops.map((e) => e.dataset.control || e.textContent.trim().slice(0, 20) || e.tagName.toLowerCase());
}
"""

# Where the focus is among the stops, and whether it is seen: an outline with contrast to its background, and uncut.
FOCUS = """
(root) => {
  const e = document.activeElement, style = getComputedStyle(e);
  const stop = root.stops.findIndex((s) => s === e || (e.type === 'radio' && s.name === e.name));
  if (stop < 0) return {stop, seen: true};
  let seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1
    && contrastBehind(style.outlineColor, e.parentElement) >= 3;
  const edge = e.getBoundingClientRect(), reach = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
  for (let p = e.parentElement; seen && root.contains(p); p = p.parentElement) {
    const box = p.getBoundingClientRect();
    const cuts = getComputedStyle(p).overflow !== 'visible';
    seen = !cuts || (edge.left - reach >= box.left && edge.right + reach <= box.right && edge.top - reach >= box.top);
  }
  return {stop, seen};
}
"""

# What sticks out of an element to the right, and which of its parts lie on each other.
CRAMPED = """
(root) => {
  const box = (e) => e.getBoundingClientRect();
  const name = (e) => `${e.tagName.toLowerCase()}.${e.className} ${e.textContent.trim().slice(0, 20)}`;
  const shown = (selector) => [...root.querySelectorAll(selector)]
    .filter((e) => e.checkVisibility() && box(e).width > 1);
  const wide = shown('*').filter((e) => !e.parentElement.closest('.prediction-scroll')) // which can be scrolled
    .filter((e) => box(e).right > box(root).right + 1 || box(e).left < box(root).left - 1);
  const problems = wide.slice(0, 3).map((e) => `${name(e)} sticks out`);
  const parts = shown('.explorer-control, .explorer-panel, .explorer-words button, .explorer-title, .explorer-readout, '
    + '.explorer-description, .prediction label, .prediction legend, .prediction button, .prediction-message, '
    + '.prediction-result');
  parts.forEach((a, i) => parts.slice(0, i).forEach((b) => {
    const across = Math.min(box(a).right, box(b).right) - Math.max(box(a).left, box(b).left);
    const down = Math.min(box(a).bottom, box(b).bottom) - Math.max(box(a).top, box(b).top);
    if (across > 1 && down > 1) problems.push(`${name(a)} lies on ${name(b)}`);
  }));
  return problems;
}
"""

# Wait until the sizes of explorers and questions have been the same for six frames.
LAID_OUT = """
async () => {
  let [last, same] = ['', 0];
  while (same < 6) {
    await new Promise(requestAnimationFrame);
    const sizes = [...document.querySelectorAll('.explorer, .prediction')].map((e) => [e.offsetWidth, e.offsetHeight]);
    same = String(sizes) === last ? same + 1 : 0;
    last = String(sizes);
  }
}
"""

SHAPE = """() => {
  const notebook = jupyterapp.shell.currentWidget.content;
  const cells = notebook.widgets.map((cell) => [cell.model.type, cell.model.sharedModel.getSource()]);
  return JSON.stringify([cells, notebook.mode, !!document.querySelector('.jp-Dialog')]);
}"""
COMMANDS = ("d", "d", "x", "0", "0", "a", "b", "m", "y", "Escape")  # delete, cut, restart, insert, change the kind
NARROW = (900, 640)  # a small window; and one of 1280 pixels at 200 %, where a pixel of the page is two (WCAG 1.4.10)


def axe_faults(page, *, css=IN_SIGHT, only=None):
    """What axe-core finds wrong with all that is ours in a page, by all its rules or by some."""
    if not page.evaluate("() => !!window.axe"):
        page.evaluate(AXE)
    settings = {"ours": OURS, "theirs": THEIRS, "theirRules": THEIR_RULES, "inSight": css, "undecided": UNDECIDED}
    return page.evaluate(ASK, settings | {"only": only})


@contextlib.contextmanager
def window(page, *, width=None, height=None):
    """A page in a window of another size for a while."""
    before = page.viewport_size
    page.set_viewport_size({"width": width or before["width"], "height": height or before["height"]})
    try:
        yield
    finally:
        page.set_viewport_size(before)


def notebook_faults(notebook, **options):
    """What axe-core finds wrong with all that is ours in a notebook that is open in JupyterLab."""
    tall = "() => jupyterapp.shell.currentWidget.node.querySelector('.jp-WindowedPanel-outer').scrollHeight + 200"
    with window(notebook.page, height=max(900, notebook.page.evaluate(tall))):
        return axe_faults(notebook.page, **options)


def tab_faults(page, root):
    """Tab stops at every control once, in order and visibly, and leaves again, forwards and backwards."""
    names = root.evaluate(STOPS)
    if not names:
        return ["there is nothing to stop at"]
    faults, keyboard = [], page.keyboard
    root.evaluate("root => root.stops[0].focus()")
    keyboard.press("Shift+Tab")
    if root.evaluate(FOCUS)["stop"] >= 0:
        faults.append(f"Shift+Tab does not leave {names[0]}")
    root.evaluate("root => root.stops[0].focus()")
    visited = []
    for _ in names:
        focus = root.evaluate(FOCUS)
        visited.append(focus["stop"])
        if not focus["seen"]:
            faults.append(f"the focus on {names[focus['stop']]} is not seen")
        keyboard.press("Tab")
    if visited != list(range(len(names))):
        faults.append(f"Tab stops at {visited} of {names}")
    elif root.evaluate(FOCUS)["stop"] >= 0:
        faults.append(f"Tab does not leave {names[-1]}")
    return faults


def key_faults(page, root, *, texts=False):
    """Keys that are JupyterLab's commands stay in the element: one stop of each kind, those for text only if asked."""
    root.evaluate(STOPS)
    kinds = "root => root.stops.map((e) => (e.tagName === 'INPUT' ? e.type : e.tagName))"
    first, before = {}, page.evaluate(SHAPE)
    for stop, kind in enumerate(root.evaluate(kinds)):
        first.setdefault(kind, stop)
    for kind, stop in first.items():
        if kind in ("text", "number") and not texts:
            continue
        root.evaluate("(root, stop) => root.stops[stop].focus()", stop)
        for key in COMMANDS:
            page.keyboard.press(key)
        if page.evaluate(SHAPE) != before:
            return [f"keys on {kind} are commands to the notebook"]
    return []


def fold_faults(page):
    """Folded answers, the first four, open and close by keyboard, with a focus that is seen; their cells stay as is."""
    faults, before = [], page.evaluate(SHAPE)
    folds = [summary.locator("..") for summary in page.locator(".jp-RenderedMarkdown summary").all()]
    for details in [fold for fold in folds if not fold.evaluate("e => e.open")][:4]:
        summary = details.locator("summary")
        details.evaluate(STOPS)
        summary.focus()
        if details.evaluate(FOCUS) != {"stop": 0, "seen": True}:
            faults.append(f"{summary.text_content()}: the focus is not seen")
        opened = []
        for key in ("Enter", "Space"):
            page.keyboard.press(key)
            opened.append(details.evaluate("e => e.open"))
        if opened != [True, False]:
            faults.append(f"{summary.text_content()}: Enter and the space bar leave it open: {opened}")
    if page.evaluate(SHAPE) != before:
        faults.append("unfolding an answer changes the notebook")
    return faults


def reflow_faults(notebook):
    """In a narrow window nothing of an explorer or a question sticks out or lies on something else."""
    page, faults = notebook.page, []
    page.evaluate("() => { jupyterapp.shell.collapseLeft(); }")
    for width in NARROW:
        with window(page, width=width):
            page.evaluate(LAID_OUT)
            for root in page.locator(".explorer, .prediction").all():
                title = root.get_attribute("aria-label")
                faults += [f"{title} at {width} px: {fault}" for fault in root.evaluate(CRAMPED)]
    return faults
