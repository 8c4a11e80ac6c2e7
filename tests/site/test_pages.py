"""The pages of the web edition: complete, led to each other, described, small, and from nowhere else."""

import gzip
import json
import os
import re
import subprocess
from urllib.parse import unquote, urljoin, urlsplit

import address
import nbformat
import pytest
from bs4 import BeautifulSoup
from notebook_rules import code_cells, is_explorer, tags
from places import NOTEBOOKS, ROOT

from encoder_lib.course.kit.lessons import texts

pytestmark = pytest.mark.long
LARGEST, ALL = 400_000, 6_000_000  # bytes of a recording, and of all of them
PAGE = 330_000  # bytes of a page, without what it loads
NAMED = ("src", "href", "data-recording", "data-answer", "data-order", "data-typed")
LOADS = ", ".join(
    [*(f"[{name}]" for name in NAMED if name != "href"), "link:not([rel~=canonical], [rel~=next], [rel~=prev])"]
)
OFFLINE = """
import runpy, socket, sys
def refuse(self, address):
    raise OSError(f"the build asks for {address}")
socket.socket.connect = refuse
sys.path.insert(0, sys.argv[1].rpartition("/")[0])
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
ELSEWHERE = ("github.com/OWNER", "OWNER.github.io", "mybinder.org/v2", "colab.research.google.com/github")
KERNEL = re.compile(r"(?i)\b(kernel|NameError|run (the|this|that) cell|put .* back|shift and enter|run all)\b")


class Page:
    """A page: its ids, what it links to, what it loads, its title and its metadata."""

    def __init__(self, path):
        self.soup = soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        self.ids = {tag[name] for name in ("id", "name") for tag in soup.find_all(attrs={name: True})}
        self.links = [tag["href"] for tag in soup.select("a[href]")]
        self.loads = [tag[name] for tag in soup.select(LOADS) for name in NAMED if name in tag.attrs]
        self.meta = {tag.get("name") or tag.get("property"): tag["content"] for tag in soup.select("meta[content]")}
        self.title = soup.title.text


@pytest.fixture(scope="module")
def pages(html):
    """All pages by their path; answers, which are not pages of the course, are left out."""
    paths = [path for path in html.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(html).as_posix(): Page(path) for path in paths}


@pytest.fixture(scope="module")
def lessons(pages):
    """The pages of the notebooks, parsed."""
    return {path.stem: pages[f"notebooks/{path.stem}.html"].soup for path in NOTEBOOKS}


def broken(html, pages, name, link):
    """What is wrong with a link of a page; nothing for one that leads out of the site."""
    target = urlsplit(urljoin(f"/{name}", link))
    if target.scheme or target.netloc:
        return
    path = unquote(target.path).removeprefix("/") or "index.html"
    if not (html / path).is_file():
        yield f"{name}: {link} leads nowhere"
    elif target.fragment and path in pages and unquote(target.fragment) not in pages[path].ids:
        yield f"{name}: {link} leads to no place of the page"


def test_every_link_leads_somewhere(html, pages):
    found = [words for name, page in pages.items() for link in page.links for words in broken(html, pages, name, link)]
    assert found == []


def test_a_broken_link_is_detected(html, pages):
    for link in ("nowhere.html", "notebooks/glossary.html#nowhere"):
        assert len(list(broken(html, pages, "index.html", link))) == 1
    for link in ("notebooks/glossary.html", "#", "https://example.org"):
        assert list(broken(html, pages, "index.html", link)) == []


def test_loaded_files_are_part_of_the_site(html, pages):
    """Scripts, styles, pictures, recordings and answers: files of the site, each of them there."""
    missing = [
        words for name, page in pages.items() for load in page.loads for words in broken(html, pages, name, load)
    ]
    foreign = [load for page in pages.values() for load in page.loads if urlsplit(load).scheme not in ("", "data")]
    assert (missing, foreign) == ([], [])


def test_styles_and_scripts_ask_no_other_host(html):
    """Scripts may contain addresses, but not load them."""
    ask = re.compile(r"""(?:@import\s+|url\(|importScripts\(|\bfetch\(|\bimport\()\s*["']?(?:https?:)?//""")
    texts = [path for kind in ("*.css", "*.js") for path in html.rglob(kind)]
    assert len(texts) > 10
    assert [path.name for path in texts if ask.search(path.read_text(encoding="utf-8"))] == []


def test_no_source_map_is_shipped(html):
    """Nor the script with all icons, the largest of the theme."""
    assert [path.name for path in html.rglob("*") if path.suffix == ".map" or "fontawesome.js" in path.name] == []


def test_every_icon_has_an_outline(html, pages):
    """So that no font is fetched for it."""
    style = (html / "_static/course.css").read_text(encoding="utf-8")
    outlined = set(re.findall(r"(?m)^\.(fa-[\w-]+) \{ --icon", style))
    text = "".join((html / name).read_text(encoding="utf-8") for name in pages)
    used = set(re.findall(r"\bfa-[\w-]+", " ".join(re.findall(r'class="([^"]*\bfa-[^"]*)"', text))))
    assert used - {"fa-solid", "fa-lg", "fa-fw"} == outlined - ({"fa-github"} if not address.KNOWN else set()) != set()


def test_every_page_says_what_it_is(pages):
    """A title and a description of its own, also where it is shared; the page of the search needs none."""
    described = {name: page for name, page in pages.items() if name != "search.html"}
    for name in ("og:title", "description"):
        assert len({page.meta[name] for page in described.values()}) == len(described), name
    for name, page in described.items():
        assert 20 < len(page.meta["description"]) < 170, name
        assert page.meta["og:description"] == page.meta["description"] and page.meta["og:title"] in page.title
        assert page.meta["twitter:card"] == "summary_large_image"


def test_the_first_page_describes_every_lesson(pages):
    """Its number, name, question and time, as the notebook has them; and the menu has the numbers."""
    soup = pages["index.html"].soup
    listed = [item.get_text(" ", strip=True) for item in soup.select(".lessons li")]
    menu = [link.get_text(strip=True) for link in pages["notebooks/glossary.html"].soup.select(".bd-docs-nav a")]
    assert [a["href"] for a in soup.select(".lessons a")] == [f"notebooks/{path.stem}.html" for path in NOTEBOOKS]
    for path, words in zip(NOTEBOOKS, listed, strict=True):
        cells = nbformat.read(path, as_version=4).cells
        title, question = cells[0].source.split("\n\n")[:2]
        assert words.startswith(f"{path.stem[:2]} {title[2:]} {question.strip('*')} "), words
        plan = words.partition(question.strip("*") + " ")[2]
        assert f"Plan for {plan}," in " ".join(cell.source for cell in cells).replace("*", "")
        assert f"{path.stem[:2]} {title[2:]}" in menu
    assert soup.select_one("a.start")["href"] == f"notebooks/{NOTEBOOKS[0].stem}.html"
    assert soup.select_one(".recorded")


def test_the_reference_is_one_entry_of_the_menu(html, pages):
    """Its first page leads to all others."""
    menu = pages["notebooks/glossary.html"].soup.select_one(".bd-docs-nav")
    entries = [link["href"] for link in menu.select(".toctree-l1 > a")]
    assert [entry for entry in entries if "reference/" in entry] == ["../reference/encoder_lib.html"]
    others = {path.name for path in html.glob("reference/*.html")} - {"encoder_lib.html"}
    first = pages["reference/encoder_lib.html"].soup.article
    assert others == {link["href"] for link in first.select(".toctree-wrapper .toctree-l1 > a")} and len(others) > 5


def test_no_page_asks_for_a_kernel(lessons):
    """Words of cells and keys have another wording here."""
    found = [
        f"{name}: {words}"
        for name, soup in lessons.items()
        for words in soup.article.find_all(string=KERNEL)
        if not words.find_parent(["pre", "script"]) and not words.find_parent(class_="cell_output")
    ]
    assert found == []


def test_an_exercise_has_no_verdict(lessons):
    """Nothing was written there, so that nothing is judged; lines may be put in order."""
    for soup in lessons.values():
        for live in soup.find_all(class_="live"):
            words = [part.get_text(strip=True) for part in live.parent.select(".exercise, .live")]
            assert live.find_parent(class_="cell_output").get_text(strip=True) == "".join(words)


@pytest.mark.parametrize("kind", ["order", "typed"])
def test_an_exercise_without_python_stands_below_the_one_in_python(lessons, kind):
    """Where a lesson's exercises.toml says so."""
    found = []
    for soup in lessons.values():
        for place in soup.select(f".{kind}"):
            check = place[f"data-{kind}"].rpartition("-")[2].removesuffix(".json")
            assert f"{check}(" in place.find_parent(class_="cell").find("pre").get_text()
            found.append(check)
    entry = {"order": "order", "typed": "ask"}[kind]
    assert sorted(found) == sorted(name for name, table in texts("exercises.toml").items() if entry in table) != []


def test_no_links_to_an_address_that_is_not_set(html, pages):
    """As long as pyproject.toml says OWNER."""
    links = [link for page in pages.values() for link in page.links if any(words in link for words in ELSEWHERE)]
    assert bool(links) == address.KNOWN == (html / "sitemap.xml").exists()


def test_an_explorer_has_a_recording_and_a_question_an_answer(pages):
    for path in NOTEBOOKS:
        cells = code_cells(nbformat.read(path, as_version=4))
        page = pages[f"notebooks/{path.stem}.html"]
        asked = sum("predict(" in cell.source and "explore.predict(" in cell.source for cell in cells)
        assert len({load for load in page.loads if load.endswith(".recording")}) == sum(map(is_explorer, cells))
        assert sum("/answers/" in load for load in page.loads) == asked
        exercises = sum("exercise" in tags(cell) for cell in cells)
        assert (html_of(path).count('<p class="live">')) == exercises


def test_imports_are_folded():
    assert [path.stem for path in NOTEBOOKS if html_of(path).count("<summary>Imports</summary>") != 1] == []


def test_drawings_are_inline_and_link_to_their_parts_pages(html):
    texts = [(html / "index.html").read_text(encoding="utf-8"), *map(html_of, NOTEBOOKS)]
    for folder, text in zip(["notebooks/", *[""] * len(NOTEBOOKS)], texts, strict=True):
        drawing = re.search(r'(?s)<svg [^>]*class="drawing"[^>]*role="group".*?</svg>', text).group()
        links = set(re.findall(r'href="(.*?)"', drawing))
        parts = 9 if "<title>08 Training" in text else 8  # its drawing has a linear layer in it, which is its own
        assert len(links) == parts and links <= {f"{folder}{path.stem}.html" for path in NOTEBOOKS}, text[:300]


def test_pictures_are_drawn_in_lines_without_a_ground_of_their_own(html, lessons):
    for soup in lessons.values():
        for image in soup.select(".cell_output img[width]"):
            svg = (html / "notebooks" / image["src"]).read_text(encoding="utf-8")
            assert svg.startswith("<svg") and f'width="{image["width"]}"' in svg and "background" not in svg


def html_of(path):
    """The page of a notebook, as text."""
    return (ROOT / "build/site/html/notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")


def test_no_finding_is_on_a_page(html):
    """Answers lie in files of their own."""
    answers = []
    for path in sorted((html / "_static/answers").glob("*.html")):
        text = re.search(r'id="outcome">(.*)</script>', path.read_text(encoding="utf-8"), re.DOTALL)[1]
        answers.append((path.stem.rpartition("-")[0], json.loads(text)["finding"]))
    assert len(answers) > 40
    pages = {name: (html / "notebooks" / f"{name}.html").read_text(encoding="utf-8") for name, _ in answers}
    assert [finding for name, finding in answers if finding in pages[name]] == []


def test_the_search_knows_no_fold(html, lessons):
    """Nor what surrounds a page: of a lesson it has what one reads without opening anything."""
    known = {}
    for path in html.glob("pagefind/fragment/*.pf_fragment"):
        page = json.loads(gzip.decompress(path.read_bytes()).removeprefix(b"pagefind_dcd"))
        known[page["url"]] = page["content"]
    assert len(known) > len(NOTEBOOKS) and not any("Skip to main content" in content for content in known.values())
    for name, soup in lessons.items():
        folds = [text.get_text()[:50] for text in soup.article.select("details p") if len(text.get_text()) > 50]
        assert folds and not [words for words in folds if words in known[f"/notebooks/{name}.html"]], name


def test_recordings_are_small(html):
    sizes = {path.name: path.stat().st_size for path in html.glob("_static/recordings/*.recording")}
    cells = [cell for path in NOTEBOOKS for cell in code_cells(nbformat.read(path, as_version=4))]
    explorers = [name for name in sizes if not name.endswith("-phone.recording")]
    assert len(explorers) == sum(map(is_explorer, cells)) > 10
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
    assert sum(sizes.values()) <= ALL


def test_pages_are_small(html, pages):
    assert {name: size for name in pages if (size := (html / name).stat().st_size) > PAGE} == {}


def test_a_fork_builds_its_site_offline(tmp_path, html):
    """Without a warning, which Sphinx takes for an error; what was recorded is taken over.

    It publishes its own links, and tells crawlers of every page by the address that the page itself says is its own.
    """
    python = ROOT / ".site/venv/bin/python"
    for known in ("recordings", "orders"):
        (tmp_path / known).symlink_to(ROOT / "build/site" / known)
    command = [python, "-c", OFFLINE, ROOT / "site/build.py", tmp_path, ROOT / ".site/node_modules"]
    fork = os.environ | {"GITHUB_REPOSITORY": "Somebody/their-course"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT, env=fork)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    built, home = tmp_path / "html", "https://somebody.github.io/their-course/"
    texts = {path.name: path.read_text(encoding="utf-8") for path in built.rglob("*.html") if "_" not in path.parts[-2]}
    own = {re.search('rel="canonical" href="(.*?)"', text)[1] for text in texts.values() if "bd-article" in text}
    listed = set(re.findall("<loc>(.*)</loc>", (built / "sitemap.xml").read_text(encoding="utf-8")))
    assert own - listed == {f"{home}404.html", f"{home}search.html"} and listed < own
    assert f"Sitemap: {home}sitemap.xml\n" in (built / "robots.txt").read_text(encoding="utf-8")
    lesson = texts[f"{NOTEBOOKS[0].stem}.html"]
    assert f'"og:image" content="{home}_static/share.png"' in lesson and "mybinder.org/v2/gh/Somebody/" in lesson
    for name in ("index", "notebooks/glossary", "TEACHING"):
        assert f"template=sentence.yml&amp;notebook={name}" in texts[f"{name.rpartition('/')[2]}.html"]
    base = f'<base href="{home}">'  # from which a page that is not there finds its style, whatever was asked for
    assert "href=" not in texts["404.html"].partition(base)[0] and base in texts["404.html"]
