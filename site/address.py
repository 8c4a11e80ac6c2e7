"""The address of the course's repository, and all links that depend on it."""

import os
import tomllib
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
_own = URLS["Repository"].removeprefix("https://github.com/")  # owner/name
_name = os.environ.get("GITHUB_REPOSITORY") or _own  # in a workflow, the fork that publishes
_owner, _, _course = _name.partition("/")
REPOSITORY, HOME = f"https://github.com/{_name}", f"https://{_owner.lower()}.github.io/{_course}/"
KNOWN = "/OWNER/" not in REPOSITORY  # before the course is published, its links would lead nowhere
BRANCH = "main"


def source(path: str) -> str:
    """Return the address of a file or folder in the repository."""
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/{BRANCH}/{quote(path)}"


def binder(path: str) -> str:
    """Return the address that opens a notebook on Binder."""
    return f"https://mybinder.org/v2/gh/{_name}/{BRANCH}?urlpath=lab/tree/{quote(path)}"


def colab(path: str) -> str:
    """Return the address that opens a notebook on Colab."""
    return f"https://colab.research.google.com/github/{_name}/blob/{BRANCH}/{quote(path)}"


def places(path: str) -> dict[str, str]:
    """Return where a notebook can be run: the names, and the addresses as seen from the page of a lesson."""
    if not KNOWN:
        return {"your own machine": "../index.html#run-it"}
    return {"Binder": binder(path), "Colab": colab(path)}


def live(path: str) -> str:
    """Return links to where a notebook can be run, as HTML."""
    return " or ".join(f'<a href="{address}">{name}</a>' for name, address in places(path).items())


def closing(stem: str) -> str:
    """Return the end of a notebook as Markdown: links to forms for what was wrong, with its number filled in."""
    asked = {"sentence": "was a sentence unclear", "check": "did a check judge wrongly", "run": "did something not run"}
    if not KNOWN:
        question = ", or ".join(asked.values()).capitalize()
        return f"{question}? Tell the person who gave you this course; the notebook is {stem[:2]}."
    links = [f"[{text}]({REPOSITORY}/issues/new?template={form}.yml&notebook={stem})" for form, text in asked.items()]
    return f"Please tell us: {', or '.join(links)}? The form already knows your notebook."
