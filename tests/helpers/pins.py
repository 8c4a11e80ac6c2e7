"""What the requirement files pin."""

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from places import ROOT


def pins(path):
    """The pinned requirements of a file, by name."""
    rows = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    parsed = [Requirement(row) for row in rows if row and not row.startswith("-")]
    return {canonicalize_name(requirement.name): requirement for requirement in parsed}


def version(requirement):
    """The one exact version that a pin allows, without a local build tag."""
    (only,) = requirement.specifier
    assert only.operator == "==", f"{requirement} is not an exact pin"
    return only.version.partition("+")[0]


REQUIRED = {name: version(pin) for name, pin in pins(ROOT / "requirements.txt").items()}
