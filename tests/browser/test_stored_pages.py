"""The notebooks as pages without a kernel, as nbconvert, GitHub and a course's web site show what is stored."""

import re
from hashlib import sha256

import nbformat
from accessibility import AXE, axe_faults
from nbconvert import HTMLExporter
from notebook_rules import Tags, code_cells, data_of
from places import NOTEBOOKS, ROOT


def alt_texts(notebook):
    """The alt texts of the stored pictures."""
    html = "".join(data.get("text/html", "") for cell in code_cells(notebook) for data in data_of(cell))
    return [attributes.get("alt") for tag, attributes in Tags(html).found if tag == "img"]


def read_page(browser, notebook):
    """What axe-core finds in the page that nbconvert makes of a notebook, and the alt texts of its pictures."""
    page = browser.new_page()
    page.route("**/*", lambda route: route.abort())  # what the page asks of the web does not come
    page.set_content(HTMLExporter().from_notebook_node(notebook)[0])
    alts = page.locator(".jp-OutputArea-output img").evaluate_all("all => all.map((e) => e.alt)")
    found = axe_faults(page, css="")
    page.close()
    return found, alts


def test_a_page_without_a_kernel_describes_its_pictures(browser):
    """The first notebook; axe sees the outputs of all in JupyterLab and on the web, and the rules their alt texts."""
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    found, alts = read_page(browser, notebook)
    assert found == []
    assert alts and alts == alt_texts(notebook) and all(alts)


def test_a_page_with_faults_is_noticed(browser):
    """nbconvert puts a text of its own where one is missing; a button without a name is found."""
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    cell = next(cell for cell in code_cells(notebook) if any("image/png" in data for data in data_of(cell)))
    (data,) = data_of(cell)
    (picture,) = (attributes for tag, attributes in Tags(data["text/html"]).found if tag == "img")
    data["text/html"] = f'<img src="{picture["src"]}"><button></button>'
    found, alts = read_page(browser, notebook)
    assert len(found) == 1 and "button-name" in found[0]
    assert None in alt_texts(notebook) and alts != alt_texts(notebook)


def test_axe_is_the_file_that_its_readme_names():
    """Its version and its digest; it comes with its licence, and no package of the library holds it."""
    folder = ROOT / "tests/browser/vendor/axe-core"
    readme = (folder / "README.md").read_text()
    version, digest = re.search(r"axe-core ([\d.]+)", readme).group(1), re.search(r"[0-9a-f]{64}", readme).group()
    assert AXE.startswith(f"/*! axe v{version}\n") and sha256(AXE.encode()).hexdigest() == digest
    assert "Mozilla Public License" in (folder / "LICENSE").read_text()
    assert not list((ROOT / "encoder_lib").rglob("axe*"))
