"""Where the course lies: its repository, and from that every link out of the pages."""

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
    """The address of a file or folder of the repository."""
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/{BRANCH}/{quote(path)}"


def binder(path: str) -> str:
    """Where a notebook opens on Binder."""
    return f"https://mybinder.org/v2/gh/{_name}/{BRANCH}?urlpath=lab/tree/{quote(path)}"


def colab(path: str) -> str:
    """Where a notebook opens on Colab."""
    return f"https://colab.research.google.com/github/{_name}/blob/{BRANCH}/{quote(path)}"


def ways(path: str) -> dict[str, str]:
    """Where a notebook can be run: names, and addresses as the page of a lesson has them."""
    if not KNOWN:
        return {"your own machine": "../index.html#run-it"}
    return {"Binder": binder(path), "Colab": colab(path)}


def live(path: str) -> str:
    """Links that lead where a notebook can be run, as HTML."""
    return " or ".join(f'<a href="{address}">{name}</a>' for name, address in ways(path).items())


def closing(stem: str) -> str:
    """What a notebook ends with, as Markdown: where to say what is wrong, in forms with its name filled in."""
    asked = {"sentence": "was a sentence unclear", "check": "did a check judge wrongly", "run": "did something not run"}
    if not KNOWN:
        question = ", or ".join(asked.values()).capitalize()
        return f"{question}? Tell the person who gave you this course; the notebook is {stem[:2]}."
    links = [f"[{text}]({REPOSITORY}/issues/new?template={form}.yml&notebook={stem})" for form, text in asked.items()]
    return f"Please tell us: {', or '.join(links)}? The form already knows your notebook."
