"""Words in reach: in the lessons, a term that was explained earlier leads to its row of the glossary.

The glossary is the only source. A script of the page shows a row where its term is used.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from address import ROOT
from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "notebooks/glossary"
FIRST = "00_start_here"  # whose drawing introduces the letters
ROW = re.compile(r"^\| ([^|]+) \| .+ \| \[(\d\d)\]\((\w+)\.ipynb\) \|$", re.MULTILINE)
LETTER = re.compile(r"^\| \$([A-Z])\$ \|", re.MULTILINE)
COMMON = {"key", "value"}  # words of everyday: terms only beside another term of their row


@dataclass(frozen=True)
class Term:
    """A term of the glossary, all terms of its row, and the notebook that introduces it."""

    name: str
    row: tuple[str, ...]
    lesson: str

    @property
    def anchor(self) -> str:
        """The id of its row, and of the place in the lesson that explains it."""
        return _anchor(self.row[0])

    @property
    def pattern(self) -> str:
        """What matches the term, also in the plural."""
        plural = (
            re.escape(self.name[:-1]) + "(?:y|ies)" if self.name.endswith("y") else re.escape(self.name) + "(?:e?s)?"
        )
        return rf"\b{plural}\b"


def _anchor(name: str) -> str:
    return "term-" + nodes.make_id(name)


@cache
def glossary() -> tuple[list[Term], list[str]]:
    """Return the terms of the glossary, the longest first, and its letters."""
    text = (ROOT / f"{GLOSSARY}.md").read_text(encoding="utf-8")
    rows = [(tuple(names.split(", ")), lesson) for names, _, lesson in ROW.findall(text)]
    terms = [Term(name, row, lesson) for row, lesson in rows for name in row]
    return sorted(terms, key=lambda term: -len(term.name)), LETTER.findall(text)


def explained(doctree: nodes.document, term: Term) -> nodes.strong | None:
    """Return the bold words of a page that explain a term."""
    pattern = re.compile(term.pattern, re.IGNORECASE)
    return next((bold for bold in doctree.findall(nodes.strong) if pattern.match(bold.astext())), None)


def _sections(doctree: nodes.document) -> Iterator[tuple[int, nodes.paragraph]]:
    """Give the paragraphs outside folds, each with the number of its section; parts of a section count to it."""
    section = folds = 0
    for node in doctree.findall():
        if isinstance(node, nodes.section):
            section += not isinstance(getattr(node.parent, "parent", None), nodes.section)
        elif isinstance(node, nodes.raw):
            folds += node.astext().count("<details") - node.astext().count("</details")
        elif isinstance(node, nodes.paragraph) and not folds:
            yield section, node


def _link(lesson: str, doctree: nodes.document) -> None:
    """In a lesson, link the first use of each term in a section, if an earlier section or lesson explains the term."""
    terms, letters = glossary()
    paragraphs = list(_sections(doctree))
    known = {}  # the last section in which a term isn't known yet
    for term in terms:
        bold = explained(doctree, term)
        if term.lesson < lesson and bold is None:
            known[term] = -1
        elif term.lesson == lesson and bold is not None:
            known[term] = next((section for section, part in paragraphs if bold in part.findall()), len(paragraphs))
            if term.anchor not in doctree.ids:
                bold["ids"].append(term.anchor)
                doctree.ids[term.anchor] = bold
    used = set()
    for section, paragraph in paragraphs:
        words = paragraph.astext()
        for term in terms:
            if term not in known or section <= known[term] or (section, term.row) in used:
                continue
            beside = [other for other in terms if other.row == term.row and other != term]
            if term.name in COMMON and not any(re.search(other.pattern, words) for other in beside):
                continue
            if _linked(paragraph, term):
                used.add((section, term.row))
        for letter in [node for node in paragraph.findall(nodes.math) if node.astext() in letters]:
            if lesson > FIRST and (section, letter.astext()) not in used:
                used.add((section, letter.astext()))
                link = _reference(_anchor(letter.astext()), letter.deepcopy())
                link["reftitle"] = letter.astext()  # a formula alone is no name for a link
                letter.replace_self(link)


def _linked(paragraph: nodes.paragraph, term: Term) -> bool:
    """Link the first use of a term in a paragraph; whether there is one."""
    for text in paragraph.findall(nodes.Text):
        if text.parent is paragraph and (found := re.search(term.pattern, text, re.IGNORECASE)):
            before, use, after = text[: found.start()], found[0], text[found.end() :]
            link = _reference(term.anchor, nodes.Text(use))
            paragraph.replace(text, [nodes.Text(before), link, nodes.Text(after)])
            return True
    return False


def _reference(anchor: str, content: nodes.Node) -> nodes.reference:
    return nodes.reference("", "", content, refuri=f"glossary.html#{anchor}", internal=True, classes=["term"])


def _name_rows(app: Sphinx, doctree: nodes.document) -> None:
    """In the glossary, give each row an id, and let it lead to the place that explains its term."""
    terms, letters = glossary()
    for row in doctree.findall(nodes.row):
        name = row[0].astext()
        if name in letters:
            row["ids"].append(_anchor(name))
        for term in (term for term in terms if term.row[0] == term.name and ", ".join(term.row) == name):
            row["ids"].append(term.anchor)
            lesson = app.env.get_doctree(f"notebooks/{term.lesson}")
            if any(explained(lesson, other) for other in terms if other.row == term.row):
                for link in row[2].findall(nodes.reference):
                    link["refuri"] += f"#{term.anchor}"


def _resolve(app: Sphinx, doctree: nodes.document, name: str) -> None:
    if name == GLOSSARY:
        _name_rows(app, doctree)
    elif name.startswith("notebooks/"):
        _link(name.removeprefix("notebooks/"), doctree)


def setup(app: Sphinx) -> dict:
    """Called by Sphinx."""
    app.connect("doctree-resolved", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
