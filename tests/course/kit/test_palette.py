"""The palette in Python is the one in CSS."""

import re

from encoder_lib.course.kit import palette

ROLES = ("attention", "forward", "norm", "stream", "position", "embedding", "query", "key", "value")


def test_every_role_has_a_colour_in_each_theme():
    css = palette.FILE.read_text(encoding="utf-8")
    defined = re.findall(r"--([\w-]+):", css)
    assert list(palette.LIGHT) == list(palette.DARK) == defined and len(defined) == len(set(defined))
    assert {*ROLES, "sentence-1", "sentence-2", "ink", "quiet", "ground", "line"} <= set(defined)
    for role, light in palette.LIGHT.items():
        assert f"--{role}: light-dark({light}, {palette.DARK[role]});" in css
        assert re.fullmatch("#[0-9a-f]{6}", light) and light != palette.DARK[role]
