"""Run notebooks and save them in place, without anything that changes from one run to the next, and their drawings."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

from encoder_lib.course.kit.plots.fonts import embedded

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KEPT = {"tags", "jupyter", "description", "web", "search"}  # cell metadata that authors set
FONT = re.compile(r"@font-face\{[^}]*\}")
TEXTS = {400: ".//{*}text", 700: ".//{*}g[@class='lit']//{*}text"}  # what is written in each weight

MEAN_AND_SCORES = (
    "The vectors&#x27; mean, D numbers, goes into a cosine.",
    "A linear layer makes a score for each letter from every vector.",
)
SCORES = (
    '<a href="08_training.ipynb"><g data-part="linear">'
    '<rect class="box" x="643" y="58" width="56" height="40" rx="6"/><text class="word" x="671" y="74.2">linear</text>'
    '<text class="word" x="671" y="90.8">layer</text></g></a><path d="M671 58L671 41m-4 4l4 -4l4 4"/>'
    '<g data-part="scores"><rect class="box" x="643" y="6" width="56" height="34" rx="6"/>'
    '<text class="word" x="671" y="27.5">scores</text></g>\n</g>\n'
)


def run(notebook, folder, timeout=600):
    """Execute every cell of `notebook` in `folder`, in a fresh kernel."""
    NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,  # what is printed in two portions or in one is stored alike
        extra_arguments=["--log-level=ERROR"],
    ).execute()


def tidy(notebook):
    """Drop widget state, live views that have a static alternative, timings and versions."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE})
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({key: value for key, value in cell.metadata.items() if key in KEPT})
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not is_bare_widget(output)]
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)


def is_bare_widget(output):
    """Whether an output is a widget with nothing but its name to show where no kernel runs."""
    return output.get("data", {}).keys() == {WIDGET_VIEW, "text/plain"}


def light(drawing, *parts):
    """The drawing of the encoder with these parts lit, in what it says of itself too."""
    for part in parts:
        drawing = drawing.replace(f'data-part="{part}"', f'data-part="{part}" class="lit"')
    names = ", ".join(parts).replace("_", "-")
    return drawing.replace("The encoder.", f"The encoder, with {names} lit.") if parts else drawing


def with_scores(drawing):
    """The drawing of the encoder with a linear layer and its scores at its end, in place of the mean and the cosine."""
    before, first, _ = drawing.partition('<a href="09_pretrained.ipynb"><g data-part="mean">')
    assert first, "expected the mean in the drawing"
    end = SCORES + drawing[drawing.index('<g class="note">') :]
    before = before.replace(*MEAN_AND_SCORES)
    return before + end


def lit_drawings(drawing):
    """Notebook -> the drawing of the encoder with the parts lit that link to that notebook."""
    links = re.findall(r'href="(\w+)\.ipynb"><g data-part="(\w+)"', drawing)
    notebooks = {name: dict.fromkeys(part for other, part in links if other == name) for name, _ in links}
    lit = {name: light(drawing, *parts) for name, parts in notebooks.items()}
    return lit | {"08_training": light(with_scores(drawing), "linear")}


def lettered(drawing):
    """The drawing with the figures' font in it, in the letters of its texts: an image cannot use a font of its page."""
    root = ElementTree.fromstring(drawing)
    letters = {
        weight: {*"".join("".join(text.itertext()) for text in root.findall(path))} for weight, path in TEXTS.items()
    }
    rules = "".join(embedded(weight, "".join(sorted(used))) for weight, used in letters.items() if used)
    return FONT.sub("", drawing).replace("</style>", f"{rules}</style>", 1)


def main(names):
    """Run the named notebooks one by one; the first cell error leaves that one and the later ones as they are."""
    for path in map(Path, names):
        print(f"{path} ...", end=" ", flush=True)
        notebook = nbformat.read(path, as_version=4)
        try:
            run(notebook, path.parent)
        except (CellExecutionError, CellTimeoutError) as error:
            print("failed")
            return f"{path} was not saved.\n{error}"
        tidy(notebook)
        nbformat.write(notebook, path)
        print(f"saved, {path.stat().st_size / 1000:.0f} KB")
    return 0


if __name__ == "__main__":
    pictures = Path("notebooks/pictures")
    drawings = {path.stem: path.read_text(encoding="utf-8") for path in pictures.glob("[!0-9]*.svg")}
    for name, drawing in (drawings | lit_drawings(drawings["encoder"])).items():
        (pictures / f"{name}.svg").write_text(lettered(drawing), encoding="utf-8")
    sys.exit(main(sys.argv[1:]))
