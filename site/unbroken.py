"""What stays on one line of a page."""

import re

END = "</span><!-- of a formula -->"
ENDED = re.compile(END + r"([.,;:)]+)")
CODE = re.compile(r"(<(?:pre|code|script)\b.*?</(?:pre|code|script)>|<[^>]*>)", re.DOTALL)  # and the tags themselves
PERCENT = re.compile(r"(?<=\d) (?=%)")
NUMBERED = re.compile(r"(?<=\w) (?=\d+</th>)")  # a row or a column such as "row 1"
SPACE = "\N{NO-BREAK SPACE}"


def unbroken(body: str) -> str:
    """Keep together, in the HTML of a page, a short formula and the punctuation behind it, a number and its percent
    sign, and, in the heads of tables, a name and its number."""
    body = ENDED.sub(r"\1</span>", body).replace(END, "</span>")
    parts = CODE.split(NUMBERED.sub(SPACE, body))
    return "".join(part if part.startswith("<") else PERCENT.sub(SPACE, part) for part in parts)
