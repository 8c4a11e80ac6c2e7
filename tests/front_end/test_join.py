"""Modules are joined in order, each in a scope of its own, and what cannot be joined is refused."""

import pytest

from encoder_lib.explore.widget import front_end
from encoder_lib.explore.widget.front_end.join import join

ENTRY = 'import { twice } from "./numbers.js";\n\nexport default { twice };\n'
NUMBERS = "const TWO = 2;\n\nexport const twice = (x) => TWO * x;\n"


@pytest.fixture
def write(tmp_path):
    """Write modules; the path of the first one."""

    def write(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.js").write_text(source, encoding="utf-8")
        return tmp_path / f"{next(iter(sources))}.js"

    return write


def test_a_module_becomes_a_scope_before_the_one_that_builds_on_it(write):
    """What it keeps to itself stays there; the entry stays the module that a widget exports."""
    assert join(write(entry=ENTRY, numbers=NUMBERS)) == (
        "const numbers_js = (() => {\n"
        "const TWO = 2;\n\nconst twice = (x) => TWO * x;\n"
        "return { twice };\n"
        "})();\n"
        "const { twice } = numbers_js;\n"
        "export default { twice };"
    )


def test_a_module_that_many_build_on_comes_once_and_first(write):
    """However they are reached."""
    joined = join(
        write(
            entry='import { a } from "./a.js";\nimport { b } from "./b.js";\nexport default { a, b };',
            a='import { c } from "./c.js";\nexport function a() {\n  return c;\n}',
            b='import {\n  c as d,\n  e,\n} from "./c.js";\nexport class b {\n  c = d + e;\n}',
            c="export const c = 1;\nexport async function e() {}",
        )
    )
    places = [joined.index(f"const {name}_js = ") for name in "cab"]
    assert places == sorted(places) and joined.count("const c_js") == 1
    assert "const { c: d, e } = c_js;" in joined and "return { c, e };" in joined


REFUSED = {
    "a file that is not there": ({"entry": ENTRY}, r"expected a file of .*, got 'numbers.js', from entry.js"),
    "a circle": (
        {
            "entry": 'import { a } from "./a.js";\nexport default { a };',
            "a": 'import { b } from "./b.js";\nexport const a = 1;',
            "b": 'import { a } from "./a.js";\nexport const b = 1;',
        },
        r"without a circle, got a\.js -> b\.js -> a\.js",
    ),
    "itself": ({"entry": 'import { a } from "./entry.js";\nexport default { a };'}, r"entry\.js -> entry\.js"),
    "a name that is not exported": (
        {"entry": ENTRY, "numbers": "const twice = 2;\nexport const thrice = 3;"},
        r"entry\.js: expected from numbers\.js some of \['thrice'\], got \['twice'\]",
    ),
    "no default": ({"entry": 'import { twice } from "./numbers.js";', "numbers": NUMBERS}, r"default .*, got \[\]"),
    "two exports of an entry": ({"entry": "export const a = 1;\nexport default { a };"}, r"got \['a', 'default'\]"),
    "a default of another": (
        {"entry": ENTRY, "numbers": f"{NUMBERS}export default {{ twice }};"},
        r"numbers\.js: expected no default export",
    ),
    "one module twice": (
        {"entry": f'import {{ TWO }} from "./numbers.js";\n{ENTRY}', "numbers": NUMBERS},
        r"expected one import from numbers\.js",
    ),
}
LINES = [
    'import numbers from "./numbers.js";',
    'import * as numbers from "./numbers.js";',
    'import "./numbers.js";',
    "import { twice } from './numbers.js';",
    'import { twice } from "./numbers.js"',
    'import { twice } from "../numbers.js";',
    'import { twice } from "./deep/numbers.js";',
    'import { twice } from "numbers";',
    'import { twice } from "https://example.org/numbers.js";',
    'import { twice } from "./numbers.json";',
    '  import { twice } from "./numbers.js";',
    'const numbers = await import("./numbers.js");',
    "const here = import.meta.url;",
    "export { twice };",
    'export { twice } from "./numbers.js";',
    'export * from "./numbers.js";',
    "export let count = 0;",
    "export var count = 0;",
    "export const { a, b } = {};",
    "export const [a, b] = [];",
    "export function* count() {}",
    "export default function () {}",
    "export default class {}",
    "  export const a = 1;",
]


@pytest.mark.parametrize("case", REFUSED)
def test_modules_that_cannot_be_joined_are_refused(write, case):
    """With what was expected and what came."""
    sources, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        join(write(**sources))


@pytest.mark.parametrize("line", LINES)
def test_a_line_outside_of_the_dialect_is_refused(write, line):
    """In the entry and in a module that it builds on; none of them passes as code."""
    for sources in ({"entry": f"{line}\nexport default {{}};"}, {"entry": ENTRY, "numbers": f"{line}\n{NUMBERS}"}):
        with pytest.raises(ValueError, match=r"(entry|numbers)\.js: expected imports and exports"):
            join(write(**sources, **({} if "numbers" in sources else {"numbers": NUMBERS})))


@pytest.mark.parametrize("names", ["twice thrice", "twice, , thrice", "twice as", "type twice as x y", ""])
def test_imports_that_are_no_list_of_names_are_refused(write, names):
    """A browser would refuse them as well, or they would mean nothing."""
    with pytest.raises(ValueError, match=r"expected names to import from numbers\.js"):
        join(write(entry=f'import {{ {names} }} from "./numbers.js";\nexport default {{}};', numbers=NUMBERS))


@pytest.mark.parametrize("name", ["explorer.js", "prediction.js"])
def test_every_module_of_a_widget_is_in_its_script(name):
    """The script has all that the widget needs, and neither takes nor gives anything else."""
    script = front_end.script(name)
    assert script.count("export ") == script.count("export default { initialize, render };") == 1
    assert "import " not in script


def test_no_module_is_left_over(folder):
    """Each file is part of a widget."""
    scripts = front_end.script("explorer.js") + front_end.script("prediction.js")
    assert {p.name for p in folder.glob("*.js") if f"const {p.stem}_js = " not in scripts} == {
        "explorer.js",
        "prediction.js",
    }
