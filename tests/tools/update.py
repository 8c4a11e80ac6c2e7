"""Fetch the newest course, and lose nothing that its reader wrote: `make update`, `make fresh NOTEBOOK=04`.

Notebooks that the reader has changed go to mine/, each under a name that is free; where git refuses, all is put back.
"""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path


def git(*words):
    """What git says, as a list of names; ends the program with git's own words where it refuses."""
    done = subprocess.run(["git", *words], capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"Nothing of yours was lost, and this did not go on. `git {words[0]}` says:\n{done.stderr}")
    return [name for name in done.stdout.strip().split("\0") if name]


def put_aside(notebooks, then=()):
    """Keep those that are changed in mine/, set them back, and do one thing more with git; says what is kept where."""
    git("write-tree")  # refuses while a conflict is open
    changed = git("diff", "--name-only", "--no-renames", "--diff-filter=MTD", "-z", "HEAD", "--", notebooks)
    kept = {}
    try:
        for path in filter(os.path.lexists, map(Path, changed)):
            names = (Path("mine", f"{path.stem}{f'-{n}' if n > 1 else ''}.ipynb") for n in count(1))
            name = next(name for name in names if not os.path.lexists(name))
            name.parent.mkdir(exist_ok=True)
            kept[path] = shutil.move(path, name)
        if changed:
            git("restore", "--source=HEAD", "--staged", "--worktree", "--", *changed)
        if then:
            git(*then)
    except BaseException:
        for path, name in kept.items():
            os.replace(name, path)
        raise
    return f"yours: {', '.join(map(Path.as_posix, kept.values()))}." if kept else "nothing of yours was in the way."


def update():
    """Go on to the newest commit of the branch from which this one was cloned."""
    git("fetch", "--quiet")
    (news,) = git("rev-list", "--count", "HEAD..@{upstream}")
    if news == "0":
        return "Nothing new; all files stay as they are."
    kept = put_aside("notebooks/*.ipynb", ["merge", "--ff-only", "--no-overwrite-ignore", "@{upstream}"])
    return f"Updated, new commits: {news}; {kept}"


def fresh(number):
    """Set one notebook back to how it came."""
    found = git("ls-files", "-z", f"notebooks/{number}_*.ipynb")
    if len(found) != 1:
        sys.exit(f"NOTEBOOK: expected the number of one notebook, such as 04, got {number!r}")
    return f"{found[0]} is as it came; {put_aside(found[0])}"


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parents[2])
    print(fresh(sys.argv[1]) if sys.argv[1:] else update())
