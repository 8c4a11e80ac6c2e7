"""What stays on one line of a page: a number and its percent sign, a name and its number in the head of a table."""

import pytest
from unbroken import END, unbroken

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>about 55 % of all</p>", f"<p>about 55{SPACE}% of all</p>"),
        ("<tr><th>row 1</th><td>row 1</td></tr>", f"<tr><th>row{SPACE}1</th><td>row 1</td></tr>"),
        ("<pre>\n7 <b>x</b> 7 % 2\n</pre>", "<pre>\n7 <b>x</b> 7 % 2\n</pre>"),
        ("<p><code>7 % 2</code></p>", "<p><code>7 % 2</code></p>"),
        ('<img alt="12 %">', '<img alt="12 %">'),
        (f"<span>x{END}, then", "<span>x,</span> then"),
    ],
    ids=["percent", "heads", "code", "code in a sentence", "attributes", "formulas"],
)
def test_what_belongs_together_stays_together(body, expected):
    assert unbroken(body) == expected
