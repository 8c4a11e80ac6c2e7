"""JavaScript modules joined into one: anywidget takes a widget's front end as one string and serves no files beside it.

The modules are what browsers load by themselves, and the tests do. They keep to a plain dialect, in which each of these
begins a line of its file, and whatever lies outside of it is refused:

    import { clamp, percent as inWords } from "./numbers.js";
    export function percent(share) { ... }                         or class, or const: one name each
    export default { initialize, render };                         in the widget's own module, and nothing else there
"""

import re
from dataclasses import dataclass
from pathlib import Path

IMPORT = re.compile(r'^import \{([^{}]*)\} from "\./(\w+\.js)";$', re.MULTILINE)
IMPORTED = re.compile(r"\s*(\w+)(?: as (\w+))?\s*")
EXPORT = re.compile(r"^export (?=(?:(?:async )?function |class |const )(\w+)[ (])", re.MULTILINE)
DEFAULT = re.compile(r"^export default \{[\s\w,]+\};$", re.MULTILINE)
OUTSIDE = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[(.].*", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """One file: the names that it takes from others, with what it calls them; those that it gives; and its code."""

    name: str
    imports: dict[str, list[tuple[str, str]]]
    exports: list[str]
    code: str

    def body(self) -> str:
        """Return its code after lines that fetch what it imports from the scopes of other modules."""
        taken = {
            other: ", ".join(f"{old}: {new}" if old != new else old for old, new in names)
            for other, names in self.imports.items()
        }
        return "\n".join([*(f"const {{ {names} }} = {_scope(other)};" for other, names in taken.items()), self.code])

    def scoped(self) -> str:
        """Return it as a scope of its own, which gives what it exports."""
        return f"const {_scope(self.name)} = (() => {{\n{self.body()}\nreturn {{ {', '.join(self.exports)} }};\n}})();"


def join(entry: Path) -> str:
    """Return the module `entry`, and all modules of its folder that it builds on, as one module.

    The others come first, each in a scope of its own after those that it builds on. Raises ValueError for a file that
    is not there, modules in a circle, names that are not exported, and lines outside of the dialect above.
    """
    modules: dict[str, Module] = {}
    _collect(entry, modules, ())
    *others, own = modules.values()
    return "\n".join([*(module.scoped() for module in others), own.body()])


def _scope(name: str) -> str:
    return name.replace(".", "_")


def _collect(path: Path, modules: dict[str, Module], above: tuple[str, ...]) -> None:
    """Put a module into `modules`, after those that it builds on. Those of `above` wait for it."""
    name = path.name
    if name in above:
        circle = " -> ".join([*above[above.index(name) :], name])
        raise ValueError(f"expected modules without a circle, got {circle}: move what they share to another module")
    if name in modules:
        return
    if not path.is_file():
        raise ValueError(f"expected a file of {path.parent.name}, got {name!r}, from {' -> '.join(above) or 'nowhere'}")
    module = _parse(name, path.read_text(encoding="utf-8"), is_entry=not above)
    for other, names in module.imports.items():
        _collect(path.parent / other, modules, (*above, name))
        exports = modules[other].exports
        if missing := [old for old, _ in names if old not in exports]:
            raise ValueError(f"{name}: expected from {other} some of {exports}, got {missing}: export them there")
    modules[name] = module


def _parse(name: str, source: str, is_entry: bool) -> Module:
    imports: dict[str, list[tuple[str, str]]] = {}
    for listed, other in IMPORT.findall(source):
        if other in imports:
            raise ValueError(f"{name}: expected one import from {other}, got two: put their names into one")
        names = [IMPORTED.fullmatch(part) for part in listed.rstrip().removesuffix(",").split(",")]
        if None in names:
            raise ValueError(f"{name}: expected names to import from {other}, got {listed.strip()!r}")
        imports[other] = [(found[1], found[2] or found[1]) for found in names if found]
    exports, defaults = EXPORT.findall(source), DEFAULT.findall(source)
    code = EXPORT.sub("", IMPORT.sub("", source)).strip()
    if outside := OUTSIDE.search(DEFAULT.sub("", code)):
        raise ValueError(f"{name}: expected imports and exports as join.py describes them, got {outside[0].strip()!r}")
    if (len(defaults), bool(exports)) != (1, False) if is_entry else defaults:
        expected = "export default {...} and no other export" if is_entry else "no default export"
        raise ValueError(f"{name}: expected {expected}, got {exports + ['default'] * len(defaults)}")
    return Module(name, imports, exports, code)
