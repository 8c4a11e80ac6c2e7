"""Write the repository's address wherever it stands: `make address REPOSITORY=https://github.com/you/course`.

It stands in pyproject.toml; README, CITATION.cff and the notebooks follow it. While nobody has set it, they show no
link that would lead nowhere.
"""

import importlib
import os
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "site"))

import address  # noqa: E402

PROJECT = ROOT / "pyproject.toml"
FILES = [ROOT / "README.md", ROOT / "CITATION.cff", *sorted(ROOT.glob("notebooks/*.ipynb"))]
BADGE = "https://img.shields.io/badge"


def badges():
    """The README's first lines: what is true of the repository, and where to read, run and try it."""
    pythons = re.findall(r"Python :: ([\d.]+)", PROJECT.read_text(encoding="utf-8"))
    yield f"[![Python]({BADGE}/Python-{pythons[0]}_to_{pythons[-1]}-blue)](pyproject.toml)"
    yield f"[![MIT licence]({BADGE}/licence-MIT-blue)](LICENSE)"
    if not address.KNOWN:
        yield "\nNot published yet: `make site` builds the web edition, `make address` links it and Binder here."
        return
    actions, first = f"{address.REPOSITORY}/actions/workflows/ci.yml", "notebooks/00_start_here.ipynb"
    yield f"[![CI]({actions}/badge.svg?branch=main)]({actions})"
    yield f"[![Web edition]({BADGE}/web_edition-read_it-blue)]({address.HOME})"
    yield f"[![Open 00 on Binder](https://mybinder.org/badge_logo.svg)]({address.binder(first)})"
    yield f"[![Open 00 on Colab](https://colab.research.google.com/assets/colab-badge.svg)]({address.colab(first)})"
    yield f"\n**[Read it on the web]({address.HOME})**, every explorer alive, with nothing to install."


def written(path):
    """What a file of FILES holds at the address that pyproject.toml names."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        between = "\n".join(badges())
        return re.sub(r"(?s)(<!-- address .*?-->\n).*(\n<!-- /address -->)", rf"\1{between}\2", text)
    if path.suffix == ".cff":
        text = re.sub(r"(?m)^repository-code: .*\n", "", text)
        return text + (f"repository-code: {address.REPOSITORY}\n" if address.KNOWN else "")
    notebook = nbformat.reads(re.sub(r"https://\S+(?= /content/course)", address.REPOSITORY, text), as_version=4)
    if notebook.cells[-1].id != "wrong":
        notebook.cells.append(nbformat.v4.new_markdown_cell(id="wrong"))
    notebook.cells[-1].source = address.closing(path.stem)
    return nbformat.writes(notebook) + "\n"


def main(repository=""):
    """Set the address, where one is given, and write it everywhere."""
    os.environ.pop("GITHUB_REPOSITORY", None)  # a workflow's own
    if repository:
        if not (found := re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", repository)):
            sys.exit(f"REPOSITORY: expected https://github.com/owner/name, got {repository!r}")
        text = PROJECT.read_text(encoding="utf-8")
        text = re.sub(r"(?m)^(Homepage = ).*", rf'\1"https://{found[1]}.github.io/{found[2]}/"', text)
        PROJECT.write_text(re.sub(r"(?m)^(Repository = ).*", rf'\1"{repository}"', text), encoding="utf-8")
    importlib.reload(address)
    for path in FILES:
        path.write_text(written(path), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
