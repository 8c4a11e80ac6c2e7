"""The notebooks as pages without a kernel, as nbconvert, GitHub and a course's web site show what is stored."""

import re
from hashlib import sha256

import nbformat
from accessibility import AXE, axe_faults
from nbconvert import HTMLExporter
from notebook_rules import Tags, code_cells, data_of
from places import NOTEBOOKS, ROOT


def test_a_page_without_a_kernel_describes_its_pictures(browser):
    """The first notebook; axe sees the outputs of all in JupyterLab and on the web, and the rules their alt texts."""
    notebook, page = nbformat.read(NOTEBOOKS[0], as_version=4), browser.new_page()
    html = "".join(data.get("text/html", "") for cell in code_cells(notebook) for data in data_of(cell))
    stored = [attributes.get("alt") for tag, attributes in Tags(html).found if tag == "img"]
    page.route("**/*", lambda route: route.abort())  # what the page asks of the web does not come
    page.set_content(HTMLExporter().from_notebook_node(notebook)[0])
    alts = page.locator(".jp-OutputArea-output img").evaluate_all("all => all.map((e) => e.alt)")
    assert axe_faults(page, css="") == []
    assert alts and alts == stored and all(alts)
    page.close()


def test_axe_matches_the_version_and_digest_of_its_readme():
    """Its version and its digest; it comes with its licence, and no package of the library holds it."""
    folder = ROOT / "tests/browser/vendor/axe-core"
    readme = (folder / "README.md").read_text()
    version, digest = re.search(r"axe-core ([\d.]+)", readme).group(1), re.search(r"[0-9a-f]{64}", readme).group()
    assert AXE.startswith(f"/*! axe v{version}\n") and sha256(AXE.encode()).hexdigest() == digest
    assert "Mozilla Public License" in (folder / "LICENSE").read_text()
    assert not list((ROOT / "encoder_lib").rglob("axe*"))
