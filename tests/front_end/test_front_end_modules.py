"""The script of a widget is its modules, one after another: no name is given twice, and a browser takes it as it is."""

import re
from collections import Counter

import pytest

from encoder_lib.course.kit.widget import front_end

WIDGETS = ("explorer.js", "prediction.js", "alive.js", "search_bars.js")
TOP = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("widget", WIDGETS)
def test_no_two_modules_of_a_widget_share_a_name(widget):
    names = Counter(TOP.findall(front_end.script(widget)))
    assert len(names) > 10 and [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_bundle_imports_nothing_and_exports_the_widget(widget):
    script = front_end.script(widget)
    assert script.count("export ") == script.count("export default { initialize, render };") == 1
    assert "import " not in script


def test_every_module_is_bundled():
    scripts = "".join(map(front_end.script, WIDGETS))
    for path in front_end.FOLDER.glob("*.js"):
        source = path.read_text(encoding="utf-8")
        assert front_end.EXPORT.sub("", front_end.IMPORT.sub("", source)) in scripts, path.name


@pytest.mark.browser
@pytest.mark.parametrize("widget", WIDGETS)
def test_a_bundle_loads_under_a_strict_content_policy(modules, widget):
    """As anywidget loads it: from a blob, with nothing else allowed on the page."""
    load = """async (script) => {
      const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
      const { default: widget, ...others } = await import(url);
      return [Object.keys(widget), Object.keys(others)];
    }"""
    assert modules.page.evaluate(load, front_end.script(widget)) == [["initialize", "render"], []]
