"""Fetch the newest course, and lose nothing that its reader wrote: `make update`, `make fresh NOTEBOOK=04`.

Notebooks that the reader has changed, and files of the reader's that stand where new ones go, are kept in mine/, which
git ignores, each under a name that is free. This needs Python and git, and nothing that has to be installed.
"""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path


def git(*words):
    """What git says, as a list of names; ends the program with git's own words where it cannot do that."""
    done = subprocess.run(["git", *words], capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"Nothing of yours was lost, and this did not go on. `git {' '.join(words[:2])}` says:\n{done.stderr}")
    return [name for name in done.stdout.strip().split("\0") if name]


def changed(*names):
    """The files of the last commit that are other ones now."""
    return git("diff", "--name-only", "--no-renames", "--diff-filter=MTD", "-z", "HEAD", "--", *names)


def in_the_way(names):
    """What stands at the place of a file, or of a folder above it, that the last commit does not have."""
    known = set(git("ls-tree", "-r", "--name-only", "-z", "HEAD"))
    for path in map(Path, sorted(set(names) - known)):
        above = [folder for folder in path.parents if os.path.lexists(folder) and not folder.is_dir()]
        yield from (above or [path])[:1]


def keep(notebooks, others=()):
    """Move what is the reader's into mine/, and set the notebooks back; says what is kept where."""
    kept = []
    for path in filter(os.path.lexists, [*map(Path, notebooks), *others]):
        names = (f"mine/{path.stem}{f'-{n}' if n > 1 else ''}{path.suffix}" for n in count(1))
        kept.append(next(name for name in names if not os.path.lexists(name)))
        Path("mine").mkdir(exist_ok=True)
        shutil.move(path, kept[-1])
    if notebooks:
        git("restore", "--source=HEAD", "--staged", "--worktree", "--", *notebooks)
    return f"yours: {', '.join(kept)}." if kept else "nothing of yours was in the way."


def update():
    """Go on to the newest commit of the branch from which this one was cloned."""
    git("fetch", "--quiet")
    (news,), (own,) = (git("rev-list", "--count", ends) for ends in ("HEAD..@{upstream}", "@{upstream}..HEAD"))
    if news == "0":
        return "Nothing new; all files stay as they are."
    if own != "0":
        return "You have commits of your own, so nothing was changed. `git merge` brings both together."
    coming = git("diff", "--name-only", "--no-renames", "-z", "HEAD", "@{upstream}")
    notebooks = changed("notebooks/*.ipynb")
    if both := sorted(set(coming) & set(changed()) - set(notebooks)):
        return f"You and the course have changed {', '.join(both)}, so nothing was done. `git stash` puts yours aside."
    kept = keep(notebooks, dict.fromkeys(in_the_way(coming)))
    git("merge", "--ff-only", "--quiet", "@{upstream}")
    return f"Updated, new commits: {news}; {kept}"


def fresh(number):
    """Set one notebook back to how it came."""
    found = [name for name in git("ls-files", "-z", "notebooks/*.ipynb") if Path(name).name.startswith(number)]
    if len(found) != 1:
        sys.exit(f"NOTEBOOK: expected the number of one notebook, such as 04, got {number!r}")
    return f"{found[0]} is as it came; {keep(found)}" if changed(found[0]) else f"{found[0]} was as it came."


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parents[2])
    print(fresh(sys.argv[1]) if sys.argv[1:] else update())
