"""A notebook that is open in JupyterLab, and the explorers on it, as a reader with a keyboard meets them."""

import time
import uuid
from urllib.parse import urlsplit

STATE = """
window.explorerState = (root) => {
  const text = (selector) => [...root.querySelectorAll(selector)].map((e) => e.textContent.trim()).join(' | ');
  const hash = (picture) => {
    if (picture.tagName === 'DIV') return picture.innerHTML; // boxes
    let canvas = picture;
    if (picture.tagName === 'IMG') {
      canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
      if (canvas.width) canvas.getContext('2d').drawImage(picture, 0, 0);
    }
    if (!canvas.width || !canvas.height) return 0;
    const words = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let sum = 7;
    for (let i = 0; i < words.length; i++) sum = (Math.imul(sum, 31) + words[i]) | 0; // many a time, so no reduce
    return sum;
  };
  const pictures = [...root.querySelectorAll('.explorer-picture')];
  return {
    pictures: pictures.map(hash),
    named: pictures.every((e) => (e.getAttribute('aria-label') || e.getAttribute('alt') || '').trim()),
    outputs: Object.fromEntries(
      [...root.querySelectorAll('output[data-for]')].map((e) => [e.dataset.for, e.textContent])),
    description: text('.explorer-description'),
    readout: text('.explorer-readout'),
    errors: [...root.querySelectorAll('.explorer-error')].filter((e) => e.checkVisibility()).map((e) => e.textContent),
  };
};
// What can be read now within an element, or in the window; what questions say themselves aside.
window.inSight = (frame = null) => {
  const {top, bottom} = frame?.getBoundingClientRect() ?? {top: 0, bottom: innerHeight}, read = [];
  const texts = document.createTreeWalker(frame ?? document.body, NodeFilter.SHOW_TEXT), range = new Range();
  while (texts.nextNode()) {
    const around = texts.currentNode.parentElement;
    range.selectNodeContents(texts.currentNode);
    const seen = [...range.getClientRects()].some((line) => line.width && line.bottom > top && line.top < bottom
      && line.right > 0 && line.left < innerWidth);
    const shown = around.checkVisibility({visibilityProperty: true}) && !around.closest('.prediction');
    if (seen && shown) read.push(texts.currentNode.data);
  }
  return read.join(' ');
};
window.kernelIdle = () => jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle';
// The state once the kernel has been idle and nothing has changed for `rest` milliseconds. To look takes processor
// time, which the kernel may want; so it is done some twenty times a second.
window.settledState = async (root, rest) => {
  let last = null, since = 0;
  const deadline = performance.now() + 20000;
  while (performance.now() < deadline) {
    await new Promise((look) => setTimeout(() => requestAnimationFrame(look), 40));
    const state = explorerState(root), now = JSON.stringify(state);
    if (now !== last || !kernelIdle()) [last, since] = [now, performance.now()];
    else if (performance.now() - since > rest) return state;
  }
  throw new Error('the explorer did not come to rest');
};
// The contrast ratio (WCAG 2.2) of a colour, transparent or not, to what is behind an element.
window.contrastBehind = (colour, element) => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const rgba = (...layers) => {
    context.clearRect(0, 0, 1, 1);
    for (const layer of layers) {
      context.fillStyle = layer;
      context.fillRect(0, 0, 1, 1);
    }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let ground = 'white';
  for (let e = element; e; e = e.parentElement) {
    const own = getComputedStyle(e).backgroundColor;
    if (rgba(own)[3] === 255) {
      ground = own;
      break;
    }
  }
  const [a, b] = [light(rgba(ground, colour)), light(rgba(ground))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};
// The lowest contrast ratio of the visible words of an explorer against what is behind them.
window.lowestContrast = (root) => {
  const written = 'label, legend, output, p, pre, th, td, select, button, input[type=text], input[type=number]';
  const words = [...root.querySelectorAll(written)]
    .filter((e) => e.checkVisibility() && (e.textContent.trim() || e.value));
  return Math.min(21, ...words.map((e) => contrastBehind(getComputedStyle(e).color, e)));
};
"""

CODE_CELLS = """() => jupyterapp.shell.currentWidget.content.widgets
  .filter((c) => c.model.type === 'code' && c.model.sharedModel.getSource().trim()).map((c) => c.model.id)"""

# Run the cells with these ids, one after the other.
RUN = """async (ids) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  for (const id of ids) {
    notebook.activeCellIndex = notebook.widgets.findIndex((c) => c.model.id === id);
    notebook.deselectAll();
    await jupyterapp.commands.execute('notebook:run-cell');
  }
}"""

# Each of these cells has run, or one has failed. Read from the model: a run itself ends at the first error.
FINISHED = """(ids) => {
  const cells = jupyterapp.shell.currentWidget.content.widgets.filter((c) => ids.includes(c.model.id));
  const failed = (c) => c.model.outputs.toJSON().some((o) => o.output_type === 'error')
    && !(c.model.getMetadata('tags') || []).includes('raises-exception');
  const ran = (c) => c.model.executionCount != null && c.model.executionState !== 'running';
  return kernelIdle() && (cells.every(ran) || cells.some(failed));
}"""

# Whether code that is not in the notebook runs in its kernel without an error.
EXECUTE = """async (code) => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  return (await kernel.requestExecute({ code, silent: true }).done).content.status === 'ok';
}"""

CELL_ERRORS = """(ids) => jupyterapp.shell.currentWidget.content.widgets.flatMap((cell, index) => {
  if (!ids.includes(cell.model.id)) return [];
  const announced = (cell.model.getMetadata('tags') || []).includes('raises-exception');
  const error = cell.model.outputs.toJSON().find((o) => o.output_type === 'error');
  if (error && !announced) return [`cell ${index}: ${error.ename}: ${error.evalue}`];
  if (!error && announced) return [`cell ${index} did not raise`];
  return cell.model.executionCount == null ? [`cell ${index} was not run`] : [];
})"""

# Go to a cell, as a reader does who goes on; a question that is already there is an old one.
GO_TO = """async (id) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex((c) => c.model.id === id);
  notebook.deselectAll();
  notebook.mode = 'command';
  notebook.activate();
  notebook.activeCell.node.classList.add('asked');
  notebook.activeCell.node.querySelector('.prediction')?.classList.add('old');
  await notebook.scrollToItem(notebook.activeCellIndex, 'smart');
}"""

# A new question is there; and, once it is laid out, by how many pixels it sticks out of the notebook's window.
NEW_QUESTION = "() => kernelIdle() && document.querySelector('.asked .prediction:not(.old)')"
STICKS_OUT = """async () => {
  for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
  const question = document.querySelector('.asked .prediction'), frame = question.closest('.jp-WindowedPanel-outer');
  const [inner, outer] = [question, frame].map((e) => e.getBoundingClientRect());
  question.closest('.asked').classList.remove('asked');
  return Math.max(outer.top - inner.top, inner.bottom - outer.bottom);
}"""

INTRUDERS = """all => all.filter((e) => e.matches('script, iframe, object, embed, link, base, meta, form, portal')
  || [...e.attributes].some(({ name }) => name.startsWith('on'))).map((e) => e.localName)"""


class NotebookPage:
    """One notebook in a browser page of its own."""

    def __init__(self, browser, server, name, at=None):
        url, token = server
        self.host = urlsplit(url).netloc
        self.page_errors, self.external, self.own = [], [], 0  # requests to other hosts; how many to the server
        self.page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        self.page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.add_init_script(STATE)
        at = at or f"lab/workspaces/auto-{uuid.uuid4().hex[:8]}/tree"  # JupyterLab, with a workspace of its own
        self.page.goto(f"{url}/{at}/{name}?reset&token={token}")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        self.page.wait_for_function("kernelIdle()", timeout=60_000)

    def _note(self, url):
        """Keep the address of a request that leaves the server, and count those that do not."""
        parts = urlsplit(url)
        if parts.netloc == self.host:
            self.own += 1
        elif parts.scheme not in ("data", "blob", "about"):
            self.external.append(url)

    def intruders(self):
        """The elements in cells' outputs that run, load or send, and those with a handler of an event."""
        return self.page.locator(".jp-OutputArea-output *").evaluate_all(INTRUDERS)

    def pictures_with_alt_text(self):
        """How many stored pictures are shown, with words for those who do not see them."""
        shown = "images => images.filter(i => i.alt.trim() && i.naturalWidth > 1 && i.checkVisibility()).length"
        return self.page.locator(".jp-OutputArea-output img").evaluate_all(shown)

    def run_all(self, timeout=300):
        """Run every code cell from the top."""
        self.run(self.page.evaluate(CODE_CELLS), timeout)

    def run(self, ids, timeout=300):
        """Run the cells with these ids, in their order; returns when all have run, or one has failed."""
        self.ran = ids
        self.page.evaluate(f"(ids) => {{ ({RUN})(ids); }}", self.ran)
        self.page.wait_for_function(FINISHED, arg=self.ran, timeout=timeout * 1000, polling=200)

    def execute(self, code):
        """Run code in the kernel that is not in the notebook."""
        assert self.page.evaluate(EXECUTE, code)

    def execute_until_ok(self, code):
        """Run code in the kernel again and again, until it raises nothing."""
        self.page.wait_for_function(EXECUTE, arg=code, polling=200)

    def errors(self):
        """What went wrong in cells, in widgets and in the page."""
        broken = self.page.locator(".jp-OutputArea", has_text="Error displaying widget").count()
        widgets = ["a widget is not displayed"] if broken else []
        return self.page.evaluate(CELL_ERRORS, self.ran) + widgets + self.page_errors

    def use_theme(self, theme):
        """Switch JupyterLab to its light or dark theme."""
        name = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}[theme]
        self.page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        light = "true" if theme == "light" else "false"
        self.page.wait_for_function("light => document.body.dataset.jpThemeLight === light", arg=light)
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def check_predictions(self, steps=("Commit", "Show me")):
        """Every question that is open is answered by keyboard and reveals its answer then.

        Each takes the next of the steps in turn; before its step there is nothing to see of an answer.
        """
        questions = [one for one in self.page.locator(".prediction").all() if one.locator("input:enabled").count()]
        for place, question in enumerate(questions):
            step = steps[place % len(steps)]
            choice = question.locator("input").first
            choice.focus()
            self.page.keyboard.press("Space")
            if not choice.is_checked():
                yield "the space bar chooses no answer"
            message = question.locator(".prediction-message")
            if message.text_content().strip() or question.locator("img, table, pre").count():
                yield "an answer is there before it is asked for"
            if not self.reach(question.get_by_role("button", name=step)):
                yield f"Tab does not reach {step}"
            self.page.keyboard.press(("Enter", "Space")[place % 2])
            verdict = {"Commit": "^(Correct|Not this one)\\.", "Show me": "^ *The answer is: "}[step]
            self.page.wait_for_function("([e, text]) => e.textContent.match(text)", arg=[
                message.element_handle(), verdict])  # fmt: skip
            if not message.evaluate("e => e === document.activeElement"):
                yield f"after {step} the focus is not on the verdict"
            if question.get_by_role("button").count() or question.locator("input:enabled").count():
                yield f"after {step} the question can be answered again"

    def ask_anew(self, cell):
        """Run the cell of a question, by its id, with Shift+Enter.

        Gives what can be read before and after, and by how many pixels the new question sticks out of the window.
        """
        in_sight = "() => inSight(jupyterapp.shell.currentWidget.node.querySelector('.jp-WindowedPanel-outer'))"
        self.page.evaluate(GO_TO, cell)
        before = self.page.evaluate(in_sight)
        self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(NEW_QUESTION, timeout=120_000)
        out = self.page.evaluate(STICKS_OUT)
        return before, self.page.evaluate(in_sight), out

    def reach(self, element, presses=4):
        """Press Tab until an element has the focus; gives whether it has."""
        for _ in range(presses):
            if element.evaluate("e => e === document.activeElement"):
                return True
            self.page.keyboard.press("Tab")
        return element.evaluate("e => e === document.activeElement")

    def explorers(self):
        """The explorers of the notebook, from top to bottom."""
        count = self.page.locator("section.explorer").count()
        return [ExplorerOnPage(self, self.page.locator("section.explorer").nth(n)) for n in range(count)]

    def explorer(self, title):
        """The explorer with this title."""
        return ExplorerOnPage(self, self.page.locator(f'section.explorer[aria-label="{title}"]'))

    def close(self):
        """Shut the kernel down and close the page."""
        self.page.evaluate("async () => { await jupyterapp.shell.currentWidget.sessionContext.shutdown(); }")
        self.page.context.close()


class ExplorerOnPage:
    """One explorer, and the checks it has to pass; each check gives what is wrong."""

    def __init__(self, notebook, root):
        self.notebook, self.page, self.root = notebook, notebook.page, root
        self.title = root.get_attribute("aria-label") or ""

    def state(self, rest=150):
        """What the explorer shows, once it has come to rest."""
        return self.root.evaluate("settledState", rest)

    def state_when(self, expected, seconds=3):
        """What the explorer shows once that is as `expected`; or after some seconds, as it is then."""
        deadline = time.monotonic() + seconds
        while not expected(state := self.state()) and time.monotonic() < deadline:
            pass  # state() itself waits
        return state

    def controls(self):
        """The names of the controls."""
        return self.root.locator("[data-control]").evaluate_all("all => all.map(e => e.dataset.control)")

    def control(self, name):
        """One control."""
        return self.root.locator(f'[data-control="{name}"]')

    def check_at_rest(self):
        """Named, described, drawn and without an error."""
        state = self.state()
        yield from (f"{self.title}: {error}" for error in state["errors"])
        if not self.title or not state["named"] or not state["description"]:
            yield f"{self.title}: the explorer or a picture of it has no name or description"
        if not state["pictures"] or 0 in state["pictures"]:
            yield f"{self.title}: a picture is empty"
        if not self.controls():
            yield f"{self.title}: there is no control"

    def check_control(self, name):
        """Both ends, reached by keyboard, differ in picture, output and description; coming back shows the same."""
        control, where = self.control(name), f"{self.title}, {name}"
        named = "e => !!(e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim())"
        if not control.evaluate(named):
            yield f"{where}: the control has no label"
        kind = control.evaluate("e => e.tagName === 'SELECT' ? 'select' : e.type")
        start = control.is_checked() if kind == "checkbox" else control.input_value()
        self.move(control, kind, 0)
        low = self.state(rest=300)
        self.move(control, kind, 1)
        high = self.state_when(lambda state: all(state[part] != low[part] for part in ("pictures", "description")))
        self.move(control, kind, 0)
        again = self.state_when(lambda state: all(state[part] == low[part] for part in ("pictures", "description")))
        yield from (f"{where}: {error}" for state in (low, high, again) for error in state["errors"])
        if low["pictures"] == high["pictures"]:
            yield f"{where}: the picture is the same at both ends"
        if low["description"] == high["description"]:
            yield f"{where}: the description is the same at both ends"
        if low["outputs"].get(name) == high["outputs"].get(name) and (kind == "range" or name in low["outputs"]):
            yield f"{where}: the control's output is the same at both ends"
        if (low["pictures"], low["description"]) != (again["pictures"], again["description"]):
            yield f"{where}: coming back shows something else"
        self.put_back(control, kind, start)

    def move(self, control, kind, end):
        """Bring a control to its lower (0) or upper (1) end with keys alone."""
        keyboard = self.page.keyboard
        control.focus()
        if kind in ("range", "select"):
            keyboard.press(("Home", "End")[end])
        elif kind == "checkbox":
            if control.is_checked() != bool(end):
                keyboard.press("Space")
        else:
            text = (
                control.get_attribute(("min", "max")[end]) if kind == "number" else ("a b", "to be or not to be")[end]
            )
            keyboard.press("Control+a")
            keyboard.type(text)
            keyboard.press("Enter")

    def put_back(self, control, kind, value):
        """Give a control its first value again, so that the next check starts where a reader does."""
        if kind == "checkbox":
            control.set_checked(value)
        elif kind == "select":
            control.select_option(value)
        else:
            control.fill(value)
            control.press("Enter")
        self.state()

    def check_cells(self):
        """Arrow keys walk over the cells of a heatmap and read each one out."""
        for canvas in self.root.locator("canvas.explorer-picture[role=application]").all():
            canvas.focus()
            readings = []
            for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
                self.page.keyboard.press(key)
                readings.append(self.state()["readout"])
            if len(set(readings)) < 2 or not all(readings):
                yield f"{self.title}: arrow keys read {readings}"

    def check_contrast(self, theme):
        """Text has contrast with what is behind it (WCAG 2.2 AA)."""
        ratio = self.root.evaluate("lowestContrast")
        if ratio < 4.5:
            yield f"{self.title}: contrast {ratio:.1f} in the {theme} theme, expected at least 4.5"
