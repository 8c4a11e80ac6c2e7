"""The front end's modules as a browser loads them by itself, file by file, on a page that takes nothing else."""

import json
from urllib.parse import urlsplit

import pytest
from front_end_page import START, traits

from encoder_lib.course.kit.widget import front_end

HOME = "http://front.end"
POLICY = "default-src 'none'; script-src 'self' blob:; img-src blob:; style-src 'unsafe-inline'"
# A model that keeps its traits on the page, and takes messages as a kernel would send them.
MODEL = """
window.Model = class {
  listeners = new Map();
  sent = [];
  constructor(traits) { this.traits = traits; }
  get(name) { return this.traits[name]; }
  set(name, value) { this.message({ [name]: value }); }
  save_changes() { this.sent.push(structuredClone(this.traits)); }
  on(events, callback) { for (const event of events.split(' ')) this.callbacks(event).add(callback); }
  off(events, callback) { for (const event of events.split(' ')) this.callbacks(event).delete(callback); }
  callbacks(event) { return this.listeners.get(event) ?? this.listeners.set(event, new Set()).get(event); }
  echo() { for (const callback of this.callbacks('msg:custom')) callback(this); }
  message(traits) {
    const changed = Object.keys(traits).filter((name) => this.traits[name] !== traits[name]);
    Object.assign(this.traits, traits);
    for (const name of changed) for (const callback of [...this.callbacks(`change:${name}`)]) callback(this);
  }
};
window.bytes = (numbers) => new DataView(Uint8Array.from(numbers).buffer);
window.painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
"""


class Modules:
    """The modules, on a page of their own."""

    def __init__(self, page):
        self.problems, self.page = [], page
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))
        self.page.route("**/*", self._serve)
        self.page.goto(HOME)
        self.page.evaluate(MODEL + "0")

    def _serve(self, route):
        name = urlsplit(route.request.url).path.strip("/")
        if not name:
            body = "<!doctype html><title>modules</title><body></body>"
            route.fulfill(body=body, content_type="text/html", headers={"Content-Security-Policy": POLICY})
        elif (front_end.FOLDER / name).is_file():
            route.fulfill(path=front_end.FOLDER / name, content_type="text/javascript")
        else:
            route.fulfill(status=404, body="")

    def call(self, module, function, calls):
        """What a function of a module gives for each list of arguments."""
        script = """async ([module, name, calls]) => {
          const exported = (await import(`/${module}`))[name];
          return calls.map((all) => exported(...all));
        }"""
        return self.page.evaluate(script, [module, function, calls])

    def run(self, script, argument=None):
        """Run a function of (modules, argument) on the page; `modules` holds every module by its name without .js."""
        names = [path.stem for path in sorted(front_end.FOLDER.glob("*.js"))]
        load = f"""async (argument) => {{
          const names = {json.dumps(names)};
          const all = await Promise.all(names.map((name) => import(`/${{name}}.js`)));
          return ({script})(Object.fromEntries(names.map((name, i) => [name, all[i]])), argument);
        }}"""
        return self.page.evaluate(load, argument)


@pytest.fixture(scope="module")
def modules(browser):
    """The modules of the front end; the page must end without an error."""
    modules = Modules(browser.new_page())
    yield modules
    assert modules.problems == []
    modules.page.close()


@pytest.fixture
def start(modules):
    """Show an explorer on the page."""

    def start(explorer):
        modules.run(START, traits(explorer))
        return explorer

    yield start
    modules.page.evaluate("() => { stop(); home.remove(); }")
