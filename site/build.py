"""Build the web edition: `python site/build.py build/site NODE_MODULES`, with the packages that package.json lists."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pydata_sphinx_theme
import torch
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).parent
SCRIPTS = ("player", "search", "worker", "reader")  # those that pages and benchmarks ask for by name
ROOT = HERE.parent
THEME = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
UNUSED = (  # files of the theme and the search that no page fetches
    *("*.map", "fontawesome.js*", "doctools.js", "searchtools.js", "sphinx_highlight.js", "language_data.js"),
    *("pagefind-*ui.*", "pagefind-highlight.js", "wasm.unknown.pagefind"),
)
ICONS = (
    *("angle-left", "angle-right", "bars", "chevron-down", "circle-half-stroke", "github", "list"),
    *("magnifying-glass", "moon", "sun"),
)
SEARCHED = (
    *("--silent", "--include-characters", "√"),
    *("--exclude-selectors", "details, .asked, .exercise, .headerlink, .katex-html, .katex annotation"),
)
UNLISTED = ("404.html", "search.html")
OUTLINE = re.compile(r'"?([\w-]+)"?:\[(\d+),(\d+),\[[^]]*\],"\w+","([^"]+)"\]')  # name, width, height, path
sys.path.insert(0, str(ROOT))

from address import HOME, KNOWN  # noqa: E402
from minilm import write_minilm  # noqa: E402
from order import write_orders  # noqa: E402
from pages import notebooks, write_pages  # noqa: E402
from record_all import write_recordings  # noqa: E402

from encoder_lib.course.kit.widget import front_end  # noqa: E402


def build(folder: Path, node_modules: Path) -> int:
    """Write the site into `folder`/html, and return Sphinx's exit status."""
    start = time.perf_counter()
    pages, html = folder / "pages", folder / "html"
    for old in (pages, html):
        shutil.rmtree(old, ignore_errors=True)
    static = pages / "_static"
    static.mkdir(parents=True)
    _copy_static(static, node_modules)
    recordings, orders = folder / "recordings", folder / "orders"
    # One thread each: with more of them than cores, those of a small product mostly wait for each other.
    with ProcessPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        begun = time.perf_counter()
        minilm = pool.submit(write_minilm, static / "minilm")
        recorded = write_recordings(notebooks(), recordings, pool)
        solved = write_orders(notebooks(), orders, pool)
        recorded()
        minilm.result()  # or its error
        print(f"The recordings and weights took {time.perf_counter() - begun:.0f} s.")
        begun = time.perf_counter()
        hidden = shutil.ignore_patterns("*.digest", "*.heights", "*.p*")
        shutil.copytree(recordings, static / "recordings", ignore=hidden)
        write_pages(pages, static, recordings)
        status = _write_html(folder, static, node_modules)
        print(f"Sphinx and the search took {time.perf_counter() - begun:.0f} s.")
        solved()  # meanwhile, since a page only has the addresses of its exercises
    shutil.copytree(orders, html / "_static/orders", ignore=shutil.ignore_patterns("*.digest"))
    if KNOWN:
        _write_sitemap(html)
    else:
        print("No address in pyproject.toml yet: no links to repository, Binder and Colab, and no sitemap.")
    print(f"The whole web edition took {time.perf_counter() - start:.0f} s.")
    return status


def _write_html(folder: Path, static: Path, node_modules: Path) -> int:
    """Write the pages and the search into `folder`/html, and return Sphinx's exit status."""
    html = folder / "html"
    os.environ["NODE_MODULES"] = str(node_modules)
    options = ["-j", "2", "-b", "html", "-W", "--keep-going", "-q", "-E"]
    options += ["-d", str(folder / "doctrees"), "-c", str(HERE)]
    status = sphinx([*options, "-D", f"html_static_path={static}", str(folder / "pages"), str(html)])
    subprocess.run(["node", node_modules / "pagefind/lib/runner/bin.cjs", "--site", html, *SEARCHED], check=True)
    for name in UNUSED:
        for path in html.rglob(name):
            path.unlink()
    return status


def _copy_static(static: Path, node_modules: Path) -> None:
    """Copy what pages load: the scripts, the styles, KaTeX, the serif font, the picture for previews."""
    _bundle(static / "player", node_modules)
    styles = [
        front_end.style("palette.css", "explorer.css", "alive.css", "search_bars.css", "folds.css", "tables.css"),
        _icons(),
        *((HERE / name).read_text(encoding="utf-8") for name in ("pages.css", "site.css")),
    ]
    (static / "course.css").write_text("\n".join(styles), encoding="utf-8")
    shutil.copy(ROOT / ".github/share.png", static / "share.png")
    fonts = node_modules / "@fontsource/source-serif-4/files"
    (static / "fonts").mkdir()
    for face in ("normal", "italic"):
        shutil.copy(fonts / f"source-serif-4-latin-400-{face}.woff2", static / "fonts")
    katex = node_modules / "katex/dist"
    shutil.copytree(katex / "fonts", static / "katex/fonts", ignore=shutil.ignore_patterns("*.ttf", "*.woff"))
    shutil.copy(katex / "katex.min.css", static / "katex")


def _bundle(player: Path, node_modules: Path) -> None:
    """Write each script and all that it imports into one file, since a page would wait for many small ones."""
    with tempfile.TemporaryDirectory() as sources:
        for folder in (HERE / "player", front_end.FOLDER):
            for module in folder.glob("*.js"):
                shutil.copy(module, sources)
        entries = [Path(sources, f"{name}.js") for name in SCRIPTS]
        options = ["--bundle", "--minify", "--format=esm", "--target=es2023", "--log-level=warning"]
        subprocess.run([node_modules / ".bin/esbuild", *entries, *options, f"--outdir={player}"], check=True)


def _write_sitemap(html: Path) -> None:
    """Write the list of all pages for search engines, and robots.txt, which says where it is."""
    pages = sorted(path.relative_to(html).as_posix() for path in html.rglob("*.html") if "_static" not in path.parts)
    places = "".join(f"<url><loc>{HOME}{page}</loc></url>\n" for page in pages if page not in UNLISTED)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'
    (html / "sitemap.xml").write_text(sitemap, encoding="utf-8")
    (html / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {HOME}sitemap.xml\n", encoding="utf-8")


def _icons() -> str:
    """Return a style sheet with the outlines of the icons in use; the theme's script has 2,000 more."""
    script = (THEME / "scripts/fontawesome.js").read_text(encoding="utf-8")
    drawn = {name: outline for name, *outline in OUTLINE.findall(script)}  # the last of a name is filled
    style = ""
    for icon in ICONS:
        width, height, path = drawn[icon]
        svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'><path d='{path}'/></svg>"
        style += f'.fa-{icon} {{ --icon: url("data:image/svg+xml,{quote(svg)}"); }}\n'
    return style


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
