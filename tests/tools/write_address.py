"""Write the repository's address wherever it is shown: `make address REPOSITORY=https://github.com/you/course`.

README, CITATION.cff and the notebooks follow pyproject.toml; while nobody has set it, no link there leads nowhere.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
if len(sys.argv) > 1:  # written before `address` reads it
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(\.git|/)?", sys.argv[1])
    if not found:
        sys.exit(f"REPOSITORY: expected https://github.com/owner/name, got {sys.argv[1]!r}")
    project = re.sub(r"(?m)^Repository = .*", f'Repository = "https://github.com/{found[1]}"', project)
    (ROOT / "pyproject.toml").write_text(project, encoding="utf-8")

import address  # noqa: E402

BADGE, FIRST = "https://img.shields.io/badge", "notebooks/00_start_here.ipynb"
ACTIONS = f"{address.REPOSITORY}/actions/workflows/ci.yml"
PYTHONS = re.findall(r"Python :: ([\d.]+)", project)
BADGES = f"""[![Python]({BADGE}/Python-{PYTHONS[0]}_to_{PYTHONS[-1]}-blue)](pyproject.toml)
[![MIT licence]({BADGE}/licence-MIT-blue)](LICENSE)
"""
UNSET = """
This course isn't published yet. `make site` builds the web edition on your own machine. Once the repository has an
address, `make address REPOSITORY=…` writes it here, with links to the web edition and to Binder."""
SET = f"""[![CI]({ACTIONS}/badge.svg?branch=main)]({ACTIONS})
[![Web edition]({BADGE}/web_edition-read_it-blue)]({address.HOME})
[![Open 00 on Binder](https://mybinder.org/badge_logo.svg)]({address.binder(FIRST)})
[![Open 00 on Colab](https://colab.research.google.com/assets/colab-badge.svg)]({address.colab(FIRST)})

**[Read it on the web]({address.HOME})**, every explorer alive, with nothing to install."""


def written(path):
    """What a file holds at the address that pyproject.toml names."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        first_lines = BADGES + (SET if address.KNOWN else UNSET)
        text = re.sub(r"(?<=git clone )\S+", address.REPOSITORY if address.KNOWN else "URL", text)
        return re.sub(r"(?s)(<!-- address .*?-->\n).*(\n<!-- /address -->)", rf"\1{first_lines}\2", text)
    if path.suffix == ".cff":
        text = re.sub(r"(?m)^repository-code: .*\n", "", text)
        return text + (f"repository-code: {address.REPOSITORY}\n" if address.KNOWN else "")
    notebook = json.loads(re.sub(r"https://\S+(?= /content/course)", address.REPOSITORY, text))
    if notebook["cells"][-1]["id"] != "wrong":
        notebook["cells"].append({"cell_type": "markdown", "id": "wrong", "metadata": {}})
    notebook["cells"][-1]["source"] = [address.closing(path.stem)]
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


for path in (ROOT / "README.md", ROOT / "CITATION.cff", *ROOT.glob("notebooks/*.ipynb")):
    path.write_text(written(path), encoding="utf-8")
