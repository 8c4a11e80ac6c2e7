"""An explorer on a page without a kernel: what it is started with, what it is sent, and what it says."""

from encoder_lib.course.explore import Explorer

START = """({ explorer }, state) => {
  const revive = (v) => (v?.bytes ? bytes(v.bytes) : v);
  const colours = Object.entries(state._colours ?? {}).map(([name, table]) => [name, revive(table)]);
  for (const name of Object.keys(state)) state[name] = revive(state[name]);
  window.revive = revive;
  window.model = new Model({ ...state, _colours: Object.fromEntries(colours) });
  window.home = document.createElement('div');
  home.style.width = '900px';
  document.body.replaceChildren(home);
  window.stop = explorer.default.render({ model, el: home });
  return painted();
}"""


def wired(value):
    """A trait as it travels, with bytes as a list of numbers."""
    if isinstance(value, bytes):
        return {"bytes": list(value)}
    return {name: wired(part) for name, part in value.items()} if isinstance(value, dict) else value


def traits(explorer):
    """What the front end gets of an explorer."""
    own = [name for name in explorer.keys if name in (*explorer.values, "title", "error") or name in Explorer.__dict__]
    return {name: wired(getattr(explorer, name)) for name in own if name not in ("_esm", "_css")}


def send(modules, explorer, **values):
    """Set controls in Python; the page gets what has changed as one message."""
    before = traits(explorer)
    explorer.set(**values)
    changed = {name: value for name, value in traits(explorer).items() if value != before[name]}
    script = """async (changed) => {
      for (const name of Object.keys(changed)) changed[name] = revive(changed[name]);
      window.drawn = 0;
      model.message(changed);
      await painted();
      return window.drawn;
    }"""
    return changed, modules.page.evaluate(script, changed)


def text(modules, selector):
    """The text of an element."""
    return modules.page.locator(selector).first.text_content()
