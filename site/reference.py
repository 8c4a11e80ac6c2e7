"""The reference of the library: one page for each of its packages, made from the docstrings."""

import ast
import re
from pathlib import Path

from address import ROOT

LIBRARY = ROOT / "encoder_lib"
ITEM = re.compile(r"^([a-z_]\w*(?:, \w+)*|`[^`]+`): (?=\S)")
CODE = re.compile(r"(`+)(.+?)\1")
SPECIAL = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def write_reference(folder: Path) -> None:
    """Write a page for each package of the library into `folder`; that of the library leads to the others."""
    parts = {}
    parents = (LIBRARY, LIBRARY / "course", LIBRARY / "course/kit")  # each package in one of these has its own page
    for parent in parents:
        parts[_module(parent / "__init__.py")] = sorted(parent.glob("*.py"))
        for package in sorted({path.parent for path in parent.glob("*/__init__.py")} - {*parents}):
            parts[_module(package / "__init__.py")] = sorted(package.rglob("*.py"))
    (folder / "reference").mkdir()
    for name, files in parts.items():
        modules = [module for module in map(_module, files) if not module.endswith("__main__")]
        blocks = [_block(module, own=module == name) for module in modules]
        summary = ast.get_docstring(ast.parse(files[0].read_text(encoding="utf-8"))).partition("\n")[0]
        lines = [f":description: {summary}", "", name, "=" * len(name), "", *blocks]
        if name == LIBRARY.name:
            lines += ["Packages", "--------", "", ".. toctree::", "", *(f"   {part}" for part in parts if part != name)]
        (folder / "reference" / f"{name}.rst").write_text("\n".join(lines))


def _module(path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _block(module: str, *, own: bool) -> str:
    """Return the source for one module: its docstring and, unless it is a package, its members in order."""
    path = ROOT.joinpath(*module.split("."))
    package = path.is_dir()
    source = (path / "__init__.py" if package else path.with_suffix(".py")).read_text(encoding="utf-8")
    heading = [] if own else [module, "-" * len(module), ""]
    members = [] if package or not _public(source) else ["   :members:", "   :member-order: bysource"]
    return "\n".join([*heading, f".. automodule:: {module}", *members, ""])


def _public(source: str) -> bool:
    """Whether a file defines any public function or class."""
    kinds = ast.FunctionDef | ast.ClassDef
    return any(isinstance(node, kinds) and not node.name.startswith("_") for node in ast.parse(source).body)


def as_rst(lines: list[str]) -> list[str]:
    """Turn a docstring of this project into reStructuredText: indented paragraphs are code, `name: text` is an item."""
    out: list[str] = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        rows = [row for row in paragraph.split("\n") if row.strip()]
        if rows and all(row.startswith("    ") for row in rows):
            out += ["::", "", *rows, ""]
            continue
        items: list[str] = []
        for row in rows:
            if items and row.startswith(" "):
                items[-1] += " " + row.strip()
            elif not items or ITEM.match(row) or row.startswith("Raises ") or items[-1].startswith("- "):
                named = ITEM.match(row)
                items.append(f"- {row}" if named else row)
            else:
                items[-1] += " " + row.strip()
        for item in items:
            out += [_escaped(item), ""]
    return out


def _escaped(text: str) -> str:
    """Put code into two backticks, and escape everything else that reStructuredText would take for markup."""
    pieces, end = [], 0
    for code in CODE.finditer(text):
        pieces += [SPECIAL.sub(r"\\\1", text[end : code.start()]), f"``{code[2]}``"]
        end = code.end()
    joined = "".join([*pieces, SPECIAL.sub(r"\\\1", text[end:])])
    return re.sub(r"(?<=``)(?=\w)", r"\\ ", joined) if re.search(r"``\w", joined) is None else joined
