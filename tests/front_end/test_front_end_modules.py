"""A browser loads the modules by itself and gets what the joined script has."""

import pytest

from encoder_lib.explore.widget import front_end
from encoder_lib.explore.widget.front_end.join import EXPORT

pytestmark = pytest.mark.browser
FILES = sorted(path.name for path in front_end.FOLDER.glob("*.js"))


@pytest.mark.parametrize("name", FILES)
def test_a_module_exports_what_the_joined_script_takes_from_it(modules, name):
    """The joiner reads exports from the text; the browser knows them."""
    source = (front_end.FOLDER / name).read_text(encoding="utf-8")
    expected = ["default"] if name in ("explorer.js", "prediction.js") else EXPORT.findall(source)
    assert modules.page.evaluate("async (name) => Object.keys(await import(`/${name}`))", name) == sorted(expected)


@pytest.mark.parametrize("name", ["explorer.js", "prediction.js"])
def test_a_joined_script_loads_under_a_policy_that_allows_only_itself(modules, name):
    """As anywidget loads it: from a blob, with nothing else allowed on the page."""
    load = """async (script) => {
      const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
      const { default: widget, ...others } = await import(url);
      return [Object.keys(widget), Object.keys(others)];
    }"""
    assert modules.page.evaluate(load, front_end.script(name)) == [["initialize", "render"], []]
